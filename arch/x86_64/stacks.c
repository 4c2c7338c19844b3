/* SPDX-License-Identifier: BSD-2-Clause */
/* Which stacks are there, and what is below them? A page that is never mapped. */
#include <arch/machine.h>

#include "arch/x86_64/image.h"
#include "arch/x86_64/pages.h"
#include "arch/x86_64/paging.h"
#include "arch/x86_64/percpu.h"

#define CPU_STACK_BYTES (32 * 1024)

/* Outside the zeroed part of .bss: the boot stack is in use while that is cleared. */
#define GUARDED_STACK(name, bytes)        \
	struct name##_layout {            \
		char guard[PAGE_BYTES];   \
		char stack[bytes];        \
	};                                \
	extern struct name##_layout name; \
	struct name##_layout name __attribute__((aligned(PAGE_BYTES), section(".bss..noinit")))

GUARDED_STACK(boot_stack, BOOT_STACK_BYTES);
GUARDED_STACK(nmi_stack, TRAP_STACK_BYTES);
GUARDED_STACK(double_fault_stack, TRAP_STACK_BYTES);
GUARDED_STACK(machine_check_stack, TRAP_STACK_BYTES);
GUARDED_STACK(page_fault_stack, TRAP_STACK_BYTES);

#define AREA(text, name)                                                                  \
	{                                                                                 \
		text, (uintptr_t)name.stack, (uintptr_t)(name.stack + sizeof(name.stack)) \
	}

const struct stack_area stacks[STACK_COUNT] = {
	[STACK_BOOT] = AREA("boot", boot_stack),
	[STACK_NMI] = AREA("NMI", nmi_stack),
	[STACK_DOUBLE_FAULT] = AREA("double fault", double_fault_stack),
	[STACK_MACHINE_CHECK] = AREA("machine check", machine_check_stack),
	[STACK_PAGE_FAULT] = AREA("page fault", page_fault_stack),
};

/* The one that holds @addr when each reaches @below bytes further down than it does. */
static const struct stack_area *search(const struct stack_area *of, uint64_t addr, unsigned below)
{
	for (unsigned i = 0; i < STACK_COUNT; i++)
		if (addr >= of[i].low - below && addr < of[i].high)
			return &of[i];
	return NULL;
}

static const struct stack_area *search_all(uint64_t addr, unsigned below)
{
	const struct stack_area *found = search(stacks, addr, below);

	for (unsigned i = 1; i < CPUS_MAX && !found && cpu_of(i); i++)
		found = search(cpu_of(i)->stacks, addr, below);
	return found;
}

const struct stack_area *stack_of(uint64_t addr)
{
	return search_all(addr, 0);
}

const struct stack_area *stack_guarded_at(uint64_t addr)
{
	return stack_of(addr) ? NULL : search_all(addr, PAGE_BYTES);
}

static uint64_t bytes_of(unsigned index)
{
	return index == STACK_BOOT ? CPU_STACK_BYTES : TRAP_STACK_BYTES;
}

bool stacks_make(struct stack_area of[STACK_COUNT])
{
	uint64_t total = 0, at;

	for (unsigned i = 0; i < STACK_COUNT; i++)
		total += PAGE_BYTES + bytes_of(i);
	at = (uintptr_t)pages_take(total, PAGE_BYTES);
	if (!at)
		return false;
	for (unsigned i = 0; i < STACK_COUNT; i++) {
		if (!unmap_page(at))
			return false;
		of[i].name = i == STACK_BOOT ? "CPU" : stacks[i].name;
		of[i].low = at + PAGE_BYTES;
		of[i].high = of[i].low + bytes_of(i);
		at = of[i].high;
	}
	return true;
}
