/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may portable code ask of the machine? Register access, barriers, time and DMA memory.
 * The host twin, for unit tests against a fake device, is tests/host/include/arch/machine.h.
 */
#ifndef ARCH_MACHINE_H
#define ARCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Device registers: one access of exactly this width each ---- */

static inline uint8_t mmio_read8(const volatile void *reg)
{
	return *(const volatile uint8_t *)reg;
}

static inline uint16_t mmio_read16(const volatile void *reg)
{
	return *(const volatile uint16_t *)reg;
}

static inline uint32_t mmio_read32(const volatile void *reg)
{
	return *(const volatile uint32_t *)reg;
}

static inline void mmio_write8(volatile void *reg, uint8_t value)
{
	*(volatile uint8_t *)reg = value;
}

static inline void mmio_write16(volatile void *reg, uint16_t value)
{
	*(volatile uint16_t *)reg = value;
}

static inline void mmio_write32(volatile void *reg, uint32_t value)
{
	*(volatile uint32_t *)reg = value;
}

static inline uint8_t port_read8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %w1, %b0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint16_t port_read16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %w1, %w0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint32_t port_read32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %w1, %k0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void port_write8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %b0, %w1" : : "a"(value), "Nd"(port) : "memory");
}

static inline void port_write16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %w0, %w1" : : "a"(value), "Nd"(port) : "memory");
}

static inline void port_write32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %k0, %w1" : : "a"(value), "Nd"(port) : "memory");
}

/*
 * Maps @bytes of registers at physical @phys, uncached, wherever that is. The mapping lasts for
 * the life of the kernel. NULL if there is no address space or memory left for it.
 */
volatile void *mmio_map(uint64_t phys, uint64_t bytes);

/* ---- Barriers ---- */

/* Orders every earlier load and store before every later one; the store-load case is why it is here. */
static inline void barrier_full(void)
{
	__asm__ volatile("mfence" ::: "memory");
}

/* In a loop that waits for another agent. */
static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/* ---- Time: a cycle counter that is cheap to read, and what it is worth ---- */

static inline uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* ns = cycles * ns_mult >> 32; set by calibration, constant for the length of a job. */
struct timebase {
	uint64_t hz;
	uint64_t ns_mult;
};
extern struct timebase timebase;

static inline uint64_t cycles_to_ns(uint64_t n)
{
	return (uint64_t)(((unsigned __int128)n * timebase.ns_mult) >> 32);
}

static inline uint64_t ns_to_cycles(uint64_t ns)
{
	/* In two parts: 128-bit division would need a run-time library. */
	return ns / 1000000000u * timebase.hz + ns % 1000000000u * timebase.hz / 1000000000u;
}

/* ---- Memory that a device may read and write ---- */

typedef uint64_t dma_addr_t;

/* @bytes of zeroed, physically contiguous memory aligned to @align (a power of two). NULL if none. */
void *dma_alloc(size_t bytes, size_t align);
void dma_free(void *p, size_t bytes);

/* The address by which a device reaches @p. Identity without an IOMMU, and free of cost. */
static inline dma_addr_t dma_map(const void *p, size_t bytes)
{
	(void)bytes;
	return (uintptr_t)p;
}

static inline void dma_unmap(dma_addr_t addr, size_t bytes)
{
	(void)addr;
	(void)bytes;
}

/* ---- CPUs: numbered from 0, the one that booted, in the order in which they came up ---- */

#define CPUS_MAX 256

/* The number of the CPU that runs this: 0 as long as no other was started. */
unsigned cpu_index(void);

/* ---- Interrupts ---- */

/*
 * Interrupts are off, on every CPU, all the time but inside interrupt_wait(). So a handler runs
 * only there, on the CPU that it was allocated for, never beside or inside other code of that CPU:
 * it needs no lock against it, and must not allocate. It cannot be lost either: what arrives
 * earlier stays pending in the local APIC until the next wait.
 */
struct interrupt {
	unsigned cpu;
	uint8_t vector; /* 0: not allocated */
	uint8_t share;	/* of interrupt_intx(): which of those on the line; else 0 */
};

/*
 * Takes a free vector of @cpu, and calls @handler with @context there when it is raised. False if
 * there is none left (of 220 per CPU), there is no local APIC, or no message can name that CPU (its
 * APIC id is above 254). To be called, as the others that allocate and free, by one CPU at a time.
 */
bool interrupt_allocate(struct interrupt *irq, unsigned cpu, void (*handler)(void *context),
			void *context);
/* When it returns, the handler runs nowhere any more. */
void interrupt_free(struct interrupt *irq);

/* What a device writes to raise @irq: the words of an MSI-X table entry. */
struct msi_message {
	uint64_t address;
	uint32_t data;
};
struct msi_message interrupt_message(const struct interrupt *irq);

/*
 * Leads the level-triggered PCI line @line (the function's Interrupt Line register) to @irq->cpu,
 * and fills the rest of @irq. Lines are shared: @handler returns
 * whether its device had raised it. False if there is no IOAPIC or no local APIC, @line is 0 or 255
 * (not connected), or the line leads to another CPU already.
 */
bool interrupt_intx(struct interrupt *irq, uint8_t line, bool (*handler)(void *context),
		    void *context);

/*
 * Halts with interrupts on until at least one was handled, or until cycles() reaches @deadline.
 * What was pending before counts: the check that led here, made with interrupts off, cannot be
 * overtaken between it and the halt (sti; hlt). With a @deadline that has passed it only lets in what
 * is pending; UINT64_MAX is none. Without a local APIC it spends the whole time in a loop. Touches the
 * timer only if no earlier deadline, of an earlier wait, is still set.
 */
void interrupt_wait(uint64_t deadline);

/*
 * Wakes @cpu from interrupt_wait(), or from the next one if it is in none; also the CPU that runs
 * this. Nothing happens without a local APIC: nobody halts there.
 */
void cpu_wake(unsigned cpu);

/* ---- What firmware says of PCI configuration space ---- */

struct ecam_region {
	uint64_t base; /* physical, of first_bus */
	uint16_t segment;
	uint8_t first_bus, last_bus;
};

/* Copies the ECAM regions of ACPI's MCFG to @out; returns how many there are, at most @max. */
unsigned machine_ecam_regions(struct ecam_region *out, unsigned max);

#endif
