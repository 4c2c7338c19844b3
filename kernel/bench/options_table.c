/* SPDX-License-Identifier: BSD-2-Clause */
/* Which options are there? One line each: key, what it holds, what is valid. */
#include "kernel/bench/options_table.h"

#include "kernel/bench/options.h"
#include "kernel/bench/options_values.h"
#include "lib/mem.h"

#define KEY_MAX	      32
#define DISTANCE_MAX  2
#define YEAR_NS	      (365ull * 24 * 3600 * 1000000000)
#define RATE_MAX      1000000000ull
#define SIZE_TEXT     "a size above 0, such as 64m, or a share of the disk, 1% to 100%"
#define OFFSET_TEXT   "a size, such as 64m, or a share of the disk, 0% to 100%"
#define TIME_TEXT     "a time up to 365d, such as 10 (seconds), 500ms or 2m"
#define DEPTH_TEXT    "0 to 1024"
#define ANY_U64	      "0 to 18446744073709551615"
#define JOB(k, field) .key = (k), .scope = OPTION_JOB, .offset = offsetof(struct job_options, field)
#define RUN(k, field) .key = (k), .scope = OPTION_RUN, .offset = offsetof(struct run_options, field)
#define ALIAS(k, of)                         \
	{                                    \
		.key = (k), .alias_of = (of) \
	}
#define ONLY(k, text)                                                           \
	{                                                                       \
		.key = (k), .scope = OPTION_ONLY, .flag = true, .valid = (text) \
	}
#define IGNORED(k)                                                \
	{                                                         \
		.key = (k), .scope = OPTION_IGNORED, .flag = true \
	}

