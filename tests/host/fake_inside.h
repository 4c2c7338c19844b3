/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the files of the fake device want of each other? */
#ifndef TESTS_HOST_FAKE_INSIDE_H
#define TESTS_HOST_FAKE_INSIDE_H

#include "tests/host/fake.h"

/* What a used entry says. */
struct fake_use {
	uint32_t id, len;
	unsigned buffers, slots; /* that it stands for: more than one with IN_ORDER */
	uint16_t jump, flip;	 /* how it lies */
};

/* What differs between split and packed: positions count index steps, or slots. */
struct fake_ring {
	const char *missed; /* the rule that a notification left out breaks */
	/* Judges the memory of a queue that is being enabled. */
	bool (*enable)(struct fake_disk *disk, struct fake_queue *queue);
	/* Writes what the device wants to be notified of. */
	void (*suppress)(struct fake_disk *disk, struct fake_queue *queue);
	/* Judges what the driver may change at any time, and what it may not. */
	void (*check)(struct fake_disk *disk, struct fake_queue *queue);
	/* The position behind what is available. */
	uint64_t (*published)(const struct fake_queue *queue);
	/* Takes all that is available; how many buffers it was. */
	unsigned (*take)(struct fake_disk *disk, struct fake_queue *queue);
	/* Did the device ask to be notified of something from queue->seen to @published? */
	bool (*wanted)(const struct fake_disk *disk, const struct fake_queue *queue,
		       uint64_t published);
	/* Writes a used entry; does the driver ask for an interrupt then? */
	bool (*use)(struct fake_disk *disk, struct fake_queue *queue, const struct fake_use *use);
	/* The upper half of a notification with NOTIFICATION_DATA. */
	uint16_t (*notify_data)(const struct fake_queue *queue);
};
extern const struct fake_ring fake_split, fake_packed;

/* How many queues there are to look after: @num_queues, or FAKE_QUEUES. */
unsigned fake_nr_queues(const struct fake_disk *disk);
void fake_disk_unplug_all(void);
void fake_pci_reset(void);
void fake_freed(uint64_t addr, uint64_t bytes);
uint32_t fake_status_read(struct fake_disk *disk);
void fake_status_write(struct fake_disk *disk, uint8_t value);
uint32_t fake_common_read(struct fake_disk *disk, uint64_t offset, unsigned width);
void fake_common_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width);
uint32_t fake_config_read(struct fake_disk *disk, uint64_t offset, unsigned width);
void fake_config_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width);
void fake_notify(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width);
/* Queue @index was notified, by the right word. */
void fake_notify_queue(struct fake_disk *disk, unsigned index);
/* How many queues the driver may enable (5.2.2). */
unsigned fake_usable_queues(const struct fake_disk *disk);
uint8_t fake_isr_read(struct fake_disk *disk);
/* The legacy registers (fake_legacy.c); the rest of that BAR is the device configuration. */
uint32_t fake_legacy_read(struct fake_disk *disk, uint64_t offset, unsigned width);
void fake_legacy_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width);
void fake_legacy_notify(struct fake_disk *disk, uint32_t value, unsigned width);
void fake_legacy_framing(const struct fake_disk *disk, const struct fake_chain *chain);
void fake_legacy_ready(const struct fake_disk *disk);
uint32_t fake_config_legacy_read(struct fake_disk *disk, uint64_t offset, unsigned width);
void fake_config_legacy_write(struct fake_disk *disk, uint64_t offset, uint32_t value,
			      unsigned width);
void fake_disk_reset(struct fake_disk *disk);
void fake_queue_init(struct fake_queue *queue);
void fake_queue_free(struct fake_queue *queue);
/* RING_RESET: what a read of queue_reset gives, and what a write does. */
uint32_t fake_queue_reset_read(struct fake_disk *disk, struct fake_queue *queue);
void fake_queue_reset_write(struct fake_disk *disk, struct fake_queue *queue, uint32_t value);
void fake_queue_enable(struct fake_disk *disk, struct fake_queue *queue);
void fake_queue_notified(struct fake_disk *disk, struct fake_queue *queue);
void fake_queue_finish(struct fake_disk *disk, struct fake_queue *queue, unsigned n);
void fake_chain_walk(struct fake_disk *disk, struct fake_queue *queue, uint16_t head);
/* Adds a segment and judges it; @order names the rule of readable before writable. */
void fake_chain_add(struct fake_chain *chain, struct fake_seg seg, const char *order);
/* Reads a descriptor that must stay as it is until the buffer is used. */
struct fake_desc fake_chain_fetch(struct fake_chain *chain, uint64_t where);
/* The buffer is to be used: its descriptors must be as they were. */
void fake_chain_check(struct fake_queue *queue, const struct fake_chain *chain);
/* Is the device at work, and has no rule been broken? */
bool fake_live(const struct fake_disk *disk);
bool fake_accepted(const struct fake_disk *disk, unsigned feature);
/* Are these the flags of an available descriptor, where the wrap counter is @wrap? (2.8.1) */
bool fake_packed_available(uint16_t flags, bool wrap);
/* Takes the list whose head is at packed.taken; returns how many slots it has. */
unsigned fake_packed_walk(struct fake_disk *disk, struct fake_queue *queue, bool wrap);
bool fake_ring_memory(const char *rule, const char *name, uint64_t addr, uint64_t bytes,
		      uint64_t align);
/* Reads the header and counts the request when it is taken; carries it out when it completes. */
void fake_blk_take(struct fake_disk *disk, struct fake_chain *chain);
uint32_t fake_blk_run(struct fake_disk *disk, const struct fake_chain *chain, enum fake_lie lie);
void fake_relax(void);
/* Is the queue enabled? With a hostile device, is its memory still there, too? */
bool fake_queue_alive(const struct fake_disk *disk, const struct fake_queue *queue);
/* The points where a hostile device decides (fake_hostile.c). */
bool fake_hostile_excuses(const char *text);
uint32_t fake_hostile_read(struct fake_disk *disk, uint32_t value, unsigned width);
bool fake_hostile_use(struct fake_disk *disk, struct fake_use *use, unsigned size);
enum fake_lie fake_hostile_lie(struct fake_disk *disk);
bool fake_hostile_step(struct fake_disk *disk);
/* MSI-X and INTx of a disk (fake_msix.c). */
void fake_msix_plug(struct fake_disk *disk);
void fake_msix_free(struct fake_disk *disk);

/* Is it in the table or among the pending bits? Then that is where an access goes. */
bool fake_msix_hit(const struct fake_disk *disk, unsigned bar, uint64_t offset);
uint32_t fake_msix_access(struct fake_disk *disk, unsigned bar, uint64_t offset, uint32_t value,
			  unsigned width, bool write);
/* The write to a vector register: what it holds then. @queue -1: the configuration's. */
uint16_t fake_msix_map(struct fake_disk *disk, int queue, uint32_t vector);
/* Raises what @isr means by @vector, or by INTx, as the knobs say. */
void fake_msix_raise(struct fake_disk *disk, uint16_t vector, uint8_t isr);
/* Sends what was late, or masked and is not any more. */
void fake_msix_step(struct fake_disk *disk);
bool fake_line_up(const struct fake_disk *disk);

#endif
