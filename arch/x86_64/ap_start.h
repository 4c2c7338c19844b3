/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a CPU that starts up find prepared? Shared with ap_entry.S. */
#ifndef ARCH_X86_64_AP_START_H
#define ARCH_X86_64_AP_START_H

#define AP_CPU	   0
#define AP_FS_BASE 8
#define AP_CR3	   16
#define AP_CR0	   24
#define AP_CR4	   28
#define AP_EFER	   32
#define AP_APIC_ID 36

#define CPU_START_STACK 8 /* in struct cpu */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct cpu;

/* One CPU starts at a time. The registers are those of the CPU that starts it. */
struct ap_start {
	struct cpu *cpu; /* who is awaited; he takes it, or it is taken back */
	uint64_t fs_base, cr3;
	uint32_t cr0, cr4, efer;
	uint32_t apic_id; /* the initial one of CPUID has its low 8 bits */
};
_Static_assert(offsetof(struct ap_start, cpu) == AP_CPU, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, fs_base) == AP_FS_BASE, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, cr3) == AP_CR3, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, cr0) == AP_CR0, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, cr4) == AP_CR4, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, efer) == AP_EFER, "as in ap_entry.S");
_Static_assert(offsetof(struct ap_start, apic_id) == AP_APIC_ID, "as in ap_entry.S");

extern struct ap_start ap_start;
extern const char ap_trampoline[], ap_trampoline_end[];

#endif
#endif
