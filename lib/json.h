/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a JSON document written as it goes, with the commas right? */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sink.h"

#define JSON_DEPTH_MAX 16

struct json {
	struct sink *sink;
	unsigned depth;
	bool has_member[JSON_DEPTH_MAX + 1];
};

/* Two-space indent; the outermost '{' stands alone on its line. @key is NULL inside an array. */
void json_init(struct json *j, struct sink *sink);
void json_object_begin(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array_begin(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_milli(struct json *j, const char *key, uint64_t value_milli); /* 1.234 */
void json_string(struct json *j, const char *key, const char *value);	/* UTF-8, escaped */
void json_bool(struct json *j, const char *key, bool value);

#endif
