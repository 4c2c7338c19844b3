/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the fake device see a packed ring that breaks a rule, and does it serve a good one? */
#include <string.h>

#include "tests/host/hand_rig.h"

#define N     FAKE_D_NEXT
#define W     FAKE_D_WRITE
#define I     FAKE_D_INDIRECT
#define AVAIL FAKE_D_AVAIL
#define USED  FAKE_D_USED
#define PACKED                                                                                  \
	(FAKE_BIT(FAKE_RING_PACKED) | FAKE_BIT(FAKE_INDIRECT_DESC) | FAKE_BIT(FAKE_EVENT_IDX) | \
	 FAKE_BIT(FAKE_FLUSH))

/* A list in the ring, or, where @entries is not 0, of so many entries in a table. */
struct shape {
	const char *id;
	uint16_t size;
	struct hand_part part[6];
	unsigned entries;
	uint64_t without, with; /* features */
	unsigned skip;		/* slots that are made available and used before */
};

/* clang-format off */
#define H {HEADER, 16, N}
#define D {DATA, 512, N | W}
#define S {STATUS, 1, W}
static const struct shape shapes[] = {
	{NULL, 8, {H, D, S}, 0, 0, 0, 0},
	{NULL, 3, {H, D, S}, 0, 0, 0, 0},
	{NULL, 5, {H, D, S}, 0, 0, 0, 3}, /* over the end of the ring */
	{NULL, 5, {H, D, S}, 0, 0, 0, 9},
	{NULL, 4, {{HEADER, 16, 0}, {DATA, 512, W}, S}, 3, 0, 0, 0},
	{"RING-PACKED-04", 8, {H, D, D, D, S}, 0, 0, FAKE_BIT(FAKE_SEG_MAX), 0},
	{"RING-PACKED-05", 3, {H, D, {DATA, 512, N | W}}, 0, 0, 0, 0},
	{"RING-PACKED-06", 8, {H, {STATUS, 1, N | W}, {DATA, 512, 0}}, 0, 0, 0, 0},
	{"RING-PACKED-09", 8, {H, {DATA, 512, N | W | AVAIL}, S}, 0, 0, 0, 0},
	{"RING-PACKED-09", 8, {H, D, {STATUS, 1, W | USED}}, 0, 0, 0, 0},
	{"RING-PACKED-19", 5, {H, D, {STATUS, 1, W | AVAIL | USED}}, 0, 0, 0, 3},
	{"RING-PACKED-10", 8, {{TABLE, 48, I}}, 0, FAKE_BIT(FAKE_INDIRECT_DESC), 0, 0},
	{"RING-PACKED-11", 4, {{HEADER, 16, N}, {DATA, 512, W}, S}, 3, 0, 0, 0},
	{"RING-PACKED-11", 4, {{HEADER, 16, 0}, {DATA, 512, W | AVAIL}, S}, 3, 0, 0, 0},
	{"RING-PACKED-11", 4, {{HEADER, 16, 0}, {DATA, 512, W | USED}, S}, 3, 0, 0, 0},
	{"RING-PACKED-11", 4, {{HEADER, 16, 0}, {DATA, 512, W | I}, S}, 3, 0, 0, 0},
	{"RING-PACKED-12", 2, {{HEADER, 16, 0}, {DATA, 512, W}, S}, 3, 0, 0, 0},
	{"RING-PACKED-12", 8, {{TABLE, 40, I}}, 0, 0, 0, 0},
	{"RING-PACKED-12", 8, {{TABLE, 0, I}}, 0, 0, 0, 0},
	{"RING-PACKED-12", 8, {{WILD, 48, I}}, 0, 0, 0, 0},
	{"RING-PACKED-13", 8, {{TABLE, 48, I | N}, S}, 0, 0, 0, 0},
	{"RING-PACKED-13", 8, {H, {TABLE, 48, I}}, 0, 0, 0, 0},
	{"RING-PACKED-24", 8, {{TABLE, 48, I | W}}, 0, 0, 0, 0},
	{"RING-PACKED-18", 8, {H, {DATA, 512, N | W | 8}, S}, 0, 0, 0, 0},
	{"RSVD-05", 8, {H, {WILD, 512, N | W}, S}, 0, 0, 0, 0},
	{"F-111", 8, {H, {DATA, 0, N | W}, S}, 0, 0, 0, 0},
	{"BLK-OP-17", 8, {{HEADER, 8, N}, D, S}, 0, 0, 0, 0},
};
/* clang-format on */

static unsigned count(const struct shape *shape)
{
	unsigned n = 0;

	while (n < 6 && (shape->part[n].len || shape->part[n].flags))
		n++;
	return n;
}

static void table(const struct hand_part *part, unsigned n)
{
	struct fake_desc *entry = (struct fake_desc *)(uintptr_t)hand_address(TABLE);

	for (; n > 0; n--, part++, entry++)
		*entry = (struct fake_desc){
			hand_address(part->where), part->len, {0xeeee, part->flags}};
}

