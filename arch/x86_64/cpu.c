/* SPDX-License-Identifier: BSD-2-Clause */
/* What CPU is this, and under which hypervisor? Everything is asked of CPUID, nothing assumed. */
#include "arch/x86_64/cpu.h"

#include <arch/system.h>

#include "lib/mem.h"
#include "lib/wide.h"

#define HYPERVISOR_LEAF	    0x40000000u
#define HYPERVISOR_TSC_LEAF 0x40000010u

/* Intel SDM vol. 2, CPUID: leaf 0bh is there if its EBX is not 0. */
uint32_t cpu_initial_apic_id(void)
{
	struct cpuid_regs topology = cpuid_checked(0xb, 0);

	return topology.ebx ? topology.edx : cpuid(1, 0).ebx >> 24;
}

bool cpu_has_machine_check(void)
{
	return cpuid(1, 0).edx >> 7 & 1;
}

bool cpu_has_nx(void)
{
	return cpuid_checked(0x80000001u, 0).edx >> 20 & 1;
}

bool cpu_has_1g_pages(void)
{
	return cpuid_checked(0x80000001u, 0).edx >> 26 & 1;
}

bool cpu_has_smep(void)
{
	return cpuid_checked(7, 0).ebx >> 7 & 1;
}

bool cpu_has_smap(void)
{
	return cpuid_checked(7, 0).ebx >> 20 & 1;
}

/* 36 bits is what each CPU with long mode has at least. */
unsigned cpu_physical_bits(void)
{
	unsigned bits = cpuid_checked(0x80000008u, 0).eax & 0xff;

	return bits ? bits : 36;
}

const char *machine_cpu_name(void)
{
	static char name[49];
	struct cpuid_regs r;
	const char *start = name;
	size_t len;

	for (unsigned i = 0; i < 3; i++) {
		r = cpuid_checked(0x80000002u + i, 0);
		memcpy(name + i * sizeof(r), &r, sizeof(r));
	}
	if (!name[0]) {
		r = cpuid(0, 0);
		memcpy(name, &r.ebx, 4);
		memcpy(name + 4, &r.edx, 4);
		memcpy(name + 8, &r.ecx, 4);
	}
	for (len = strlen(name); len && name[len - 1] == ' '; len--)
		name[len - 1] = '\0';
	while (*start == ' ')
		start++;
	return start;
}

/* Twelve characters at leaf 40000000h; empty without the "hypervisor present" bit. */
static const char *hypervisor_signature(void)
{
	static char signature[13];
	struct cpuid_regs r;

	if (!(cpuid(1, 0).ecx >> 31 & 1))
		return "";
	r = cpuid(HYPERVISOR_LEAF, 0);
	memcpy(signature, &r.ebx, 4);
	memcpy(signature + 4, &r.ecx, 4);
	memcpy(signature + 8, &r.edx, 4);
	return signature;
}

const char *machine_hypervisor_name(void)
{
	const char *signature = hypervisor_signature();

	if (!*signature)
		return "none";
	if (str_eq(signature, "KVMKVMKVM"))
		return "kvm";
	if (str_eq(signature, "TCGTCGTCGTCG"))
		return "tcg";
	return signature;
}

static uint64_t hypervisor_tsc_hz(void)
{
	const char *signature = hypervisor_signature();

	if (!str_eq(signature, "KVMKVMKVM") && !str_eq(signature, "VMwareVMware"))
		return 0;
	if (cpuid(HYPERVISOR_LEAF, 0).eax < HYPERVISOR_TSC_LEAF)
		return 0;
	return (uint64_t)cpuid(HYPERVISOR_TSC_LEAF, 0).eax * 1000;
}

/* Intel SDM vol. 3, 18.7.3: crystal * numerator / denominator; any of them may be left at 0. */
static uint64_t crystal_tsc_hz(void)
{
	struct cpuid_regs r = cpuid_checked(0x15, 0);

	return r.eax && r.ebx && r.ecx ? wide_mul_div(r.ecx, r.ebx, r.eax) : 0;
}

uint64_t cpu_claimed_tsc_hz(const char **leaf)
{
	uint64_t hz = hypervisor_tsc_hz();

	*leaf = "cpuid-40000010h";
	if (!hz) {
		*leaf = "cpuid-15h";
		hz = crystal_tsc_hz();
	}
	return hz;
}
