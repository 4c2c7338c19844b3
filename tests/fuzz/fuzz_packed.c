/* SPDX-License-Identifier: BSD-2-Clause */
/* The same as fuzz_split.c, on the packed ring. */
#include "tests/fuzz/hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return hostile_run(data, size,
			   &(struct hostile_kind){FAKE_BIT(FAKE_RING_PACKED), FAKE_MODERN});
}
