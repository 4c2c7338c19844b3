/* SPDX-License-Identifier: BSD-2-Clause */
/* On which CPU does a job run, and through which of its disk's queues? */
#ifndef KERNEL_BENCH_PLACEMENT_H
#define KERNEL_BENCH_PLACEMENT_H

#include "kernel/bench/result.h"

/*
 * Whether the CPUs that the job may run on are there, and the disk has a queue of the kind that it
 * asks for. False: @error names what is not there.
 */
bool placement_check(const struct job_plan *plan, unsigned nr_cpus, char *error, size_t error_size);

/*
 * Gives each of @n jobs, which run at the same time, its CPU (of those allowed the one with the
 * fewest jobs so far; with cpus_allowed_policy=split the number-th) and its queue. Sets cpu, queue,
 * cpu_jobs and sharers of each result, from its plan and number.
 */
void placement_make(struct job_result *results, unsigned n, unsigned nr_cpus);

/* The queue that placement_make() chose. */
struct blk_queue *placement_queue(const struct job_result *result);

#endif
