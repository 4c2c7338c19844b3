/* SPDX-License-Identifier: BSD-2-Clause */
/* Which segments are there? As few as long mode allows. */
#ifndef ARCH_X86_64_GDT_H
#define ARCH_X86_64_GDT_H

#define SELECTOR_CODE 0x08
#define SELECTOR_DATA 0x10
#define SELECTOR_TSS  0x18

void gdt_init(void);

#endif
