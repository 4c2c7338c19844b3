/* SPDX-License-Identifier: BSD-2-Clause */
/* How does one job read in JSON? Every key that fio 3.33 writes, with fio's units. */
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/json.h"
#include "lib/mem.h"

/* Fields of trim and sync, which no job does: always empty, and in no image file (.bss). */
static struct direction_result nothing;

static void json_stat(struct json *j, const char *key, const struct stat *s)
{
	json_object_begin(j, key);
	json_u64(j, "min", stat_min(s));
	json_u64(j, "max", s->max);
	json_milli(j, "mean", stat_mean_milli(s));
	json_milli(j, "stddev", stat_stddev_milli(s));
	json_u64(j, "N", s->n);
}

static void json_latency(struct json *j, const char *key, const struct stat *s)
{
	json_stat(j, key, s);
	json_object_end(j);
}

void json_clat(struct json *j, const struct job_options *o, const struct direction_result *d)
{
	json_stat(j, "clat_ns", &d->clat_ns);
	if (d->clat_ns.n && o->nr_percentiles) {
		json_object_begin(j, "percentile");
		for (unsigned i = 0; i < o->nr_percentiles; i++) {
			uint64_t micro = o->percentile_micro[i];
			char key[24];

			format(key, sizeof(key), "%u.%06u", (unsigned)(micro / 1000000),
			       (unsigned)(micro % 1000000));
			json_u64(j, key,
				 histogram_percentile(&d->clat, micro, stat_min(&d->clat_ns),
						      d->clat_ns.max));
		}
		json_object_end(j);
	}
	json_object_end(j);
}

static void json_samples(struct json *j, const struct direction_result *d, uint64_t group_bw)
{
	json_u64(j, "bw_min", stat_min(&d->bw_kib));
	json_u64(j, "bw_max", d->bw_kib.max);
	json_milli(j, "bw_agg", samples_share_milli(stat_mean_milli(&d->bw_kib), group_bw));
	json_milli(j, "bw_mean", stat_mean_milli(&d->bw_kib));
	json_milli(j, "bw_dev", stat_stddev_milli(&d->bw_kib));
	json_u64(j, "bw_samples", d->bw_kib.n);
	json_u64(j, "iops_min", stat_min(&d->iops));
	json_u64(j, "iops_max", d->iops.max);
	json_milli(j, "iops_mean", stat_mean_milli(&d->iops));
	json_milli(j, "iops_stddev", stat_stddev_milli(&d->iops));
	json_u64(j, "iops_samples", d->iops.n);
}

static void json_direction(struct json *j, const char *key, const struct job_result *r,
			   const struct direction_result *d, uint64_t group_bw)
{
	uint64_t bw_bytes = bytes_per_s(d->bytes, r->runtime_ns);

	json_object_begin(j, key);
	json_u64(j, "io_bytes", d->bytes);
	json_u64(j, "io_kbytes", d->bytes / 1024);
	json_u64(j, "bw_bytes", bw_bytes);
	json_u64(j, "bw", bw_bytes / 1024);
	json_milli(j, "iops", iops_milli(d->ios, r->runtime_ns));
	json_u64(j, "runtime", d->ios ? whole_ms(r->runtime_ns) : 0);
	json_u64(j, "total_ios", d->ios);
	json_u64(j, "short_ios", d == &r->read ? r->errors[BLK_SHORT] : 0);
	json_u64(j, "drop_ios", 0);
	json_latency(j, "slat_ns", &d->slat_ns);
	json_clat(j, r->plan->options, d);
	json_latency(j, "lat_ns", &d->lat_ns);
	json_samples(j, d, group_bw);
	json_object_end(j);
}

static void json_levels(struct json *j, const char *key, const char *const name[DEPTH_LEVELS],
			const uint64_t level[DEPTH_LEVELS])
{
	uint64_t total = sum_levels(level);

	json_object_begin(j, key);
	for (unsigned i = 0; i < DEPTH_LEVELS; i++)
		json_milli(j, name[i], share_milli(level[i], total));
	json_object_end(j);
}

static void json_spread(struct json *j, const struct job_result *r)
{
	static const char *const key[SPREAD_UNITS] = {"latency_ns", "latency_us", "latency_ms"};
	struct latency_spread spread;

	result_latency_spread(r, &spread);
	for (unsigned unit = 0; unit < SPREAD_UNITS; unit++) {
		json_object_begin(j, key[unit]);
		for (unsigned i = 0; i < spread_classes(unit); i++)
			json_milli(j, spread_class[i],
				   share_milli(spread.count[unit][i], spread.total));
		json_object_end(j);
	}
}

/* All values are strings, and readers count on rw, bs, iodepth and numjobs. */
static void json_job_options(struct json *j, const struct job_options *o)
{
	char number[24];

	json_object_begin(j, "job options");
	for (unsigned i = 0; i < o->nr_given; i++)
		json_string(j, o->given[i].key, o->given[i].value);
	if (!job_given_value(o, "rw"))
		json_string(j, "rw", job_rw_name(o->rw));
	if (!job_given_value(o, "bs")) {
		format(number, sizeof(number), "%u", o->bs_bytes);
		json_string(j, "bs", number);
	}
	if (!job_given_value(o, "iodepth")) {
		format(number, sizeof(number), "%u", o->iodepth);
		json_string(j, "iodepth", number);
	}
	if (!job_given_value(o, "numjobs"))
		json_string(j, "numjobs", "1");
	json_object_end(j);
}

static void json_sync(struct json *j)
{
	json_object_begin(j, "sync");
	json_u64(j, "total_ios", 0);
	json_latency(j, "lat_ns", &nothing.lat_ns);
	json_object_end(j);
}

static void json_cpu(struct json *j, const struct job_result *r)
{
	json_u64(j, "job_runtime", whole_ms(r->runtime_ns));
	json_milli(j, "usr_cpu", result_busy_milli(r));
	json_milli(j, "sys_cpu", 0);
	json_u64(j, "ctx", 0);
	json_u64(j, "majf", 0);
	json_u64(j, "minf", 0);
}

void json_job(struct json *j, const struct job_result *r, const struct group_bw *bw)
{
	const struct job_options *o = r->plan->options;

	json_object_begin(j, NULL);
	json_string(j, "jobname", o->name);
	json_u64(j, "groupid", r->group);
	json_u64(j, "error", (uint64_t)result_errno(r));
	json_u64(j, "eta", 0);
	json_u64(j, "elapsed", (whole_ms(r->runtime_ns) + 999) / 1000);
	json_job_options(j, o);
	json_direction(j, "read", r, &r->read, bw->bytes_per_s[0]);
	json_direction(j, "write", r, &r->write, bw->bytes_per_s[1]);
	json_direction(j, "trim", r, &nothing, 0);
	json_sync(j);
	json_cpu(j, r);
	json_levels(j, "iodepth_level", depth_key, r->depth_level);
	json_levels(j, "iodepth_submit", batch_key, r->submit_level);
	json_levels(j, "iodepth_complete", batch_key, r->complete_level);
	json_spread(j, r);
	json_u64(j, "latency_depth", o->iodepth);
	json_u64(j, "latency_target", 0);
	json_milli(j, "latency_percentile", 100000);
	json_u64(j, "latency_window", 0);
	json_own_job(j, r);
	json_object_end(j);
}
