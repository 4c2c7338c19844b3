/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the JSON say of jobs that ran together? "groups", in the run's "ringlab" object. */
#include "kernel/bench/report.h"
#include "lib/json.h"

static void json_direction(struct json *j, const char *key, const struct group_result *g,
			   const struct direction_result *d, const struct group_rate *rate)
{
	if (d->ios == 0)
		return;
	json_object_begin(j, key);
	json_u64(j, "total_ios", d->ios);
	json_u64(j, "io_bytes", d->bytes);
	json_u64(j, "runtime", whole_ms(rate->runtime_ns));
	json_milli(j, "iops", iops_milli(d->ios, rate->runtime_ns));
	json_u64(j, "bw_bytes", bytes_per_s(d->bytes, rate->runtime_ns));
	json_u64(j, "bw_bytes_min", rate->bw_min);
	json_u64(j, "bw_bytes_max", rate->bw_max);
	json_clat(j, g->all.plan->options, d);
	json_object_end(j);
}

static void json_group(struct json *j, const struct group_result *g)
{
	const struct job_result *r = &g->all;

	json_object_begin(j, NULL);
	json_u64(j, "groupid", r->group);
	json_string(j, "jobname", r->plan->options->name);
	json_u64(j, "jobs", g->nr_jobs);
	json_u64(j, "cpus", g->nr_cpus);
	json_u64(j, "queues", g->nr_queues);
	json_u64(j, "error", (uint64_t)result_errno(r));
	json_u64(j, "errors", result_errors(r));
	json_u64(j, "runtime", whole_ms(r->runtime_ns));
	json_milli(j, "iops", iops_milli(r->read.ios + r->write.ios, r->runtime_ns));
	json_u64(j, "bw_bytes", bytes_per_s(r->read.bytes + r->write.bytes, r->runtime_ns));
	json_direction(j, "read", g, &r->read, &g->rate[0]);
	json_direction(j, "write", g, &r->write, &g->rate[1]);
	json_counters(j, &r->counters, g->queue_ios);
	json_milli(j, "cpu_busy_pct", result_busy_milli(r));
	json_milli(j, "cpu_halted_pct", result_halted_milli(r));
	json_milli(j, "busy_cycles_per_io", per_io_milli(r->busy_cycles, result_finished(r)));
	json_object_end(j);
}

void json_groups(struct json *j, const struct job_result *results, unsigned n)
{
	unsigned size;

	json_array_begin(j, "groups");
	for (unsigned i = 0; i < n; i += size) {
		size = group_size(&results[i], n - i);
		json_group(j, group_sum(&results[i], size));
	}
	json_array_end(j);
}
