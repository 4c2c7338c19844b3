/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a smashed stack noticed? Compilers read the canary at %fs:0x28. */
#include "arch/x86_64/cpu.h"

#include <arch/machine.h>
#include <arch/system.h>

struct thread_block {
	uint64_t unused[5];
	uint64_t canary; /* at 0x28, the x86-64 psABI's place for it */
};
_Static_assert(offsetof(struct thread_block, canary) == 0x28, "fixed by the compilers");

static struct thread_block boot_thread;

void stack_protector_init(void);
_Noreturn void __stack_chk_fail(void);

static bool rdrand(uint64_t *value)
{
	bool ok = false;

	for (unsigned tries = 0; tries < 10 && !ok; tries++)
		__asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(*value), "=qm"(ok) : : "cc");
	return ok;
}

/* The lowest byte stays 0, so that no string operation writes a whole canary. */
__attribute__((no_stack_protector)) void stack_protector_init(void)
{
	uint64_t seed = cycles(), noise;

	if (cpuid(1, 0).ecx >> 30 & 1 && rdrand(&noise))
		seed ^= noise;
	boot_thread.canary = (seed * 0x9e3779b97f4a7c15ull) << 8;
	msr_write(MSR_FS_BASE, (uintptr_t)&boot_thread);
}

void __stack_chk_fail(void)
{
	panic("stack smashed: a function wrote past the end of a local array");
}
