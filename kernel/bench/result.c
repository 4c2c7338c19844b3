/* SPDX-License-Identifier: BSD-2-Clause */
/* Which figures follow from what a job counted? */
#include "kernel/bench/report.h"
#include "lib/mem.h"

#define NS_PER_MS 1000000u
#define NS_PER_S  1000000000u

const char *const depth_key[DEPTH_LEVELS] = {"1", "2", "4", "8", "16", "32", ">=64"};
const char *const batch_key[DEPTH_LEVELS] = {"0", "4", "8", "16", "32", "64", ">=64"};
const char *const spread_class[SPREAD_CLASSES] = {"2",	 "4",	"10",  "20",   "50",   "100",
						  "250", "500", "750", "1000", "2000", ">=2000"};

uint64_t result_errors(const struct job_result *result)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < BLK_STATUS_COUNT; i++)
		n += result->errors[i];
	return n;
}

uint64_t results_first_done_cycles(const struct job_result *results, unsigned n)
{
	uint64_t first = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t done = results[i].first_done_cycles;

		if (done && (first == 0 || done < first))
			first = done;
	}
	return first;
}

uint64_t result_finished(const struct job_result *r)
{
	return r->read.ios + r->write.ios + result_errors(r);
}

uint64_t result_queue_ios(const struct job_result *r)
{
	return r->sharers > 1 ? r->counters.requests : result_finished(r);
}

uint64_t iops_milli(uint64_t ios, uint64_t runtime_ns)
{
	return wide_div((u128)ios * 1000 * NS_PER_S + runtime_ns / 2, runtime_ns);
}

uint64_t bytes_per_s(uint64_t bytes, uint64_t runtime_ns)
{
	return wide_mul_div(bytes, NS_PER_S, runtime_ns);
}

uint64_t per_io_milli(uint64_t count, uint64_t ios)
{
	return wide_div((u128)count * 1000 + ios / 2, ios);
}

uint64_t whole_ms(uint64_t ns)
{
	return ns / NS_PER_MS + (ns % NS_PER_MS >= NS_PER_MS / 2);
}

uint64_t result_busy_milli(const struct job_result *r)
{
	return share_milli(r->busy_cycles, r->busy_cycles + r->idle_cycles);
}

uint64_t result_halted_milli(const struct job_result *r)
{
	return share_milli(r->halted_cycles, r->busy_cycles + r->idle_cycles);
}

uint64_t result_range_bytes(const struct job_result *r)
{
	return r->plan->nr_blocks * r->plan->options->bs_bytes + r->plan->tail_bytes;
}

int result_errno(const struct job_result *r)
{
	static const int number[BLK_STATUS_COUNT] = {
		[BLK_IO_ERROR] = 5,	 [BLK_UNSUPPORTED] = 95, [BLK_SHORT] = 5,
		[BLK_OUT_OF_RANGE] = 34, [BLK_UNALIGNED] = 22,	 [BLK_READ_ONLY] = 30,
		[BLK_TIMED_OUT] = 110,	 [BLK_DEVICE_GONE] = 19,
	};

	if (result_errors(r))
		return number[r->first_error];
	return r->stopped ? number[BLK_DEVICE_GONE] : 0;
}

bool result_crc_valid(const struct job_result *r)
{
	return !r->stopped && result_errors(r) == 0 && r->hashed_bytes == result_range_bytes(r);
}

const char *result_indirect(const struct job_result *r)
{
	return r->plan->device->indirect;
}

const char *device_cache_mode(const struct blk_device *dev)
{
	return dev->writeback ? "writeback" : "writethrough";
}

uint64_t share_milli(uint64_t part, uint64_t whole)
{
	uint64_t share = wide_div((u128)part * 100000 + whole / 2, whole);

	return part && whole && share == 0 ? 1 : share;
}

uint64_t sum_levels(const uint64_t level[DEPTH_LEVELS])
{
	uint64_t n = 0;

	for (unsigned i = 0; i < DEPTH_LEVELS; i++)
		n += level[i];
	return n;
}

unsigned spread_classes(unsigned unit)
{
	return unit == SPREAD_UNITS - 1 ? SPREAD_CLASSES : SPREAD_CLASSES - 2;
}

static unsigned spread_class_of(uint64_t value)
{
	static const uint64_t below[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000};
	unsigned i = 0;

	while (i < ARRAY_SIZE(below) && value >= below[i])
		i++;
	return i;
}

static void spread_add(struct latency_spread *spread, const struct histogram *h)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t value = histogram_value(i);
		unsigned unit = 0;

		for (; unit < SPREAD_UNITS - 1 && value >= 1000; unit++)
			value /= 1000;
		spread->count[unit][spread_class_of(value)] += h->count[i];
		spread->total += h->count[i];
	}
}

void result_latency_spread(const struct job_result *r, struct latency_spread *spread)
{
	memset(spread, 0, sizeof(*spread));
	spread_add(spread, &r->read.clat);
	spread_add(spread, &r->write.clat);
}

const char *mode_name(enum blk_mode mode)
{
	static const char *const name[] = {
		[BLK_POLL] = "poll", [BLK_IRQ] = "irq", [BLK_HYBRID] = "hybrid"};

	return name[mode];
}
