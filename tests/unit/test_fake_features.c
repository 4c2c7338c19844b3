/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the fake device see what IN_ORDER, NOTIFICATION_DATA and RING_RESET ask of a driver? */
#include <string.h>

#include "tests/host/hand_rig.h"

enum { N = FAKE_D_NEXT, W = FAKE_D_WRITE };
#define PACKED	 FAKE_BIT(FAKE_RING_PACKED)
#define IN_ORDER FAKE_BIT(FAKE_IN_ORDER)

/* ---- A split ring by hand ---- */

static uint16_t *avail(void)
{
	return (uint16_t *)(void *)hand.ring[1];
}

static void split_desc(uint16_t index, enum hand_where where, uint32_t len, uint16_t flags,
		       uint16_t next)
{
	*hand_slot(index) = (struct fake_desc){hand_address(where), len, {flags, next}};
}

/* A read of one sector in slots @a, @b, @c. */
static void split_read(uint16_t a, uint16_t b, uint16_t c)
{
	hand.memory[16] = 0xff;
	split_desc(a, HEADER, 16, N, b);
	split_desc(b, DATA, 512, N | W, c);
	split_desc(c, STATUS, 1, W, 0);
	avail()[2 + avail()[1] % hand.size] = a;
	avail()[1]++;
}

/* RING-SPLIT-05/06/11. */
static void order_of_descriptors_is_judged(void **state)
{
	struct rig *rig = *state;
	struct fake_desc *table;

	rig_tolerate();
	hand_bring_up(rig, 8, IN_ORDER);
	split_read(0, 1, 2);
	hand_kick();
	split_read(3, 4, 5);
	hand_kick();
	split_read(6, 7, 0);
	hand_kick();
	hand_expect(NULL);
	split_read(0, 1, 2);
	hand_kick();
	hand_expect("RING-SPLIT-06");

	hand_bring_up(rig, 8, IN_ORDER);
	split_read(0, 2, 1);
	hand_kick();
	hand_expect("RING-SPLIT-05");

	hand_bring_up(rig, 8, IN_ORDER | FAKE_BIT(FAKE_INDIRECT_DESC));
	table = (struct fake_desc *)(uintptr_t)hand_address(TABLE);
	table[0] = (struct fake_desc){hand_address(HEADER), 16, {N, 2}};
	table[1] = (struct fake_desc){hand_address(STATUS), 1, {W, 0}};
	table[2] = (struct fake_desc){hand_address(DATA), 512, {N | W, 1}};
	split_desc(0, TABLE, 48, FAKE_D_INDIRECT, 0);
	avail()[1]++;
	hand_kick();
	hand_expect("RING-SPLIT-11");
	fake_reset();
}

/* RING-SPLIT-23, RING-PACKED-26: one entry, at the place of the first, with the id of the last. */
static void one_entry_for_a_batch(void **state)
{
	struct rig *rig = *state;
	uint32_t *used;
	unsigned i;

	hand_bring_up(rig, 8, IN_ORDER);
	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_REVERSE; /* IN_ORDER has the last word */
	rig->disk.used_batch = 2;
	split_read(0, 1, 2);
	split_read(3, 4, 5);
	hand_kick();
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	used = (uint32_t *)(void *)hand.ring[2];
	assert_int_equal(used[0], 2 << 16);
	assert_int_equal(used[1], 3);
	assert_int_equal(used[3], 0);

	hand_bring_up(rig, 7, PACKED | IN_ORDER);
	rig->disk.finish = FAKE_HELD;
	rig->disk.used_batch = 2;
	for (i = 0; i < 40; i++) {
		hand_read_sector(2);
		hand_read_sector(5);
		hand_kick();
		assert_int_equal(fake_complete(&rig->disk, 2), 2);
		assert_true(hand_used(hand.next - 6));
		assert_false(hand_used(hand.next - 3));
		assert_int_equal(hand_slot(hand.next - 6)->word[0], 5);
	}
	fake_reset();
}

/* ---- What a notification carries ---- */

static uint32_t doorbell_word(bool config_data, bool packed)
{
	uint32_t low = config_data ? 0x100 : 0;

	return low | (packed ? (uint32_t)(hand.next % hand.size) << 16 |
				       (uint32_t) !(hand.next / hand.size % 2) << 31
			     : (uint32_t)avail()[1] << 16);
}

static void doorbell(struct rig *rig, bool packed, bool config_data, unsigned rounds)
{
	unsigned i;

	hand_bring_up(rig, 5 - !packed,
		      (packed ? PACKED : 0) | (config_data ? FAKE_BIT(FAKE_NOTIF_CONFIG_DATA) : 0) |
			      FAKE_BIT(FAKE_NOTIFICATION_DATA));
	if (config_data)
		assert_int_equal(hand_read(56, 2), 0x100);
	for (i = 0; i < rounds; i++) {
		if (packed)
			hand_read_sector(1);
		else
			split_read(0, 1, 2);
		hand_write(0x3000, 4, doorbell_word(config_data, packed));
		hand_write(0x3000, 4, doorbell_word(config_data, packed)); /* NOTIF-11 */
	}
	hand_expect(NULL);
}

