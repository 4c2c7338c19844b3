/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the fake device see a buffer, a ring or a block request that breaks a rule? */
#include <string.h>

#include "tests/host/ring_rig.h"

enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };
enum where { HEADER, DATA, STATUS, TABLE, WILD };

struct part {
	enum where where;
	uint32_t len;
	uint16_t flags, next;
};

/* Descriptors 0… of the ring, or of the table that descriptor 0 refers to. */
struct shape {
	const char *id;
	uint32_t type;
	uint64_t sector;
	struct part part[5];
	bool in_table;
	uint64_t without; /* features not offered */
};

static uint8_t *memory; /* 16 bytes of header, 1 of status, then 4096 of data, then a table */

static uint64_t address(enum where where)
{
	static const unsigned offset[] = {
		[HEADER] = 0, [STATUS] = 16, [DATA] = 512, [TABLE] = 8192};

	return where == WILD ? 0x1000 : (uintptr_t)memory + offset[where];
}

static void bring_up(struct rig *rig, uint64_t without)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.features &= ~without;
	ring_bring_up(rig, 4, !(without >> FAKE_EVENT_IDX & 1), 0);
	ring.vq.split.avail->flags = 0;
	rig->disk.accepted = rig->disk.features;
	memory = rig_memory(16384);
}

static void lay_out(const struct shape *shape)
{
	struct vring_desc *table =
		shape->in_table ? (void *)(uintptr_t)address(TABLE) : ring.vq.split.desc;
	uint32_t header[4] = {shape->type, 0, (uint32_t)shape->sector,
			      (uint32_t)(shape->sector >> 32)};
	unsigned i, n = 0;

	memcpy(memory, header, sizeof(header));
	memory[16] = 0xff;
	for (i = 0; i < 5; i++) {
		const struct part *p = &shape->part[i];

		n += p->len || p->flags;
		if (shape->in_table || i < ring.vq.size)
			table[i] =
				(struct vring_desc){address(p->where), p->len, p->flags, p->next};
	}
	if (shape->in_table)
		ring.vq.split.desc[0] = (struct vring_desc){address(TABLE), 16 * n, INDIRECT, 0};
}

static void post(uint16_t head)
{
	ring.vq.split.avail->ring[ring.vq.avail_idx++ & ring.vq.split.mask] = head;
	virtqueue_publish(&ring.vq);
	virtqueue_kick(&ring.vq);
}

static void expect(const char *id)
{
	const char *seen = fake_violation();

	if (!id && !seen)
		return;
	if (!id || !seen || strncmp(seen, id, strlen(id)))
		fail_msg("expected %s, seen %s", id ? id : "nothing", seen ? seen : "nothing");
}

#define H                           \
	{                           \
		HEADER, 16, NEXT, 1 \
	}
#define D                                  \
	{                                  \
		DATA, 512, NEXT | WRITE, 2 \
	}
#define OUT                        \
	{                          \
		DATA, 512, NEXT, 2 \
	}
#define S                           \
	{                           \
		STATUS, 1, WRITE, 0 \
	}

