/* SPDX-License-Identifier: BSD-2-Clause */
/* How do jobs run at the same time, on one CPU or on several? */
#ifndef KERNEL_BENCH_GROUP_H
#define KERNEL_BENCH_GROUP_H

#include "kernel/bench/lane.h"

struct group_cpus {
	/* Has @fn(@context) called on @cpu, which is not the one that runs this; does not wait. */
	void (*run_on)(unsigned cpu, void (*fn)(void *context), void *context);
	/* A CPU that does not answer may still use the group's memory: there is no way on. */
	void (*give_up)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
};

/* What a lane's CPU is handed. The flags are atomics. */
struct lane_seat {
	struct group *group;
	struct lane *lane;
	bool arrived, finished;
	unsigned seen_beat, silent; /* for how many looks its beat has been the same */
};

struct group {
	const struct group_cpus *cpus;
	struct job_result *results;
	unsigned nr_jobs, nr_lanes, nr_ports;
	/* Room for nr_jobs of each. */
	struct job *job;
	struct lane *lane; /* one for each CPU that has jobs */
	struct lane_port *port;
	struct lane_seat *seat;	    /* one for each lane */
	struct job **lists;	    /* of lanes */
	struct blk_request **found; /* of lanes: iodepth of each job */
	uint64_t found_bytes;
	unsigned home; /* the CPU that makes the group, waits for it and shows progress */
	struct progress_meter meter;
	bool go; /* all have arrived; atomic */
};

/* The memory for a group of @n jobs beyond that of each job. */
uint64_t group_memory_bytes(unsigned n);

/*
 * Runs @n jobs at the same time, each on the CPU and queue that placement_make() chose, to their
 * ends, and fills in their results, errors included. All memory is made before and freed after, by
 * the CPU that calls this. False, with a line in @error, only if it could not start for want of
 * memory.
 */
bool group_run(struct job_result *results, unsigned n, const struct group_cpus *cpus,
	       const struct progress_hook *hook, char *error, size_t error_size);

/* group_make.c: the jobs, lanes and ports of a group. False, with a line in @error: no memory. */
bool group_create(struct group *group, struct job_result *results, unsigned n, char *error,
		  size_t error_size);
void group_destroy(struct group *group);

#endif
