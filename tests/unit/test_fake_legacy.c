/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the fake device serve a legacy driver, and see one that breaks a rule of the registers? */
#include <string.h>

#include "tests/host/hand_rig.h"

#define SIZE	   8
#define USED	   4096u /* 16 · 8 + 2 · 11, to the next page */
#define RING_BYTES 8192u
#define PAGE	   UINT32_MAX /* in steps: replaced by the page of the rings */

enum kind { READ, WRITE };
struct step {
	enum kind kind;
	unsigned offset, width;
	uint32_t value;
};

static const struct step good[] = {
	{WRITE, 18, 1, 0}, {WRITE, 18, 1, 1}, {WRITE, 18, 1, 3},   {READ, 0, 4, 0},
	{WRITE, 4, 4, 0},  {WRITE, 14, 2, 0}, {WRITE, 8, 4, PAGE}, {WRITE, 18, 1, 7},
};
enum { RESET, ACKNOWLEDGE, DRIVER, FEATURES, ACCEPT, SELECT, ADDRESS, DRIVER_OK, STEPS };

static uint16_t base;
static uint8_t *rings;

static uint32_t port_read(unsigned offset, unsigned width)
{
	uint16_t port = (uint16_t)(base + offset);

	return width == 1 ? port_read8(port) : width == 2 ? port_read16(port) : port_read32(port);
}

static void port_write(unsigned offset, unsigned width, uint32_t value)
{
	uint16_t port = (uint16_t)(base + offset);

	if (width == 1)
		port_write8(port, (uint8_t)value);
	else if (width == 2)
		port_write16(port, (uint16_t)value);
	else
		port_write32(port, value);
}

static void run_step(const struct step *s)
{
	uint32_t value = s->value == PAGE ? (uint32_t)((uintptr_t)rings >> 12) : s->value;

	if (s->kind == READ)
		port_read(s->offset, s->width);
	else
		port_write(s->offset, s->width, value);
}

static void plug(struct rig *rig, uint64_t features)
{
	fake_reset();
	host_low_memory();
	fake_disk_init(&rig->disk);
	rig->disk.face = FAKE_LEGACY;
	rig->disk.features = features;
	rig->disk.queue_size[0] = SIZE;
	rig_plug(rig);
	fake_pci_put(rig->disk.fn, 4, 5, 2);
	base = (uint16_t)rig->disk.fn->bar[0].base;
	rings = dma_alloc(RING_BYTES, 4096);
	memset(rings, 0, RING_BYTES);
	hand.memory = dma_alloc(16384, 4096);
	memset(hand.memory, 0xee, 16384);
	hand_header(0, 5);
}

/* The good sequence, but for step @at: left out (@omit) or preceded by @extra. */
static void play(struct rig *rig, int at, bool omit, const struct step *extra)
{
	int i;

	plug(rig, FAKE_BIT(30));
	for (i = 0; i < STEPS && !fake_violation(); i++) {
		if (i == at && extra)
			run_step(extra);
		if (i != at || !omit)
			run_step(&good[i]);
	}
	if (at == STEPS)
		run_step(extra);
}

static void steps_are_judged(void **state)
{
	static const struct {
		int at;
		const char *id;
		bool omit;
		struct step extra;
	} cases[] = {
		{-1, NULL, false, {READ, 0, 0, 0}},
		{RESET, "INIT-01", true, {READ, 0, 4, 0}},
		{ACKNOWLEDGE, "STAT-01", true, {READ, 0, 4, 0}},
		{DRIVER, "INIT-01", true, {READ, 0, 4, 0}},
		{SELECT, "PCI-COM-09", true, {READ, 0, 4, 0}},
		{ADDRESS, "INIT-06", true, {READ, 0, 4, 0}},
		{DRIVER_OK, "LEG-10", false, {WRITE, 18, 1, 11}},
		{DRIVER, "STAT-02", false, {WRITE, 18, 1, 2}},
		{ACCEPT, "FEAT-01", false, {WRITE, 4, 4, 2}},
		{ACCEPT, "LEG-22", false, {WRITE, 4, 4, 1u << 30}},
		{STEPS, "INIT-04", false, {WRITE, 4, 4, 0}},
		{ADDRESS, "LEG-14", false, {WRITE, 12, 2, 4}},
		{ADDRESS, "LEG-12", false, {WRITE, 8, 4, 77}},
		{DRIVER_OK, "INIT-06", false, {WRITE, 8, 4, PAGE}},
		{STEPS, "CLEAN-02", false, {WRITE, 8, 4, 0}},
		{ACCEPT, "LEG-05", false, {READ, 0, 2, 0}},
		{ACCEPT, "LEG-05", false, {READ, 18, 2, 0}},
		{STEPS, "NOTIF-01", false, {READ, 16, 2, 0}},
		{STEPS, "NOTIF-03", false, {WRITE, 16, 2, 1}},
		{ADDRESS, "INIT-09", false, {WRITE, 16, 2, 0}},
		{ADDRESS, "CFG-03", false, {READ, 20 + 34, 2, 0}},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		play(rig, cases[i].at, cases[i].omit, cases[i].omit ? NULL : &cases[i].extra);
		if (!cases[i].id != !fake_violation())
			print_error("case %u\n", i);
		hand_expect(cases[i].id);
	}
	fake_reset();
}

