/* SPDX-License-Identifier: BSD-2-Clause */
/* Which vector is whose, from 32 on? */
#ifndef ARCH_X86_64_INTERRUPT_H
#define ARCH_X86_64_INTERRUPT_H

/* Those of the local APIC itself are the highest; devices get the rest. */
enum {
	VECTOR_DEVICE_FIRST = 32,
	VECTOR_DEVICE_LAST = 251,
	VECTOR_WAKE = 252,
	VECTOR_TIMER = 253,
	VECTOR_ERROR = 254,
	VECTOR_SPURIOUS = 255,
	DEVICE_VECTORS = VECTOR_DEVICE_LAST - VECTOR_DEVICE_FIRST + 1
};

struct handler {
	void (*function)(void *context); /* NULL: the vector is free */
	void *context;
};

/* What trap_handle() does with vectors that are no exceptions. */
void interrupt_dispatch(unsigned vector);

#endif
