/* SPDX-License-Identifier: BSD-2-Clause */
/* Which physical memory is free? The loader's map, less what is in use, handed out by pages. */
#include "arch/x86_64/memory.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/pages.h"
#include "lib/log.h"
#include "lib/mem.h"

#define LOW_MEMORY_END	  0x100000ull	 /* below: firmware's data, tables of loaders */
#define TEMPORARY_MAP_END 0x100000000ull /* pvh_entry.S */

static struct ranges ram, free_pages;
static uint64_t mapped_end = TEMPORARY_MAP_END; /* 0: everything */
static bool prefer_high;

uint64_t memory_address_end(void)
{
	static uint64_t end; /* CPUID is slow under some hypervisors */

	if (!end)
		end = 1ull << cpu_physical_bits();
	return end < IDENTITY_END ? end : IDENTITY_END;
}

/* Whole pages within (RAM) or around (the rest) an entry; false if there is none. */
static bool page_bounds(const struct boot_memory *m, uint64_t *start, uint64_t *end)
{
	const uint64_t mask = PAGE_BYTES - 1;
	uint64_t limit = memory_address_end();

	if (m->start >= limit || m->bytes == 0)
		return false;
	*end = m->bytes > limit - m->start ? limit : m->start + m->bytes;
	if (m->type == BOOT_MEMORY_RAM) {
		*start = (m->start + mask) & ~mask;
		*end &= ~mask;
	} else {
		*start = m->start & ~mask;
		*end = (*end + mask) & ~mask;
	}
	return *start < *end;
}

/* Entries may overlap and come in any order: what one of them calls reserved is not RAM. */
static void find_ram(const struct boot_info *info)
{
	uint64_t start, end;
	bool fits = true;

	for (unsigned i = 0; i < info->nr_memory; i++)
		if (info->memory[i].type == BOOT_MEMORY_RAM &&
		    page_bounds(&info->memory[i], &start, &end))
			fits &= ranges_add(&ram, start, end);
	for (unsigned i = 0; i < info->nr_memory; i++)
		if (info->memory[i].type != BOOT_MEMORY_RAM &&
		    page_bounds(&info->memory[i], &start, &end))
			fits &= ranges_remove(&ram, start, end);
	if (!fits)
		panic("memory: the map of %u entries does not fit %u ranges", info->nr_memory,
		      RANGES_MAX);
}

void memory_init(const struct boot_info *info)
{
	bool fits;

	find_ram(info);
	memcpy(&free_pages, &ram, sizeof(ram));
	fits = ranges_remove(&free_pages, 0, LOW_MEMORY_END) &&
	       ranges_remove(&free_pages, (uintptr_t)image_start, (uintptr_t)image_end);
	for (unsigned i = 0; i < info->nr_modules; i++) {
		struct boot_memory m = {info->modules[i].start, info->modules[i].bytes, 0};
		uint64_t start, end;

		if (page_bounds(&m, &start, &end))
			fits &= ranges_remove(&free_pages, start, end);
	}
	if (!fits || !free_pages.n)
		panic("memory: no usable RAM in a map of %u entries", info->nr_memory);
}

const struct ranges *memory_ram(void)
{
	return &ram;
}

void memory_all_mapped(void)
{
	mapped_end = 0;
}

void memory_prefer_high(bool on)
{
	prefer_high = on;
}

void *pages_take(uint64_t bytes, uint64_t align)
{
	enum ranges_side side = prefer_high ? RANGES_HIGHEST : RANGES_LOWEST;
	uint64_t page = ranges_take(&free_pages, bytes, align, mapped_end, side);

	return page == UINT64_MAX ? NULL : (void *)(uintptr_t)page;
}

bool pages_give_back(void *page, uint64_t bytes)
{
	uint64_t start = (uintptr_t)page;

	return ranges_add(&free_pages, start, start + bytes);
}

uint64_t pages_free_bytes(void)
{
	return ranges_total(&free_pages);
}

/* Tables stay below 4 GiB while there is room: the temporary tables reach no further. */
void *memory_take_table(void)
{
	uint64_t page =
		ranges_take(&free_pages, PAGE_BYTES, PAGE_BYTES, TEMPORARY_MAP_END, RANGES_LOWEST);

	if (page == UINT64_MAX && !mapped_end)
		page = ranges_take(&free_pages, PAGE_BYTES, PAGE_BYTES, 0, RANGES_LOWEST);
	return page == UINT64_MAX ? NULL : memset((void *)(uintptr_t)page, 0, PAGE_BYTES);
}
