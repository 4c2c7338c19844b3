/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the JSON hold that fio has no keys for? The "ringlab" objects, of the run and of a job. */
#include "drivers/virtio/features.h"
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/json.h"

#define NS_PER_US 1000u

/* What was offered, by name, and what became of it; bits without a name as "bit_30". */
static void json_features(struct json *j, const struct blk_device *dev)
{
	json_object_begin(j, "features");
	for (unsigned bit = 0; bit < 64; bit++) {
		const struct virtio_feature *f = virtio_feature_of(bit);
		char number[8];

		if (!(dev->features.offered >> bit & 1))
			continue;
		format(number, sizeof(number), "bit_%u", bit);
		json_string(j, f ? f->name : number, blk_feature_state(dev, bit));
	}
	json_object_end(j);
}

static void json_device(struct json *j, const struct report_machine *m,
			const struct blk_device *dev)
{
	json_object_begin(j, NULL);
	json_string(j, "name", dev->name);
	json_string(j, "address", dev->address);
	json_u64(j, "capacity_512", dev->capacity_512);
	json_u64(j, "block_bytes", dev->block_bytes);
	json_u64(j, "seg_max", dev->seg_max);
	json_u64(j, "size_max_bytes", dev->size_max_bytes);
	json_bool(j, "read_only", dev->read_only);
	json_bool(j, "flush", dev->flush);
	json_string(j, "cache", device_cache_mode(dev));
	json_string(j, "transport", dev->transport);
	json_string(j, "ring", dev->ring);
	json_bool(j, "event_idx", dev->event_idx);
	json_bool(j, "indirect_desc", dev->indirect_desc);
	json_u64(j, "queue_size", dev->queue_size);
	json_u64(j, "queues", dev->nr_queues);
	json_queue_map(j, m, dev);
	json_features(j, dev);
	json_object_end(j);
}

void json_own_run(struct json *j, const struct report_machine *m, const char *ignored,
		  const struct job_result *results, unsigned n)
{
	json_object_begin(j, "ringlab");
	json_string(j, "version", m->version);
	json_string(j, "accel", m->accel);
	json_string(j, "machine", m->machine);
	json_string(j, "firmware", m->firmware);
	json_string(j, "cpu", m->cpu);
	json_u64(j, "cpus", m->cpus);
	json_u64(j, "tsc_hz", m->tsc_hz);
	json_string(j, "tsc_source", m->tsc_source);
	json_bool(j, "tsc_trusted", m->tsc_trusted);
	if (m->tsc_cross_source) {
		json_string(j, "tsc_cross_source", m->tsc_cross_source);
		json_u64(j, "tsc_cross_ppm", m->tsc_cross_ppm);
	}
	if (m->cpus > 1 && m->tsc_skew_ns != UINT64_MAX) {
		json_u64(j, "tsc_skew_ns", m->tsc_skew_ns);
		json_u64(j, "tsc_skew_least_ns", m->tsc_skew_least_ns);
	}
	json_u64(j, "ram_bytes", m->ram_bytes);
	json_u64(j, "image_bytes", m->image_bytes);
	json_milli(j, "boot_to_kernel_ms", m->boot_to_kernel_ns / NS_PER_US);
	if (m->boot_to_first_io_ns)
		json_milli(j, "boot_to_first_io_ms", m->boot_to_first_io_ns / NS_PER_US);
	json_string(j, "ignored_options", ignored);
	json_array_begin(j, "devices");
	for (unsigned i = 0; i < m->nr_devices; i++)
		json_device(j, m, &m->devices[i]);
	json_array_end(j);
	json_groups(j, results, n);
	json_object_end(j);
}

