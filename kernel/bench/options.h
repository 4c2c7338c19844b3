/* SPDX-License-Identifier: BSD-2-Clause */
/* Which jobs does a command line ask for? fio's words, and our own with a prefix. */
#ifndef KERNEL_BENCH_OPTIONS_H
#define KERNEL_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arch/machine.h>

#include "drivers/block/blk.h"
#include "lib/log.h"

#define JOBS_MAX	16 /* with a name */
#define NUMJOBS_MAX	64
#define RUN_JOBS_MAX	256 /* copies included */
#define PERCENTILES_MAX 20
#define JOB_NAME_MAX	64
#define IODEPTH_MAX	1024

enum job_rw { RW_READ, RW_WRITE, RW_RANDREAD, RW_RANDWRITE, RW_MIXED, RW_RANDMIXED };

/* A place or a length: bytes, or a share of the disk in millionths of a percent. */
struct extent {
	bool set, percent;
	uint64_t value;
};

/* cpus_allowed: which of CPUS_MAX. */
struct cpu_set {
	bool set; /* was given at all */
	uint64_t word[CPUS_MAX / 64];
};

static inline bool cpu_set_has(const struct cpu_set *set, unsigned cpu)
{
	return set->word[cpu / 64] >> cpu % 64 & 1;
}

struct job_options {
	char name[JOB_NAME_MAX]; /* default "ringlab" */
	char filename[16];	 /* "vda"; a leading /dev/ is removed. Default "vda" */
	enum job_rw rw;		 /* default RW_RANDREAD */
	bool hash_crc32c; /* hash=crc32c: read the range once, in order of LBA, print its CRC */
	bool scatter;	  /* buffers=scattered: each page of a buffer on its own */
	bool stonewall;	  /* starts when all before it have ended, and not together with them */
	bool time_based;
	uint32_t bs_bytes;	     /* default 4096 */
	uint32_t iodepth;	     /* default 1 */
	uint32_t batch_submit;	     /* iodepth_batch_submit; 0: whatever is free, up to iodepth */
	uint32_t batch_complete_min; /* default 1; 0: do not wait */
	uint32_t batch_complete_max; /* 0: iodepth */
	uint32_t rwmixread;	     /* percent, default 50 */
	struct extent offset, size;  /* size: default to the end of the disk */
	uint64_t io_size_bytes;	     /* 0: one pass over size */
	uint64_t number_ios;	     /* 0: no limit */
	uint64_t runtime_ns, ramp_time_ns;
	uint64_t randseed;
	uint32_t numjobs;	     /* copies that run at the same time; default 1 */
	struct cpu_set cpus_allowed; /* default: all that run */
	bool cpus_split;	     /* cpus_allowed_policy=split */
	enum blk_queue_kind hipri;   /* default BLK_QUEUE_ANY */
	uint64_t rate_iops[2];	     /* reads, writes; 0: any */
	uint64_t thinktime_ns;	     /* 0: none */
	uint32_t thinktime_blocks;   /* default 1 */
	unsigned nr_percentiles;
	uint64_t percentile_micro[PERCENTILES_MAX];
	/* What was written, for JSON's "job options": pairs of strings into the command line. */
	unsigned nr_given;
	struct job_given {
		const char *key, *value;
	} given[48];
};

/* Faults to provoke on purpose, to see the report. */
enum crash {
	CRASH_NO,
	CRASH_READ_NULL,
	CRASH_STACK,
	CRASH_WRITE_TEXT,
	CRASH_RUN_DATA,
	CRASH_UNDEFINED,
	CRASH_PANIC,
	CRASH_KINDS = CRASH_PANIC
};

enum output_format { OUTPUT_NORMAL, OUTPUT_JSON, OUTPUT_BOTH };

struct run_options {
	unsigned nr_jobs; /* at least 1 after parsing */
	struct job_options job[JOBS_MAX];
	enum output_format output; /* output-format=normal|json|normal,json; default normal */
	uint64_t status_interval_ns;
	bool progress;	 /* eta=always: a line a second while a job runs, inside its window */
	bool alloc_high; /* alloc=high: memory from the top, above 4 GiB if there is any */
	enum crash crash;
	unsigned crash_cpu;
	enum log_level log_level;
	struct blk_config blk;
	/* fio options that mean nothing here, for one note: "ioengine, direct" */
	char ignored[256];
};

/*
 * Parses @line in place (the strings in @run point into it). An empty line is the default job.
 * A first token that is no option and holds a '/' is the image's path, as some loaders pass it:
 * skipped. A leading "--" on a key is removed.
 * False: @error holds one line that names the key, the value and what would be valid.
 */
bool options_parse(char *line, struct run_options *run, char *error, size_t error_size);
/* All copies of all jobs. */
unsigned options_count_jobs(const struct run_options *run);

/* What was written for @key, which is no alias; NULL: nothing. */
const char *job_given_value(const struct job_options *job, const char *key);

/* "randread" and so on, as fio spells it. */
const char *job_rw_name(enum job_rw rw);
bool job_rw_random(enum job_rw rw);
bool job_rw_writes(enum job_rw rw);
bool job_rw_reads(enum job_rw rw);

#endif
