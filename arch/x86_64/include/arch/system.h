/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the kernel floor ask of the machine beyond machine.h? Start-up, clocks, the end. */
#ifndef ARCH_SYSTEM_H
#define ARCH_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/boot_info.h>

/* The exit statuses, as isa-debug-exit takes them: QEMU exits with 2 * status + 1. */
enum exit_status {
	EXIT_OK = 0x10,
	EXIT_IO_ERROR = 0x11,
	EXIT_USAGE = 0x12,
	EXIT_NO_DEVICE = 0x13,
	EXIT_PANIC = 0x14,
};

/* isa-debug-exit, else ACPI S5, else halt with interrupts off. */
_Noreturn void machine_exit(enum exit_status status);

/* "panic: TEXT" and a backtrace through the log sink, then machine_exit(EXIT_PANIC). */
_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Physical memory: takes the RAM of @info, less the image, its modules and the page tables. */
void memory_init(const struct boot_info *info);
struct memory_stats {
	uint64_t ram_bytes, free_bytes, image_bytes; /* image: text, data, bss and stacks */
	uint64_t text_data_bytes;		     /* what the image file loads */
};
void memory_stats(struct memory_stats *stats);
/* With true, dma_alloc() takes the highest free memory instead of the lowest. */
void memory_prefer_high(bool on);

/* ACPI tables: checks each checksum; does nothing if there is no RSDP. */
void acpi_init(const struct boot_info *info);

/* The final page tables: W^X image, NX data, page 0 unmapped, guard pages under stacks. */
void paging_init(void);
void traps_init(void);

/* Looks at the clocks for the first time; clock_init() waits until 2 ms have passed since. */
void clock_start(void);
/*
 * Calibrates the TSC within a few milliseconds; never fails for want of a clock: without any,
 * timebase.hz is a guess and clock_status().source is "none".
 */
void clock_init(void);
struct clock_status {
	const char *source; /* "cpuid-15h", "cpuid-40000010h", "hpet", "pm-timer", "pit", "none" */
	const char *cross_source;
	uint64_t hz;	    /* best figure up to now */
	uint64_t cross_hz;  /* by cross_source; 0 if there is no second clock */
	uint64_t cross_ppm; /* distance of the two, in parts per million */
	bool trusted;	    /* a source was found and the cross-check agrees to 0.5 % */
};
/*
 * Compares the TSC with the reference clocks over all the time since clock_init(), and refines
 * timebase: between jobs, never within one. If the rate was off by more than 0.1 % till now, says
 * so, and the clock is not trusted.
 */
void clock_refine(void);
void clock_status(struct clock_status *status);

/*
 * Starts every CPU that ACPI's MADT has as enabled; one that does not come up is named and left out.
 * Returns how many there are now, this one included. A second call starts nothing.
 */
unsigned cpus_start(void);
/* How many run: numbered from 0, without a gap. */
unsigned cpus_count(void);

/*
 * How far the TSCs of any two CPUs are apart, as far as a message from CPU 0 to each and back at
 * start-up could tell. Where they are the same, the most is how long that took. 0 with one CPU.
 */
struct cpus_skew {
	uint64_t least_cycles; /* two are so far apart for sure */
	uint64_t most_cycles;  /* no two are further: the most ahead and the most behind, added */
};
void cpus_skew(struct cpus_skew *skew);

/*
 * Has @fn(@context) called on @cpu, which cpus_start() counted; on the CPU that runs this, at once.
 * What @cpu was given before must have done its work: this waits 10 s for its return, then panics.
 * When @fn has returned, @cpu halts.
 */
void cpu_run(unsigned cpu, void (*fn)(void *context), void *context);

/* What became of the interrupts of a CPU; zeroes if there is no such CPU. */
struct interrupt_stats {
	uint64_t handled;    /* by a handler, or by cpu_wake() */
	uint64_t spurious;   /* at the local APIC's spurious vector */
	uint64_t unexpected; /* at a vector without a handler */
	uint64_t errors;     /* of the local APIC; what they were is in error_bits */
	uint32_t error_bits; /* Intel SDM vol. 3, 10.5.3 */
};
void interrupt_stats(unsigned cpu, struct interrupt_stats *stats);

/* Text for the report. */
const char *machine_cpu_name(void);	   /* CPUID brand string, or vendor */
const char *machine_hypervisor_name(void); /* "kvm", "tcg", "none", or the signature at 40000000h */

#endif
