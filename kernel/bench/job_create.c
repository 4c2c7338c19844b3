/* SPDX-License-Identifier: BSD-2-Clause */
/* What is made ready before a job's first request? */
#include "kernel/bench/job_io.h"

static void set_batches(struct job *job)
{
	const struct job_options *o = job->plan->options;

	job->batch_submit = o->batch_submit ? o->batch_submit : o->iodepth;
	job->complete_min = o->batch_complete_min;
	job->complete_max = o->batch_complete_max ? o->batch_complete_max : o->iodepth;
	if (job->complete_max > o->iodepth)
		job->complete_max = o->iodepth;
	if (job->complete_min > job->complete_max)
		job->complete_min = job->complete_max;
}

/* Each job of a group has offsets of its own, as numjobs copies in fio; the first those of a lone job. */
static void set_kind(struct job *job, unsigned index)
{
	const struct job_options *o = job->plan->options;

	job->is_mixed = job_rw_reads(o->rw) && job_rw_writes(o->rw);
	job->writes = job_rw_writes(o->rw);
	job->write_share = ((100ull - o->rwmixread) << 32) / 100;
	random_seed(&job->random, o->randseed + index * 0x9e3779b97f4a7c15ull);
}

static void set_requests(struct job *job)
{
	struct request_set *set = &job->set;
	uint8_t op = job_rw_reads(job->plan->options->rw) ? BLK_READ : BLK_WRITE;

	job->free = set->lists;
	job->held = set->lists + set->n;
	job->free_batches = set->free_batches;
	for (unsigned i = 0; i <= set->n; i++) {
		set->batches[i].job = job;
		job->free_batches[job->nr_free_batches++] = &set->batches[i];
	}
	for (unsigned i = 0; i < set->n; i++) {
		set->pool[i].op = op;
		blk_prepare(job->port->queue, &set->pool[i]);
		job->free[job->nr_free++] = &set->pool[i];
	}
}

bool job_create(struct job *job, struct job_result *result, unsigned index, struct blk_port *port,
		const struct cpu_usage *usage)
{
	*job = (struct job){.plan = result->plan, .result = result, .port = port};
	job->window = (struct window){.result = result, .port = port, .usage = usage};
	record_reset(result);
	if (!requests_create(&job->set, job->plan))
		return false;
	result->sgl_chunks = job->set.chunks.taken;
	job->left = job->shown_left = job->plan->total_ios;
	set_batches(job);
	set_kind(job, index);
	set_requests(job);
	pace_init(&job->pace, job->plan->options, 0);
	if (job->plan->options->hash_crc32c) {
		job->hash = &job->hash_state;
		hash_init(job);
	}
	job->unusual = job->is_mixed || job->hash || job->pace.on;
	job_choose_place(job);
	return true;
}

void job_destroy(struct job *job)
{
	requests_destroy(&job->set);
}

uint64_t job_memory_bytes(const struct job_plan *plan)
{
	return sizeof(struct job) + requests_memory_bytes(plan);
}

void job_start(struct job *job, uint64_t now)
{
	pace_init(&job->pace, job->plan->options, now);
	window_open(&job->window, now);
}
