/* SPDX-License-Identifier: BSD-2-Clause */
/* Which derived figures and spellings do the text and the JSON report share? */
#ifndef KERNEL_BENCH_REPORT_H
#define KERNEL_BENCH_REPORT_H

#include "kernel/bench/result.h"

/* ---- result.c: figures. A rate or share of nothing is 0, never absurd ---- */

uint64_t result_finished(const struct job_result *r); /* I/Os, well or badly */
uint64_t result_iops_milli(const struct job_result *r, uint64_t ios);
uint64_t result_bytes_per_s(const struct job_result *r, uint64_t bytes);
uint64_t result_per_io_milli(const struct job_result *r, uint64_t count);
uint64_t result_runtime_ms(const struct job_result *r);
uint64_t result_busy_milli(const struct job_result *r); /* percent */
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

void report_latency(struct sink *out, const struct job_options *options,
		    const struct direction_result *d);
void report_spread(struct sink *out, const struct job_result *r);
/* What fio has no words for. */
void report_own(struct sink *out, const struct report_machine *machine, const struct job_result *r);

struct json;
void json_job(struct json *j, const struct job_result *r, unsigned index);
void json_own_run(struct json *j, const struct report_machine *machine, const char *ignored);
void json_own_job(struct json *j, const struct job_result *r);

#endif