static const struct shape shapes[] = {
	{NULL, 0, 0, {H, D, S}, false, 0},
	{NULL, 1, 0, {H, OUT, S}, false, 0},
	{NULL, 0, 0, {H, D, S}, true, 0},
	{NULL, 4, 0, {H, {STATUS, 1, WRITE, 0}}, false, 0},
	{"RING-SPLIT-02", 0, 0, {H, {STATUS, 1, WRITE | NEXT, 2}, {DATA, 512, 0, 0}}, false, 0},
	{"RING-SPLIT-07", 0, 0, {H, D, S}, true, FAKE_BIT(FAKE_INDIRECT_DESC)},
	{"RING-SPLIT-08", 0, 0, {H, {DATA, 512, NEXT | INDIRECT, 2}, S}, true, 0},
	{"RING-SPLIT-09", 0, 0, {H, D, {STATUS, 1, NEXT | WRITE, 0}}, false, 0},
	{"RING-SPLIT-09",
	 0,
	 0,
	 {H, D, {DATA, 512, NEXT | WRITE, 3}, {DATA, 512, NEXT | WRITE, 4}, S},
	 true,
	 0},
	{"RING-SPLIT-10", 0, 0, {{TABLE, 48, INDIRECT | NEXT, 1}, S}, false, 0},
	{"RING-SPLIT-12", 0, 0, {{TABLE, 40, INDIRECT, 0}}, false, 0},
	{"RING-SPLIT-12", 0, 0, {H, {DATA, 512, NEXT | WRITE, 1}, S}, true, 0},
	{"RING-SPLIT-12", 0, 0, {H, {DATA, 512, NEXT | WRITE, 7}, S}, true, 0},
	{"RING-SPLIT-21", 0, 0, {H, {DATA, 512, NEXT | WRITE, 9}, S}, false, 0},
	{"RING-SPLIT-09", 0, 0, {H, {DATA, 512, NEXT | WRITE, 1}, S}, false, 0},
	{"RSVD-05", 0, 0, {H, {WILD, 512, NEXT | WRITE, 2}, S}, false, 0},
	{"RSVD-05", 0, 0, {H, {DATA, 65536, NEXT | WRITE, 2}, S}, false, 0},
	{"F-111", 0, 0, {H, {DATA, 0, NEXT | WRITE, 2}, S}, false, 0},
	{"RING-SPLIT:", 0, 0, {H, {DATA, 512, NEXT | WRITE | 8, 2}, S}, false, 0},
	{"BLK-OP-17", 0, 0, {{HEADER, 8, NEXT, 1}, D, S}, false, 0},
	{"BLK-OP-17", 0, 0, {{HEADER, 16, 0, 0}}, false, 0},
	{"BLK-OP-17", 0, 0, {H, OUT, S}, false, 0},
	{"BLK-OP-06", 0, 0, {H, {DATA, 500, NEXT | WRITE, 2}, S}, false, 0},
	{"BLK-OP-02", 0, 32768, {H, D, S}, false, 0},
	{"BLK-OP-02", 0, UINT64_MAX, {H, D, S}, false, 0},
	{"BLK-OP-04", 4, 1, {H, S}, false, 0},
	{"BLK-OP-05", 4, 0, {H, OUT, S}, false, 0},
	{"BLK-OP-24", 4, 0, {H, S}, false, FAKE_BIT(FAKE_FLUSH)},
	{"BLK-OP-24", 11, 0, {H, OUT, S}, false, 0},
	{"BLK-OP-18", 8, 1, {H, {DATA, 20, NEXT | WRITE, 2}, S}, false, 0},
	{"BLK-OP-08", 8, 0, {H, {DATA, 21, NEXT | WRITE, 2}, S}, false, 0},
};

static void shapes_are_judged(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		bring_up(rig, shapes[i].without);
		lay_out(&shapes[i]);
		post(0);
		if (shapes[i].id ? !fake_violation() : !!fake_violation())
			print_error("shape %u\n", i);
		expect(shapes[i].id);
		if (!shapes[i].id)
			assert_int_equal(memory[16], 0);
	}
	fake_reset();
}

/* What only the ring as a whole shows. */
static void ring_rules_are_seen(void **state)
{
	struct rig *rig = *state;

	rig_tolerate();
	bring_up(rig, 0);
	lay_out(&shapes[0]);
	rig->disk.finish = FAKE_HELD;
	post(0);
	post(0);
	expect("CLEAN-01");

	bring_up(rig, 0);
	lay_out(&shapes[0]);
	rig->disk.finish = FAKE_HELD;
	post(0);
	ring.vq.split.desc[1].addr += 512;
	fake_complete(&rig->disk, 1);
	expect("CLEAN-01");

	bring_up(rig, 0);
	ring.vq.avail_idx = 0xfffe; /* so that post() steps back by 1 */
	post(0);
	expect("RING-SPLIT-13");

	bring_up(rig, 0);
	post(4);
	expect("RING-SPLIT-21");

	bring_up(rig, 0);
	ring.vq.split.avail->flags = 1;
	fake_step();
	expect("RING-SPLIT-16");

	bring_up(rig, FAKE_BIT(FAKE_EVENT_IDX));
	ring.vq.split.avail->flags = 1;
	fake_step();
	expect(NULL);
	ring.vq.split.avail->flags = 2;
	fake_step();
	expect("RING-SPLIT-14");

	bring_up(rig, 0);
	lay_out(&shapes[0]);
	memory[16] = 0;
	post(0);
	expect("RING-SPLIT-19");

	bring_up(rig, 0);
	lay_out(&shapes[0]);
	((uint32_t *)(void *)memory)[1] = 1;
	post(0);
	expect("BLK-OP-18");
	fake_reset();
}

