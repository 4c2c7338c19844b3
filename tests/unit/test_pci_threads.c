/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each CPU read the register that it asked for, whatever the others ask for meanwhile? */
#include <arch/machine.h>
#include <pthread.h>

#include "tests/host/rig.h"

#define CPUS	       4
#define EACH	       20000
#define LINE_MIN       0x10
#define INTERRUPT_LINE 0x3c

static struct reader {
	pthread_t thread;
	struct pci_function fn;
	unsigned cpu, wrong;
} readers[CPUS];

static unsigned arrived; /* atomic */

/* Reads of each width, and of what it wrote before. */
static void read_and_write(struct reader *r, unsigned turn)
{
	uint32_t id = 0x1af4u | (0x1000u + r->cpu) << 16;
	uint16_t command = turn & 1 ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;

	pci_write16(&r->fn, PCI_COMMAND, command);
	r->wrong += pci_read16(&r->fn, PCI_VENDOR_ID) != (uint16_t)id;
	r->wrong += pci_read32(&r->fn, PCI_VENDOR_ID) != id;
	r->wrong += pci_read8(&r->fn, INTERRUPT_LINE) != LINE_MIN + r->cpu;
	r->wrong += pci_read16(&r->fn, PCI_COMMAND) != command;
}

static void *run(void *context)
{
	struct reader *r = context;

	host_thread_is(r->cpu);
	__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < CPUS)
		;
	for (unsigned i = 0; i < EACH; i++)
		read_and_write(r, i);
	return NULL;
}

/* F-031: by ports CF8/CFC, of which there is one pair for all. */
static void config_ports(void **state)
{
	(void)state;
	host.budget = UINT64_MAX;
	arrived = 0;
	pci_init();
	assert_false(pci_uses_ecam());
	for (unsigned i = 0; i < CPUS; i++) {
		struct fake_function *fn =
			fake_pci_add(0, 4 + i, i, 0x1af4, (uint16_t)(0x1000 + i));

		fake_pci_put(fn, INTERRUPT_LINE, LINE_MIN + i, 1);
		readers[i] = (struct reader){.cpu = i};
		readers[i].fn = (struct pci_function){
			.device = (uint8_t)(4 + i), .function = (uint8_t)i, .vendor_id = 0x1af4};
	}
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&readers[i].thread, NULL, run, &readers[i]), 0);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(readers[i].wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {rig_test(config_ports)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
