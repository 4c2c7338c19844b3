/* SPDX-License-Identifier: BSD-2-Clause */
/* Can configuration space, capabilities and registers of any content harm whoever looks at them? */
#include <string.h>

#include "drivers/block/blk.h"
#include "drivers/pci/pci.h"
#include "tests/fuzz/fuzz.h"

#define CONFIG_BYTES 256u

static struct fuzz_input registers;

/* Each register read gives what comes next in the input, and 0 at its end. */
static uint32_t read_register(struct fake_function *fn, unsigned bar, uint64_t offset,
			      unsigned width)
{
	(void)fn;
	(void)bar;
	(void)offset;
	return (uint32_t)fuzz_take(&registers, width);
}

static void write_register(struct fake_function *fn, unsigned bar, uint64_t offset, uint32_t value,
			   unsigned width)
{
	(void)fn;
	(void)bar;
	(void)offset;
	(void)value;
	(void)width;
}

/* One byte for each BAR: its type and its size; addresses do not overlap. */
static void make_bars(struct fake_function *fn, struct fuzz_input *in)
{
	unsigned i, byte;

	for (i = 0; i < PCI_BARS; i++) {
		byte = (unsigned)fuzz_take(in, 1);
		switch (byte & 3) {
		case 1:
			fake_pci_bar(fn, i, FAKE_BAR_MEM32, 0x80000000u + (i << 24),
				     1ull << (4 + (byte >> 2) % 21));
			break;
		case 2:
			fake_pci_bar(fn, i, FAKE_BAR_IO, 0x4000 + (i << 8),
				     4u << ((byte >> 2) % 7));
			break;
		case 3:
			if (i == PCI_BARS - 1)
				break;
			fake_pci_bar(fn, i, FAKE_BAR_MEM64, (0x10ull + i) << 32,
				     1ull << (4 + (byte >> 2) % 28));
			i++;
			break;
		default:
			break;
		}
	}
}

static void look_at_capabilities(const struct pci_function *pci)
{
	struct pci_cap_walk walk = pci_cap_begin(pci);
	unsigned n = 0, at;

	while ((at = pci_cap_next(&walk)) != 0) {
		fuzz_check(at >= 0x40 && at < CONFIG_BYTES, "a capability in the header");
		fuzz_check(++n <= 48, "a list without end");
	}
}

/* The header and the list come from the input; then the BARs; the rest is what registers say. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blk_config config = BLK_CONFIG_DEFAULT;
	struct fuzz_input in = {data, size};
	struct fake_function *fn;
	struct pci_function pci;
	struct blk_device blk;
	uint8_t header[CONFIG_BYTES];
	unsigned i;

	fuzz_machine(400000);
	for (i = 0; i < CONFIG_BYTES; i++)
		header[i] = (uint8_t)fuzz_take(&in, 1);
	fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	fn->config[0x0e] = header[0x0e] & 0x80; /* no bridge: buses are looked at elsewhere */
	fn->config[0x06] = header[0x06];
	memcpy(fn->config + 0x2c, header + 0x2c, CONFIG_BYTES - 0x2c);
	make_bars(fn, &in);
	config.mode = fuzz_take(&in, 1) % 3;
	registers = in;
	fn->read = read_register;
	fn->write = write_register;
	pci_init();
	if (pci_scan(&pci, 1, blk_is_disk) != 1)
		return 0;
	look_at_capabilities(&pci);
	if (blk_open(&blk, &pci, 0, &config)) {
		fuzz_check(blk.nr_queues > 0 && blk.block_bytes >= 512, "a disk that is none");
		blk_close(&blk);
	}
	/* 3.3.1: of a device that does not confirm its reset, all is kept. */
	fuzz_check(host.interrupts_live == 0 || host.live > 0,
		   "an interrupt outlives the memory that it uses");
	fake_reset();
	return 0;
}
