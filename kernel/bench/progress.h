/* SPDX-License-Identifier: BSD-2-Clause */
/* How far are the jobs that run now? For lines on the console while they do. */
#ifndef KERNEL_BENCH_PROGRESS_H
#define KERNEL_BENCH_PROGRESS_H

#include "kernel/bench/plan.h"

/* Where a group of jobs stands. */
struct progress {
	const struct job_plan *plan; /* of its first job */
	unsigned jobs;
	uint64_t elapsed_ns, ios; /* since the start, ramp time included; of all jobs */
	uint64_t left_ns;	  /* until the last job ends: estimate; UINT64_MAX: none yet */
	unsigned percent;	  /* of the job that has the longest way to go */
};

struct progress_hook {
	uint64_t interval_ns; /* 0: never called */
	void (*show)(const struct progress *progress);
};

struct job;

struct progress_meter {
	const struct progress_hook *hook;
	const struct job *jobs;
	unsigned nr_jobs;
	uint64_t started, next; /* cycles; next is UINT64_MAX if nothing is shown */
};

/* What a line calls them: a job by its name, several by their number. */
void progress_name(char *buf, size_t size, const struct progress *progress);
void progress_start(struct progress_meter *meter, uint64_t now);
/* Shows a line, from what the jobs have published, and works out when the next is due. */
void progress_show(struct progress_meter *meter, uint64_t now);

#endif
