/* SPDX-License-Identifier: BSD-2-Clause */
/* What does each test of the drivers start from? One fake disk, and helpers to drive it. */
#ifndef TESTS_HOST_RIG_H
#define TESTS_HOST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drivers/block/blk.h"
#include "drivers/pci/pci.h"
#include "tests/host/fake_inside.h"

struct rig {
	struct fake_disk disk;
	struct pci_function pci;
	struct blk_device blk;
	struct blk_config config; /* BLK_CONFIG_DEFAULT */
	char log[16384];	  /* all log lines, debug ones included */
	size_t log_bytes;
};

/* For cmocka_unit_test_setup_teardown(). A violation fails the test where it happens. */
int rig_setup(void **state);
int rig_teardown(void **state);
#define rig_test(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

/* The disk at 00:03.0 with its usual capabilities; then the driver's scan and blk_open(). */
void rig_plug(struct rig *rig);
bool rig_find(struct rig *rig);
bool rig_open(struct rig *rig);
/* rig_plug() and rig_open(), which must work; returns the queue. */
struct blk_queue *rig_start(struct rig *rig);
bool rig_logged(const struct rig *rig, const char *text);
/* From here on a violation is kept, not fatal: for tests that break a rule. */
void rig_tolerate(void);

/* DMA memory filled with 0xee. */
void *rig_memory(size_t bytes);
struct blk_request rig_request(enum blk_op op, uint64_t lba_512, void *data, uint32_t bytes);
/* Submits all of @reqs, with polls and steps between, and collects them; returns how many came. */
unsigned rig_run(struct blk_queue *queue, struct blk_request *reqs, unsigned n);
/* Polls, lets the device step and time pass, until @n requests came or nothing moves any more. */
unsigned rig_drain(struct blk_queue *queue, struct blk_request **done, unsigned n);
enum blk_status rig_do(struct rig *rig, enum blk_op op, uint64_t lba_512, void *data,
		       uint32_t bytes);

#endif
