/* SPDX-License-Identifier: BSD-2-Clause */
/* How do options become jobs, jobs results, and results a report? */
#ifndef KERNEL_RUN_H
#define KERNEL_RUN_H

#include <arch/system.h>

#include "kernel/bench/result.h"
#include "kernel/disks.h"

/* Plans every job before any is run: not EXIT_OK, with a line in @error, if one cannot be. */
enum exit_status run_plan(const struct run_options *run, struct disks *disks, char *error,
			  size_t error_size);

/* Runs the planned jobs, group after group, reports, and says how it ended. */
enum exit_status run_jobs(const struct run_options *run, struct report_machine *machine);

#endif
