/* SPDX-License-Identifier: BSD-2-Clause */
/* How do free stretches of an address space merge, split and get taken? */
#include "lib/ranges.h"

#include "lib/mem.h"

/* Index of the first range that ends at or after @address. */
static unsigned find(const struct ranges *r, uint64_t address)
{
	unsigned i = 0;

	while (i < r->n && r->range[i].end < address)
		i++;
	return i;
}

/* Puts @count new places at @at in the stead of @old; their content is the caller's to fill. */
static bool replace(struct ranges *r, unsigned at, unsigned old, unsigned count)
{
	if (r->n - old + count > RANGES_MAX)
		return false;
	memmove(&r->range[at + count], &r->range[at + old],
		(r->n - at - old) * sizeof(r->range[0]));
	r->n = r->n - old + count;
	return true;
}

bool ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	unsigned first = find(r, start), past = first;

	if (start >= end)
		return true;
	for (; past < r->n && r->range[past].start <= end; past++) {
		if (r->range[past].start < start)
			start = r->range[past].start;
		if (r->range[past].end > end)
			end = r->range[past].end;
	}
	if (!replace(r, first, past - first, 1))
		return false;
	r->range[first] = (struct range){start, end};
	return true;
}

bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end)
{
	unsigned first = find(r, start), past = first, kept = 0;
	struct range keep[2];

	if (start >= end)
		return true;
	while (past < r->n && r->range[past].start < end)
		past++;
	if (past == first)
		return true;
	if (r->range[first].start < start)
		keep[kept++] = (struct range){r->range[first].start, start};
	if (r->range[past - 1].end > end)
		keep[kept++] = (struct range){end, r->range[past - 1].end};
	if (!replace(r, first, past - first, kept))
		return false;
	memcpy(&r->range[first], keep, kept * sizeof(keep[0]));
	return true;
}

/* Where @bytes would lie in [start, end), or UINT64_MAX. */
static uint64_t place(struct range in, uint64_t bytes, uint64_t align, enum ranges_side side)
{
	uint64_t at;

	if (in.end < in.start || in.end - in.start < bytes)
		return UINT64_MAX;
	if (side == RANGES_HIGHEST) {
		at = (in.end - bytes) & ~(align - 1);
		return at >= in.start ? at : UINT64_MAX;
	}
	at = (in.start + align - 1) & ~(align - 1);
	/* Rounding up may pass the end of the range, or wrap. */
	return at >= in.start && at <= in.end - bytes ? at : UINT64_MAX;
}

uint64_t ranges_take(struct ranges *r, uint64_t bytes, uint64_t align, uint64_t limit,
		     enum ranges_side side)
{
	for (unsigned i = 0; bytes && i < r->n; i++) {
		struct range in = r->range[side == RANGES_LOWEST ? i : r->n - 1 - i];
		uint64_t at;

		if (limit && in.end > limit)
			in.end = limit;
		at = place(in, bytes, align, side);
		if (at != UINT64_MAX && ranges_remove(r, at, at + bytes))
			return at;
	}
	return UINT64_MAX;
}

uint64_t ranges_total(const struct ranges *r)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < r->n; i++)
		total += r->range[i].end - r->range[i].start;
	return total;
}