/* @ios: that they are of. */
void json_counters(struct json *j, const struct blk_counters *c, uint64_t ios)
{
	json_milli(j, "kicks_per_io", per_io_milli(c->kicks, ios));
	json_milli(j, "irqs_per_io", per_io_milli(c->interrupts, ios));
	json_milli(j, "batches_per_io", per_io_milli(c->batches, ios));
	json_u64(j, "requests", c->requests);
	json_u64(j, "commands", c->commands);
	json_u64(j, "batches", c->batches);
	json_u64(j, "kicks", c->kicks);
	json_u64(j, "kicks_suppressed", c->kicks_suppressed);
	json_u64(j, "interrupts", c->interrupts);
	json_u64(j, "interrupts_spurious", c->interrupts_spurious);
	json_u64(j, "polls_empty", c->polls_empty);
	json_u64(j, "merged", 0);
	json_u64(j, "indirect_used", c->indirect);
	json_u64(j, "ring_full", c->ring_full);
	json_u64(j, "rekicks", c->rekicks);
	json_u64(j, "timeouts", c->timeouts);
	json_u64(j, "queue_resets", c->queue_resets);
}

static void json_errors(struct json *j, const struct job_result *r)
{
	json_object_begin(j, "errors");
	for (unsigned i = 0; i < BLK_STATUS_COUNT; i++) {
		if (r->errors[i])
			json_u64(j, blk_status_name(i), r->errors[i]);
	}
	json_object_end(j);
	if (result_errors(r)) {
		json_u64(j, "first_error_lba_512", r->first_error_lba_512);
		json_string(j, "first_error", blk_status_name(r->first_error));
	}
}

static void json_hash(struct json *j, const struct job_result *r)
{
	char crc[16];

	if (!r->plan->options->hash_crc32c)
		return;
	json_u64(j, "hashed_bytes", r->hashed_bytes);
	json_bool(j, "crc32c_valid", result_crc_valid(r));
	format(crc, sizeof(crc), "0x%08x", r->crc32c);
	json_string(j, "crc32c", crc);
}

void json_own_job(struct json *j, const struct job_result *r)
{
	const struct blk_device *dev = r->plan->device;

	json_object_begin(j, "ringlab");
	json_string(j, "device", dev->name);
	json_u64(j, "cpu", r->cpu);
	json_u64(j, "cpu_jobs", r->cpu_jobs);
	json_queue_info(j, &r->queue);
	json_u64(j, "sharers", r->sharers);
	json_u64(j, "irq_coalesce", dev->irq_coalesce);
	json_string(j, "ring", dev->ring);
	json_string(j, "transport", dev->transport);
	json_string(j, "indirect", result_indirect(r));
	json_bool(j, "event_idx", dev->event_idx);
	json_string(j, "cache", device_cache_mode(dev));
	json_u64(j, "queues", dev->nr_queues);
	json_u64(j, "queue_size", r->queue.size);
	json_counters(j, &r->counters, result_queue_ios(r));
	json_milli(j, "cpu_busy_pct", result_busy_milli(r));
	json_u64(j, "busy_cycles", r->busy_cycles);
	json_u64(j, "idle_cycles", r->idle_cycles);
	json_u64(j, "halted_cycles", r->halted_cycles);
	json_u64(j, "wakeups_missed", r->wakeups_missed);
	json_u64(j, "caught_awake", r->caught_awake);
	json_u64(j, "caught_halted", r->caught_halted);
	if (r->cpu_jobs < 2) /* else they are of other I/Os too */
		json_milli(j, "busy_cycles_per_io",
			   per_io_milli(r->busy_cycles, result_finished(r)));
	json_u64(j, "sgl_chunks", r->sgl_chunks);
	json_u64(j, "max_in_flight", r->max_in_flight);
	json_u64(j, "ramp_ios", r->ramp_ios);
	json_u64(j, "range_start_bytes", r->plan->first_lba_512 * 512);
	json_u64(j, "range_bytes", result_range_bytes(r));
	json_u64(j, "left_out_bytes", r->plan->left_out_bytes);
	json_bool(j, "stopped", r->stopped);
	json_errors(j, r);
	json_hash(j, r);
	json_object_end(j);
}
