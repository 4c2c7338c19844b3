/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the block driver live through a device that lies as a string of bytes says? */
#include "tests/host/fake_hostile.h"

#include <stdlib.h>
#include <string.h>

#include "tests/host/rig.h"

#define REQUESTS 12
#define BYTES	 1200

static uint8_t bytes[BYTES];
static struct blk_request reqs[REQUESTS];

/* Mostly zeros, so that lies are far apart: @one_in says how far. */
static void scatter_lies(uint32_t seed, unsigned one_in, unsigned from)
{
	struct fake_disk dice = {.random = seed * 2654435761u | 1};
	unsigned i;

	memset(bytes, 0, sizeof(bytes));
	for (i = from; i < BYTES; i++)
		if (fake_random(&dice) % one_in == 0)
			bytes[i] = (uint8_t)(fake_random(&dice) >> 9);
}

/* A start, some requests, an end; each must end, whatever comes. Returns the lies that were told. */
static unsigned live_through(struct rig *rig, unsigned n)
{
	struct fake_hostile hostile = {.data = bytes, .n = n};
	struct blk_request *list[REQUESTS], *done[REQUESTS];
	unsigned i, sent = 0, got = 0, turns;

	fake_reset();
	rig->log_bytes = 0;
	fake_disk_init(&rig->disk);
	rig->disk.hostile = &hostile;
	host.budget = 3000000;
	rig_plug(rig);
	if (rig_find(rig) && blk_open(&rig->blk, &rig->pci, 0, &rig->config)) {
		for (i = 0; i < REQUESTS; i++) {
			reqs[i] = rig_request(BLK_READ, 8 * i, rig_memory(512), 512);
			list[i] = &reqs[i];
		}
		for (turns = 0; turns < 4000; turns++) {
			if (sent < REQUESTS)
				sent += blk_submit(rig->blk.queues[0], list + sent,
						   REQUESTS - sent);
			got += blk_poll(rig->blk.queues[0], done, REQUESTS);
			blk_check_progress(rig->blk.queues[0]);
			host.clock_ns += 50000000;
			fake_step();
		}
		assert_int_equal(got, sent);
		blk_close(&rig->blk);
	}
	assert_null(fake_violation());
	rig->disk.hostile = NULL;
	return hostile.lies;
}

static void no_bytes_no_lies(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	memset(bytes, 0x7f, sizeof(bytes));
	assert_int_equal(live_through(rig, BYTES), 0);
	for (i = 0; i < REQUESTS; i++)
		assert_int_equal(reqs[i].progress.status, BLK_OK);
}

static void hundreds_of_strings(void **state)
{
	struct rig *rig = *state;
	uint64_t lies = 0;
	unsigned seed;

	rig_tolerate();
	for (seed = 1; seed <= 350; seed++) {
		scatter_lies(seed, 1 + seed % 40, 3 * seed);
		lies += live_through(rig, BYTES);
	}
	assert_true(lies > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(no_bytes_no_lies),
		rig_test(hundreds_of_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
