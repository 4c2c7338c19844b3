/* SPDX-License-Identifier: BSD-2-Clause */
/* What does each CPU keep for itself? GS leads to it. */
#ifndef ARCH_X86_64_PERCPU_H
#define ARCH_X86_64_PERCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/ap_start.h"
#include "arch/x86_64/gdt.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/interrupt.h"
#include "arch/x86_64/lapic.h"
#include "arch/x86_64/skew.h"

#define TIMER_NOT_ARMED UINT64_MAX

struct cpu {
	struct cpu *self;     /* at GS:0 */
	uint64_t start_stack; /* of a CPU other than the first, at GS:8; ap_entry.S */
	unsigned index;	      /* cpu_index() */
	uint32_t apic_id;     /* valid once @lapic is a mode */
	enum lapic_mode lapic;
	bool timer_ready;
	bool in_handler;	  /* of a device's interrupt */
	uint64_t handled;	  /* interrupts that end a wait */
	uint64_t armed;		  /* cycles() at which the timer will fire, or TIMER_NOT_ARMED */
	struct handler *handlers; /* DEVICE_VECTORS of them */
	unsigned next_vector;	  /* where the search for a free one begins */
	uint64_t spurious, unexpected, errors;
	uint32_t error_bits;

	/* Of the CPUs other than the first. */
	void (*run)(void *context); /* NULL: idle */
	void *run_context;
	bool up, stopped;
	struct skew_line skew;
	struct stack_area stacks[STACK_COUNT];
	struct segments segments;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct cpu, start_stack) == CPU_START_STACK, "as in ap_entry.S");

static inline struct cpu *this_cpu(void)
{
	struct cpu *cpu;

	__asm__("movq %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

/* NULL if there is none of that number: CPUs are numbered without a gap. */
struct cpu *cpu_of(unsigned index);
/* Sets who has that number; NULL takes him out again. */
void cpu_set(unsigned index, struct cpu *cpu);

/* Makes this_cpu() lead to the boot CPU; on that CPU, before anything else here. */
void percpu_init(void);

/* Waits until @flag is set, for about @ns; false if it is not. */
bool wait_set(const bool *flag, uint64_t ns);

/* Panics if @call, which only the first CPU may make, is made by another, or by a handler. */
void boot_cpu_only(const char *call);

/* Returns when @cpu has left the handler that it may have been in; it must have nothing to run. */
void cpu_settle(unsigned cpu);

/* Where another CPU enters C, on its own stack (ap_entry.S). */
_Noreturn void ap_main(struct cpu *cpu);

#endif
