/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a disk played whose device follows the input, whatever its registers and its ring? */
#ifndef TESTS_FUZZ_HOSTILE_H
#define TESTS_FUZZ_HOSTILE_H

#include "tests/fuzz/fuzz.h"

struct hostile_kind {
	uint64_t features; /* more than the usual */
	enum fake_face face;
};

/* One life of such a disk: opened, used, lied to, closed. Returns 0. */
int hostile_run(const uint8_t *data, size_t size, const struct hostile_kind *kind);

#endif