/* Leads to a position in the ring by flushes in a table of two. */
static void advance(unsigned slots)
{
	static const struct hand_part flush[] = {{HEADER, 16, 0}, {STATUS, 1, W}};
	static const struct hand_part head = {TABLE, 32, I};

	for (; slots > 0; slots--) {
		hand_header(4, 0);
		table(flush, 2);
		hand_put(&head, 7);
		hand_kick();
		assert_true(hand_used(hand.next - 1));
	}
	hand_header(0, 0);
}

static void shapes_are_judged(void **state)
{
	static const struct hand_part head = {TABLE, 48, I};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *shape = &shapes[i];
		uint64_t features = (PACKED | shape->with) & ~shape->without;

		hand_bring_up(rig, shape->size, features);
		rig->disk.seg_max = 2;
		advance(shape->skip);
		table(shape->part, shape->entries);
		if (shape->entries)
			hand_put(&head, 7);
		else
			hand_list(shape->part, count(shape), 7);
		hand_kick();
		if (!shape->id != !fake_violation())
			print_error("shape %u\n", i);
		hand_expect(shape->id);
		if (!shape->id)
			assert_int_equal(hand.memory[16], 0);
	}
	fake_reset();
}

static void start(struct rig *rig, uint16_t size, uint64_t features)
{
	hand_bring_up(rig, size, features);
	rig->disk.finish = FAKE_HELD;
}

/* Who owns which slot, and what is known by which id: CLEAN-01 for the packed ring. */
static void ownership_is_judged(void **state)
{
	static const struct hand_part more = {DATA, 512, W};
	struct rig *rig = *state;
	unsigned byte;

	rig_tolerate();
	for (byte = 0; byte < 16; byte++) {
		start(rig, 8, PACKED);
		hand_read_sector(1);
		hand_kick();
		hand_expect(NULL);
		((uint8_t *)hand_slot(1))[byte] ^= 4;
		fake_step();
		hand_expect("RING-PACKED-03");
	}

	start(rig, 4, PACKED);
	hand_read_sector(1);
	hand_kick();
	hand_read_sector(2);
	hand_kick();
	hand_expect("RING-PACKED-08");

	start(rig, 5, PACKED); /* the head was free, what follows was not */
	hand_read_sector(1);
	hand_kick();
	hand.next++;
	hand_put(&more, 2);
	hand.next -= 2;
	hand_put(&(struct hand_part){HEADER, 16, N}, 2);
	hand.next++;
	hand_put(&more, 2);
	fake_step();
	hand_expect("RING-PACKED-08");

	start(rig, 8, PACKED);
	hand_read_sector(1);
	hand_read_sector(1);
	hand_kick();
	hand_expect("RING-PACKED-20");

	start(rig, 8, PACKED);
	hand_read_sector(1);
	hand_kick();
	dma_free(hand.memory, 16384);
	hand_expect("CLEAN-02");
	fake_reset();
}

/* A table, too, stays as it is until it is used. */
static void tables_stay(void **state)
{
	static const struct hand_part part[] = {{HEADER, 16, 0}, {DATA, 512, W}, {STATUS, 1, W}};
	struct rig *rig = *state;

	rig_tolerate();
	start(rig, 4, PACKED);
	table(part, 3);
	hand_put(&(struct hand_part){TABLE, 48, I}, 9);
	hand_kick();
	((struct fake_desc *)(uintptr_t)hand_address(TABLE))[1].len = 1024;
	fake_complete(&rig->disk, 1);
	hand_expect("CLEAN-01");
	fake_reset();
}

static void set_up_is_judged(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < 3; i++) {
		hand_plug(rig, 8, PACKED);
		hand_negotiate(PACKED);
		hand_write(22, 2, 0);
		hand_read(24, 2);
		hand.ring[0] = dma_alloc(4096, 4096);
		memset(hand.ring[0], 0, 4096);
		for (unsigned r = 0; r < 6; r++)
			hand_write(32 + 4 * r, 4,
				   ((uintptr_t)hand.ring[0] + 1024 * (r / 2) +
				    (r == 2 * i ? (i ? 2 : 8) : 0)) >>
					   32 * (r % 2));
		hand_write(28, 2, 1);
		hand_expect("RING-PACKED-01");
	}
	hand_plug(rig, 8, PACKED);
	hand_negotiate(PACKED);
	hand_write(22, 2, 0);
	hand_write(24, 2, 0);
	hand_expect("PCI-COM-02");
	hand_bring_up(rig, 8, PACKED);
	hand_write(20, 1, 0);
	hand_read(20, 1);
	hand_negotiate(PACKED);
	hand_write(22, 2, 0);
	hand_read(24, 2);
	hand_slot(7)->word[0] = 1;
	for (i = 0; i < 6; i++)
		hand_write(32 + 4 * i, 4, (uintptr_t)hand.ring[i / 2] >> 32 * (i % 2));
	hand_write(28, 2, 1);
	hand_expect("RING-PACKED-33");
	fake_reset();
}

