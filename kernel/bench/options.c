/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a command line become jobs? Token by token; the table knows what each key holds. */
#include "kernel/bench/options.h"

#include "kernel/bench/options_feature.h"
#include "kernel/bench/options_table.h"
#include "lib/format.h"
#include "lib/mem.h"
#include "lib/parse.h"

#define DEFAULT_RANDSEED 1 /* any, as long as it is the same each time */

struct parser {
	struct run_options *run;
	struct job_options *job;     /* where job options go now */
	struct job_options defaults; /* what came before the first name= */
	char *error;
	size_t error_size;
};

static const char *const rw_name[] = {
	[RW_READ] = "read",	      [RW_WRITE] = "write", [RW_RANDREAD] = "randread",
	[RW_RANDWRITE] = "randwrite", [RW_MIXED] = "rw",    [RW_RANDMIXED] = "randrw",
};

const char *job_rw_name(enum job_rw rw)
{
	return rw_name[rw];
}

bool job_rw_random(enum job_rw rw)
{
	return rw == RW_RANDREAD || rw == RW_RANDWRITE || rw == RW_RANDMIXED;
}

bool job_rw_writes(enum job_rw rw)
{
	return rw != RW_READ && rw != RW_RANDREAD;
}

bool job_rw_reads(enum job_rw rw)
{
	return rw != RW_WRITE && rw != RW_RANDWRITE;
}

const char *job_given_value(const struct job_options *job, const char *key)
{
	for (unsigned i = 0; i < job->nr_given; i++)
		if (str_eq(job->given[i].key, key))
			return job->given[i].value;
	return NULL;
}

static bool __attribute__((format(printf, 2, 3))) fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_v(p->error, p->error_size, fmt, ap);
	va_end(ap);
	return false;
}

static void job_defaults(struct job_options *job)
{
	static const uint64_t percentile_micro[] = {
		1000000,  5000000,  10000000, 20000000, 30000000, 40000000,
		50000000, 60000000, 70000000, 80000000, 90000000, 95000000,
		99000000, 99500000, 99900000, 99950000, 99990000,
	};

	*job = (struct job_options){
		.name = "ringlab",
		.filename = "vda",
		.rw = RW_RANDREAD,
		.bs_bytes = 4096,
		.iodepth = 1,
		.batch_complete_min = 1,
		.rwmixread = 50,
		.randseed = DEFAULT_RANDSEED,
		.numjobs = 1,
		.thinktime_blocks = 1,
		.nr_percentiles = ARRAY_SIZE(percentile_micro),
	};
	memcpy(job->percentile_micro, percentile_micro, sizeof(percentile_micro));
}

/* A batch cannot be larger than the depth, nor its least above its most. */
static void job_finish(struct job_options *job)
{
	if (job->batch_submit > job->iodepth)
		job->batch_submit = job->iodepth;
	if (job->batch_complete_min > job->iodepth)
		job->batch_complete_min = job->iodepth;
	if (job->batch_complete_max && job->batch_complete_max < job->batch_complete_min)
		job->batch_complete_max = job->batch_complete_min;
}

/* The first name= names the first job; each later one starts the next from the defaults. */
static bool next_job(struct parser *p)
{
	struct run_options *run = p->run;

	if (run->nr_jobs == JOBS_MAX)
		return fail(p, "more than %u jobs (name=)", JOBS_MAX);
	p->job = &run->job[run->nr_jobs++];
	*p->job = p->defaults;
	return true;
}

static bool remember(struct parser *p, const char *key, const char *value)
{
	struct job_options *job = p->job;
	unsigned i = 0;

	while (i < job->nr_given && !str_eq(job->given[i].key, key))
		i++;
	if (i == ARRAY_SIZE(job->given))
		return fail(p, "%s: more than %u options in one job", key, i);
	job->given[i] = (struct job_given){.key = key, .value = value};
	if (i == job->nr_given)
		job->nr_given++;
	return true;
}

static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		const char *end = strchr(list, ',');
		size_t n = end ? (size_t)(end - list) : strlen(list);

		if (n == len && strncmp(list, word, n) == 0)
			return true;
		list += n;
		while (*list == ',' || *list == ' ')
			list++;
	}
	return false;
}