static void bring_up(struct rig *rig, uint64_t accepted)
{
	unsigned i;

	plug(rig,
	     FAKE_BIT(FAKE_ANY_LAYOUT) * !!(accepted >> FAKE_ANY_LAYOUT & 1) | 1 << FAKE_BLK_SIZE);
	for (i = 0; i < STEPS; i++)
		if (i == ACCEPT)
			port_write(4, 4, (uint32_t)accepted);
		else
			run_step(&good[i]);
}

struct frame {
	const char *id;
	struct hand_part part[3];
	bool any_layout;
};

static void post(const struct hand_part *part)
{
	struct fake_desc *desc = (struct fake_desc *)(void *)rings;
	uint16_t *avail = (uint16_t *)(void *)(rings + 16 * SIZE), i;

	for (i = 0; i < 3; i++)
		desc[i] = (struct fake_desc){hand_address(part[i].where),
					     part[i].len,
					     {part[i].flags, (uint16_t)(i + 1)}};
	avail[2 + avail[1] % SIZE] = 0;
	avail[1]++;
	port_write(16, 2, 0);
}

/* LEG-13, LEG-20: the rings are where 2.7.2 has them; header and status stand alone. */
static void framing_is_judged(void **state)
{
	enum { N = FAKE_D_NEXT, W = FAKE_D_WRITE };
	static const struct frame frames[] = {
		{NULL, {{HEADER, 16, N}, {DATA, 512, N | W}, {STATUS, 1, W}}, false},
		{NULL, {{HEADER, 16, N}, {DATA, 512, N | W}, {STATUS, 1, W}}, true},
		{NULL, {{HEADER, 16, N}, {DATA, 513, W}}, true},
		{"LEG-20", {{HEADER, 16, N}, {DATA, 513, W}}, false},
		{"LEG-20", {{HEADER, 8, N}, {DATA, 8, N}, {STATUS, 1, W}}, false},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		bring_up(rig, frames[i].any_layout ? FAKE_BIT(FAKE_ANY_LAYOUT) : 0);
		hand.memory[512 + 512] = 0xff;
		post(frames[i].part);
		if (!frames[i].id != !fake_violation())
			print_error("frame %u\n", i);
		hand_expect(frames[i].id);
		if (frames[i].id)
			continue;
		assert_int_equal(((uint16_t *)(void *)(rings + USED))[1], 1);
		assert_true(fake_stamp_ok(hand.memory + 512, 5, 1));
	}
	plug(rig, FAKE_BIT(FAKE_ANY_LAYOUT)); /* LEG-21 */
	for (i = 0; i < STEPS; i++)
		run_step(&good[i]);
	hand_expect("LEG-21");
	fake_reset();
}

/* LEG-06/07/08: the configuration, at any width, moves when MSI-X is switched on. */
static void configuration_moves(void **state)
{
	struct rig *rig = *state;
	unsigned i, n;

	plug(rig, FAKE_BIT(FAKE_BLK_SIZE));
	rig->disk.capacity = 0x123456789abcull;
	port_write(18, 1, 0);
	for (i = 20; i <= 24; i += 4) {
		uint64_t capacity = 0;

		for (n = 0; n < 8; n++)
			capacity |= (uint64_t)port_read(i + n, 1) << 8 * n;
		assert_true(capacity == rig->disk.capacity);
		assert_int_equal(port_read(i, 4), 0x56789abc);
		assert_int_equal(port_read(i + 4, 2), 0x1234);
		assert_int_equal(port_read(i + 20, 4), 512);
		rig->disk.fn->config[rig->disk.msix.cap + 3] |= 0x80;
	}
	port_write(20, 2, 1);
	assert_int_equal(port_read(20, 2), 1);
	rig->disk.isr = 1;
	rig->disk.fn->config[rig->disk.msix.cap + 3] &= 0x7f;
	assert_int_equal(port_read(19, 1), 1);
	assert_int_equal(port_read(19, 1), 0); /* read and cleared */
	fake_reset();
}

/* LEG-02: a transitional device is driven by one of its two faces. */
static void faces_do_not_mix(void **state)
{
	struct rig *rig = *state;

	rig_tolerate();
	plug(rig, 0);
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.face = FAKE_TRANSITIONAL;
	rig_plug(rig);
	base = (uint16_t)rig->disk.fn->bar[0].base;
	port_write(18, 1, 0);
	port_write(18, 1, 1);
	hand.bar = mmio_map(rig->disk.fn->bar[4].base, 0x4000);
	hand_read(4, 4);
	hand_expect("LEG-02");

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.face = FAKE_TRANSITIONAL;
	rig_plug(rig);
	hand.bar = mmio_map(rig->disk.fn->bar[4].base, 0x4000);
	hand_write(20, 1, 0);
	hand_read(20, 1);
	hand_write(20, 1, 1);
	port_write(4, 4, 0);
	hand_expect("LEG-02");
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(steps_are_judged),
		rig_test(framing_is_judged),
		rig_test(configuration_moves),
		rig_test(faces_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
