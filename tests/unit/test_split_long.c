/* SPDX-License-Identifier: BSD-2-Clause */
/* Are chains of several slots, and those in indirect tables, well formed, and nothing of them lost? */
#include "tests/host/ring_rig.h"

/* RING-SPLIT-08/09/10/12, F-093, F-094: long and short chains, in any order, and no slot lost. */
static void long_chains(struct rig *rig, uint16_t tables)
{
	unsigned round, i, indirect = 0, longest = 64, free_tables, room;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_RANDOM;
	rig->disk.features &= ~FAKE_BIT(FAKE_SEG_MAX);
	ring_bring_up(rig, 64, true, tables);
	free_tables = ring.vq.tables.n_free;
	room = ring_room();
	for (round = 0; round < 2000; round++) {
		for (i = 0; i < RING_CELLS && ring_room() > 0; i++) {
			if (ring.cells[i].busy)
				continue;
			if (fake_random(&rig->disk) % 2)
				ring_add(&ring.cells[i], round);
			else if (!ring_add_long(&ring.cells[i],
						3 + fake_random(&rig->disk) % (longest - 2)))
				break;
			else
				ring.cells[i].busy = true;
		}
		ring_publish();
		fake_complete(&rig->disk, 1 + fake_random(&rig->disk) % 20);
		ring_collect();
	}
	fake_complete(&rig->disk, 64);
	ring_collect();
	indirect = rig->disk.nr_indirect > 0;
	assert_int_equal(indirect, tables > 0);
	assert_int_equal(ring_room(), room);
	assert_int_equal(ring.vq.tables.n_free, free_tables);
	assert_int_equal(rig->disk.nr_done, rig->disk.nr_requests);
	assert_true(rig->disk.max_descs > longest - 4);
	ring_tear_down();
}

static void chains_of_several_slots(void **state)
{
	long_chains(*state, 0);
}

static void chains_in_tables(void **state)
{
	long_chains(*state, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(chains_of_several_slots),
		rig_test(chains_in_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