/* NOTIF-02/04/06/07/08: over the wraps of both rings; then each with one bit wrong. */
static void notification_data_is_judged(void **state)
{
	struct rig *rig = *state;
	unsigned k, bit;

	rig_tolerate();
	for (k = 0; k < 4; k++) {
		bool packed = k & 1, config_data = k & 2;

		doorbell(rig, packed, config_data, packed ? 100 : 70000);
		for (bit = 0; bit < 32; bit++) {
			doorbell(rig, packed, config_data, 3);
			hand_write(0x3000, 4, doorbell_word(config_data, packed) ^ 1u << bit);
			hand_expect(bit >= 16	  ? (packed ? "NOTIF-08" : "NOTIF-07")
				    : config_data ? "NOTIF-06"
						  : "NOTIF-04");
		}
		doorbell(rig, packed, config_data, 1);
		hand_write(0x3000, 2, 0);
		hand_expect("NOTIF-02");
	}
	hand_bring_up(rig, 4, FAKE_BIT(FAKE_NOTIF_CONFIG_DATA));
	hand_kick();
	hand_expect("NOTIF-05");
	fake_reset();
}

/* ---- RING_RESET ---- */

enum break_rule {
	NOTHING,
	WRITE_ZERO,
	TWICE,
	EARLY_SETUP,
	EARLY_NOTIFY,
	EARLY_FREE,
	NO_SIZE,
	NO_RINGS
};

static void reset_queue(struct rig *rig, bool packed, enum break_rule rule)
{
	uint64_t features = FAKE_BIT(FAKE_RING_RESET) | (packed ? PACKED : 0);
	unsigned reads = 1;

	hand_bring_up(rig, 8, features);
	rig->disk.queue_reset_reads = 3;
	rig->disk.finish = FAKE_HELD;
	if (packed)
		hand_read_sector(1);
	else
		split_read(0, 1, 2);
	hand_kick();
	hand_write(22, 2, 0);
	hand_write(58, 2, rule != WRITE_ZERO);
	if (rule == TWICE)
		hand_write(58, 2, 1);
	if (rule == EARLY_SETUP)
		hand_write(24, 2, 8);
	if (rule == EARLY_NOTIFY)
		hand_kick();
	if (rule == EARLY_FREE)
		dma_free(hand.memory, 16384);
	if (fake_violation())
		return;
	assert_int_equal(fake_complete(&rig->disk, 1), 0); /* nothing is used any more */
	while (hand_read(58, 2))
		reads++;
	assert_int_equal(reads, 4);
	assert_int_equal(hand_read(28, 2), 0);
	assert_int_equal(rig->disk.queue[0].resets, 1);
	if (rule == NO_SIZE || rule == NO_RINGS) {
		if (rule == NO_RINGS)
			hand_write(24, 2, 8);
		hand_write(28, 2, 1);
		return;
	}
	hand_queue(4);
	if (packed)
		hand_read_sector(1);
	else
		split_read(0, 1, 2);
	hand_kick();
	assert_int_equal(fake_complete(&rig->disk, 1), 1);
	assert_int_equal(hand.memory[16], 0);
}

/* QRST-01/03/04/07, and CLEAN-02: no memory back before the reset is seen. */
static void queue_reset_is_judged(void **state)
{
	static const struct {
		enum break_rule rule;
		const char *id;
	} cases[] = {
		{NOTHING, NULL},	  {WRITE_ZERO, "QRST-01"},   {TWICE, "QRST-01"},
		{EARLY_SETUP, "QRST-04"}, {EARLY_NOTIFY, "QRST-04"}, {EARLY_FREE, "CLEAN-02"},
		{NO_SIZE, "QRST-03"},	  {NO_RINGS, "QRST-03"},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		reset_queue(rig, i & 1, cases[i / 2].rule);
		hand_expect(cases[i / 2].id);
	}
	fake_reset();
}

/* PCI-COM-11: the registers of both features are there with the features only. */
static void registers_come_with_features(void **state)
{
	static const unsigned offsets[] = {56, 58};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < 2; i++) {
		hand_plug(rig, 8, FAKE_BIT(FAKE_NOTIF_CONFIG_DATA) | FAKE_BIT(FAKE_RING_RESET));
		hand_negotiate(0);
		hand_write(22, 2, 0);
		hand_read(offsets[i], 2);
		hand_expect("PCI-COM-11");
	}
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(order_of_descriptors_is_judged), rig_test(one_entry_for_a_batch),
		rig_test(notification_data_is_judged),	  rig_test(queue_reset_is_judged),
		rig_test(registers_come_with_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
