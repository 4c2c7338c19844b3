/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the packed ring in order between two threads, where a missing barrier can show? */
#include <sched.h>
#include <string.h>

#include "tests/host/rig.h"

#define N 20 /* requests at once, at most */

static struct blk_request reqs[N], *list[N], *done[N];

/* @n requests, up to @depth at once, so that the device is at work while more come. */
static void hammer(struct rig *rig, unsigned depth, unsigned n)
{
	unsigned ready = depth, sent = 0, total = 0, got, i, taken;
	uint64_t turns = 0;

	for (i = 0; i < depth; i++)
		list[i] = &reqs[i];
	while (total < n && turns++ < 50000000 && !fake_violation()) {
		taken = ready ? blk_submit(rig->blk.queues[0], list, ready) : 0;
		memmove(list, list + taken, (ready - taken) * sizeof(list[0]));
		ready -= taken;
		sent += taken;
		got = blk_poll(rig->blk.queues[0], done, N);
		total += got;
		for (i = 0; i < got; i++) {
			void *data = (void *)(uintptr_t)done[i]->sgl.inline_sg[0].addr;

			assert_true(fake_stamp_ok(data, 0, 1));
			memset(data, 0, 512);
			if (sent + ready < n)
				list[ready++] = done[i];
		}
		if (got == 0)
			sched_yield();
	}
	assert_int_equal(total, n);
}

/* F-077, RING-PACKED-09/15/16/23: each size, direct and not, with events and without. */
static void beside_a_thread(void **state)
{
	struct rig *rig = *state;
	unsigned i, k;

	for (i = 0; i < 8; i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
		rig->disk.queue_size[0] = i & 4 ? 9 : 64;
		rig->disk.order = FAKE_RANDOM;
		rig->config.event_idx = (i ^ i >> 1) & 1;
		rig->config.indirect = i & 2 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
		rig_start(rig);
		host.step_ns = 0; /* no clock moves, so nothing is repeated */
		for (k = 0; k < N; k++)
			reqs[k] = rig_request(BLK_READ, 0, rig_memory(512), 512);
		fake_thread_start(&rig->disk, 1 + i);
		hammer(rig, i & 1 ? N : 3, 8000);
		fake_thread_stop(&rig->disk);
		assert_null(fake_violation());
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(beside_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
