/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What do the submit and complete paths cost per request? A job of the real engine against the
 * fake device in lock-step, for tools/insns-host to run under callgrind, which counts instructions.
 *
 *     hotpath OPTIONS BUFFERS     BUFFERS: that a used entry stands for, with IN_ORDER
 */
#include <stdio.h>
#include <stdlib.h>

#include "drivers/block/blk.h"
#include "drivers/pci/pci.h"
#include "kernel/bench/group.h"
#include "kernel/bench/placement.h"
#include "lib/log.h"
#include "tests/host/fake.h"

static void print(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	fwrite(text, 1, len, stderr);
}

static void on_violation(const char *text)
{
	fprintf(stderr, "hotpath: the driver broke a rule: %s\n", text);
	exit(1);
}

int main(int argc, char **argv)
{
	static struct sink sink = {.write = print};
	static const struct group_cpus cpus;
	static struct run_options run;
	static struct job_result result;
	static struct fake_disk disk;
	struct blk_device blk;
	struct pci_function fn;
	struct job_plan plan;
	char line[512], error[256];

	snprintf(line, sizeof(line), "rw=randread bs=4k iodepth=64 %s", argc > 1 ? argv[1] : "");
	log_set_sink(&sink);
	fake_reset();
	fake_on_violation(on_violation);
	fake_disk_init(&disk);
	disk.queue_size[0] = 256; /* room for all 64, as QEMU offers */
	disk.seg_max = 254;
	disk.features |= FAKE_BIT(FAKE_RING_PACKED) | FAKE_BIT(FAKE_IN_ORDER);
	disk.used_batch = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	fake_disk_plug(&disk, 0, 3, 0);
	fake_disk_caps(&disk);
	pci_init();
	if (!options_parse(line, &run, error, sizeof(error)) ||
	    pci_scan(&fn, 1, blk_is_disk) != 1 || !blk_open(&blk, &fn, 0, &run.blk) ||
	    !plan_job(&plan, &run.job[0], &blk, error, sizeof(error))) {
		fprintf(stderr, "hotpath: %s\n", error);
		return 1;
	}
	result.plan = &plan;
	placement_make(&result, 1, 1);
	if (!group_run(&result, 1, &cpus, NULL, error, sizeof(error))) {
		fprintf(stderr, "hotpath: %s\n", error);
		return 1;
	}
	printf("ios %llu batches %llu\n", (unsigned long long)result.read.ios,
	       (unsigned long long)result.counters.batches);
	blk_close(&blk);
	return result_errors(&result) != 0;
}
