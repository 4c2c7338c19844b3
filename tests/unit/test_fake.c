/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the fake device see a driver that breaks a rule of set-up? Each check is shown failing. */
#include <string.h>

#include "tests/host/rig.h"

enum op { READ, WRITE, NOTIFY, CONFIG_READ, CONFIG_WRITE };

struct step {
	enum op op;
	unsigned offset, width;
	uint64_t value;
};

#define RING 1 /* in steps: replaced by an address in memory for devices */
static const struct step good[] = {
	{WRITE, 20, 1, 0},    {READ, 20, 1, 0},	    {WRITE, 20, 1, 1},	  {WRITE, 20, 1, 3},
	{WRITE, 0, 4, 0},     {READ, 4, 4, 0},	    {WRITE, 0, 4, 1},	  {READ, 4, 4, 0},
	{WRITE, 8, 4, 0},     {WRITE, 12, 4, 0},    {WRITE, 8, 4, 1},	  {WRITE, 12, 4, 1},
	{WRITE, 20, 1, 11},   {READ, 20, 1, 0},	    {WRITE, 22, 2, 0},	  {WRITE, 24, 2, 16},
	{WRITE, 32, 4, RING}, {WRITE, 36, 4, RING}, {WRITE, 40, 4, RING}, {WRITE, 44, 4, RING},
	{WRITE, 48, 4, RING}, {WRITE, 52, 4, RING}, {WRITE, 28, 2, 1},	  {WRITE, 20, 1, 15},
	{NOTIFY, 0, 2, 0},
};
enum {
	RESET,
	RESET_SEEN,
	ACKNOWLEDGE,
	DRIVER,
	DFS0,
	DF0,
	DFS1,
	DF1,
	GFS0,
	GF0,
	GFS1,
	GF1,
	FEATURES_OK,
	FEATURES_SEEN,
	SELECT,
	SIZE,
	DESC_LO,
	DESC_HI,
	AVAIL_LO,
	AVAIL_HI,
	USED_LO,
	USED_HI,
	ENABLE,
	DRIVER_OK,
	KICK,
	STEPS
};

static volatile uint8_t *bar;
static uint8_t *memory;

static void run_step(const struct step *s)
{
	static const unsigned base[] = {[READ] = 0,
					[WRITE] = 0,
					[NOTIFY] = 0x3000,
					[CONFIG_READ] = 0x2000,
					[CONFIG_WRITE] = 0x2000};
	volatile uint8_t *reg = bar + base[s->op] + s->offset;
	uint64_t value = s->value;

	if (value == RING && s->width == 4 && s->offset >= 32 && s->offset < 56) {
		value = (uintptr_t)memory + 1024 * ((s->offset - 32) / 8);
		value >>= s->offset % 8 * 8;
	}
	if (s->op == READ || s->op == CONFIG_READ)
		(void)(s->width == 1   ? mmio_read8(reg)
		       : s->width == 2 ? mmio_read16(reg)
				       : mmio_read32(reg));
	else if (s->width == 1)
		mmio_write8(reg, (uint8_t)value);
	else if (s->width == 2)
		mmio_write16(reg, (uint16_t)value);
	else
		mmio_write32(reg, (uint32_t)value);
}

/* The good sequence, but for step @at: left out (@omit) or preceded by @extra. */
static const char *play(struct rig *rig, int at, bool omit, const struct step *extra)
{
	int i;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig_plug(rig);
	fake_pci_put(rig->disk.fn, 4, 6, 2);
	memory = dma_alloc(4096, 4096);
	bar = mmio_map(rig->disk.fn->bar[4].base, 0x4000);
	for (i = 0; i < STEPS && !fake_violation(); i++) {
		if (i == at && extra)
			run_step(extra);
		if (i != at || !omit)
			run_step(&good[i]);
	}
	return fake_violation();
}

static void expect(const char *seen, const char *id, int at)
{
	if (!seen || strncmp(seen, id, strlen(id)))
		fail_msg("step %d: expected %s, seen %s", at, id, seen ? seen : "nothing");
}

