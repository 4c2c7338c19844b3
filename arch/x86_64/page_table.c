/* SPDX-License-Identifier: BSD-2-Clause */
/* How is an address range entered into a 4-level page table? */
#include "arch/x86_64/page_table.h"

#include <stddef.h>

#include "arch/x86_64/memory.h"

#define LEVELS 4

static uint64_t level_bytes(unsigned level)
{
	return 1ull << (12 + 9 * (level - 1));
}

static uint64_t *table_of(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & PTE_ADDRESS);
}

static unsigned index_of(uint64_t addr, unsigned level)
{
	return addr / level_bytes(level) % 512;
}

static bool is_page(uint64_t entry, unsigned level)
{
	return level == 1 || (entry & PTE_LARGE);
}

/* Down to *@level, making tables; stops early, and says so in *@level, at a page that is there. */
static uint64_t *walk(const struct page_table *t, uint64_t addr, unsigned *level)
{
	uint64_t *table = t->root;

	for (unsigned l = LEVELS;; l--) {
		uint64_t *entry = &table[index_of(addr, l)];

		if (l == *level || ((*entry & PTE_PRESENT) && is_page(*entry, l))) {
			*level = l;
			return entry;
		}
		if (!(*entry & PTE_PRESENT)) {
			void *fresh = memory_take_table();

			if (!fresh)
				return NULL;
			*entry = (uintptr_t)fresh | PTE_PRESENT | PTE_WRITE;
		}
		table = table_of(*entry);
	}
}

static unsigned best_level(const struct page_table *t, uint64_t start, uint64_t end)
{
	unsigned level = t->max_level;

	while (level > 1 && (start % level_bytes(level) || end - start < level_bytes(level)))
		level--;
	return level;
}

bool page_table_map(const struct page_table *t, uint64_t start, uint64_t end, uint64_t flags)
{
	while (start < end) {
		unsigned level = best_level(t, start, end);
		uint64_t *entry = walk(t, start, &level);

		/* A table stands where a large page would fit: go by smaller ones. */
		while (entry && (*entry & PTE_PRESENT) && !is_page(*entry, level)) {
			level--;
			entry = walk(t, start, &level);
		}
		if (!entry)
			return false;
		if (!(*entry & PTE_PRESENT))
			*entry = start | flags | PTE_PRESENT | (level > 1 ? PTE_LARGE : 0);
		start = (start | (level_bytes(level) - 1)) + 1;
	}
	return true;
}

/* Puts a table of smaller pages that say the same in the place of a large one. */
static bool split(uint64_t *entry, unsigned level)
{
	uint64_t *fresh = memory_take_table(), smaller = *entry;

	if (!fresh)
		return false;
	if (level - 1 == 1)
		smaller &= ~PTE_LARGE;
	for (unsigned i = 0; i < 512; i++)
		fresh[i] = smaller + i * level_bytes(level - 1);
	*entry = (uintptr_t)fresh | PTE_PRESENT | PTE_WRITE;
	return true;
}

bool page_table_unmap_page(const struct page_table *t, uint64_t addr)
{
	uint64_t *table = t->root;

	for (unsigned level = LEVELS; level > 1; level--) {
		uint64_t *entry = &table[index_of(addr, level)];

		if (!(*entry & PTE_PRESENT))
			return true;
		if (is_page(*entry, level) && !split(entry, level))
			return false;
		table = table_of(*entry);
	}
	table[index_of(addr, 1)] = 0;
	return true;
}

uint64_t page_table_lookup(const struct page_table *t, uint64_t addr, uint64_t *next)
{
	const uint64_t *table = t->root;

	for (unsigned level = LEVELS;; level--) {
		uint64_t entry = table[index_of(addr, level)];

		*next = (addr | (level_bytes(level) - 1)) + 1;
		if (!(entry & PTE_PRESENT))
			return 0;
		if (is_page(entry, level))
			return entry;
		table = table_of(entry);
	}
}
