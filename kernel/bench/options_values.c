/* SPDX-License-Identifier: BSD-2-Clause */
/* How is the text after '=' checked and stored? Each parser leaves *where alone on failure. */
#include "kernel/bench/options_values.h"

#include "kernel/bench/options.h"
#include "lib/mem.h"
#include "lib/parse.h"

#define NS_PER_SECOND	    1000000000ull
#define NS_PER_MS	    1000000ull
#define NS_PER_US	    1000ull
#define MICRO_PER_HUNDRED   100000000ull
#define DEV_PREFIX	    "/dev/"
#define PERCENTILE_TEXT_MAX 16

static bool in_range(const struct option *option, uint64_t n)
{
	return n >= option->min && n <= option->max;
}

bool value_u64(const struct option *option, const char *value, void *where)
{
	uint64_t n;

	if (!parse_u64(value, &n) || !in_range(option, n))
		return false;
	*(uint64_t *)where = n;
	return true;
}

bool value_u32(const struct option *option, const char *value, void *where)
{
	uint64_t n;

	if (!value_u64(option, value, &n))
		return false;
	*(uint32_t *)where = (uint32_t)n;
	return true;
}

bool value_size64(const struct option *option, const char *value, void *where)
{
	uint64_t n;

	if (!parse_size(value, &n) || !in_range(option, n))
		return false;
	*(uint64_t *)where = n;
	return true;
}

bool value_size32(const struct option *option, const char *value, void *where)
{
	uint64_t n;

	if (!value_size64(option, value, &n))
		return false;
	*(uint32_t *)where = (uint32_t)n;
	return true;
}

bool value_extent(const struct option *option, const char *value, void *where)
{
	struct extent extent = {.set = true};
	size_t len = strlen(value);
	char number[32];

	if (len > 1 && len <= sizeof(number) && value[len - 1] == '%') {
		memcpy(number, value, len - 1);
		number[len - 1] = '\0';
		extent.percent = true;
		if (!parse_micro(number, &extent.value) || extent.value > MICRO_PER_HUNDRED)
			return false;
	} else if (!parse_size(value, &extent.value)) {
		return false;
	}
	if (extent.value < option->min)
		return false;
	*(struct extent *)where = extent;
	return true;
}

bool value_time(const struct option *option, const char *value, void *where)
{
	uint64_t ns;

	if (!parse_time(value, NS_PER_SECOND, &ns) || !in_range(option, ns))
		return false;
	*(uint64_t *)where = ns;
	return true;
}

bool value_time_us(const struct option *option, const char *value, void *where)
{
	uint64_t ns;

	if (!parse_time(value, NS_PER_US, &ns) || !in_range(option, ns))
		return false;
	*(uint64_t *)where = ns;
	return true;
}

bool value_timeout_ms(const struct option *option, const char *value, void *where)
{
	uint64_t ms;

	if (!value_u64(option, value, &ms))
		return false;
	*(uint64_t *)where = ms * NS_PER_MS;
	return true;
}

bool value_bool(const struct option *option, const char *value, void *where)
{
	(void)option;
	return parse_bool(value, where);
}

int option_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);
	int index = 0;

	for (const char *c = choices; c; index++) {
		const char *end = strchr(c, '|');
		size_t n = end ? (size_t)(end - c) : strlen(c);

		if (n == len && strncmp(c, value, n) == 0)
			return index;
		c = end ? end + 1 : NULL;
	}
	return -1;
}

bool value_choice(const struct option *option, const char *value, void *where)
{
	int index = option_choice(option->valid, value);

	if (index < 0)
		return false;
	*(uint32_t *)where =
		(uint32_t)((unsigned)index > option->max ? option->min : (unsigned)index);
	return true;
}

bool value_choice_bool(const struct option *option, const char *value, void *where)
{
	int index = option_choice(option->valid, value);

	if (index < 0)
		return false;
	*(bool *)where = index != 0;
	return true;
}

bool value_hash(const struct option *option, const char *value, void *where)
{
	if (option_choice(option->valid, value) < 0)
		return false;
	*(bool *)where = true;
	return true;
}

bool value_eta(const struct option *option, const char *value, void *where)
{
	if (option_choice(option->valid, value) < 0)
		return false;
	*(bool *)where = str_eq(value, "always"); /* auto: whoever reads the console decides */
	return true;
}

bool value_log_level(const struct option *option, const char *value, void *where)
{
	(void)option;
	return log_level_parse(value, where);
}

bool value_qsize(const struct option *option, const char *value, void *where)
{
	uint64_t n;

	if (!parse_u64(value, &n))
		return false;
	if (n != 0 && !in_range(option, n))
		return false;
	*(uint32_t *)where = (uint32_t)n;
	return true;
}

/* To a struct blk_config: a policy, and with threshold:N a number. */
bool value_indirect(const struct option *option, const char *value, void *where)
{
	static const char threshold[] = "threshold:";
	struct blk_config *config = where;
	int policy = option_choice("auto|never|always|threshold|threshold:auto", value);
	uint64_t below = 0;

	if (policy < 0) {
		if (strncmp(value, threshold, sizeof(threshold) - 1) != 0 ||
		    !parse_u64(value + sizeof(threshold) - 1, &below) || below == 0 ||
		    below > option->max)
			return false;
		policy = BLK_INDIRECT_THRESHOLD;
	}
	config->indirect = (enum blk_indirect)policy;
	config->indirect_below = (uint32_t)below;
	return true;
}

/* Names are printed on the console as they are: no control characters. */
bool value_name(const struct option *option, const char *value, void *where)
{
	size_t len = strlen(value);

	if (len > option->max)
		return false;
	for (const char *c = value; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	memcpy(where, value, len + 1);
	return true;
}

bool value_filename(const struct option *option, const char *value, void *where)
{
	size_t prefix = strlen(DEV_PREFIX);

	if (strncmp(value, DEV_PREFIX, prefix) == 0)
		value += prefix;
	if (*value == '\0' || strchr(value, ':') || strchr(value, '/'))
		return false;
	return value_name(option, value, where);
}

/* Keeps the list sorted and free of doubles: the values become keys of a JSON object. */
static bool percentile_insert(uint64_t *list, unsigned *n, uint64_t micro)
{
	unsigned at = 0;

	while (at < *n && list[at] < micro)
		at++;
	if (at < *n && list[at] == micro)
		return true;
	if (*n == PERCENTILES_MAX)
		return false;
	memmove(&list[at + 1], &list[at], (*n - at) * sizeof(*list));
	list[at] = micro;
	(*n)++;
	return true;
}

bool value_percentiles(const struct option *option, const char *value, void *where)
{
	struct job_options *job = where;
	uint64_t list[PERCENTILES_MAX], micro;
	char number[PERCENTILE_TEXT_MAX];
	unsigned n = 0;

	(void)option;
	for (const char *c = value; c;) {
		const char *end = strchr(c, ':');
		size_t len = end ? (size_t)(end - c) : strlen(c);

		if (len >= sizeof(number))
			return false;
		memcpy(number, c, len);
		number[len] = '\0';
		if (!parse_micro(number, &micro) || micro == 0 || micro > MICRO_PER_HUNDRED)
			return false;
		if (!percentile_insert(list, &n, micro))
			return false;
		c = end ? end + 1 : NULL;
	}
	memcpy(job->percentile_micro, list, n * sizeof(*list));
	job->nr_percentiles = n;
	return true;
}
