/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Do the inputs that are checked in still pass? One test for each file of corpus/NAME and
 * regressions/NAME, where the program is called fuzz_NAME and runs in the root of the sources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUTS	    512
#define INPUT_BYTES 65536u

static struct CMUnitTest tests[INPUTS];
static unsigned nr_tests;

static void replay(void **state)
{
	FILE *file = fopen(*state, "rb");
	uint8_t *data = malloc(INPUT_BYTES), *exact;
	size_t size;

	assert_non_null(file);
	assert_non_null(data);
	size = fread(data, 1, INPUT_BYTES, file);
	fclose(file);
	exact = malloc(size + !size); /* so that a read past the end is seen */
	assert_non_null(exact);
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	free(data);
}

static int real_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void collect(const char *kind, const char *name)
{
	struct dirent **entries;
	char path[512];
	int n, i;

	snprintf(path, sizeof(path), "tests/fuzz/%s/%s", kind, name);
	n = scandir(path, &entries, real_file, alphasort);
	for (i = 0; i < n && nr_tests < INPUTS; i++) {
		snprintf(path, sizeof(path), "tests/fuzz/%s/%s/%s", kind, name, entries[i]->d_name);
		tests[nr_tests].name = strdup(path);
		tests[nr_tests].test_func = replay;
		tests[nr_tests].initial_state = strdup(path);
		nr_tests++;
	}
}

/* Leaks are told of by libFuzzer itself; here the names above are kept on purpose. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

int main(int argc, char **argv)
{
	const char *name = strstr(argc > 0 ? argv[0] : "", "fuzz_");

	if (!name)
		return 2;
	collect("corpus", name + strlen("fuzz_"));
	collect("regressions", name + strlen("fuzz_"));
	if (nr_tests == 0)
		fprintf(stderr, "%s: no inputs under tests/fuzz\n", name);
	return nr_tests == 0 ? 2 : _cmocka_run_group_tests(name, tests, nr_tests, NULL, NULL);
}
