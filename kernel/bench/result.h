/* SPDX-License-Identifier: BSD-2-Clause */
/* What did a job find out? Filled while it runs, read by the reports. */
#ifndef KERNEL_BENCH_RESULT_H
#define KERNEL_BENCH_RESULT_H

#include "kernel/bench/plan.h"
#include "lib/histogram.h"
#include "lib/stat.h"

/* fio's distribution of depths and batch sizes. */
enum { DEPTH_LEVELS = 7 };

struct direction_result {
	uint64_t ios, bytes;		      /* without failed requests */
	struct stat slat_ns, clat_ns, lat_ns; /* slat is counted as they are sent */
	struct histogram clat;		      /* nanoseconds */
	struct stat bw_kib, iops;	      /* samples of 500 ms each, fio's default */
};

struct job_result {
	const struct job_plan *plan;
	unsigned group;	 /* from 0 on; each stonewall starts the next */
	unsigned number; /* of numjobs copies, from 0 on */
	unsigned cpu;	 /* that it ran on */
	unsigned
		sharers; /* jobs that used its queue, itself included: counters is of all of them */
	unsigned cpu_jobs; /* jobs on its CPU: busy, idle and halted time is of all of them */
	struct blk_queue_info queue;
	struct direction_result read, write;
	uint64_t runtime_ns;		     /* the measured window, ramp time excluded */
	uint64_t ramp_ios;		     /* done before the window opened */
	uint64_t max_in_flight;		     /* the depth that was really reached */
	uint64_t depth_level[DEPTH_LEVELS];  /* requests issued at depth 1, 2, 4, 8, 16, 32, >=64 */
	uint64_t submit_level[DEPTH_LEVELS]; /* batches of 0, <=4, <=8, <=16, <=32, <=64, more */
	uint64_t complete_level[DEPTH_LEVELS];
	struct blk_counters counters;	      /* of the measured window */
	uint64_t sgl_chunks;		      /* taken for scatter lists of more than two pieces */
	uint64_t halted_cycles;		      /* of idle_cycles */
	uint64_t wakeups_missed;	      /* halts that an interrupt should have ended */
	uint64_t caught_awake, caught_halted; /* requests waited for, and how */
	uint64_t busy_cycles, idle_cycles;    /* idle: spent in polls that found nothing */
	uint64_t errors[BLK_STATUS_COUNT];    /* failed requests by reason; BLK_OK stays 0 */
	uint64_t first_error_lba_512;	      /* valid if any error was counted */
	enum blk_status first_error;
	uint32_t crc32c; /* hash=crc32c: of all the data, in order of LBA */
	uint64_t hashed_bytes;
	uint64_t first_done_cycles; /* when its first request was well done; 0: none was */
	bool stopped;		    /* ended early: the queue broke */
} __attribute__((aligned(128)));    /* each CPU fills in its own */

uint64_t result_errors(const struct job_result *result);
/* When any of them first had a request well done; 0: none had. */
uint64_t results_first_done_cycles(const struct job_result *results, unsigned n);

/* What the reports say about the machine. */
struct report_machine {
	const char *version;  /* "0.1.0" */
	const char *accel;    /* "tcg", "kvm", … */
	const char *machine;  /* "q35", "pc", "unknown" */
	const char *cpu;      /* CPUID name */
	const char *firmware; /* boot protocol, "pvh" */
	unsigned cpus;	      /* in use */
	uint64_t tsc_skew_ns; /* of any of them from CPU 0's, at most; UINT64_MAX: not known */
	uint64_t tsc_skew_least_ns; /* of one of them, for sure */
	uint64_t tsc_hz;
	const char *tsc_source;
	const char *tsc_cross_source; /* NULL: there was no second clock */
	bool tsc_trusted;
	uint64_t tsc_cross_ppm;
	uint64_t stamp_ps; /* what one reading of the clock costs, in picoseconds */
	uint64_t ram_bytes, image_bytes;
	uint64_t boot_to_kernel_ns;   /* from the CPU counter's 0 to the first instruction */
	uint64_t boot_to_first_io_ns; /* from there to the first request done; 0: none */
	uint64_t entry_cycles;	      /* the counter at the image's first instruction */
	unsigned nr_devices;
	const struct blk_device *devices;
};

/*
 * The queues of the disks used; for each group a block per job in fio's words, then what only this
 * program knows, and the same for its jobs together; run status per group, clock, boot times.
 */
void report_text(struct sink *out, const struct report_machine *machine,
		 const struct job_result *results, unsigned n);
/* The whole document, fio's keys. */
void report_json(struct sink *out, const struct report_machine *machine,
		 const struct run_options *run, const struct job_result *results, unsigned n);

#endif
