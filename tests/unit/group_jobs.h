/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test have a group of jobs, from a line of options, run on the fake disk? */
#ifndef TESTS_UNIT_GROUP_JOBS_H
#define TESTS_UNIT_GROUP_JOBS_H

#include <stdio.h>
#include <string.h>

#include "kernel/bench/group.h"
#include "kernel/bench/placement.h"
#include "lib/mem.h"
#include "tests/host/rig.h"

#define CPUS 2

static struct run_options run;
static struct job_plan plans[JOBS_MAX];
static struct job_result results[16];
static char line[512], error[256];
static unsigned nr;

static void plan(struct rig *rig, const char *text)
{
	memset(results, 0, sizeof(results));
	nr = 0;
	snprintf(line, sizeof(line), "%s", text);
	if (!options_parse(line, &run, error, sizeof(error)))
		fail_msg("'%s': %s", text, error);
	for (unsigned i = 0; i < run.nr_jobs; i++) {
		if (!plan_job(&plans[i], &run.job[i], &rig->blk, error, sizeof(error)))
			fail_msg("'%s': %s", text, error);
		for (unsigned k = 0; k < run.job[i].numjobs; k++, nr++) {
			results[nr].plan = &plans[i];
			results[nr].number = k;
		}
	}
}

static void start_disk(struct rig *rig)
{
	rig->disk.queue_size[0] = rig->disk.queue_size[1] = 64;
	rig->config.nr_cpus = CPUS;
	rig_start(rig);
}

/* On one CPU, to the end. */
static void run_here(struct rig *rig, const char *text)
{
	static const struct group_cpus none;

	plan(rig, text);
	placement_make(results, nr, 1);
	if (!group_run(results, nr, &none, NULL, error, sizeof(error)))
		fail_msg("'%s': %s", text, error);
}

static void done(struct rig *rig)
{
	unsigned live = host.live;

	blk_close(&rig->blk);
	assert_true(host.live < live);
	assert_int_equal(host.live, 0);
}

#endif
