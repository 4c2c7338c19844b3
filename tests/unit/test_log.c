/* SPDX-License-Identifier: BSD-2-Clause */
/* Which messages come out, and as what? */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/log.h"

static struct {
	struct sink sink;
	unsigned writes;
	size_t len;
	char text[65536];
} out;

static void out_write(struct sink *sink, const char *text, size_t len)
{
	assert_ptr_equal(sink, &out.sink);
	assert_in_range(out.len + len, 0, sizeof(out.text) - 1);
	memcpy(out.text + out.len, text, len);
	out.len += len;
	out.text[out.len] = '\0';
	out.writes++;
}

static int open_sink(void **state)
{
	(void)state;
	memset(&out, 0, sizeof(out));
	out.sink.write = out_write;
	log_set_sink(&out.sink);
	return 0;
}

static int close_sink(void **state)
{
	(void)state;
	log_set_sink(NULL);
	log_set_level(LOG_WARN);
	return 0;
}

static void say_all(void)
{
	log_error("e %d", 1);
	log_warn("w %s", "2");
	log_info("i");
	log_debug("d");
}

/* Must run first: it sees the state that the program starts with. */
static void starts_silent_at_warn(void **state)
{
	assert_null(log_get_sink());
	assert_int_equal(log_get_level(), LOG_WARN);
	say_all();
	open_sink(state);
	assert_ptr_equal(log_get_sink(), &out.sink);
	assert_string_equal(out.text, "");
	say_all();
	assert_string_equal(out.text, "error: e 1\nwarning: w 2\n");
	assert_int_equal(out.writes, 2);
}

static void levels(void **state)
{
	static const char *const expected[] = {
		[LOG_ERROR] = "error: e 1\n",
		[LOG_WARN] = "error: e 1\nwarning: w 2\n",
		[LOG_INFO] = "error: e 1\nwarning: w 2\ninfo: i\n",
		[LOG_DEBUG] = "error: e 1\nwarning: w 2\ninfo: i\ndebug: d\n"};

	for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
		open_sink(state);
		log_set_level((enum log_level)level);
		assert_int_equal(log_get_level(), level);
		say_all();
		assert_string_equal(out.text, expected[level]);
		assert_int_equal(out.writes, level + 1);
	}
}

static void long_text_is_cut_line_is_not(void **state)
{
	(void)state;
	log_error("%*d", 2000, 1);
	assert_int_equal(out.writes, 1);
	assert_int_equal(out.len, 512);
	assert_memory_equal(out.text, "error:   ", 9);
	assert_int_equal(out.text[511], '\n');
	out.len = 0;
	log_error("%*d", 512 - 8, 7);
	assert_int_equal(out.len, 512);
	assert_memory_equal(out.text + 510, "7\n", 2);
}

static void level_names(void **state)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	enum log_level level;

	(void)state;
	for (int i = 0; i < 4; i++) {
		level = i ? LOG_ERROR : LOG_DEBUG;
		assert_true(log_level_parse(names[i], &level));
		assert_int_equal(level, i);
	}
	level = LOG_INFO;
	assert_false(log_level_parse("warning", &level));
	assert_false(log_level_parse("", &level));
	assert_false(log_level_parse("DEBUG", &level));
	assert_int_equal(level, LOG_INFO);
}

#define WRITERS	  4
#define LINES	  200
#define LINE_FORM "%08u %08u"

/* As slow as a UART: whoever can come in between, does. */
static void slow_write(struct sink *sink, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		out_write(sink, text + i, 1);
		if (i % 8 == 0)
			sched_yield();
	}
}

static void *writer(void *number)
{
	for (unsigned i = 0; i < LINES; i++)
		log_error(LINE_FORM, *(unsigned *)number, i);
	return NULL;
}

static void lines_of_several_cpus_stay_whole(void **state)
{
	unsigned number[WRITERS], seen[WRITERS] = {0}, who, which;
	pthread_t thread[WRITERS];
	char *line, *rest;

	(void)state;
	out.sink.write = slow_write;
	for (unsigned i = 0; i < WRITERS; i++) {
		number[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, writer, &number[i]), 0);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	for (line = strtok_r(out.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_int_equal(strlen(line), strlen("error: ") + 17);
		assert_int_equal(sscanf(line, "error: %u %u", &who, &which), 2);
		assert_in_range(who, 0, WRITERS - 1);
		assert_int_equal(which, seen[who]++);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(seen[i], LINES);
}

/* What a panic does: the end of a line is waited for, one that never ends is not. */
static void seized_for_good(void **state)
{
	struct sink sink = {.write = out_write};

	(void)state;
	assert_true(sink_seize(&sink));
	assert_false(spin_try_lock(&sink.lock));
	assert_false(sink_seize(&sink));
	assert_false(spin_try_lock(&sink.lock));
	spin_unlock(&sink.lock);
	assert_true(sink_seize(&sink));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(starts_silent_at_warn, close_sink),
		cmocka_unit_test_setup_teardown(levels, open_sink, close_sink),
		cmocka_unit_test_setup_teardown(long_text_is_cut_line_is_not, open_sink,
						close_sink),
		cmocka_unit_test_setup_teardown(lines_of_several_cpus_stay_whole, open_sink,
						close_sink),
		cmocka_unit_test(seized_for_good),
		cmocka_unit_test(level_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
