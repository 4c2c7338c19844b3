/* SPDX-License-Identifier: BSD-2-Clause */
/* How do options become jobs, jobs results, and results a report? */
#include "kernel/run.h"

#include <arch/machine.h>

#include "kernel/bench/group.h"
#include "kernel/bench/options_feature.h"
#include "kernel/bench/placement.h"
#include "kernel/bench/report.h"
#include "kernel/console.h"
#include "kernel/identity.h"
#include "lib/format.h"
#include "lib/log.h"
#include "lib/mem.h"

#define PROGRESS_NS 1000000000ull

static struct job_plan plans[JOBS_MAX];

static bool has_queues(const struct blk_config *config, const struct blk_device *disk, char *error,
		       size_t error_size)
{
	if (config->queues > disk->max_queues) {
		format(error, error_size, "blk.queues=%u: %s has %u queue%s", config->queues,
		       disk->name, disk->max_queues, disk->max_queues == 1 ? "" : "s");
		return false;
	}
	if (config->poll_queues >= disk->nr_queues) {
		format(error, error_size, "blk.poll_queues=%u: leaves none of the %u queue%s of %s",
		       config->poll_queues, disk->nr_queues, disk->nr_queues == 1 ? "" : "s",
		       disk->name);
		return false;
	}
	if (disk->irq_refused) {
		format(error, error_size,
		       "blk.irq=msix: %s: not a vector for each queue: %s; use blk.irq=auto",
		       disk->name, disk->irq_refused);
		return false;
	}
	return true;
}

static bool transport_honoured(const struct blk_config *config, const struct blk_device *disk,
			       char *error, size_t error_size)
{
	bool legacy = str_eq(disk->transport, "legacy");

	if (config->transport == (legacy ? VIRTIO_MODERN : VIRTIO_LEGACY)) {
		format(error, error_size,
		       "virtio.transport=%s: %s %s has only the %s interface; use "
		       "virtio.transport=auto",
		       legacy ? "modern" : "legacy", disk->name, disk->address, disk->transport);
		return false;
	}
	if (legacy && config->qsize && config->qsize != disk->queue_size) {
		format(error, error_size,
		       "blk.qsize=%u: the size of a legacy queue is fixed: %u on %s %s; use "
		       "blk.qsize=0",
		       config->qsize, disk->queue_size, disk->name, disk->address);
		return false;
	}
	return true;
}

static bool size_honoured(const struct blk_config *config, const struct blk_device *disk,
			  char *error, size_t error_size)
{
	if (config->qsize > disk->queue_size) {
		format(error, error_size, "blk.qsize=%u: %s offers a queue of %u", config->qsize,
		       disk->name, disk->queue_size);
		return false;
	}
	if (config->qsize && config->qsize != disk->queue_size) {
		format(error, error_size,
		       "blk.qsize=%u: %s has a split ring, whose size is a power of two, at least "
		       "4; or use blk.ring=packed",
		       config->qsize, disk->name);
		return false;
	}
	return true;
}

static bool ring_honoured(const struct blk_config *config, const struct blk_device *disk,
			  char *error, size_t error_size)
{
	if (config->event_idx == BLK_EVENT_IDX_ON && !disk->event_idx) {
		format(error, error_size,
		       "blk.event_idx=1: %s does not offer EVENT_IDX; use blk.event_idx=auto",
		       disk->name);
		return false;
	}
	if (config->indirect > BLK_INDIRECT_NEVER && !disk->indirect_desc) {
		format(error, error_size,
		       "blk.indirect=%s: %s does not offer indirect descriptors; use "
		       "blk.indirect=never",
		       disk->indirect, disk->name);
		return false;
	}
	if (config->ring == BLK_RING_PACKED && !str_eq(disk->ring, "packed")) {
		format(error, error_size,
		       "blk.ring=packed: %s has a split ring only; use blk.ring=split or auto",
		       disk->name);
		return false;
	}
	return true;
}

