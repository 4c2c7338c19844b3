/* SPDX-License-Identifier: BSD-2-Clause */
/* What may be read, written, run? The final page tables; every address maps to itself. */
#include "arch/x86_64/paging.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/memory.h"
#include "arch/x86_64/page_table.h"
#include "lib/log.h"

static struct page_table tables;
static uint64_t no_execute; /* PTE_NX where the CPU has it */

static void map(uint64_t start, uint64_t end, uint64_t flags)
{
	if (!page_table_map(&tables, start, end, flags))
		panic("paging: no memory for page tables below 4 GiB");
}

static void map_all(const struct ranges *r, uint64_t flags)
{
	for (unsigned i = 0; i < r->n; i++)
		map(r->range[i].start, r->range[i].end, flags);
}

/* Text cannot be written, nothing else can be run, and below each stack is a hole. */
static void map_image(void)
{
	struct ranges writable = {0};

	map((uintptr_t)image_start, (uintptr_t)text_end, 0);
	map((uintptr_t)text_end, (uintptr_t)rodata_end, no_execute);
	ranges_add(&writable, (uintptr_t)rodata_end, (uintptr_t)image_end);
	for (unsigned i = 0; i < STACK_COUNT; i++)
		ranges_remove(&writable, stacks[i].low - PAGE_BYTES, stacks[i].low);
	map_all(&writable, PTE_WRITE | no_execute);
}

static void map_ram(void)
{
	struct ranges rest = *memory_ram();

	if (!ranges_remove(&rest, 0, PAGE_BYTES) ||
	    !ranges_remove(&rest, (uintptr_t)image_start, (uintptr_t)image_end))
		panic("paging: RAM is in too many pieces");
	map_all(&rest, PTE_WRITE | no_execute);
}

static void switch_to(const struct page_table *t)
{
	if (no_execute)
		msr_write(MSR_EFER, msr_read(MSR_EFER) | EFER_NXE);
	cr3_write((uintptr_t)t->root);
	cr0_write(cr0_read() | CR0_WP);
	cr4_write(cr4_read() | (cpu_has_smep() ? CR4_SMEP : 0) | (cpu_has_smap() ? CR4_SMAP : 0) |
		  (cpu_has_machine_check() ? CR4_MCE : 0));
}

void paging_init(void)
{
	no_execute = cpu_has_nx() ? PTE_NX : 0;
	tables.max_level = cpu_has_1g_pages() ? 3 : 2;
	tables.root = memory_take_table();
	if (!tables.root)
		panic("paging: no memory for page tables below 4 GiB");
	map_image();
	map_ram();
	switch_to(&tables);
	memory_all_mapped();
}

/* Whole pages around [@phys, @phys + @bytes); false if nothing can reach all of them. */
static bool page_span(uint64_t phys, uint64_t bytes, uint64_t *start, uint64_t *end)
{
	uint64_t limit = memory_address_end();

	if (!bytes || phys < PAGE_BYTES || phys >= limit || bytes > limit - phys)
		return false;
	*start = phys & ~(uint64_t)(PAGE_BYTES - 1);
	*end = (phys + bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	return true;
}

static bool overlaps_ram(uint64_t start, uint64_t end)
{
	const struct ranges *ram = memory_ram();

	for (unsigned i = 0; i < ram->n; i++)
		if (start < ram->range[i].end && end > ram->range[i].start)
			return true;
	return false;
}

static bool free_or_uncached(uint64_t start, uint64_t end)
{
	for (uint64_t next; start < end; start = next) {
		uint64_t entry = page_table_lookup(&tables, start, &next);

		if (entry && (entry & PTE_UNCACHED) != PTE_UNCACHED)
			return false;
	}
	return true;
}

volatile void *mmio_map(uint64_t phys, uint64_t bytes)
{
	uint64_t start, end;

	if (!page_span(phys, bytes, &start, &end)) {
		log_warn("paging: registers at 0x%llx, 0x%llx bytes: out of reach (end 0x%llx)",
			 (unsigned long long)phys, (unsigned long long)bytes,
			 (unsigned long long)memory_address_end());
		return NULL;
	}
	if (overlaps_ram(start, end) || !free_or_uncached(start, end)) {
		log_warn("paging: registers at 0x%llx, 0x%llx bytes: this is memory in use",
			 (unsigned long long)phys, (unsigned long long)bytes);
		return NULL;
	}
	if (!page_table_map(&tables, start, end, PTE_WRITE | PTE_UNCACHED | no_execute))
		return NULL;
	return (volatile void *)(uintptr_t)phys;
}

const void *map_readonly(uint64_t phys, uint64_t bytes)
{
	uint64_t start, end;

	if (!page_span(phys, bytes, &start, &end) ||
	    (start < (uintptr_t)image_end && end > (uintptr_t)image_start) ||
	    !page_table_map(&tables, start, end, no_execute))
		return NULL;
	return (const void *)(uintptr_t)phys;
}

bool unmap_page(uint64_t addr)
{
	if (!page_table_unmap_page(&tables, addr))
		return false;
	__asm__ volatile("invlpg (%0)" : : "r"(addr) : "memory");
	return true;
}
