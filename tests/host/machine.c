/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands behind the host's arch/machine.h? A virtual clock, an arena, traps for registers. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <arch/machine.h>

#include "tests/host/fake_inside.h"

#if defined(__SANITIZE_ADDRESS__)
#define HOST_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ASAN
#endif
#endif

#ifdef HOST_ASAN
#include <sanitizer/asan_interface.h>
#define poison(p, n)   __asan_poison_memory_region(p, n)
#define unpoison(p, n) __asan_unpoison_memory_region(p, n)
#define poisoned(p, n) (__asan_region_is_poisoned(p, n) != NULL)
#else
#define poison(p, n)   ((void)(p))
#define unpoison(p, n) ((void)(p))
#define poisoned(p, n) false
#endif

#define ARENA_BYTES   (128u << 20)
#define LOW_ARENA     0x20000000u
#define GRANULE_BYTES 64u /* also the least distance between two allocations */
#define PAGE_BYTES    4096u
#define MAPPINGS      512

struct host_machine host;
struct timebase timebase = {.hz = 1000000000u, .ns_mult = 1ull << 32};

/* Freed memory is not handed out again before host_reset(): a late access cannot hit a new owner. */
static uint8_t *arenas[2]; /* high; low enough for legacy devices */
static uint8_t *arena;
static uint8_t live[ARENA_BYTES / GRANULE_BYTES];
static size_t arena_next;

static struct {
	void *page;
	volatile uint8_t *virt;
	uint64_t phys, bytes;
} mapping[MAPPINGS];
static unsigned nr_mappings;

static void *reserve_at(uintptr_t at, size_t bytes, int protection)
{
	void *p = mmap((void *)at, bytes, protection,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0),
		       -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void *reserve(size_t bytes, int protection)
{
	return reserve_at(0, bytes, protection);
}

/* Any test may meet a truncated address: memory is high unless it asks for low. */
static void use_arena(bool low)
{
	if (!arenas[low]) {
		arenas[low] = reserve_at(low ? LOW_ARENA : 0, ARENA_BYTES, PROT_READ | PROT_WRITE);
		poison(arenas[low], ARENA_BYTES);
	}
	arena = arenas[low];
}

void host_low_memory(void)
{
	if (arena_next != GRANULE_BYTES)
		abort();
	use_arena(true);
}

void host_reset(void)
{
	if (!arena)
		use_arena(false);
	poison(arena, arena_next);
	madvise(arena, ARENA_BYTES, MADV_DONTNEED);
	memset(live, 0, arena_next / GRANULE_BYTES + 1);
	arena_next = GRANULE_BYTES;
	use_arena(false);
	while (nr_mappings > 0) {
		nr_mappings--;
		munmap(mapping[nr_mappings].page, mapping[nr_mappings].bytes + PAGE_BYTES);
	}
	host = (struct host_machine){.step_ns = 20,
				     .relax_ns = 10000,
				     .access_ns = 500,
				     .budget = 20000000,
				     .cpu_vectors = 224};
	fake_apic_reset();
}

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1);
}

void *dma_alloc(size_t bytes, size_t align)
{
	size_t start, end;

	if (align == 0 || (align & (align - 1)) || bytes == 0)
		fake_violate("dma_alloc: %zu bytes aligned to %zu", bytes, align);
	host.allocs++;
	if (host.fail_alloc > 0 && --host.fail_alloc == 0)
		return NULL;
	start = round_up(arena_next + GRANULE_BYTES, align < GRANULE_BYTES ? GRANULE_BYTES : align);
	if (host.scatter)
		start = round_up(round_up(arena_next, PAGE_BYTES) + PAGE_BYTES,
				 align < PAGE_BYTES ? PAGE_BYTES : align);
	end = round_up(start + bytes, GRANULE_BYTES);
	if (bytes > ARENA_BYTES || end + GRANULE_BYTES > ARENA_BYTES)
		return NULL;
	memset(live + start / GRANULE_BYTES, 1, (end - start) / GRANULE_BYTES);
	arena_next = end;
	host.live++;
	unpoison(arena + start, bytes);
	return arena + start;
}