static bool recovery_honoured(const struct blk_config *config, const struct blk_device *disk,
			      char *error, size_t error_size)
{
	if (config->recover != BLK_RECOVER_QUEUE || disk->features.accepted & VIRTIO_F_RING_RESET)
		return true;
	format(error, error_size,
	       "blk.recover=queue: %s %s: RING_RESET, which that needs, is not accepted; use "
	       "blk.recover=device",
	       disk->name, disk->address);
	return false;
}

/* What the driver was asked for and this disk cannot do is an error, not a silent other thing. */
static bool device_honours(const struct blk_config *config, const struct blk_device *disk,
			   char *error, size_t error_size)
{
	return has_queues(config, disk, error, error_size) &&
	       transport_honoured(config, disk, error, error_size) &&
	       features_honoured(config, disk, error, error_size) &&
	       recovery_honoured(config, disk, error, error_size) &&
	       size_honoured(config, disk, error, error_size) &&
	       ring_honoured(config, disk, error, error_size);
}

/* vda, vdb, … of those on the bus: whether @name is one that could not be used. */
static bool is_unusable(const struct disks *disks, const char *name)
{
	return strlen(name) == 3 && strncmp(name, "vd", 2) == 0 && name[2] >= 'a' &&
	       (unsigned)(name[2] - 'a') < disks->found;
}

static enum exit_status names_no_disk(const struct disks *disks, const char *name, char *error,
				      size_t error_size)
{
	int n;

	if (is_unusable(disks, name)) {
		format(error, error_size, "filename=%s: this disk cannot be used, see above", name);
		return EXIT_NO_DEVICE;
	}
	n = format(error, error_size, "filename=%s: no such disk; there is", name);
	for (unsigned i = 0; i < disks->n && (size_t)n < error_size; i++)
		n += format(error + n, error_size - (size_t)n, " %s", disks->disk[i].name);
	return EXIT_USAGE;
}

/* What job @last takes of memory, and those that run at the same time and come before it. The results
 * of all are there from the first on. */
static uint64_t group_need_bytes(const struct run_options *run, unsigned last)
{
	uint64_t need = (uint64_t)options_count_jobs(run) * sizeof(struct job_result);
	unsigned jobs = 0;

	for (unsigned i = last + 1; i-- > 0;) {
		need += run->job[i].numjobs * job_memory_bytes(&plans[i]);
		jobs += run->job[i].numjobs;
		if (run->job[i].stonewall)
			break;
	}
	return need + group_memory_bytes(jobs);
}

static bool enough_memory(const struct run_options *run, unsigned last, char *error,
			  size_t error_size)
{
	const struct job_options *o = &run->job[last];
	uint64_t need = group_need_bytes(run, last);
	struct memory_stats stats;

	memory_stats(&stats);
	if (need <= stats.free_bytes)
		return true;
	format(error, error_size,
	       "iodepth=%u bs=%u numjobs=%u: buffers need %llu MiB, %llu MiB are free", o->iodepth,
	       o->bs_bytes, o->numjobs, (unsigned long long)(need >> 20),
	       (unsigned long long)(stats.free_bytes >> 20));
	return false;
}

enum exit_status run_plan(const struct run_options *run, struct disks *disks, char *error,
			  size_t error_size)
{
	for (unsigned i = 0; i < run->nr_jobs; i++) {
		const struct job_options *job = &run->job[i];
		struct blk_device *disk = disks_find(disks, job->filename);

		if (!disk)
			return names_no_disk(disks, job->filename, error, error_size);
		if (!device_honours(&run->blk, disk, error, error_size) ||
		    !plan_job(&plans[i], job, disk, error, error_size) ||
		    !placement_check(&plans[i], cpus_count(), error, error_size) ||
		    !enough_memory(run, i, error, error_size))
			return EXIT_USAGE;
	}
	return EXIT_OK;
}

