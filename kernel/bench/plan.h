/* SPDX-License-Identifier: BSD-2-Clause */
/* What will a job do on this disk? Options meet the device here, before anything is sent. */
#ifndef KERNEL_BENCH_PLAN_H
#define KERNEL_BENCH_PLAN_H

#include "kernel/bench/options.h"

struct job_plan {
	const struct job_options *options;
	struct blk_device *device;
	uint64_t first_lba_512;	 /* where the range starts */
	uint64_t nr_blocks;	 /* whole blocks of bs_bytes in the range */
	uint32_t block_512;	 /* bs in units of 512 bytes */
	uint32_t tail_bytes;	 /* past the last whole block; for hash=crc32c only */
	uint64_t total_ios;	 /* tail included; UINT64_MAX: until the time is up */
	uint64_t counted_ios;	 /* of these, after the ramp time, at most so many */
	uint64_t left_out_bytes; /* tail that this job does not touch, for a note */
};

/*
 * Fails, with one line in @error, for: bs not a multiple of the block size or of 512, a range or
 * offset that is unaligned, outside the disk or without a whole block, writes to a read-only disk,
 * sums that overflow, time_based without a runtime, hash with anything but rw=read or with an
 * option that would cut the range short or repeat it.
 */
bool plan_job(struct job_plan *plan, const struct job_options *options, struct blk_device *device,
	      char *error, size_t error_size);

#endif