/* An allocation starts at a live granule after one that is not, and ends before another. */
static bool whole_allocation(size_t start, size_t bytes)
{
	size_t first = start / GRANULE_BYTES, end = round_up(start + bytes, GRANULE_BYTES);

	return start % GRANULE_BYTES == 0 && !live[first - 1] && !live[end / GRANULE_BYTES] &&
	       host_dma_ok((uintptr_t)arena + start, bytes);
}

void dma_free(void *p, size_t bytes)
{
	size_t start = (uintptr_t)p - (uintptr_t)arena;

	if (!p)
		return;
	if (start >= ARENA_BYTES || !whole_allocation(start, bytes)) {
		fake_violate("dma_free: %zu bytes at %p are not an allocation", bytes, p);
		return;
	}
	fake_freed((uintptr_t)p, bytes);
	memset(p, 0xdd, bytes);
	memset(live + start / GRANULE_BYTES, 0, round_up(bytes, GRANULE_BYTES) / GRANULE_BYTES);
	poison(p, bytes);
	host.live--;
}

bool host_dma_ok(uint64_t addr, uint64_t bytes)
{
	uint64_t start = addr - (uintptr_t)arena, i;

	if (addr < (uintptr_t)arena || bytes == 0 || bytes > ARENA_BYTES ||
	    start > ARENA_BYTES - bytes)
		return false;
	for (i = start / GRANULE_BYTES; i <= (start + bytes - 1) / GRANULE_BYTES; i++)
		if (!live[i])
			return false;
	return !poisoned(arena + start, bytes);
}

/* ---- Registers ---- */

volatile void *mmio_map(uint64_t phys, uint64_t bytes)
{
	if (host.mmio_limit && phys + bytes > host.mmio_limit)
		return NULL;
	if (bytes == 0 || nr_mappings == MAPPINGS) {
		fake_violate("mmio_map: %u mappings, %#llx bytes", nr_mappings,
			     (unsigned long long)bytes);
		return NULL;
	}
	host.mapped += bytes;
	mapping[nr_mappings].phys = phys;
	mapping[nr_mappings].bytes = bytes;
	mapping[nr_mappings].page = reserve(bytes + PAGE_BYTES, PROT_NONE);
	mapping[nr_mappings].virt =
		(volatile uint8_t *)mapping[nr_mappings].page + phys % PAGE_BYTES;
	return mapping[nr_mappings++].virt;
}

static void spend(uint64_t ns)
{
	host_add(&host.clock_ns, ns);
	if (host_add(&host.budget, UINT64_MAX) == 0) {
		host_add(&host.budget, 1000);
		fake_violate("F-154: a wait without end");
	}
}

void host_access(void)
{
	spend(host.access_ns);
	host_add(&host.accesses, 1);
}

static bool to_physical(const volatile void *reg, unsigned width, uint64_t *phys)
{
	uintptr_t at = (uintptr_t)reg;
	unsigned i;

	host_access();
	if (at % width)
		fake_violate("PCI-ACC-01: %u bytes at %p are not aligned", width, (const void *)at);
	for (i = 0; i < nr_mappings; i++)
		if (at - (uintptr_t)mapping[i].virt < mapping[i].bytes) {
			*phys = mapping[i].phys + (at - (uintptr_t)mapping[i].virt);
			return true;
		}
	fake_violate("PCI-CAP-05: register access at %p outside of what was mapped",
		     (const void *)at);
	return false;
}

uint32_t host_mmio_read(const volatile void *reg, unsigned width)
{
	uint64_t phys;

	return to_physical(reg, width, &phys) ? fake_mem_read(phys, width) : UINT32_MAX;
}

void host_mmio_write(volatile void *reg, uint32_t value, unsigned width)
{
	uint64_t phys;

	if (to_physical(reg, width, &phys))
		fake_mem_write(phys, value, width);
}

void host_relax(void)
{
	spend(host.relax_ns);
	fake_relax();
}
