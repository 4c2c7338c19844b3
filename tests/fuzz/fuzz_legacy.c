/* SPDX-License-Identifier: BSD-2-Clause */
/* The same as fuzz_split.c, through the registers of a legacy device. */
#include "tests/fuzz/hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return hostile_run(data, size, &(struct hostile_kind){0, FAKE_LEGACY});
}