static void ignore(struct run_options *run, const char *word)
{
	size_t len = strlen(run->ignored), room = sizeof(run->ignored) - len;

	if (!listed(run->ignored, word) && strlen(word) + strlen(", ") < room)
		format(run->ignored + len, room, "%s%s", len ? ", " : "", word);
}

static bool only_supported(struct parser *p, const struct option *option, const char *value)
{
	if (option_choice(option->valid, value) >= 0)
		return true;
	return fail(p, "%s=%s: only %s is supported", option->key, value, option->valid);
}

/* @key is what was written: the option's own, or an alias. */
static bool store(struct parser *p, const struct option *option, const char *key, const char *value)
{
	char *base = option->scope == OPTION_JOB ? (char *)p->job : (char *)p->run;

	if (!option->parse(option, value, base + option->offset))
		return fail(p, "%s=%s: expected %s", key, value, option->valid);
	return option->scope == OPTION_RUN || remember(p, option->key, value);
}

static bool take_option(struct parser *p, const struct option *option, const char *key,
			const char *value)
{
	if (value && *value == '\0' && option->scope != OPTION_IGNORED)
		return fail(p, "%s=: the value is missing; expected %s", key, option->valid);
	if (!value && !option->flag)
		return fail(p, "%s: needs a value; expected %s", key, option->valid);
	if (!value)
		value = "1";
	if (option->scope == OPTION_IGNORED) {
		ignore(p->run, option->key);
		return true;
	}
	if (option->scope == OPTION_ONLY)
		return only_supported(p, option, value);
	if (str_eq(option->key, "name") && !next_job(p))
		return false;
	return store(p, option, key, value);
}

static bool unknown_option(struct parser *p, const char *key)
{
	const char *near = option_suggest(key);

	if (near)
		return fail(p, "unknown option '%s' (did you mean %s?)", key, near);
	return fail(p, "unknown option '%s'", key);
}

/* @token is cut in two at its '='. */
static bool take_token(struct parser *p, char *token, bool first)
{
	const struct option *option;
	char *key = token, *equals, *value = NULL;
	const char *feature;

	if (strncmp(key, "--", 2) == 0)
		key += 2;
	if (*key == '\0')
		return true;
	equals = strchr(key, '=');
	if (equals) {
		*equals = '\0';
		value = equals + 1;
	}
	option = option_find(key);
	if (option)
		return take_option(p, option, key, value);
	feature = feature_key(key);
	if (feature)
		return feature_option(feature, value, &p->run->blk, p->error, p->error_size);
	if (first && strchr(key, '/'))
		return true; /* the image's path */
	return unknown_option(p, key);
}

unsigned options_count_jobs(const struct run_options *run)
{
	unsigned n = 0;

	for (unsigned i = 0; i < run->nr_jobs; i++)
		n += run->job[i].numjobs;
	return n;
}

static bool not_too_many(struct parser *p)
{
	unsigned n = options_count_jobs(p->run);

	if (n > RUN_JOBS_MAX)
		return fail(p, "numjobs: %u jobs in all; a run has at most %u", n, RUN_JOBS_MAX);
	return true;
}

bool options_parse(char *line, struct run_options *run, char *error, size_t error_size)
{
	struct parser p = {
		.run = run, .job = &p.defaults, .error = error, .error_size = error_size};
	bool unclosed = false;
	char *token;

	memset(run, 0, sizeof(*run));
	run->log_level = LOG_WARN;
	run->blk = BLK_CONFIG_DEFAULT;
	job_defaults(&p.defaults);
	for (unsigned i = 0; (token = parse_token(&line, &unclosed)) != NULL; i++) {
		if (!take_token(&p, token, i == 0))
			return false;
	}
	if (unclosed)
		return fail(&p, "a quote is not closed at the end of the line");
	if (run->nr_jobs == 0)
		run->job[run->nr_jobs++] = p.defaults;
	for (unsigned i = 0; i < run->nr_jobs; i++)
		job_finish(&run->job[i]);
	return not_too_many(&p);
}
