/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a job fit this disk, and which blocks does it touch? All sums in sectors of 512 bytes. */
#include "kernel/bench/plan.h"

#include "lib/format.h"
#include "lib/wide.h"

#define SECTOR		  512
#define MICRO_PER_HUNDRED 100000000ull

struct planner {
	struct job_plan *plan;
	const struct job_options *options;
	const struct blk_device *device;
	char *error;
	size_t error_size;
};

static bool __attribute__((format(printf, 2, 3))) fail(struct planner *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_v(p->error, p->error_size, fmt, ap);
	va_end(ap);
	return false;
}

/* @share of the disk in bytes, rounded down to whole blocks of bs. */
static uint64_t share_of_disk_bytes(const struct planner *p, uint64_t share_micro)
{
	uint64_t block_512 = p->plan->block_512;
	u128 part = (u128)p->device->capacity_512 * share_micro;

	return wide_div(part, MICRO_PER_HUNDRED * block_512) * block_512 * SECTOR;
}

static uint64_t extent_bytes(const struct planner *p, const struct extent *extent)
{
	return extent->percent ? share_of_disk_bytes(p, extent->value) : extent->value;
}

static bool check_block_size(struct planner *p)
{
	const struct blk_device *dev = p->device;
	uint32_t bs = p->options->bs_bytes;

	if (bs % dev->block_bytes || bs % SECTOR)
		return fail(p, "bs=%u: not a multiple of the %u-byte blocks of %s", bs,
			    dev->block_bytes, dev->name);
	p->plan->block_512 = bs / SECTOR;
	return true;
}

static bool check_device(struct planner *p)
{
	const struct blk_device *dev = p->device;

	if (dev->block_bytes == 0)
		return fail(p, "%s: has a block size of 0 bytes", dev->name);
	if (dev->capacity_512 == 0)
		return fail(p, "%s: has no sectors", dev->name);
	/* So that every place on the disk has a byte address. */
	if (dev->capacity_512 > UINT64_MAX / SECTOR)
		return fail(p, "%s: a capacity of %llu sectors is beyond 2^64 bytes", dev->name,
			    (unsigned long long)dev->capacity_512);
	if (dev->read_only && job_rw_writes(p->options->rw))
		return fail(p, "rw=%s: %s is read-only", job_rw_name(p->options->rw), dev->name);
	return true;
}

static bool plan_offset(struct planner *p)
{
	const struct blk_device *dev = p->device;
	uint64_t offset = extent_bytes(p, &p->options->offset);
	unsigned long long shown = offset;

	if (offset % dev->block_bytes || offset % SECTOR)
		return fail(p, "offset=%llu: not a multiple of the %u-byte blocks of %s", shown,
			    dev->block_bytes, dev->name);
	if (offset / SECTOR >= dev->capacity_512)
		return fail(p, "offset=%llu: not below the %llu bytes of %s", shown,
			    (unsigned long long)dev->capacity_512 * SECTOR, dev->name);
	p->plan->first_lba_512 = offset / SECTOR;
	return true;
}

/* size=100% is all that is left after offset, as in fio; so is no size. */
static bool size_is_the_rest(const struct extent *size)
{
	return !size->set || (size->percent && size->value == MICRO_PER_HUNDRED);
}

static bool plan_range(struct planner *p)
{
	struct job_plan *plan = p->plan;
	const struct job_options *o = p->options;
	const struct blk_device *dev = p->device;
	uint64_t left = (dev->capacity_512 - plan->first_lba_512) * SECTOR;
	uint64_t bytes = size_is_the_rest(&o->size) ? left : extent_bytes(p, &o->size);

	if (bytes > left)
		return fail(p, "size=%llu: only %llu of the %llu bytes of %s are left after offset",
			    (unsigned long long)bytes, (unsigned long long)left,
			    (unsigned long long)dev->capacity_512 * SECTOR, dev->name);
	plan->nr_blocks = bytes / o->bs_bytes;
	plan->left_out_bytes = bytes % o->bs_bytes;
	if (o->hash_crc32c) {
		plan->tail_bytes = (uint32_t)plan->left_out_bytes;
		plan->tail_bytes -= plan->tail_bytes % dev->block_bytes;
		plan->tail_bytes -= plan->tail_bytes % SECTOR;
		plan->left_out_bytes -= plan->tail_bytes;
	}
	if (plan->nr_blocks == 0 && plan->tail_bytes == 0)
		return fail(p, "bs=%u: not one block fits in the range of %llu bytes on %s",
			    o->bs_bytes, (unsigned long long)bytes, dev->name);
	return true;
}

/* A checksum is of the whole range, once: nothing may cut it short or repeat it. */
static bool check_hash(struct planner *p)
{
	const struct job_options *o = p->options;
	const char *clash = o->time_based		 ? "time_based"
			    : o->runtime_ns		 ? "runtime"
			    : o->ramp_time_ns		 ? "ramp_time"
			    : o->io_size_bytes		 ? "io_size"
			    : o->number_ios		 ? "number_ios"
			    : o->batch_submit		 ? "iodepth_batch_submit"
			    : o->batch_complete_min != 1 ? "iodepth_batch_complete_min"
			    : o->batch_complete_max	 ? "iodepth_batch_complete_max"
							 : NULL;

	if (!o->hash_crc32c)
		return true;
	if (o->rw != RW_READ)
		return fail(p, "hash=crc32c: needs rw=read, not rw=%s", job_rw_name(o->rw));
	if (clash)
		return fail(
			p, "hash=crc32c: reads its range once, at full depth; %s cannot go with it",
			clash);
	return true;
}

/*
 * fio: io_size counts begun blocks; number_ios only ever makes a job shorter, and is of those after the
 * ramp time; time_based beats both.
 */
static bool plan_total(struct planner *p)
{
	struct job_plan *plan = p->plan;
	const struct job_options *o = p->options;
	uint64_t blocks = o->io_size_bytes / o->bs_bytes + (o->io_size_bytes % o->bs_bytes != 0);

	if (o->time_based && o->runtime_ns == 0)
		return fail(p, "time_based: needs a runtime, such as runtime=10");
	if (o->time_based) {
		plan->total_ios = plan->counted_ios = UINT64_MAX;
		return true;
	}
	plan->total_ios = o->io_size_bytes ? blocks : plan->nr_blocks + (plan->tail_bytes != 0);
	plan->counted_ios = o->number_ios ? o->number_ios : UINT64_MAX;
	if (o->ramp_time_ns == 0 && plan->counted_ios < plan->total_ios)
		plan->total_ios = plan->counted_ios;
	return true;
}

bool plan_job(struct job_plan *plan, const struct job_options *options, struct blk_device *device,
	      char *error, size_t error_size)
{
	struct planner p = {plan, options, device, error, error_size};

	*plan = (struct job_plan){.options = options, .device = device};
	return check_device(&p) && check_block_size(&p) && check_hash(&p) && plan_offset(&p) &&
	       plan_range(&p) && plan_total(&p);
}
