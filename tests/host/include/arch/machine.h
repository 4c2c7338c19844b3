/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may portable code ask of the machine, when the machine is a unit test? The same names as
 * arch/x86_64/include/arch/machine.h; registers lead to the fake devices of tests/host/fake.h.
 */
#ifndef ARCH_MACHINE_H
#define ARCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a test may set and see. host_reset() brings the defaults back. */
struct host_machine {
	uint64_t clock_ns;   /* the virtual clock: stands still but for the steps below */
	uint64_t step_ns;    /* by which each cycles() moves it */
	uint64_t relax_ns;   /* by which each cpu_relax() moves it */
	uint64_t access_ns;  /* by which each register access moves it */
	uint64_t barriers;   /* barrier_full() calls */
	uint64_t budget;     /* register accesses and cpu_relax() calls until the test fails */
	uint64_t mmio_limit; /* mmio_map() fails from this physical address on; 0: nowhere */
	uint64_t accesses;   /* register accesses */
	uint64_t mapped;     /* bytes, by mmio_map() */
	unsigned fail_alloc; /* the Nth dma_alloc() from now fails; 0: none */
	unsigned allocs;     /* dma_alloc() calls */
	unsigned live;	     /* allocations not freed */
	uint64_t dma_maps;   /* dma_map() calls without their dma_unmap() */
	bool scatter;	     /* no two allocations on neighbouring pages */

	unsigned cpu;		  /* that runs: what cpu_index() says, but see host_thread_is() */
	unsigned cpu_vectors;	  /* that interrupt_allocate() has of each CPU; 0: no local APIC */
	unsigned fail_interrupt;  /* the Nth interrupt_allocate() from now fails; 0: none */
	bool no_ioapic;		  /* interrupt_intx() fails */
	unsigned interrupts_live; /* allocated, INTx too, and not freed */
	uint64_t interrupts;	  /* handlers called for messages */
	uint64_t intx_interrupts; /* times that a line was found up, and its sharers asked */
	uint64_t intx_unclaimed;  /* of these, times that no sharer had raised it */
	uint64_t wakes;		  /* cpu_wake() calls */
	uint64_t waits;		  /* interrupt_wait() calls */
	uint64_t waits_in_vain;	  /* of these, those that ended by their deadline */
};
extern struct host_machine host;

uint32_t host_mmio_read(const volatile void *reg, unsigned width);
void host_mmio_write(volatile void *reg, uint32_t value, unsigned width);
uint32_t host_port_read(uint16_t port, unsigned width);
void host_port_write(uint16_t port, uint32_t value, unsigned width);
void host_relax(void);
/* In a test of several threads: this one is @cpu from here on. */
void host_thread_is(unsigned cpu);

/* Counts in @counter: exactly with one thread, nearly with several; without synchronising them. */
static inline uint64_t host_add(uint64_t *counter, uint64_t n)
{
	n += __atomic_load_n(counter, __ATOMIC_RELAXED);
	__atomic_store_n(counter, n, __ATOMIC_RELAXED);
	return n;
}

static inline uint8_t mmio_read8(const volatile void *reg)
{
	return (uint8_t)host_mmio_read(reg, 1);
}

static inline uint16_t mmio_read16(const volatile void *reg)
{
	return (uint16_t)host_mmio_read(reg, 2);
}

static inline uint32_t mmio_read32(const volatile void *reg)
{
	return host_mmio_read(reg, 4);
}

static inline void mmio_write8(volatile void *reg, uint8_t value)
{
	host_mmio_write(reg, value, 1);
}

static inline void mmio_write16(volatile void *reg, uint16_t value)
{
	host_mmio_write(reg, value, 2);
}

static inline void mmio_write32(volatile void *reg, uint32_t value)
{
	host_mmio_write(reg, value, 4);
}

static inline uint8_t port_read8(uint16_t port)
{
	return (uint8_t)host_port_read(port, 1);
}

static inline uint16_t port_read16(uint16_t port)
{
	return (uint16_t)host_port_read(port, 2);
}

static inline uint32_t port_read32(uint16_t port)
{
	return host_port_read(port, 4);
}

static inline void port_write8(uint16_t port, uint8_t value)
{
	host_port_write(port, value, 1);
}

static inline void port_write16(uint16_t port, uint16_t value)
{
	host_port_write(port, value, 2);
}

static inline void port_write32(uint16_t port, uint32_t value)
{
	host_port_write(port, value, 4);
}

/* Memory that faults on a plain access: registers are reached by the functions above only. */
volatile void *mmio_map(uint64_t phys, uint64_t bytes);

static inline void host_fence(void)
{
#ifdef __SANITIZE_THREAD__
	static int fence; /* ThreadSanitizer knows no fences */

	__atomic_fetch_add(&fence, 0, __ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void barrier_full(void)
{
	host_add(&host.barriers, 1);
	host_fence();
}

static inline void cpu_relax(void)
{
	host_relax();
}

/* Plain arithmetic: a locked instruction here would hide a missing barrier in the driver. */
static inline uint64_t cycles(void)
{
	return host_add(&host.clock_ns, host.step_ns);
}

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
	return (uint64_t)((unsigned __int128)ns * timebase.hz / 1000000000u);
}

typedef uint64_t dma_addr_t;

void *dma_alloc(size_t bytes, size_t align);
void dma_free(void *p, size_t bytes);

static inline dma_addr_t dma_map(const void *p, size_t bytes)
{
	(void)bytes;
	host_add(&host.dma_maps, 1);
	return (uintptr_t)p;
}

static inline void dma_unmap(dma_addr_t addr, size_t bytes)
{
	(void)addr;
	(void)bytes;
	host_add(&host.dma_maps, UINT64_MAX);
}

/* ---- CPUs and interrupts: as on the machine; see tests/host/fake_apic.c ---- */

#define CPUS_MAX 256

unsigned cpu_index(void);

struct interrupt {
	unsigned cpu;
	uint8_t vector; /* 0: not allocated */
};

bool interrupt_allocate(struct interrupt *irq, unsigned cpu, void (*handler)(void *context),
			void *context);
void interrupt_free(struct interrupt *irq);

struct msi_message {
	uint64_t address;
	uint32_t data;
};
struct msi_message interrupt_message(const struct interrupt *irq);
bool interrupt_intx(struct interrupt *irq, uint8_t line, bool (*handler)(void *context),
		    void *context);

/* The fake devices step, and the virtual clock moves on, until one was handled or it is @deadline. */
void interrupt_wait(uint64_t deadline);
void cpu_wake(unsigned cpu);

struct ecam_region {
	uint64_t base;
	uint16_t segment;
	uint8_t first_bus, last_bus;
};

unsigned machine_ecam_regions(struct ecam_region *out, unsigned max);

#endif