static void event_structures_are_judged(void **state)
{
	static const struct {
		const char *id;
		uint16_t off_wrap, flags;
		uint64_t without;
	} cases[] = {
		{NULL, 0, 0, 0},
		{NULL, 0xffff, 1, 0},
		{NULL, 7 | 0x8000, 2, 0},
		{"RING-PACKED-28", 0, 3, 0},
		{"RING-PACKED-28", 0, 2, FAKE_BIT(FAKE_EVENT_IDX)},
		{"RING-PACKED-28", 8, 2, 0},
		{"RING-PACKED-29", 0, 4, 0},
		{"RING-PACKED-29", 0, 0x8001, 0},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hand_bring_up(rig, 8, PACKED & ~cases[i].without);
		hand_event(cases[i].off_wrap, cases[i].flags);
		fake_step();
		hand_expect(cases[i].id);
	}
	fake_reset();
}

/* RING-PACKED-30: what was asked for and not done, and what was done and not asked for. */
static void notifications_are_judged(void **state)
{
	struct rig *rig = *state;
	unsigned i, event_idx;

	rig_tolerate();
	for (event_idx = 0; event_idx < 2; event_idx++) {
		hand_bring_up(rig, 8, PACKED & ~(event_idx ? 0 : FAKE_BIT(FAKE_EVENT_IDX)));
		hand_read_sector(1);
		fake_step();
		hand_expect("RING-PACKED-30");
	}
	for (i = 0; i < 16; i++) { /* slot i % 8, wrap counter 1, then 0 */
		bool asked = i < 3;

		hand_bring_up(rig, 8, PACKED);
		rig->disk.event = FAKE_EVENT_FIXED;
		rig->disk.event_value = (uint16_t)(i % 8 | (i < 8 ? 0x8000 : 0));
		fake_packed.suppress(&rig->disk, &rig->disk.queue[0]);
		hand_read_sector(1);
		if (i % 2) {
			hand_kick();
			assert_int_equal(rig->disk.queue[0].unneeded, !asked);
			hand_kick();
			assert_int_equal(rig->disk.queue[0].repeated, 1); /* NOTIF-10 */
		} else {
			fake_step();
			hand_expect(asked ? "RING-PACKED-30" : NULL);
		}
	}
	fake_reset();
}

/* Interrupts: at each used descriptor, never, or when one slot of the last list is passed. */
static void interrupts_are_as_asked(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < 16; i++) {
		hand_bring_up(rig, 8, PACKED);
		hand_event((uint16_t)(i % 8 | (i < 8 ? 0x8000 : 0)), 2);
		hand_read_sector(1);
		hand_kick();
		assert_int_equal(rig->disk.queue[0].interrupts, i < 3);
		hand_event(0, 1);
		hand_read_sector(1);
		hand_kick();
		assert_int_equal(rig->disk.queue[0].interrupts, i < 3);
		hand_event(0, 0);
		hand_read_sector(1);
		hand_kick();
		assert_int_equal(rig->disk.queue[0].interrupts, 1 + (i < 3));
	}
	fake_reset();
}

/* RING-PACKED-17/18/21/34: many laps of each size, lists of one slot and of three, out of order. */
static void laps_of_each_size(void **state)
{
	static const uint16_t sizes[] = {3, 4, 5, 7, 8, 128, 255};
	static const struct hand_part flush[] = {{HEADER, 16, N}, {STATUS, 1, W}};
	struct rig *rig = *state;
	unsigned i, n, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		hand_bring_up(rig, sizes[i], PACKED);
		rig->disk.junk = i & 1;
		for (n = 0; n < 3000; n++) {
			uint64_t at = hand.next;

			assert_false(hand_used(at));
			hand_header(n & 1 ? 4 : 0, n & 1 ? 0 : n);
			if (n & 1)
				hand_list(flush, 2, (uint16_t)(n * 77));
			else
				hand_read_sector((uint16_t)(n * 77));
			hand_kick();
			assert_true(hand_used(at));
			assert_int_equal(hand_slot(at)->word[0], (uint16_t)(n * 77));
			assert_int_equal(hand_slot(at)->len, n & 1 ? 1 : 513);
			assert_true(hand_slot(at)->word[1] & W); /* RING-PACKED-22 */
			assert_true(n & 1 || fake_stamp_ok(hand.memory + 512, n, 1));
		}
	}
	hand_bring_up(rig, 9, PACKED);
	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_REVERSE;
	for (n = 0; n < 300; n++) {
		for (k = 0; k < 3; k++)
			hand_read_sector((uint16_t)(3 * n + k));
		hand_kick();
		assert_int_equal(fake_complete(&rig->disk, 3), 3);
		for (k = 0; k < 3; k++) {
			assert_true(hand_used(hand.next - 9 + 3 * k));
			assert_int_equal(hand_slot(hand.next - 9 + 3 * k)->word[0],
					 (uint16_t)(3 * n + 2 - k));
		}
	}
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(shapes_are_judged),
		rig_test(ownership_is_judged),
		rig_test(tables_stay),
		rig_test(set_up_is_judged),
		rig_test(event_structures_are_judged),
		rig_test(notifications_are_judged),
		rig_test(interrupts_are_as_asked),
		rig_test(laps_of_each_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
