/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the fuzz targets share? Numbers out of the input, a fresh fake machine, a loud end. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "tests/host/fake.h"

/* libFuzzer's entry. Always returns 0; a finding aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

/* The next @bytes (at most 8), little-endian; past the end each byte is 0. */
uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes);

/*
 * An empty fake machine. A rule that the driver breaks from here on, or more register accesses and
 * pauses than @budget, is a finding. Log lines are formatted and thrown away.
 */
void fuzz_machine(uint64_t budget);
/*
 * From here on the input has written into what the fake device goes by, so that its word on the
 * ring and on requests counts no more. What is judged without the rings still does: waits, memory,
 * registers, set-up.
 */
void fuzz_distrust_rings(void);

/* Ends the process with @text unless @holds. */
void fuzz_check(bool holds, const char *text);

#endif
