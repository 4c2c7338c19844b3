/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test play a driver by hand, step by step, so that it can break each rule? */
#ifndef TESTS_HOST_HAND_RIG_H
#define TESTS_HOST_HAND_RIG_H

#include "tests/host/rig.h"

/* What a descriptor of a test refers to. */
enum hand_where { HEADER, DATA, STATUS, TABLE, WILD };

struct hand_part {
	enum hand_where where;
	uint32_t len;
	uint16_t flags; /* for packed: inverted against those that make it available */
};

extern struct hand {
	volatile uint8_t *bar;
	uint8_t *memory;  /* 16 bytes of header, 1 of status, from 512 data, from 8192 a table */
	uint8_t *ring[3]; /* descriptors, driver area, device area */
	uint16_t size;
	uint64_t next; /* packed: position of the next slot to fill */
} hand;

/* A fresh machine with one disk, queue 0 of @size, all @features of it accepted. */
void hand_bring_up(struct rig *rig, uint16_t size, uint64_t features);
/* The same by single steps: a disk with these features; up to FEATURES_OK; the queue; DRIVER_OK. */
void hand_plug(struct rig *rig, uint16_t size, uint64_t features);
void hand_negotiate(uint64_t features);
void hand_queue(uint16_t size);
void hand_write(unsigned offset, unsigned width, uint64_t value);
uint32_t hand_read(unsigned offset, unsigned width);
void hand_kick(void);
uint64_t hand_address(enum hand_where where);
void hand_header(uint32_t type, uint64_t sector);
/* The first violation must start with @id; NULL: there must be none. */
void hand_expect(const char *id);

/* ---- Packed ---- */

struct fake_desc *hand_slot(uint64_t position);
/* The flags that make the slot at @position available. */
uint16_t hand_available(uint64_t position);
bool hand_used(uint64_t position);
/* Fills one slot, flags last; moves on by one. */
void hand_put(const struct hand_part *part, uint16_t id);
/* A list of @n: the head's flags are written last. */
void hand_list(const struct hand_part *part, unsigned n, uint16_t id);
/* A read of one sector as a list of three. */
void hand_read_sector(uint16_t id);
/* Event structures: offset and wrap counter, and flags. */
void hand_event(uint16_t off_wrap, uint16_t flags);

#endif
