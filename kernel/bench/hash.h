/* SPDX-License-Identifier: BSD-2-Clause */
/* How is what was read checked from outside? rw=read hash=crc32c */
#ifndef KERNEL_BENCH_HASH_H
#define KERNEL_BENCH_HASH_H

#include <stdbool.h>
#include <stdint.h>

struct blk_request;
struct io_batch;
struct job;

/*
 * The CRC32C of the data in order of LBA, whatever order the requests come back in. A request is
 * free again only when it was hashed, so the requests that are out, or back and not hashed yet,
 * are a window of at most iodepth blocks that slides over the range.
 */
struct hash {
	struct blk_request **window; /* a ring of n: who has the blocks from the oldest on */
	bool *is_back;		     /* per request of the pool: read, but not hashed yet */
	unsigned oldest, newest;     /* places in the ring: next to be hashed, next to be filled */
	unsigned waiting;	     /* requests between the two */
	uint64_t next_block;
};

void hash_init(struct job *job);
/* The next @n blocks, in order of LBA; a tail shorter than bs is the last. */
void hash_place(struct job *job, struct blk_request **reqs, unsigned n, struct io_batch *batch);
/* @n requests are back: hashes as far as there is no gap, and frees what it has hashed. */
void hash_take(struct job *job, struct blk_request *const *done, unsigned n);

#endif
