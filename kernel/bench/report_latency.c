/* SPDX-License-Identifier: BSD-2-Clause */
/* How long did requests take? fio's slat, clat and lat lines, percentiles and classes. */
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/mem.h"

#define PER_LINE	 4
#define CLASSES_PER_LINE 5

static void latency_line(struct sink *out, const char *label, const struct stat *s)
{
	uint64_t mean = stat_mean_milli(s), stddev = stat_stddev_milli(s);
	const struct time_unit *unit = time_unit(stat_min(s), s->max, stddev / 1000);
	char min[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX];
	char avg[FORMAT_MILLI_MAX], dev[FORMAT_MILLI_MAX];

	if (s->n == 0)
		return;
	format_milli(avg, sizeof(avg), wide_div((u128)mean + unit->ns / 2, unit->ns), 2);
	format_milli(dev, sizeof(dev), wide_div((u128)stddev + unit->ns / 2, unit->ns), 2);
	sink_printf(out, "%8s (%s): min=%s, max=%s, avg=%5s, stdev=%5s\n", label, unit->name,
		    number_text(min, stat_min(s) / unit->ns, 6, false, ""),
		    number_text(max, s->max / unit->ns, 6, false, ""), avg, dev);
}

/* As many decimals as the list needs, and fio's 2 at least. */
static unsigned percentile_decimals(const struct job_options *o)
{
	unsigned decimals = 2;
	uint64_t scale = 10000;

	for (unsigned i = 0; i < o->nr_percentiles; i++) {
		while (o->percentile_micro[i] % scale) {
			scale /= 10;
			decimals++;
		}
	}
	return decimals;
}

/* "99.50": the last digits are known to be 0. */
static const char *percentile_text(char *buf, size_t size, uint64_t micro, unsigned decimals)
{
	uint64_t fraction = micro % 1000000;

	for (unsigned i = decimals; i < 6; i++)
		fraction /= 10;
	format(buf, size, "%llu.%0*llu", (unsigned long long)(micro / 1000000), (int)decimals,
	       (unsigned long long)fraction);
	return buf;
}

static void percentile_rows(struct sink *out, const struct job_options *o, const uint64_t *value,
			    const struct time_unit *unit)
{
	unsigned n = o->nr_percentiles, decimals = percentile_decimals(o);
	char percent[16];

	for (unsigned i = 0; i < n; i++) {
		bool first = i % PER_LINE == 0, last = i % PER_LINE == PER_LINE - 1;

		percentile_text(percent, sizeof(percent), o->percentile_micro[i], decimals);
		sink_printf(out, "%s%*sth=[%5llu]", first ? "     | " : ", ", (int)decimals + 3,
			    percent, (unsigned long long)((value[i] + unit->ns - 1) / unit->ns));
		if (i == n - 1)
			sink_puts(out, "\n");
		else if (last)
			sink_puts(out, ",\n");
	}
}

static void percentiles(struct sink *out, const struct job_options *o,
			const struct direction_result *d)
{
	uint64_t value[PERCENTILES_MAX];
	const struct time_unit *unit;
	unsigned n = o->nr_percentiles;

	if (d->clat_ns.n == 0 || n == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		value[i] = histogram_percentile(&d->clat, o->percentile_micro[i],
						stat_min(&d->clat_ns), d->clat_ns.max);
	/* The list is sorted, so its ends are the least and the most. */
	unit = time_unit(value[0], value[n - 1], UINT64_MAX);
	sink_printf(out, "    clat percentiles (%s):\n", unit->name);
	percentile_rows(out, o, value, unit);
}

void report_latency(struct sink *out, const struct job_options *options,
		    const struct direction_result *d)
{
	latency_line(out, "slat", &d->slat_ns);
	latency_line(out, "clat", &d->clat_ns);
	latency_line(out, "lat", &d->lat_ns);
	percentiles(out, options, d);
}

static void spread_unit(struct sink *out, const struct latency_spread *spread, unsigned unit)
{
	static const char *const name[SPREAD_UNITS] = {"nsec", "usec", "msec"};
	unsigned shown = 0;

	for (unsigned i = 0; i < spread_classes(unit); i++) {
		uint64_t share = share_milli(spread->count[unit][i], spread->total);
		char text[FORMAT_MILLI_MAX];

		if (share == 0)
			continue;
		if (shown % CLASSES_PER_LINE == 0)
			sink_printf(out, "%s  lat (%s)   : ", shown ? "\n" : "", name[unit]);
		else
			sink_puts(out, ", ");
		format_milli(text, sizeof(text), share < 10 ? 10 : share, 2);
		sink_printf(out, "%s=%s%%", spread_class[i], text);
		shown++;
	}
	if (shown)
		sink_puts(out, "\n");
}

void report_spread(struct sink *out, const struct job_result *r)
{
	struct latency_spread spread;

	result_latency_spread(r, &spread);
	for (unsigned unit = 0; unit < SPREAD_UNITS; unit++)
		spread_unit(out, &spread, unit);
}
