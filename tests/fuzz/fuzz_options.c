/* SPDX-License-Identifier: BSD-2-Clause */
/* Can a command line, whatever is in it, make the parser or the plan of a job go wrong? */
#include <stdlib.h>
#include <string.h>

#include "kernel/bench/plan.h"
#include "tests/fuzz/fuzz.h"

static struct blk_device disks[] = {
	{.name = "vda", .capacity_512 = 0, .block_bytes = 512},
	{.name = "vda", .capacity_512 = 8, .block_bytes = 512},
	{.name = "vda", .capacity_512 = 4099, .block_bytes = 512},
	{.name = "vda", .capacity_512 = 131072, .block_bytes = 4096, .read_only = true},
	{.name = "vda", .capacity_512 = UINT64_MAX / 512, .block_bytes = 512},
	{.name = "vda", .capacity_512 = UINT64_MAX, .block_bytes = 4096},
};

static void check_error(const char *error, size_t size)
{
	fuzz_check(memchr(error, '\0', size) != NULL, "the message does not end");
	fuzz_check(error[0] != '\0', "no reason is given");
}

static void check_plan(const struct job_options *job, struct blk_device *disk)
{
	struct job_plan plan;
	char error[256] = "";
	uint64_t room, blocks;

	memset(error, 'x', sizeof(error));
	if (!plan_job(&plan, job, disk, error, sizeof(error))) {
		check_error(error, sizeof(error));
		return;
	}
	fuzz_check(plan.first_lba_512 <= disk->capacity_512, "the range starts past the end");
	room = disk->capacity_512 - plan.first_lba_512;
	fuzz_check(plan.block_512 > 0 && plan.nr_blocks + plan.tail_bytes > 0, "no block");
	blocks = plan.block_512 > 0 ? room / plan.block_512 : 0;
	fuzz_check(plan.nr_blocks <= blocks, "the range ends past the end");
	fuzz_check(plan.tail_bytes / 512 <= room - plan.nr_blocks * plan.block_512,
		   "the tail ends past the end");
	fuzz_check(plan.total_ios > 0, "nothing to do");
	fuzz_check(!job_rw_writes(job->rw) || !disk->read_only, "a write to a read-only disk");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run_options run;
	char *line = malloc(size + 1), error[256];
	unsigned i, k;

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	memset(error, 'x', sizeof(error));
	if (options_parse(line, &run, error, sizeof(error))) {
		fuzz_check(run.nr_jobs >= 1 && run.nr_jobs <= JOBS_MAX, "number of jobs");
		for (i = 0; i < run.nr_jobs; i++)
			for (k = 0; k < sizeof(disks) / sizeof(disks[0]); k++)
				check_plan(&run.job[i], &disks[k]);
	} else {
		check_error(error, sizeof(error));
	}
	free(line);
	return 0;
}
