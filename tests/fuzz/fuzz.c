/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a fuzz target begin, and how does it say that something is wrong? */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < bytes && in->left > 0; i++, in->left--)
		value |= (uint64_t)*in->data++ << (8 * i);
	return value;
}

static void finding(const char *text)
{
	fprintf(stderr, "FINDING: %s\n", text);
	abort();
}

void fuzz_check(bool holds, const char *text)
{
	if (!holds)
		finding(text);
}

static void other_finding(const char *text)
{
	static const char *const trusted[] = {"F-154", "dma_",	"mmio_",	 "PCI-",
					      "INIT-", "STAT-", "CLEAN-02: ring"};
	unsigned i;

	for (i = 0; i < sizeof(trusted) / sizeof(trusted[0]); i++)
		if (strncmp(text, trusted[i], strlen(trusted[i])) == 0)
			finding(text);
}

void fuzz_distrust_rings(void)
{
	fake_on_violation(other_finding);
}

static void drop(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	(void)text;
	(void)len;
}

void fuzz_machine(uint64_t budget)
{
	static struct sink nowhere = {.write = drop};

	fake_reset();
	fake_on_violation(finding);
	log_set_level(LOG_DEBUG);
	log_set_sink(&nowhere);
	host.budget = budget;
}
