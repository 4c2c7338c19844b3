/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions has C no word for? CPUID, model specific and control registers. */
#ifndef ARCH_X86_64_CPU_H
#define ARCH_X86_64_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define MSR_EFER    0xc0000080u
#define MSR_FS_BASE 0xc0000100u
#define MSR_GS_BASE 0xc0000101u
#define EFER_LMA    (1u << 10) /* set by the CPU alone */
#define EFER_NXE    (1u << 11)

#define CR0_WP	 (1ull << 16)
#define CR4_MCE	 (1ull << 6) /* without it a machine check is a shutdown */
#define CR4_SMEP (1ull << 20)
#define CR4_SMAP (1ull << 21)

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

/* Zeroes if the CPU has no such leaf; @leaf is of the basic or the extended range. */
static inline struct cpuid_regs cpuid_checked(uint32_t leaf, uint32_t subleaf)
{
	uint32_t last = cpuid(leaf & 0x80000000u, 0).eax;

	if (last < leaf || (last & 0x80000000u) != (leaf & 0x80000000u))
		return (struct cpuid_regs){0};
	return cpuid(leaf, subleaf);
}

static inline uint64_t msr_read(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static inline void msr_write(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
}

#define CR_ACCESSORS(n)                                                            \
	static inline uint64_t cr##n##_read(void)                                  \
	{                                                                          \
		uint64_t value;                                                    \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(value) : : "memory"); \
		return value;                                                      \
	}                                                                          \
	static inline void cr##n##_write(uint64_t value)                           \
	{                                                                          \
		__asm__ volatile("mov %0, %%cr" #n : : "r"(value) : "memory");     \
	}
CR_ACCESSORS(0)
CR_ACCESSORS(2)
CR_ACCESSORS(3)
CR_ACCESSORS(4)

/* Of the CPU that runs this, without asking its APIC; whole only if CPUID has leaf 0bh. */
uint32_t cpu_initial_apic_id(void);

bool cpu_has_machine_check(void);
bool cpu_has_nx(void);
bool cpu_has_1g_pages(void);
bool cpu_has_smep(void);
bool cpu_has_smap(void);
unsigned cpu_physical_bits(void);

/*
 * What CPUID claims the TSC's rate to be, in Hz, and in *@leaf which leaf said so. 0 if it claims
 * nothing. Hypervisors are known to pass on figures of another machine: check before use.
 */
uint64_t cpu_claimed_tsc_hz(const char **leaf);

#endif
