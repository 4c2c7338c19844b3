/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the kernel know at its door? The same, whichever way it was booted. */
#ifndef ARCH_BOOT_INFO_H
#define ARCH_BOOT_INFO_H

#include <stddef.h>
#include <stdint.h>

#define BOOT_MEMORY_MAX	 128
#define BOOT_MODULES_MAX 8

enum boot_memory_type {
	BOOT_MEMORY_RAM = 1,
	BOOT_MEMORY_RESERVED,
	BOOT_MEMORY_ACPI,
	BOOT_MEMORY_NVS
};

struct boot_memory {
	uint64_t start, bytes; /* physical */
	uint32_t type;	       /* enum boot_memory_type; others are treated as reserved */
};

struct boot_module {
	uint64_t start, bytes; /* physical */
	const char *cmdline;   /* "" if none */
};

struct boot_info {
	const char *protocol;  /* "pvh" */
	uint64_t entry_cycles; /* TSC at the first instruction of the image */
	uint64_t rsdp;	       /* physical; 0 if the loader gave none */
	const char *cmdline;   /* never NULL */
	unsigned nr_memory, nr_modules;
	struct boot_memory memory[BOOT_MEMORY_MAX];
	struct boot_module modules[BOOT_MODULES_MAX];
};

/* The only call upward: every boot path ends here. kernel/main.c has it. */
_Noreturn void kernel_main(const struct boot_info *info);

#endif
