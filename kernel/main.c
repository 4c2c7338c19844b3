/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens between the loader's jump and the exit status? Read this first. */
#include <arch/boot_info.h>
#include <arch/machine.h>
#include <arch/system.h>

#include "kernel/console.h"
#include "kernel/crash.h"
#include "kernel/disks.h"
#include "kernel/identity.h"
#include "kernel/run.h"
#include "lib/format.h"
#include "lib/log.h"

#define CMDLINE_MAX 4096

static struct run_options run;
static struct disks disks;
static char cmdline[CMDLINE_MAX];

static void init_machine(const struct boot_info *info)
{
	console_init();
	traps_init();
	memory_init(info);
	paging_init();
	acpi_init(info);
	clock_start();
}

/* The one way out for a run that cannot start. */
static _Noreturn void refuse(enum exit_status status, const char *why)
{
	log_error("%s", why);
	disks_close(&disks);
	machine_exit(status);
}

static void read_options(const struct boot_info *info)
{
	char error[512];
	size_t n = 0;

	for (; info->cmdline[n]; n++) {
		if (n == sizeof(cmdline) - 1)
			refuse(EXIT_USAGE, "command line longer than 4095 bytes");
		cmdline[n] = info->cmdline[n];
	}
	if (info->nr_modules)
		refuse(EXIT_USAGE, "a job file (-initrd) is not supported yet; use -append");
	if (!options_parse(cmdline, &run, error, sizeof(error)))
		refuse(EXIT_USAGE, error);
	log_set_level(run.log_level);
	if (run.ignored[0])
		sink_printf(console(), "note: options without a meaning here: %s\n", run.ignored);
}

static void check_crash_cpu(void)
{
	char error[64];

	if (run.crash_cpu < cpus_count())
		return;
	format(error, sizeof(error), "debug.crash_cpu=%u: CPUs 0 to %u run", run.crash_cpu,
	       cpus_count() - 1);
	refuse(EXIT_USAGE, error);
}

/* None of these should happen, and all of them are survived: so they are said. */
static void tell_interrupts(void)
{
	for (unsigned cpu = 0; cpu < cpus_count(); cpu++) {
		struct interrupt_stats stats;

		interrupt_stats(cpu, &stats);
		if (stats.spurious || stats.unexpected || stats.errors)
			log_warn("CPU %u: interrupts: %llu spurious, %llu that nobody expected, "
				 "%llu errors of the local APIC (0x%x)",
				 cpu, (unsigned long long)stats.spurious,
				 (unsigned long long)stats.unexpected,
				 (unsigned long long)stats.errors, stats.error_bits);
	}
}

_Noreturn void kernel_main(const struct boot_info *info)
{
	struct report_machine machine;
	enum exit_status status;
	char error[256];

	init_machine(info);
	identity_banner(console());
	read_options(info);
	memory_prefer_high(run.alloc_high);
	run.blk.nr_cpus = cpus_start();
	check_crash_cpu();
	crash(run.crash, run.crash_cpu);
	disks_open(&disks, &run.blk);
	clock_init(); /* the disks took most of the time that it needs */
	if (disks.n == 0)
		refuse(EXIT_NO_DEVICE,
		       disks.found ? "no usable virtio-blk device" : "no virtio-blk device found");
	status = run_plan(&run, &disks, error, sizeof(error));
	if (status != EXIT_OK)
		refuse(status, error);
	identity_machine(&machine, info, &disks);
	status = run_jobs(&run, &machine);
	tell_interrupts();
	disks_close(&disks);
	if (!console_complete() && status == EXIT_OK)
		status = EXIT_IO_ERROR;
	machine_exit(status);
}
