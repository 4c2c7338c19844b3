/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a program read after a run? fio's JSON document: its frame, and the disks. */
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/json.h"

#define NS_PER_MS 1000000u

struct disk_sum {
	uint64_t read_ios, write_ios, runtime_ns, busy_ns;
	u128 read_ns, write_ns;
};

/* Jobs of a group ran at the same time: the disk was busy at most as long as the longest of them. */
static void disk_sum_group(struct disk_sum *sum, const struct blk_device *dev,
			   const struct job_result *job, unsigned n)
{
	uint64_t longest_ns = 0;
	u128 out_ns = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct job_result *r = &job[i];

		if (r->plan->device != dev)
			continue;
		sum->read_ios += r->read.ios;
		sum->write_ios += r->write.ios;
		sum->read_ns += r->read.clat_ns.sum;
		sum->write_ns += r->write.clat_ns.sum;
		out_ns += r->read.clat_ns.sum + r->write.clat_ns.sum;
		if (r->runtime_ns > longest_ns)
			longest_ns = r->runtime_ns;
	}
	sum->runtime_ns += longest_ns;
	sum->busy_ns += out_ns < longest_ns ? (uint64_t)out_ns : longest_ns;
}

/* Ticks are ms that requests were out, as in Linux's disk statistics; util is at most 100 %. */
static void json_disk(struct json *j, const struct blk_device *dev, const struct disk_sum *sum)
{
	json_object_begin(j, NULL);
	json_string(j, "name", dev->name);
	json_u64(j, "read_ios", sum->read_ios);
	json_u64(j, "write_ios", sum->write_ios);
	json_u64(j, "read_merges", 0);
	json_u64(j, "write_merges", 0);
	json_u64(j, "read_ticks", wide_div(sum->read_ns, NS_PER_MS));
	json_u64(j, "write_ticks", wide_div(sum->write_ns, NS_PER_MS));
	json_u64(j, "in_queue", wide_div(sum->read_ns + sum->write_ns, NS_PER_MS));
	json_milli(j, "util", share_milli(sum->busy_ns, sum->runtime_ns));
	json_object_end(j);
}

static void json_disk_util(struct json *j, const struct report_machine *machine,
			   const struct job_result *results, unsigned n)
{
	json_array_begin(j, "disk_util");
	for (unsigned i = 0; i < machine->nr_devices; i++) {
		const struct blk_device *dev = &machine->devices[i];
		struct disk_sum sum = {0};
		unsigned size;

		for (unsigned k = 0; k < n; k += size) {
			size = group_size(&results[k], n - k);
			disk_sum_group(&sum, dev, &results[k], size);
		}
		json_disk(j, dev, &sum);
	}
	json_array_end(j);
}

void report_json(struct sink *out, const struct report_machine *machine,
		 const struct run_options *run, const struct job_result *results, unsigned n)
{
	char version[48];
	unsigned size;
	struct json j;

	json_init(&j, out);
	json_object_begin(&j, NULL);
	format(version, sizeof(version), "ringlab-%s", machine->version);
	json_string(&j, "fio version", version);
	json_own_run(&j, machine, run->ignored, results, n);
	json_array_begin(&j, "jobs");
	for (unsigned i = 0; i < n; i += size) {
		struct group_bw bw;

		size = group_size(&results[i], n - i);
		bw = group_bw(group_sum(&results[i], size));
		for (unsigned k = i; k < i + size; k++)
			json_job(&j, &results[k], &bw);
	}
	json_array_end(&j);
	json_disk_util(&j, machine, results, n);
	json_object_end(&j);
}
