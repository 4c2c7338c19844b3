/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can a device that writes what it likes, where it may and whenever it likes, make the driver lose a
 * request, return one twice, hang, or touch memory that is not its own? On the split ring.
 */
#include "tests/fuzz/hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return hostile_run(data, size, &(struct hostile_kind){0, FAKE_MODERN});
}
