/* SPDX-License-Identifier: BSD-2-Clause */
/* How are values of several parts read: 0,2-4 for CPUs, 1000,500 for rates? */
#include "kernel/bench/options.h"
#include "kernel/bench/options_values.h"
#include "lib/mem.h"
#include "lib/parse.h"

#define NUMBER_MAX 24

/* Cuts what stands before the next @mark off *@text, which is NULL after the last part. */
static bool next_part(const char **text, char mark, char part[NUMBER_MAX])
{
	const char *end = strchr(*text, mark);
	size_t len = end ? (size_t)(end - *text) : strlen(*text);

	if (len >= NUMBER_MAX)
		return false;
	memcpy(part, *text, len);
	part[len] = '\0';
	*text = end ? end + 1 : NULL;
	return true;
}

/* "3" or "2-4" */
static bool parse_span(char *text, uint64_t max, uint64_t *first, uint64_t *last)
{
	char *dash = strchr(text, '-');

	if (dash)
		*dash = '\0';
	if (!parse_u64(text, first))
		return false;
	*last = *first;
	if (dash && !parse_u64(dash + 1, last))
		return false;
	return *first <= *last && *last <= max;
}

bool value_cpus(const struct option *option, const char *value, void *where)
{
	struct cpu_set set = {.set = true};

	for (const char *text = value; text;) {
		char part[NUMBER_MAX];
		uint64_t first, last;

		if (!next_part(&text, ',', part) || !parse_span(part, option->max, &first, &last))
			return false;
		for (; first <= last; first++)
			set.word[first / 64] |= 1ull << first % 64;
	}
	*(struct cpu_set *)where = set;
	return true;
}

/* fio's: one for reads and writes, or one each; an empty one is no limit. */
bool value_rates(const struct option *option, const char *value, void *where)
{
	uint64_t rate[2] = {0};
	unsigned n = 0;

	for (const char *text = value; text; n++) {
		char part[NUMBER_MAX];

		if (n == 2 || !next_part(&text, ',', part))
			return false;
		if (part[0] && (!parse_u64(part, &rate[n]) || rate[n] > option->max))
			return false;
	}
	if (n == 1)
		rate[1] = rate[0];
	memcpy(where, rate, sizeof(rate));
	return true;
}

bool value_hipri(const struct option *option, const char *value, void *where)
{
	bool poll;

	(void)option;
	if (!parse_bool(value, &poll))
		return false;
	*(enum blk_queue_kind *)where = poll ? BLK_QUEUE_POLL : BLK_QUEUE_NOT_POLL;
	return true;
}