static void the_good_sequence_passes(void **state)
{
	struct rig *rig = *state;

	rig_tolerate();
	assert_null(play(rig, -1, false, NULL));
	assert_int_equal(rig->disk.queue[0].notifications, 1);
}

static void omitted_steps_are_seen(void **state)
{
	static const struct {
		int at;
		const char *id;
	} cases[] = {
		{RESET, "INIT-01"},	  {RESET_SEEN, "PCI-COM-05"}, {ACKNOWLEDGE, "STAT-01"},
		{DRIVER, "INIT-01"},	  {DFS0, "PCI-COM-09"},	      {DF0, "FEAT-03"},
		{DF1, "FEAT-03"},	  {GFS0, "PCI-COM-09"},	      {GF1, "RSVD-01"},
		{FEATURES_OK, "INIT-01"}, {FEATURES_SEEN, "INIT-01"}, {SELECT, "PCI-COM-09"},
		{SIZE, "PCI-COM-04"},	  {DESC_LO, "PCI-COM-04"},    {DESC_HI, "PCI-COM-04"},
		{AVAIL_LO, "PCI-COM-04"}, {AVAIL_HI, "PCI-COM-04"},   {USED_LO, "PCI-COM-04"},
		{USED_HI, "PCI-COM-04"},  {ENABLE, "INIT-06"},	      {DRIVER_OK, "INIT-09"},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(play(rig, cases[i].at, true, NULL), cases[i].id, cases[i].at);
	fake_reset();
}

static void wrong_steps_are_seen(void **state)
{
	static const struct {
		int before;
		struct step step;
		const char *id;
	} cases[] = {
		{DRIVER, {WRITE, 20, 1, 2}, "STAT-02"},
		{DRIVER, {WRITE, 20, 1, 0x81}, "STAT-03"}, /* and then DRIVER */
		{GFS0, {WRITE, 20, 1, 0x83}, "INIT-08"},   /* and then the select register */
		{GFS0, {WRITE, 12, 4, 1u << 7}, "PCI-COM-09"},
		{GFS1, {WRITE, 12, 4, 1u << 7}, "FEAT-01"},
		{SELECT, {WRITE, 12, 4, 1}, "INIT-04"},
		{DFS0, {READ, 4, 2, 0}, "PCI-ACC-01"},
		{DFS0, {READ, 1, 4, 0}, "PCI-ACC-01"},
		{DFS0, {READ, 20, 2, 0}, "PCI-ACC-01"},
		{DFS0, {WRITE, 4, 4, 0}, "PCI-COM-01"},
		{DFS0, {WRITE, 18, 2, 1}, "PCI-COM-01"},
		{DFS0, {WRITE, 21, 1, 1}, "PCI-COM-01"},
		{ENABLE, {WRITE, 30, 2, 1}, "PCI-COM-01"},
		{SIZE, {WRITE, 24, 2, 12}, "PCI-COM-03"},
		{SIZE, {WRITE, 24, 2, 0}, "PCI-COM-03"},
		{SIZE, {WRITE, 24, 2, 32}, "PCI-COM-10"},
		{ENABLE, {WRITE, 28, 2, 0}, "PCI-COM-06"},
		{DRIVER_OK, {WRITE, 32, 4, 0}, "PCI-COM-04"},
		{KICK, {WRITE, 24, 2, 8}, "INIT-06"},
		{ENABLE, {WRITE, 32, 4, 8}, "RING-SPLIT-01"},
		{ENABLE, {WRITE, 36, 4, 16}, "RSVD-05"},
		{DRIVER_OK, {NOTIFY, 0, 2, 0}, "INIT-09"},
		{KICK, {NOTIFY, 0, 4, 0}, "NOTIF-01"},
		{KICK, {NOTIFY, 0, 2, 1}, "NOTIF-03"},
		{KICK, {NOTIFY, 2, 2, 0}, "PCI-NTF-01"},
		{KICK, {NOTIFY, 8, 2, 0}, "CFG-05"},
		{ENABLE, {READ, 56, 2, 0}, "CFG-05"},
		{DFS0, {CONFIG_READ, 8, 4, 0}, "CFG-03"},
		{DFS0, {CONFIG_READ, 32, 1, 0}, "BLK-INIT-04"},
		{DFS0, {CONFIG_READ, 0, 2, 0}, "PCI-ACC-01"},
		{DFS0, {CONFIG_READ, 60, 4, 0}, "CFG-05"},
		{DFS0, {CONFIG_WRITE, 32, 1, 1}, "INIT-02"},
		{RESET_SEEN, {CONFIG_READ, 0, 4, 0}, "PCI-COM-05"},
		{RESET_SEEN, {READ, 18, 2, 0}, "PCI-COM-05"},
	};
	struct rig *rig = *state;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(play(rig, cases[i].before, false, &cases[i].step), cases[i].id, (int)i);
	fake_reset();
}

static void ring_memory_is_inspected(void **state)
{
	struct rig *rig = *state;

	rig_tolerate();
	rig_plug(rig);
	fake_pci_put(rig->disk.fn, 4, 6, 2);
	memory = dma_alloc(4096, 4096);
	memory[2048 + 9] = 1;
	bar = mmio_map(rig->disk.fn->bar[4].base, 0x4000);
	for (unsigned i = 0; i < STEPS && !fake_violation(); i++)
		run_step(&good[i]);
	expect(fake_violation(), "RING-SPLIT-25", ENABLE);
	fake_reset();
}

/* F-037, F-038: BARs written while they decode, moved, or not put back. */
static void bar_rules_are_seen(void **state)
{
	static const struct {
		uint32_t command, value;
		const char *id;
	} cases[] = {
		{2, 0xffffffff, "F-037"},
		{2, 0xfffffff0, "F-037"},
		{0, 0xfffffff0, "F-038"},
		{0, 0x1234, "F-038"},
	};
	struct rig *rig = *state;
	struct pci_function fn = {.device = 3};
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig_plug(rig);
		pci_init();
		pci_write16(&fn, PCI_COMMAND, (uint16_t)cases[i].command);
		pci_write32(&fn, PCI_BAR0 + 16, cases[i].value);
		expect(fake_violation(), cases[i].id, (int)i);
	}
	fake_reset();
	rig_plug(rig);
	pci_write16(&fn, PCI_COMMAND, 0);
	pci_write32(&fn, PCI_BAR0 + 16, 0xffffffff);
	assert_null(fake_violation());
	pci_write16(&fn, PCI_COMMAND, 2);
	expect(fake_violation(), "F-037", -1);
	fake_reset();
}

