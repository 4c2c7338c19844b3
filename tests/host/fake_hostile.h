/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a string of bytes, as a fuzzer makes it, decide what a disk lies about? */
#ifndef TESTS_HOST_FAKE_HOSTILE_H
#define TESTS_HOST_FAKE_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each device step takes the next byte: below 0x80, and when all are used up, the device is honest.
 * From 0x80 on the rest of the byte says what it does instead, and bytes that follow, with what
 * value. All zero bytes, or none: an honest device.
 *
 * Set fake_disk.hostile to one of these, before or after fake_disk_plug(), and drive the disk as
 * usual, in lock-step. From its first lie on a rule that is broken counts only if no lie can excuse
 * it: a wait without end (F-154), an access outside of what was mapped (PCI-CAP-05), misuse of memory,
 * mappings or interrupts. What else goes wrong shows by ASan, or by a request that never ends.
 */
struct fake_hostile {
	const uint8_t *data;
	size_t n, at;	/* how many; how many were used */
	unsigned stall; /* steps in which it still does nothing */
	unsigned lies;	/* told so far */
};

#endif
