/* SPDX-License-Identifier: BSD-2-Clause */
/* What did the PVH loader hand over? Its start info becomes a struct boot_info. */
#include <arch/boot_info.h>
#include <arch/system.h>

#include "arch/x86_64/acpi.h"
#include "lib/mem.h"

/* Xen, xen/include/public/arch-x86/hvm/start_info.h. All addresses are physical. */
#define HVM_START_MAGIC 0x336ec578u

struct hvm_start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist, cmdline, rsdp;
	uint64_t memmap; /* from here on since version 1 */
	uint32_t memmap_entries, reserved;
};

struct hvm_module {
	uint64_t start, bytes, cmdline, reserved;
};

struct hvm_memory {
	uint64_t start, bytes;
	uint32_t type, reserved;
};

/* The temporary page tables reach this far. */
#define MAPPED_END 0x100000000ull

#define TEXT_BYTES 8192 /* twice what kernel_main() takes */

extern uint64_t boot_entry_cycles;
_Noreturn void pvh_start(uint64_t start_info);

static struct boot_info boot_info;

static const void *at(uint64_t phys, uint64_t bytes, const char *what)
{
	if (!phys || phys >= MAPPED_END || bytes > MAPPED_END - phys)
		panic("PVH: %s at 0x%llx, %llu bytes: not within the first 4 GiB", what,
		      (unsigned long long)phys, (unsigned long long)bytes);
	return (const void *)(uintptr_t)phys;
}

/* Command lines are copied: the loader's memory becomes free memory. */
static const char *copy_text(uint64_t phys)
{
	static char text[TEXT_BYTES];
	static size_t used;
	const char *from;
	char *copy = text + used;
	size_t len = 0;

	if (!phys)
		return "";
	from = at(phys, 1, "command line");
	while (phys + len < MAPPED_END && from[len]) {
		if (used + len + 1 >= sizeof(text))
			break; /* cut here; longer than what kernel_main() takes, which says so */
		copy[len] = from[len];
		len++;
	}
	copy[len] = '\0';
	used += len + 1;
	return copy;
}

static void read_memory_map(struct boot_info *info, const struct hvm_start_info *start)
{
	const struct hvm_memory *map;

	if (start->version == 0 || !start->memmap || !start->memmap_entries)
		panic("PVH: start info version %u without a memory map; version 1 is needed",
		      start->version);
	if (start->memmap_entries > BOOT_MEMORY_MAX)
		panic("PVH: %u memory map entries; at most %u are supported", start->memmap_entries,
		      BOOT_MEMORY_MAX);
	map = at(start->memmap, start->memmap_entries * sizeof(*map), "memory map");
	for (uint32_t i = 0; i < start->memmap_entries; i++)
		info->memory[i] = (struct boot_memory){map[i].start, map[i].bytes, map[i].type};
	info->nr_memory = start->memmap_entries;
}

static void read_modules(struct boot_info *info, const struct hvm_start_info *start)
{
	const struct hvm_module *modules;

	if (!start->nr_modules)
		return;
	if (start->nr_modules > BOOT_MODULES_MAX)
		panic("PVH: %u modules; at most %u are supported", start->nr_modules,
		      BOOT_MODULES_MAX);
	modules = at(start->modlist, start->nr_modules * sizeof(*modules), "module list");
	for (uint32_t i = 0; i < start->nr_modules; i++)
		info->modules[i] = (struct boot_module){modules[i].start, modules[i].bytes,
							copy_text(modules[i].cmdline)};
	info->nr_modules = start->nr_modules;
}

void pvh_start(uint64_t start_info)
{
	const struct hvm_start_info *start = at(start_info, sizeof(*start), "start info");
	struct boot_info *info = &boot_info;

	if (start->magic != HVM_START_MAGIC)
		panic("PVH: start info at 0x%llx has magic 0x%x, expected 0x%x",
		      (unsigned long long)start_info, start->magic, HVM_START_MAGIC);
	info->protocol = "pvh";
	info->entry_cycles = boot_entry_cycles;
	info->cmdline = copy_text(start->cmdline);
	read_memory_map(info, start);
	read_modules(info, start);
	info->rsdp = start->rsdp ? start->rsdp : acpi_search_rsdp();
	kernel_main(info);
}
