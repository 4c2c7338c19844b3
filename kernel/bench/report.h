/* SPDX-License-Identifier: BSD-2-Clause */
/* Which derived figures and spellings do the text and the JSON report share? */
#ifndef KERNEL_BENCH_REPORT_H
#define KERNEL_BENCH_REPORT_H

#include "kernel/bench/result.h"

/* ---- result.c: figures. A rate or share of nothing is 0, never absurd ---- */

uint64_t result_finished(const struct job_result *r); /* I/Os, well or badly */
/* The I/Os that its counters are of: of all jobs that used its queue, if those were several. */
uint64_t result_queue_ios(const struct job_result *r);
uint64_t iops_milli(uint64_t ios, uint64_t runtime_ns);
uint64_t bytes_per_s(uint64_t bytes, uint64_t runtime_ns);
uint64_t per_io_milli(uint64_t count, uint64_t ios);
uint64_t whole_ms(uint64_t ns); /* to the nearest */
/* Of the CPU's time, in thousandths of a percent. */
uint64_t result_busy_milli(const struct job_result *r);
uint64_t result_halted_milli(const struct job_result *r);
uint64_t result_range_bytes(const struct job_result *r);
int result_errno(const struct job_result *r); /* the first failure as fio numbers it; 0: none */
bool result_crc_valid(const struct job_result *r);
const char *result_indirect(const struct job_result *r);
const char *mode_name(enum blk_mode mode);
const char *device_cache_mode(const struct blk_device *dev);
/* @part of @whole in thousandths of a percent; not 0 unless @part is. */
uint64_t share_milli(uint64_t part, uint64_t whole);
uint64_t sum_levels(const uint64_t level[DEPTH_LEVELS]);

/* fio's classes of completion latency, each named after its upper limit. */
enum { SPREAD_UNITS = 3, SPREAD_CLASSES = 12 };

struct latency_spread {
	uint64_t total, count[SPREAD_UNITS][SPREAD_CLASSES];
};

extern const char *const spread_class[SPREAD_CLASSES]; /* "2" … "1000", "2000", ">=2000" */
unsigned spread_classes(unsigned unit);		       /* of nsec, usec, msec */
void result_latency_spread(const struct job_result *r, struct latency_spread *spread);

extern const char *const depth_key[DEPTH_LEVELS], *const batch_key[DEPTH_LEVELS];

/* ---- result_sum.c: the jobs between two stonewalls, together ---- */

/* Samples of bandwidth or rate that jobs took side by side: least, most and mean add up. */
struct samples {
	uint64_t n, min, max, mean_milli;
	u128 squares_micro; /* of the distances from each job's own mean */
};

uint64_t samples_stddev_milli(const struct samples *s);
/* A mean in thousandths of a KiB per second, of @bw_bytes per second; at most 100 %. */
uint64_t samples_share_milli(uint64_t mean_kib_milli, uint64_t bw_bytes);

struct group_rate {
	uint64_t runtime_ns,
		runtime_min_ns;	 /* of the jobs that did this: the longest, the shortest */
	uint64_t bw_min, bw_max; /* of a job, in bytes per second */
	struct samples bw_kib, iops;
};

/* Bytes per second of a group, reading and writing: what fio compares a job's samples with. */
struct group_bw {
	uint64_t bytes_per_s[2];
};

struct group_result {
	const struct job_result *job;
	unsigned nr_jobs, nr_cpus, nr_queues;
	unsigned iodepth; /* the largest */
	/*
	 * Sums; the runtime is the longest, as with fio. Counters of each queue, cycles of each CPU
	 * once. Without what has a meaning for one job only: cpu, queue, samples, CRC.
	 */
	struct job_result all;
	uint64_t queue_ios;	   /* that all.counters are of */
	struct group_rate rate[2]; /* reading, writing */
};

/* How many of the @n results, from the first on, are of the first one's group. */
unsigned group_size(const struct job_result *job, unsigned n);
/* The sum of @n jobs; it holds until the next call. */
const struct group_result *group_sum(const struct job_result *job, unsigned n);

struct group_bw group_bw(const struct group_result *g);

/* Where a queue, a CPU has several jobs: the one that measured for the longest time. */
const struct job_result *group_queue(const struct group_result *g, const struct job_result *of);
const struct job_result *group_cpu(const struct group_result *g, const struct job_result *of);

/* The jobs that used one queue from one CPU. */
struct group_lane {
	unsigned nr_jobs;
	uint64_t ios;
};

/* The lane of job @first of the group; false if an earlier job is of the same one. */
bool group_lane(const struct group_result *g, unsigned first, struct group_lane *lane);

/* ---- report_units.c: spellings ---- */

#define NUMBER_TEXT_MAX 40

/*
 * fio's way with large numbers: at most @digits of them, then a power of 1000 or, with @binary,
 * of 1024: 168386 with 4 digits is "168k". @unit follows.
 */
char *number_text(char buf[NUMBER_TEXT_MAX], uint64_t value, unsigned digits, bool binary,
		  const char *unit);

struct time_unit {
	const char *name; /* nsec, usec, msec */
	uint64_t ns;
};

/* fio's choice for a block of figures with this least, most and deviation. */
const struct time_unit *time_unit(uint64_t min_ns, uint64_t max_ns, uint64_t stddev_ns);

/* ---- parts of the reports ---- */

/* report_text.c: the block of a job, or of a group as fio's group_reporting has it. */
void report_block(struct sink *out, const struct group_result *g, const struct group_bw *bw);
void report_latency(struct sink *out, const struct job_options *options,
		    const struct direction_result *d);
void report_spread(struct sink *out, const struct job_result *r);
/* What fio has no words for, of one job. */
void report_own(struct sink *out, const struct report_machine *machine,
		const struct group_result *job);
/* report_group.c: the same for several jobs together. */
void report_group(struct sink *out, const struct report_machine *machine,
		  const struct group_result *g);
/* report_text.c */
void report_status(struct sink *out, const struct group_result *g);
void report_result(struct sink *out, const struct report_machine *machine,
		   const struct group_result *g);
/* report_queues.c */
#define QUEUE_IRQ_TEXT_MAX 24
#define QUEUE_IRQ_WIDTH	   14 /* "msix-shared 16" */
void queue_irq_text(char buf[QUEUE_IRQ_TEXT_MAX], const struct blk_queue_info *queue);
void report_queues(struct sink *out, const struct report_machine *machine,
		   const struct blk_device *dev);
/* report_run.c: clocks, machine, boot times. */
void report_end(struct sink *out, const struct report_machine *machine);

struct json;
void json_job(struct json *j, const struct job_result *r, const struct group_bw *bw);
void json_clat(struct json *j, const struct job_options *o, const struct direction_result *d);
void json_own_run(struct json *j, const struct report_machine *machine, const char *ignored,
		  const struct job_result *results, unsigned n);
void json_counters(struct json *j, const struct blk_counters *c, uint64_t ios);
void json_queue_info(struct json *j, const struct blk_queue_info *queue);
void json_queue_map(struct json *j, const struct report_machine *machine,
		    const struct blk_device *dev);
void json_groups(struct json *j, const struct job_result *results, unsigned n);
void json_own_job(struct json *j, const struct job_result *r);

#endif
