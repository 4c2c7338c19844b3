/* SPDX-License-Identifier: BSD-2-Clause */
/* On which CPU does a job run, and through which of its disk's queues? */
#include "kernel/bench/placement.h"

#include <arch/machine.h>

#include "lib/format.h"
#include "lib/mem.h"
#include "lib/parse.h"

static bool allows(const struct job_options *o, unsigned cpu)
{
	return !o->cpus_allowed.set || cpu_set_has(&o->cpus_allowed, cpu);
}

static bool check_cpus(const struct job_options *o, unsigned nr_cpus, char *error,
		       size_t error_size)
{
	unsigned cpu = nr_cpus;
	int n;

	if (!o->cpus_allowed.set)
		return true;
	while (cpu < CPUS_MAX && !cpu_set_has(&o->cpus_allowed, cpu))
		cpu++;
	if (cpu == CPUS_MAX)
		return true;
	n = format(error, error_size, "cpus_allowed=%s: there is no CPU %u; ",
		   job_given_value(o, "cpus_allowed"), cpu);
	if ((size_t)n >= error_size)
		return false;
	if (nr_cpus == 1)
		format(error + n, error_size - (size_t)n, "only CPU 0 runs");
	else
		format(error + n, error_size - (size_t)n, "CPUs 0 to %u run", nr_cpus - 1);
	return false;
}

/* Where the whole disk is polled, each queue is one to poll. */
static enum blk_queue_kind kind_of(const struct job_plan *plan)
{
	const struct blk_device *disk = plan->device;

	if (plan->options->hipri == BLK_QUEUE_POLL && disk->nr_poll_queues == 0 &&
	    disk->mode == BLK_POLL)
		return BLK_QUEUE_ANY;
	return plan->options->hipri;
}

bool placement_check(const struct job_plan *plan, unsigned nr_cpus, char *error, size_t error_size)
{
	const struct blk_device *disk = plan->device;

	if (!check_cpus(plan->options, nr_cpus, error, error_size))
		return false;
	if (plan->options->hipri == BLK_QUEUE_NOT_POLL && disk->mode == BLK_POLL) {
		format(error, error_size,
		       "hipri=0: all queues of %s are polled; use blk.mode=irq or blk.mode=hybrid",
		       disk->name);
		return false;
	}
	if (blk_queue_of(disk, 0, kind_of(plan)))
		return true;
	format(error, error_size,
	       "hipri=1: %s has no queue that is polled; use blk.poll_queues=N or blk.mode=poll",
	       disk->name);
	return false;
}

/* The @k-th allowed CPU, counted round and round. */
static unsigned split(const struct job_options *o, unsigned k, unsigned nr_cpus)
{
	for (unsigned cpu = 0;; cpu = cpu + 1 == nr_cpus ? 0 : cpu + 1)
		if (allows(o, cpu) && k-- == 0)
			return cpu;
}

static unsigned least_busy(const struct job_options *o, const unsigned *jobs, unsigned nr_cpus)
{
	unsigned best = nr_cpus;

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (allows(o, cpu) && (best == nr_cpus || jobs[cpu] < jobs[best]))
			best = cpu;
	return best;
}

struct blk_queue *placement_queue(const struct job_result *r)
{
	return blk_queue_of(r->plan->device, r->cpu, kind_of(r->plan));
}

static unsigned count_sharers(const struct job_result *results, unsigned n, unsigned of)
{
	unsigned sharers = 0;

	for (unsigned i = 0; i < n; i++)
		sharers += placement_queue(&results[i]) == placement_queue(&results[of]);
	return sharers;
}

void placement_make(struct job_result *results, unsigned n, unsigned nr_cpus)
{
	unsigned jobs[CPUS_MAX] = {0};

	for (unsigned i = 0; i < n; i++) {
		struct job_result *r = &results[i];
		const struct job_options *o = r->plan->options;

		r->cpu =
			o->cpus_split ? split(o, r->number, nr_cpus) : least_busy(o, jobs, nr_cpus);
		jobs[r->cpu]++;
		blk_queue_info(placement_queue(r), &r->queue);
	}
	for (unsigned i = 0; i < n; i++) {
		results[i].cpu_jobs = jobs[results[i].cpu];
		results[i].sharers = count_sharers(results, n, i);
	}
}
