/* SPDX-License-Identifier: BSD-2-Clause */
/* How is what was read checked from outside? rw=read hash=crc32c */
#ifndef KERNEL_BENCH_HASH_H
#define KERNEL_BENCH_HASH_H

#include "kernel/bench/requests.h"
#include "kernel/bench/window.h"

/*
 * Reads the whole range once, its tail included, with iodepth requests in flight, and computes
 * the CRC32C of the data in order of LBA, whatever order the requests come back in. Stops at the
 * first error: a CRC of the rest would mean nothing.
 */
void hash_run(const struct job_plan *plan, struct job_result *result, struct request_set *set,
	      struct window *window);

#endif
