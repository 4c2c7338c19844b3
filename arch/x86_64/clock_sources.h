/* SPDX-License-Identifier: BSD-2-Clause */
/* Which clocks beside the TSC run on by themselves, and at what rate? */
#ifndef ARCH_X86_64_CLOCK_SOURCES_H
#define ARCH_X86_64_CLOCK_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct clock_source {
	const char *name;
	uint64_t hz;
	unsigned bits;		      /* the counter wraps at 2^bits; 64: never */
	bool coarse;		      /* a tick takes longer than a read: wait for its edge */
	uint64_t (*read)(void);	      /* one access, the low 32 bits at most */
	uint64_t (*read_whole)(void); /* all bits, in several accesses; NULL if read() has them */
};

/* Each fills @source and starts the clock; false if this machine does not have it. */
bool hpet_open(struct clock_source *source);
bool pm_timer_open(struct clock_source *source);

/* The TSC's rate in Hz by the 8254's third counter, in about 3 ms; 0 if there is none (F-138). */
uint64_t pit_measure_hz(void);

#endif
