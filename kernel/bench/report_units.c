/* SPDX-License-Identifier: BSD-2-Clause */
/* How does fio spell large numbers, and in which unit does it print a time? */
#include "kernel/bench/report.h"
#include "lib/format.h"

#define POWERS 6

static unsigned digits_of(uint64_t n)
{
	unsigned digits = 1;

	while (n >= 10) {
		n /= 10;
		digits++;
	}
	return digits;
}

char *number_text(char buf[NUMBER_TEXT_MAX], uint64_t value, unsigned digits, bool binary,
		  const char *unit)
{
	static const char letter[POWERS + 1] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};
	uint64_t base = binary ? 1024 : 1000, scale = 1, whole = value;
	char number[FORMAT_MILLI_MAX], prefix[3] = "";
	unsigned power = 0, decimals, n;

	while (digits_of(whole) > digits && power < POWERS) {
		scale *= base;
		whole = value / scale;
		power++;
	}
	n = digits_of(whole);
	decimals = power && digits > n + 1 ? digits - n - 1 : 0;
	if (power) {
		prefix[0] = binary && power == 1 ? 'K' : letter[power];
		prefix[1] = binary ? 'i' : '\0';
	}
	format_milli(number, sizeof(number), wide_mul_div(value, 1000, scale),
		     decimals > 3 ? 3 : decimals);
	format(buf, NUMBER_TEXT_MAX, "%s%s%s", number, prefix, unit);
	return buf;
}

const struct time_unit *time_unit(uint64_t min_ns, uint64_t max_ns, uint64_t stddev_ns)
{
	static const struct time_unit nsec = {"nsec", 1}, usec = {"usec", 1000},
				      msec = {"msec", 1000000};

	if (min_ns > 2000000 && max_ns > 99999999 && stddev_ns > 1000000)
		return &msec;
	if (min_ns > 2000 && max_ns > 99999 && stddev_ns > 1000)
		return &usec;
	return &nsec;
}
