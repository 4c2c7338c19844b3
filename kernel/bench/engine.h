/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a planned job run? */
#ifndef KERNEL_BENCH_ENGINE_H
#define KERNEL_BENCH_ENGINE_H

#include "kernel/bench/result.h"

/* Where a job stands, for whoever wants to show it while it runs. */
struct progress {
	const struct job_plan *plan;
	uint64_t elapsed_ns, ios; /* since the job's start, ramp time included */
	uint64_t left_ns;	  /* estimate; UINT64_MAX if there is none yet */
	unsigned percent;
};

struct progress_hook {
	uint64_t interval_ns; /* 0: never called */
	void (*show)(const struct progress *progress);
};

/* The memory that the job's requests and buffers will take. */
uint64_t engine_memory_bytes(const struct job_plan *plan);

/*
 * Runs the job to its end and fills in @result, errors included. False, with a line in @error,
 * only if it could not start for want of memory.
 */
bool engine_run(const struct job_plan *plan, struct job_result *result,
		const struct progress_hook *hook, char *error, size_t error_size);

#endif
