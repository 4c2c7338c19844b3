/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a test set up, and how does it fail when the driver breaks a rule? */
#include "tests/host/rig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"

#define TEST_SECONDS 100 /* a hang that meets no register ends here */

static struct rig *current;

static void on_violation(const char *text)
{
	fail_msg("the driver broke a rule: %s", text);
}

static void keep_log(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	if (len > sizeof(current->log) - 1 - current->log_bytes)
		len = sizeof(current->log) - 1 - current->log_bytes;
	memcpy(current->log + current->log_bytes, text, len);
	current->log_bytes += len;
}

int rig_setup(void **state)
{
	static struct sink sink = {.write = keep_log};

	alarm(TEST_SECONDS);
	current = calloc(1, sizeof(*current));
	if (!current)
		return -1;
	*state = current;
	fake_reset();
	fake_on_violation(on_violation);
	log_set_level(LOG_DEBUG);
	log_set_sink(&sink);
	current->config = BLK_CONFIG_DEFAULT;
	fake_disk_init(&current->disk);
	return 0;
}

int rig_teardown(void **state)
{
	const char *violation = fake_violation();

	(void)state;
	if (violation)
		print_error("violation: %s\n", violation);
	fake_reset();
	log_set_sink(NULL);
	free(current);
	alarm(0);
	return violation ? -1 : 0;
}

void rig_tolerate(void)
{
	fake_on_violation(NULL);
}

void rig_plug(struct rig *rig)
{
	fake_disk_plug(&rig->disk, 0, 3, 0);
	fake_disk_caps(&rig->disk);
}

static bool any_virtio(const struct pci_function *fn)
{
	return fn->vendor_id == 0x1af4;
}

bool rig_find(struct rig *rig)
{
	pci_init();
	return pci_scan(&rig->pci, 1, any_virtio) == 1;
}

bool rig_open(struct rig *rig)
{
	assert_true(rig_find(rig));
	return blk_open(&rig->blk, &rig->pci, 0, &rig->config);
}

struct blk_queue *rig_start(struct rig *rig)
{
	rig_plug(rig);
	if (!rig_open(rig))
		fail_msg("blk_open: %s", rig->log);
	return rig->blk.queues[0];
}

bool rig_logged(const struct rig *rig, const char *text)
{
	if (strstr(rig->log, text))
		return true;
	print_error("not in the log: \"%s\"; the log:\n%s\n", text, rig->log);
	return false;
}

void *rig_memory(size_t bytes)
{
	void *p = dma_alloc(bytes, 512);

	assert_non_null(p);
	memset(p, 0xee, bytes);
	return p;
}

struct blk_request rig_request(enum blk_op op, uint64_t lba_512, void *data, uint32_t bytes)
{
	struct blk_request req = {.lba_512 = lba_512, .op = (uint8_t)op};

	if (bytes)
		assert_true(sgl_add(&req.sgl, NULL, dma_map(data, bytes), bytes));
	return req;
}

/* Polls that find nothing; a poll may also find a part of a request, and return none. */
#define IDLE_POLLS 10

unsigned rig_drain(struct blk_queue *queue, struct blk_request **done, unsigned n)
{
	uint64_t limit = blk_counters(queue)->polls_empty + IDLE_POLLS;
	unsigned got = 0;

	while (got < n && blk_counters(queue)->polls_empty < limit) {
		got += blk_poll(queue, done + got, n - got);
		fake_step();
	}
	return got;
}

unsigned rig_run(struct blk_queue *queue, struct blk_request *reqs, unsigned n)
{
	struct blk_request **list = calloc(n, sizeof(*list)), **done = calloc(n, sizeof(*done));
	uint64_t limit = blk_counters(queue)->polls_empty + IDLE_POLLS + n;
	unsigned i, sent = 0, got = 0;

	assert_non_null(list);
	assert_non_null(done);
	for (i = 0; i < n; i++)
		list[i] = &reqs[i];
	while (got < n && blk_counters(queue)->polls_empty < limit) {
		sent += blk_submit(queue, list + sent, n - sent);
		fake_step();
		got += blk_poll(queue, done + got, n - got);
	}
	for (i = 0; i < got;
	     i++) { /* each request came once, or the test's list was written over */
		assert_true(done[i] >= reqs && done[i] < reqs + n && list[done[i] - reqs]);
		list[done[i] - reqs] = NULL;
	}
	free(list);
	free(done);
	return got;
}

enum blk_status rig_do(struct rig *rig, enum blk_op op, uint64_t lba_512, void *data,
		       uint32_t bytes)
{
	return blk_do(rig->blk.queues[0], op, lba_512, data, bytes);
}
