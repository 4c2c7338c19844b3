/* SPDX-License-Identifier: BSD-2-Clause */
/* Into which mode does a CPU put its local APIC? Intel SDM vol. 3, 10.4.3 and 10.12. */
#ifndef ARCH_X86_64_LAPIC_MODE_H
#define ARCH_X86_64_LAPIC_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* IA32_APIC_BASE */
#define APIC_BASE_X2APIC (1u << 10)
#define APIC_BASE_ENABLE (1u << 11)

#define FEATURE_ECX_X2APIC     (1u << 21)
#define FEATURE_ECX_HYPERVISOR (1u << 31)

/*
 * The x2APIC without interrupt remapping is what only a hypervisor promises. Where firmware has
 * turned it on, it stays on (there is no way back but by way of off), on all CPUs alike.
 */
static inline bool lapic_wants_x2apic(uint32_t features_ecx, bool first_cpu_has_it)
{
	return (features_ecx & FEATURE_ECX_X2APIC) &&
	       ((features_ecx & FEATURE_ECX_HYPERVISOR) || first_cpu_has_it);
}

/* What to write next; @base itself when it is done. From off to x2APIC in one step is a fault. */
static inline uint64_t lapic_next_base(uint64_t base, bool x2apic)
{
	if (!(base & APIC_BASE_ENABLE))
		return (base & ~(uint64_t)APIC_BASE_X2APIC) | APIC_BASE_ENABLE;
	return x2apic ? base | APIC_BASE_X2APIC : base;
}

#endif
