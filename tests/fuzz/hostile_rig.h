/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the files that play a hostile disk want of each other? */
#ifndef TESTS_FUZZ_HOSTILE_RIG_H
#define TESTS_FUZZ_HOSTILE_RIG_H

#include "drivers/block/blk_port.h"
#include "tests/fuzz/hostile.h"
#include "tests/host/fake_hostile.h"

#define HOSTILE_PORTS	   3u /* port p is CPU p's, and leads to queue p modulo their number */
#define HOSTILE_REQUESTS   40u
#define HOSTILE_DATA_BYTES 16384u /* of each */
#define HOSTILE_TIMEOUT_NS 20000000ull
#define HOSTILE_SECTORS	   256u /* of the disk, as it begins */

/* What the first bytes of the input choose; seeds.py has the same list. */
struct hostile_shape {
	unsigned lies, early; /* the device lies; even while it is set up */
	unsigned size, odd_queue, qsize, order;
	unsigned indirect, mode, no_event_idx, recover_queue;
	unsigned in_order, notification_data, notif_config_data, ring_reset;
	unsigned no_indirect, device_no_event_idx, large_blocks;
	unsigned queues, ports, poll_queue;
	unsigned used_batch, seg_max, face;
	unsigned vectors, irq, coalesce, refuse_mapping, no_ioapic;
	unsigned junk, polling, event_fixed, no_multiplier;
	unsigned reset_never, queue_reset_never, slow_reset;
	unsigned abandon, helps; /* closed with requests in flight; at the end the device answers */
	unsigned fail_alloc, high_memory;
};

struct hostile_request {
	struct blk_request req;
	struct blk_port *port;
	bool out, odd; /* odd: wrong in itself, so that it may be refused */
};

extern struct hostile_rig {
	struct hostile_shape shape;
	struct fake_disk disk;
	struct fake_hostile hostile;
	struct blk_device blk;
	struct blk_port port[HOSTILE_PORTS];
	unsigned nr_ports;
	bool halted[HOSTILE_PORTS]; /* armed, and to be disarmed before anything else */
	struct hostile_request request[HOSTILE_REQUESTS];
	unsigned nr_out;
	struct sgl_pool pool;
	uint8_t *data;
	bool scribbled;
} rig;

/* hostile_shape.c */
void hostile_shape_take(struct hostile_shape *shape, struct fuzz_input *in);
void hostile_shape_device(const struct hostile_shape *shape, const struct hostile_kind *kind);
struct blk_config hostile_shape_driver(const struct hostile_shape *shape,
				       const struct hostile_kind *kind);

/* Has the device done nothing but what it must? And has nothing been out for too long? */
bool hostile_honest(void);
bool hostile_in_time(void);

/* hostile_io.c: requests are sent, @word and @more say which, and come back. */
void hostile_submit(struct blk_port *port, unsigned word, unsigned more);
void hostile_submit_long(struct blk_port *port, unsigned more);
void hostile_submit_odd(struct blk_port *port, unsigned more);
/* Each comes back once, through the port that it was sent by, with a status that can be. */
unsigned hostile_poll(struct blk_port *port);
/* The disk is closed, with requests out: each has ended all the same. */
void hostile_closed(void);

#endif
