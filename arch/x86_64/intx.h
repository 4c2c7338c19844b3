/* SPDX-License-Identifier: BSD-2-Clause */
/* How does one handler leave a line that others share? */
#ifndef ARCH_X86_64_INTX_H
#define ARCH_X86_64_INTX_H

struct interrupt;

/* What interrupt_free() does with what interrupt_intx() made. */
void intx_free(const struct interrupt *irq);

#endif