static void other_misuse_is_seen(void **state)
{
	struct rig *rig = *state;
	struct pci_function fn = {.device = 3};
	uint8_t *p;

	rig_tolerate();
	rig_plug(rig);
	pci_init();
	pci_write32(&fn, rig->disk.fn->cap[2].offset, 0);
	expect(fake_violation(), "PCI-CAP-08", 0);
	fake_reset();
	mmio_read32(mmio_map(0xfe000000, 4096));
	expect(fake_violation(), "PCI-CAP-10", 0);
	fake_reset();
	p = dma_alloc(100, 64);
	assert_true(host_dma_ok((uintptr_t)p, 100));
	assert_false(host_dma_ok((uintptr_t)p, 129));
	assert_false(host_dma_ok((uintptr_t)p - 1, 2));
	dma_free(p, 100);
	assert_false(host_dma_ok((uintptr_t)p, 1));
	dma_free(p, 100);
	expect(fake_violation(), "dma_free", 0);
	fake_reset();
	host.budget = 10;
	for (unsigned i = 0; i < 10; i++)
		cpu_relax();
	expect(fake_violation(), "F-154", 0);
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(the_good_sequence_passes), rig_test(omitted_steps_are_seen),
		rig_test(wrong_steps_are_seen),	    rig_test(ring_memory_is_inspected),
		rig_test(bar_rules_are_seen),	    rig_test(other_misuse_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