static void missing_notifications_are_seen(void **state)
{
	static const char *const id[] = {"RING-SPLIT-30", "RING-SPLIT-28"};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < 2; i++) {
		bring_up(rig, i ? FAKE_BIT(FAKE_EVENT_IDX) : 0);
		lay_out(&shapes[0]);
		ring.vq.avail_idx++;
		virtqueue_publish(&ring.vq);
		fake_step();
		expect(id[i]);
	}
	fake_reset();
}

static void limits_and_live_memory_are_checked(void **state)
{
	struct rig *rig = *state;

	rig_tolerate();
	bring_up(rig, 0);
	lay_out(&(struct shape){"",
				0,
				0,
				{H, {DATA, 512, NEXT | WRITE, 2}, {DATA, 512, NEXT | WRITE, 3}, S},
				true,
				0});
	rig->disk.seg_max = 1;
	post(0);
	expect("BLK-INIT-10");

	fake_reset();
	bring_up(rig, 0);
	rig->disk.accepted |= FAKE_BIT(FAKE_SIZE_MAX);
	rig->disk.size_max = 256;
	lay_out(&shapes[0]);
	post(0);
	expect("BLK-INIT-09");

	bring_up(rig, 0);
	rig->disk.features |= FAKE_BIT(FAKE_RO);
	lay_out(&shapes[1]);
	post(0);
	expect("BLK-INIT-08");

	bring_up(rig, 0);
	rig->disk.blk_size = 4096;
	lay_out(&shapes[0]);
	post(0);
	expect("F-097");

	bring_up(rig, 0);
	rig->disk.finish = FAKE_HELD;
	lay_out(&shapes[0]);
	post(0);
	dma_free(memory, 16384);
	expect("CLEAN-02");

	bring_up(rig, 0);
	virtqueue_destroy(&ring.vq);
	expect("CLEAN-02");
	fake_reset();
}

/* RING-SPLIT-04: of all descriptors of the largest ring, each over the same memory. */
static void too_long_a_buffer_is_seen(void **state)
{
	static const uint32_t each[] = {131000, 131200}; /* 32766 of them: below 4 GiB, and above */
	struct rig *rig = *state;

	rig_tolerate();
	for (unsigned k = 0; k < 2; k++) {
		struct vring_desc *desc;

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features &= ~FAKE_BIT(FAKE_SEG_MAX);
		rig->disk.capacity = 1ull << 33;
		rig->disk.finish = FAKE_HELD;
		ring_bring_up(rig, 32768, true, 0);
		memory = rig_memory(512 + each[k]);
		memset(memory, 0, 16);
		desc = ring.vq.split.desc;
		for (uint16_t i = 1; i < 32767; i++)
			desc[i] = (struct vring_desc){address(DATA), each[k], NEXT | WRITE,
						      (uint16_t)(i + 1)};
		desc[0] = (struct vring_desc){address(HEADER), 16, NEXT, 1};
		desc[32767] = (struct vring_desc){address(STATUS), 1, WRITE, 0};
		post(0);
		expect(k ? "RING-SPLIT-04" : "BLK-OP-06");
	}
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(shapes_are_judged),
		rig_test(ring_rules_are_seen),
		rig_test(missing_notifications_are_seen),
		rig_test(limits_and_live_memory_are_checked),
		rig_test(too_long_a_buffer_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
