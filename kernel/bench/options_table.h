/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the table of options say of each key? */
#ifndef KERNEL_BENCH_OPTIONS_TABLE_H
#define KERNEL_BENCH_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_scope {
	OPTION_JOB,	/* goes into struct job_options */
	OPTION_RUN,	/* goes into struct run_options */
	OPTION_ONLY,	/* known, but one of the values in .valid is all that is supported */
	OPTION_IGNORED, /* a fio option that means nothing here, whatever its value */
};

struct option {
	const char *key;
	const char *alias_of; /* a second name: nothing else is set */
	enum option_scope scope;
	bool flag; /* the key alone means key=1 */
	/* Stores @value at @where; false if it is not valid. */
	bool (*parse)(const struct option *option, const char *value, void *where);
	size_t offset; /* of the destination */
	uint64_t min, max;
	const char *valid; /* for the error message; the parsers of choices also read it */
};

/* The entry of @key, of what it is an alias of, or NULL. */
const struct option *option_find(const char *key);
/* The known key nearest to @key within two edits, or NULL. */
const char *option_suggest(const char *key);
/* How many edits @a is from @b, which has less than 32 characters. */
unsigned option_distance(const char *a, const char *b);
/* The place of @value in a list such as "read|write"; -1 if it is not in there. */
int option_choice(const char *choices, const char *value);

#endif