static void show_progress(const struct progress *p)
{
	char left[32] = "unknown", name[JOB_NAME_MAX];
	uint64_t iops = p->elapsed_ns ? wide_mul_div(p->ios, 1000000000, p->elapsed_ns) : 0;

	if (!console_ready())
		return;
	if (p->left_ns != UINT64_MAX)
		format(left, sizeof(left), "%llus", (unsigned long long)(p->left_ns / 1000000000));
	console_patient(false);
	progress_name(name, sizeof(name), p);
	sink_printf(console(), "%s: %u%% done, %llu IOPS, ETA %s\n", name, p->percent,
		    (unsigned long long)iops, left);
	console_patient(true);
}

static void report(const struct run_options *run, struct report_machine *machine,
		   const struct job_result *results, unsigned n)
{
	struct sink *json = console_json(), *out = console();

	uint64_t first = results_first_done_cycles(results, n);

	identity_clock(machine);
	if (first)
		machine->boot_to_first_io_ns = cycles_to_ns(first - machine->entry_cycles);
	if (run->output != OUTPUT_JSON)
		report_text(out, machine, results, n);
	if (run->output == OUTPUT_NORMAL)
		return;
	if (json) {
		report_json(json, machine, run, results, n);
		return;
	}
	sink_puts(out, "ringlab-json-begin\n");
	report_json(out, machine, run, results, n);
	sink_puts(out, "ringlab-json-end\n");
}

/* One for each copy of each job, in order; each stonewall starts the next group. */
static void name_results(const struct run_options *run, struct job_result *results)
{
	unsigned group = 0;

	for (unsigned i = 0; i < run->nr_jobs; i++) {
		group += i > 0 && run->job[i].stonewall;
		for (unsigned k = 0; k < run->job[i].numjobs; k++, results++) {
			results->plan = &plans[i];
			results->number = k;
			results->group = group;
		}
	}
}

/* Disks grow and shrink while nobody looks: each group goes by what there is when it starts. */
static bool plan_again(struct job_result *results, unsigned n, char *error, size_t error_size)
{
	for (unsigned i = 0; i < n; i++)
		blk_refresh(results[i].plan->device);
	for (unsigned i = 0; i < n; i++) {
		struct job_plan *plan = &plans[results[i].plan - plans];

		if (!plan_job(plan, plan->options, plan->device, error, error_size))
			return false;
	}
	return true;
}

static enum exit_status run_group(const struct run_options *run, struct job_result *results,
				  unsigned n)
{
	static const struct group_cpus cpus = {.run_on = cpu_run, .give_up = panic};
	struct progress_hook hook = {.show = show_progress};
	char error[256];

	/* Each job did fit when run_plan() looked: if one does not now, it is the disk that changed. */
	if (!plan_again(results, n, error, sizeof(error))) {
		log_error("%s", error);
		return EXIT_IO_ERROR;
	}
	if (run->progress || run->status_interval_ns)
		hook.interval_ns = run->status_interval_ns ? run->status_interval_ns : PROGRESS_NS;
	placement_make(results, n, cpus_count());
	if (group_run(results, n, &cpus, &hook, error, sizeof(error)))
		return EXIT_OK;
	log_error("%s", error);
	return EXIT_USAGE;
}

enum exit_status run_jobs(const struct run_options *run, struct report_machine *machine)
{
	unsigned n = options_count_jobs(run), done = 0;
	struct job_result *results = dma_alloc(n * sizeof(*results), 128);
	enum exit_status status = EXIT_OK;

	if (!results) {
		log_error("no memory for the results of %u jobs", n);
		return EXIT_USAGE;
	}
	name_results(run, results);
	while (done < n) {
		unsigned size = group_size(results + done, n - done);

		if (done > 0)
			clock_refine();
		status = run_group(run, results + done, size);
		if (status != EXIT_OK)
			break;
		done += size;
	}
	for (unsigned i = 0; i < done && status == EXIT_OK; i++)
		if (result_errors(&results[i]) || results[i].stopped)
			status = EXIT_IO_ERROR;
	if (done)
		report(run, machine, results, done);
	return status;
}
