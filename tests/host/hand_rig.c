/* SPDX-License-Identifier: BSD-2-Clause */
/* What steps does a driver that is written by hand consist of? */
#include "tests/host/hand_rig.h"

#include <string.h>

struct hand hand;

void hand_write(unsigned offset, unsigned width, uint64_t value)
{
	if (width == 1)
		mmio_write8(hand.bar + offset, (uint8_t)value);
	else if (width == 2)
		mmio_write16(hand.bar + offset, (uint16_t)value);
	else
		mmio_write32(hand.bar + offset, (uint32_t)value);
}

uint32_t hand_read(unsigned offset, unsigned width)
{
	return width == 1   ? mmio_read8(hand.bar + offset)
	       : width == 2 ? mmio_read16(hand.bar + offset)
			    : mmio_read32(hand.bar + offset);
}

void hand_plug(struct rig *rig, uint16_t size, uint64_t features)
{
	fake_reset();
	memset(&hand, 0, sizeof(hand));
	fake_disk_init(&rig->disk);
	rig->disk.features = features | FAKE_BIT(FAKE_VERSION_1);
	rig->disk.queue_size[0] = size;
	rig->disk.msix_place.entries = 0;
	rig_plug(rig);
	fake_pci_put(rig->disk.fn, 4, 6, 2);
	hand.bar = mmio_map(rig->disk.fn->bar[4].base, 0x4000);
	hand.memory = dma_alloc(16384, 4096);
	memset(hand.memory, 0xee, 16384);
}

void hand_negotiate(uint64_t features)
{
	unsigned i;

	features |= FAKE_BIT(FAKE_VERSION_1);
	hand_write(20, 1, 0);
	hand_read(20, 1);
	hand_write(20, 1, 1);
	hand_write(20, 1, 3);
	for (i = 0; i < 2; i++) {
		hand_write(0, 4, i);
		hand_read(4, 4);
		hand_write(8, 4, i);
		hand_write(12, 4, features >> (32 * i));
	}
	hand_write(20, 1, 11);
	hand_read(20, 1);
}

void hand_queue(uint16_t size)
{
	static const unsigned align[3] = {4096, 64, 64};
	unsigned i;

	hand.size = size;
	hand.next = 0;
	hand_write(22, 2, 0);
	hand_write(24, 2, size);
	for (i = 0; i < 3; i++) {
		size_t bytes = 16u * size + 16;

		hand.ring[i] = dma_alloc(bytes, align[i]);
		memset(hand.ring[i], 0, bytes);
		hand_write(32 + 8 * i, 4, (uintptr_t)hand.ring[i]);
		hand_write(36 + 8 * i, 4, (uintptr_t)hand.ring[i] >> 32);
	}
	hand_write(28, 2, 1);
}

void hand_bring_up(struct rig *rig, uint16_t size, uint64_t features)
{
	hand_plug(rig, size, features);
	hand_negotiate(features);
	hand_queue(size);
	hand_write(20, 1, 15);
	hand_header(0, 0);
}

void hand_kick(void)
{
	hand_write(0x3000, 2, 0);
}

uint64_t hand_address(enum hand_where where)
{
	static const unsigned offset[] = {
		[HEADER] = 0, [STATUS] = 16, [DATA] = 512, [TABLE] = 8192};

	return where == WILD ? 0x1000 : (uintptr_t)hand.memory + offset[where];
}

void hand_header(uint32_t type, uint64_t sector)
{
	uint32_t header[4] = {type, 0, (uint32_t)sector, (uint32_t)(sector >> 32)};

	memcpy(hand.memory, header, sizeof(header));
	hand.memory[16] = 0xff;
}

void hand_expect(const char *id)
{
	const char *seen = fake_violation();

	if (!id && !seen)
		return;
	if (!id || !seen || strncmp(seen, id, strlen(id)))
		fail_msg("expected %s, seen %s", id ? id : "nothing", seen ? seen : "nothing");
}

/* ---- Packed ---- */

static bool wrap(uint64_t position)
{
	return position / hand.size % 2 == 0;
}

struct fake_desc *hand_slot(uint64_t position)
{
	return (struct fake_desc *)(void *)hand.ring[0] + position % hand.size;
}

uint16_t hand_available(uint64_t position)
{
	return wrap(position) ? FAKE_D_AVAIL : FAKE_D_USED;
}

bool hand_used(uint64_t position)
{
	uint16_t both = FAKE_D_AVAIL | FAKE_D_USED;

	return (hand_slot(position)->word[1] & both) == (wrap(position) ? both : 0);
}

static void fill(uint64_t position, const struct hand_part *part, uint16_t id)
{
	struct fake_desc *desc = hand_slot(position);

	desc->addr = hand_address(part->where);
	desc->len = part->len;
	desc->word[0] = id;
	__atomic_store_n(&desc->word[1], hand_available(position) ^ part->flags, __ATOMIC_RELEASE);
}

void hand_put(const struct hand_part *part, uint16_t id)
{
	fill(hand.next++, part, id);
}

void hand_list(const struct hand_part *part, unsigned n, uint16_t id)
{
	unsigned i;

	for (i = n; i-- > 0;)
		fill(hand.next + i, &part[i], id);
	hand.next += n;
}

void hand_read_sector(uint16_t id)
{
	static const struct hand_part part[] = {
		{HEADER, 16, FAKE_D_NEXT},
		{DATA, 512, FAKE_D_NEXT | FAKE_D_WRITE},
		{STATUS, 1, FAKE_D_WRITE},
	};

	hand.memory[16] = 0xff;
	hand_list(part, 3, id);
}

void hand_event(uint16_t off_wrap, uint16_t flags)
{
	memcpy(hand.ring[1], &off_wrap, 2);
	memcpy(hand.ring[1] + 2, &flags, 2);
}
