/* SPDX-License-Identifier: BSD-2-Clause */
/* Do the parsers and writers of lib/ agree with plainer ones on any input? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format.h"
#include "lib/json.h"
#include "lib/parse.h"
#include "lib/ranges.h"
#include "tests/fuzz/fuzz.h"

#define UNITS 256u

/* Each takes all of the text or nothing; what is a plain number is that number. */
static void numbers(const char *text)
{
	const uint64_t keep = 0x5a5a5a5a5a5a5a5a;
	uint64_t value[4] = {keep, keep, keep, keep}, expected;
	bool flag = false, ok[4];
	unsigned i;
	char *end;

	ok[0] = parse_u64(text, &value[0]);
	ok[1] = parse_size(text, &value[1]);
	ok[2] = parse_time(text, 1, &value[2]);
	ok[3] = parse_micro(text, &value[3]);
	parse_bool(text, &flag);
	for (i = 0; i < 4; i++)
		fuzz_check(ok[i] || value[i] == keep, "a refused value was stored");
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
		return;
	errno = 0;
	expected = strtoull(text, &end, 10);
	fuzz_check(ok[0] == (errno == 0), "parse_u64 and strtoull take different texts");
	fuzz_check(!ok[0] || value[0] == expected, "parse_u64 and strtoull differ");
	fuzz_check(!ok[1] || value[1] == expected, "parse_size and strtoull differ");
	fuzz_check(!ok[2] || value[2] == expected, "parse_time and strtoull differ");
	fuzz_check(!ok[3] || value[3] == expected * 1000000, "parse_micro and strtoull differ");
}

static void tokens(char *text)
{
	char *end = text + strlen(text), *cursor = text, *token;
	bool unclosed = false;
	unsigned n = 0;

	while ((token = parse_token(&cursor, &unclosed)) != NULL) {
		fuzz_check(token >= text && token + strlen(token) <= end, "a token outside");
		fuzz_check(cursor > text && cursor <= end + 1, "the cursor is outside");
		fuzz_check(++n <= (size_t)(end - text), "tokens without end");
	}
}

struct text {
	struct sink sink;
	size_t bytes;
	char at[8192];
};

static void keep_text(struct sink *sink, const char *text, size_t len)
{
	struct text *to = (struct text *)(void *)sink;

	fuzz_check(len <= sizeof(to->at) - to->bytes, "JSON grows without bound");
	memcpy(to->at + to->bytes, text, len);
	to->bytes += len;
}

/* Nothing in a string can end it, and nothing unprintable is left in it. */
static void json(const char *text)
{
	static struct text to;
	struct json j;
	unsigned quotes = 0;
	size_t i;

	to.sink.write = keep_text;
	to.bytes = 0;
	json_init(&j, &to.sink);
	json_object_begin(&j, NULL);
	json_string(&j, "key", text);
	json_object_end(&j);
	for (i = 0; i < to.bytes; i++) {
		if (to.at[i] == '\\')
			i++;
		else if (to.at[i] == '"')
			quotes++;
		else
			fuzz_check((uint8_t)to.at[i] >= 32 || to.at[i] == '\n',
				   "a control character");
	}
	fuzz_check(quotes == 4, "a string does not end where it should");
}

/* Our format() against the C library's, for what ours knows. */
static void formats(struct fuzz_input *in)
{
	static const char conversion[] = "diuxX", flag[] = "-0+ #";
	char fmt[32], ours[128], theirs[128];
	unsigned n = 0, i, flags = (unsigned)fuzz_take(in, 1), kind = (unsigned)fuzz_take(in, 1);
	unsigned width = (unsigned)fuzz_take(in, 1) % 80, precision = (unsigned)fuzz_take(in, 1);
	size_t room = 1 + fuzz_take(in, 1) % sizeof(ours);
	uint64_t value = fuzz_take(in, 8);
	int a, b;

	fmt[n++] = '%';
	for (i = 0; i < 5; i++)
		if (flags & (1u << i))
			fmt[n++] = flag[i];
	if (width)
		n += (unsigned)snprintf(fmt + n, 8, "%u", width);
	if (flags & 0x80)
		n += (unsigned)snprintf(fmt + n, 8, ".%u", precision % 40);
	fmt[n++] = 'l';
	fmt[n++] = 'l';
	fmt[n++] = conversion[kind % 5];
	fmt[n] = '\0';
	memset(ours, 'x', sizeof(ours));
	memset(theirs, 'x', sizeof(theirs));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	a = format(ours, room, fmt, value);
	b = snprintf(theirs, room, fmt, value);
#pragma GCC diagnostic pop
	if (a != b || memcmp(ours, theirs, sizeof(ours)) != 0) {
		fprintf(stderr, "'%s' of %" PRIu64 ": '%s', not '%s'\n", fmt, value, ours, theirs);
		abort();
	}
}

/* Ranges against a byte for each unit. */
static void ranges(struct fuzz_input *in)
{
	static uint8_t map[UNITS];
	struct ranges r = {0};
	uint64_t start, end, at, align;
	unsigned i, set;

	memset(map, 0, sizeof(map));
	while (in->left >= 3) {
		unsigned op = (unsigned)fuzz_take(in, 1);

		start = fuzz_take(in, 1);
		end = start + fuzz_take(in, 1) % (UNITS + 1 - start);
		if (start == end)
			continue;
		if (op % 3 == 0 && ranges_add(&r, start, end))
			memset(map + start, 1, end - start);
		else if (op % 3 == 1 && ranges_remove(&r, start, end))
			memset(map + start, 0, end - start);
		else if (op % 3 == 2) {
			align = 1ull << (op / 3 % 5);
			at = ranges_take(&r, end - start, align, 0,
					 op & 0x80 ? RANGES_HIGHEST : RANGES_LOWEST);
			if (at == UINT64_MAX)
				continue;
			fuzz_check(at % align == 0 && at + (end - start) <= UNITS, "a bad place");
			fuzz_check(!memchr(map + at, 0, end - start), "what was taken is not free");
			memset(map + at, 0, end - start);
		}
		for (i = 0, set = 0; i < UNITS; i++)
			set += map[i];
		fuzz_check(ranges_total(&r) == set, "the total is wrong");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	unsigned what = (unsigned)fuzz_take(&in, 1);
	char text[1024];
	size_t n = in.left < sizeof(text) - 1 ? in.left : sizeof(text) - 1;

	memcpy(text, in.data, n);
	text[n] = '\0';
	switch (what) {
	case 'n':
		numbers(text);
		break;
	case 't':
		tokens(text);
		break;
	case 'j':
		json(text);
		break;
	case 'f':
		formats(&in);
		break;
	case 'r':
		ranges(&in);
		break;
	default:
		break;
	}
	return 0;
}
