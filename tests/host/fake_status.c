/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the driver bring the device up in the order of 3.1.1, and wait for a reset to end? */
#include "tests/host/fake_inside.h"

uint32_t fake_status_read(struct fake_disk *disk)
{
	disk->await_status = false;
	if (!disk->await_zero)
		return disk->status;
	if (disk->reset_never || disk->reset_left > 0) {
		if (!disk->reset_never)
			disk->reset_left--;
		return disk->status ? disk->status : FAKE_S_NEEDS_RESET;
	}
	fake_disk_reset(disk);
	disk->await_zero = false;
	return 0;
}

static void check_features(struct fake_disk *disk)
{
	if (disk->features_read != 3)
		fake_violate("FEAT-03: FEATURES_OK before both words of the features were read");
	if ((disk->features >> FAKE_VERSION_1 & 1) && !(disk->accepted >> FAKE_VERSION_1 & 1))
		fake_violate("RSVD-01: VERSION_1 was offered and not accepted");
	if (disk->refuse_features_ok)
		disk->status &= (uint8_t)~FAKE_S_FEATURES_OK;
	disk->await_status = true;
}

static void check_ready(struct fake_disk *disk)
{
	unsigned i, enabled = 0;

	for (i = 0; i < FAKE_QUEUES; i++)
		enabled += disk->queue[i].enabled;
	if (enabled == 0)
		fake_violate("INIT-06: DRIVER_OK without a queue");
	if (disk->by_legacy)
		fake_legacy_ready(disk);
	if (disk->await_config_vector)
		fake_violate("MSIX-05: the vector of the configuration was not read back");
	if (!(fake_pci_command(disk->fn) & 4))
		fake_violate("PCI: DRIVER_OK without bus mastering");
	disk->ready = true;
}

static void status_step(struct fake_disk *disk, uint8_t added)
{
	uint8_t before = disk->status & (FAKE_S_ACKNOWLEDGE | FAKE_S_DRIVER | FAKE_S_DRIVER_OK |
					 FAKE_S_FEATURES_OK);

	if (added & (added - 1))
		fake_violate("STAT-01: status bits %#x set in one write", added);
	if (disk->await_status && (added & FAKE_S_DRIVER_OK))
		fake_violate("INIT-05: FEATURES_OK was not read back");
	if (disk->by_legacy && (added & FAKE_S_FEATURES_OK))
		fake_violate("LEG-10: FEATURES_OK written to a legacy device");
	else if ((added == FAKE_S_ACKNOWLEDGE && before != 0) ||
		 (added == FAKE_S_DRIVER && before != 1) ||
		 (added == FAKE_S_FEATURES_OK && before != 3) ||
		 (added == FAKE_S_DRIVER_OK && before != (disk->by_legacy ? 3 : 11)))
		fake_violate("INIT-01: status bit %#x added to %#x", added, before);
}

void fake_status_write(struct fake_disk *disk, uint8_t value)
{
	uint8_t old = disk->status & (uint8_t)~FAKE_S_NEEDS_RESET,
		added = value & (uint8_t)~disk->status;

	disk->status_log[disk->nr_status++ % sizeof(disk->status_log)] = value;
	if (value == 0) {
		disk->written_zero = disk->await_zero = true;
		disk->reset_left = disk->reset_reads;
		if (disk->by_legacy && !disk->reset_never && disk->reset_reads == 0) {
			fake_disk_reset(disk); /* 4.1.4.3.2 binds the modern interface only */
			disk->await_zero = false;
		}

		return;
	}
	if (!disk->written_zero && value != FAKE_S_FAILED)
		fake_violate("INIT-01: status %#x written before a reset (F-045)", value);
	if (disk->await_zero && !(value & FAKE_S_FAILED))
		fake_violate("PCI-COM-05: status %#x written before the reset was seen to end",
			     value);
	if (disk->failed && !(value & FAKE_S_FAILED))
		fake_violate("STAT-03: status %#x written after FAILED", value);
	if ((value & old) != old && !disk->await_zero)
		fake_violate("STAT-02: status %#x clears bits of %#x", value, old);
	if (value & FAKE_S_FAILED)
		disk->failed = true;
	else
		status_step(disk, added);
	disk->status = value | (disk->status & FAKE_S_NEEDS_RESET);
	if (added & FAKE_S_FEATURES_OK)
		check_features(disk);
	if (added & FAKE_S_DRIVER_OK)
		check_ready(disk);
}

void fake_needs_reset(struct fake_disk *disk)
{
	disk->status |= FAKE_S_NEEDS_RESET;
	fake_msix_raise(disk, disk->config_vector, 2); /* a configuration change (3.2.1) */
}

void fake_vanish(struct fake_disk *disk)
{
	disk->fn->gone = true;
}