static const struct option table[] = {
	/* fio's: what to do */
	{JOB("name", name), .parse = value_name, .max = JOB_NAME_MAX - 1,
	 .valid = "1 to 63 printable characters"},
	{JOB("filename", filename), .parse = value_filename, .max = 15,
	 .valid = "one disk, such as vda or /dev/vda"},
	{JOB("rw", rw), .parse = value_choice, .min = RW_MIXED, .max = RW_RANDMIXED,
	 .valid = "read|write|randread|randwrite|rw|randrw|readwrite"},
	ALIAS("readwrite", "rw"),
	{JOB("bs", bs_bytes), .parse = value_size32, .min = 1, .max = 1u << 30,
	 .valid = "a size up to 1g, such as 4k, in whole blocks of the disk"},
	ALIAS("blocksize", "bs"),
	{JOB("rwmixread", rwmixread), .parse = value_u32, .max = 100, .valid = "0 to 100"},
	{JOB("randseed", randseed), .parse = value_u64, .max = UINT64_MAX, .valid = ANY_U64},
	/* where, and how much */
	{JOB("offset", offset), .parse = value_extent, .valid = OFFSET_TEXT},
	{JOB("size", size), .parse = value_extent, .min = 1, .valid = SIZE_TEXT},
	{JOB("io_size", io_size_bytes), .parse = value_size64, .max = UINT64_MAX,
	 .valid = "a size, such as 1g"},
	ALIAS("io_limit", "io_size"),
	{JOB("number_ios", number_ios), .parse = value_u64, .max = UINT64_MAX, .valid = ANY_U64},
	/* how long */
	{JOB("runtime", runtime_ns), .parse = value_time, .max = YEAR_NS, .valid = TIME_TEXT},
	ALIAS("timeout", "runtime"),
	{JOB("ramp_time", ramp_time_ns), .parse = value_time, .max = YEAR_NS, .valid = TIME_TEXT},
	{JOB("time_based", time_based), .parse = value_bool, .flag = true, .valid = "0|1"},
	{JOB("stonewall", stonewall), .parse = value_bool, .flag = true, .valid = "0|1"},
	ALIAS("wait_for_previous", "stonewall"),
	/* how many at once */
	{JOB("iodepth", iodepth), .parse = value_u32, .min = 1, .max = IODEPTH_MAX,
	 .valid = "1 to 1024"},
	{JOB("iodepth_batch_submit", batch_submit), .parse = value_u32, .max = IODEPTH_MAX,
	 .valid = DEPTH_TEXT},
	ALIAS("iodepth_batch", "iodepth_batch_submit"),
	{JOB("iodepth_batch_complete_min", batch_complete_min), .parse = value_u32,
	 .max = IODEPTH_MAX, .valid = DEPTH_TEXT},
	ALIAS("iodepth_batch_complete", "iodepth_batch_complete_min"),
	{JOB("iodepth_batch_complete_max", batch_complete_max), .parse = value_u32,
	 .max = IODEPTH_MAX, .valid = DEPTH_TEXT},
	/* how many jobs, where, and how fast at the most */
	{JOB("numjobs", numjobs), .parse = value_u32, .min = 1, .max = NUMJOBS_MAX,
	 .valid = "1 to 64"},
	{JOB("cpus_allowed", cpus_allowed), .parse = value_cpus, .max = CPUS_MAX - 1,
	 .valid = "CPUs below 256, such as 0,2-4"},
	{JOB("cpus_allowed_policy", cpus_split), .parse = value_choice_bool,
	 .valid = "shared|split"},
	{JOB("hipri", hipri), .parse = value_hipri, .flag = true, .valid = "0|1"},
	{JOB("rate_iops", rate_iops), .parse = value_rates, .max = RATE_MAX,
	 .valid = "requests a second up to 1000000000, or those of reads and writes, N,M"},
	{JOB("thinktime", thinktime_ns), .parse = value_time_us, .max = YEAR_NS,
	 .valid = "a time up to 365d, such as 100 (microseconds), 5ms or 1s"},
	{JOB("thinktime_blocks", thinktime_blocks), .parse = value_u32, .min = 1, .max = UINT32_MAX,
	 .valid = "1 to 4294967295"},
	/* what is reported */
	{.key = "percentile_list",
	 .scope = OPTION_JOB,
	 .parse = value_percentiles,
	 .valid = "up to 20 numbers above 0 and up to 100, such as 50:99:99.9"},
	{RUN("output-format", output), .parse = value_choice, .min = OUTPUT_BOTH,
	 .max = OUTPUT_BOTH, .valid = "normal|json|normal,json|json,normal"},
	{RUN("status-interval", status_interval_ns), .parse = value_time, .max = YEAR_NS,
	 .valid = TIME_TEXT},
	{RUN("eta", progress), .parse = value_eta, .valid = "auto|always|never"},
	/* ours */
	{JOB("hash", hash_crc32c), .parse = value_hash, .valid = "crc32c"},
	{JOB("buffers", scatter), .parse = value_choice_bool, .valid = "contiguous|scattered"},
	{RUN("log", log_level), .parse = value_log_level, .valid = "error|warn|info|debug"},
	{RUN("blk.mode", blk.mode), .parse = value_choice, .max = BLK_HYBRID,
	 .valid = "poll|irq|hybrid"},
	{RUN("blk.irq_coalesce", blk.irq_coalesce), .parse = value_u32, .min = 1, .max = 32768,
	 .valid = "1 to 32768"},
	{RUN("blk.irq", blk.irq), .parse = value_choice, .max = BLK_IRQ_INTX,
	 .valid = "auto|msix|msix-shared|intx"},
	{RUN("blk.queues", blk.queues), .parse = value_u32, .max = BLK_QUEUES_MAX,
	 .valid = "0 (one for each CPU) to 65535"},
	{RUN("blk.poll_queues", blk.poll_queues), .parse = value_u32, .max = BLK_QUEUES_MAX - 1,
	 .valid = "0 to 65534"},
	{RUN("blk.ring", blk.ring), .parse = value_choice, .max = BLK_RING_PACKED,
	 .valid = "auto|split|packed"},
	{RUN("blk.indirect", blk), .parse = value_indirect, .max = 32768,
	 .valid = "auto|never|always|threshold|threshold:auto|threshold:1 to 32768"},
	{RUN("blk.event_idx", blk.event_idx), .parse = value_choice, .max = BLK_EVENT_IDX_AUTO,
	 .valid = "0|1|auto"},
	{RUN("blk.qsize", blk.qsize), .parse = value_qsize, .min = 3, .max = 32768,
	 .valid = "0 (what the device offers) or 3 to 32768; in a split ring a power of two"},
	{RUN("blk.timeout_ms", blk.timeout_ns), .parse = value_timeout_ms, .min = 1,
	 .max = 86400000, .valid = "1 to 86400000"},
	{RUN("blk.recover", blk.recover), .parse = value_choice, .max = BLK_RECOVER_QUEUE,
	 .valid = "device|queue"},
	{RUN("virtio.transport", blk.transport), .parse = value_choice, .max = VIRTIO_LEGACY,
	 .valid = "auto|modern|legacy"},
	{RUN("alloc", alloc_high), .parse = value_choice_bool, .valid = "low|high"},
	{RUN("debug.crash", crash), .parse = value_choice, .max = CRASH_KINDS,
	 .valid = "no|read-null|stack|write-text|run-data|undefined|panic"},
	{RUN("debug.crash_cpu", crash_cpu), .parse = value_u32, .max = 255, .valid = "0 to 255"},
	/* known, and would change the figures: so no other value than the one that is done */
	ONLY("loops", "1"),
	ONLY("randrepeat", "1"),
	ONLY("blk.merge", "off"),
	ONLY("exitall", "0"),
	ONLY("sync", "0|none"),
	ONLY("fsync", "0"),
	ONLY("fdatasync", "0"),
	ONLY("rate", "0"),
	ONLY("verify", "0"),
	ONLY("gtod_reduce", "0"),
	ONLY("disable_lat", "0"),
	ONLY("disable_clat", "0"),
	ONLY("disable_slat", "0"),
	ONLY("disable_bw_measurement", "0"),
	/* fio's, and without a meaning here */
	IGNORED("ioengine"),
	IGNORED("direct"),
	IGNORED("buffered"),
	IGNORED("invalidate"),
	IGNORED("thread"),
	IGNORED("group_reporting"),
	IGNORED("norandommap"),
	IGNORED("registerfiles"),
	IGNORED("fixedbufs"),
	IGNORED("sqthread_poll"),
	IGNORED("nonvectored"),
	IGNORED("iomem"),
	IGNORED("mem"),
	IGNORED("prio"),
	IGNORED("nice"),
	IGNORED("fallocate"),
	IGNORED("clocksource"),
	IGNORED("description"),
};

const struct option *option_find(const char *key)
{
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		if (str_eq(table[i].key, key))
			return table[i].alias_of ? option_find(table[i].alias_of) : &table[i];
	}
	return NULL;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Levenshtein's: inserts, deletions and replacements, each for 1. */
unsigned option_distance(const char *a, const char *b)
{
	size_t len_a = strlen(a), len_b = strlen(b);
	unsigned row[KEY_MAX];

	for (unsigned j = 0; j <= len_b; j++)
		row[j] = j;
	for (unsigned i = 1; i <= len_a; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= len_b; j++) {
			unsigned above = row[j];

			row[j] = min3(row[j - 1] + 1, above + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[len_b];
}

const char *option_suggest(const char *key)
{
	unsigned best = DISTANCE_MAX + 1;
	const char *found = NULL;

	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		unsigned distance = option_distance(key, table[i].key);

		if (distance < best && distance < strlen(key)) {
			best = distance;
			found = table[i].key;
		}
	}
	return found;
}
