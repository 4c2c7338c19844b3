/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a panic look like? One way into each kind of fault that the page tables guard against. */
#include "kernel/crash.h"

#include <arch/machine.h>
#include <arch/system.h>

#define STOPPED_WAIT_NS 10000000000ull

static unsigned deeper(volatile unsigned *level)
{
	volatile unsigned here[64] = {*level + 1};

	return here[0] < 1u << 20 ? deeper(here) + here[0] : 0;
}

static void run_data(void)
{
	static unsigned char ret_instruction[] = {0xc3};
	void (*f)(void) = (void (*)(void))(uintptr_t)ret_instruction;

	f();
}

static void provoke(enum crash kind)
{
	volatile unsigned zero = 0;

	switch (kind) {
	case CRASH_NO:
		return;
	case CRASH_READ_NULL:
		zero = *(volatile unsigned *)(uintptr_t)(zero + 8);
		break;
	case CRASH_STACK:
		zero = deeper(&zero);
		break;
	case CRASH_WRITE_TEXT:
		*(volatile unsigned char *)(uintptr_t)crash = 0;
		break;
	case CRASH_RUN_DATA:
		run_data();
		break;
	case CRASH_UNDEFINED:
		__builtin_trap();
	case CRASH_PANIC:
		panic("debug.crash=panic");
	}
	panic("debug.crash: the fault did not happen");
}

static void provoke_here(void *kind)
{
	provoke(*(const enum crash *)kind);
}

void crash(enum crash kind, unsigned cpu)
{
	if (kind == CRASH_NO)
		return;
	cpu_run(cpu, provoke_here, &kind);
	interrupt_wait(cycles() + ns_to_cycles(STOPPED_WAIT_NS));
	panic("debug.crash: CPU 0 went on for 10 s after the fault of CPU %u", cpu);
}
