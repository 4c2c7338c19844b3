/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a disk played whose device follows the input, whatever the format of its ring? */
#ifndef TESTS_FUZZ_HOSTILE_H
#define TESTS_FUZZ_HOSTILE_H

#include "tests/fuzz/fuzz.h"

/* One life of a disk with @features more than the usual: opened, used, lied to, closed. Returns 0. */
int hostile_run(const uint8_t *data, size_t size, uint64_t features);

#endif
