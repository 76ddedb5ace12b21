/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dilution.c: a weighted median, taken anew for each of 200,000 relabellings. So large lists are
 * not sorted but cut into bins, and the bin that holds it again, until little is left.
 */
#include "diff/dilution.h"

#include <math.h>
#include <stdlib.h>

#define SORTED 64 /* items that are simply sorted */
#define BINS   64

static int by_ratio(const void *a, const void *b)
{
	const struct dilution_item *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return x->weight < y->weight ? -1 : x->weight > y->weight;
}

static void sort(struct dilution_item *items, size_t nr)
{
	if (nr > SORTED) {
		qsort(items, nr, sizeof(*items), by_ratio);
		return;
	}
	for (size_t i = 1; i < nr; i++) {
		struct dilution_item item = items[i];
		size_t j = i;

		for (; j > 0 && by_ratio(&items[j - 1], &item) > 0; j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

struct range {
	double low, scale; /* of the finite ratios */
};

/* 0: there is no range, all finite ratios are (nearly) the same. */
static int find_range(const struct dilution_item *items, size_t nr, struct range *ret)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < nr; i++) {
		double ratio = items[i].ratio;

		if (ratio < low)
			low = ratio;
		if (ratio > high && ratio < INFINITY)
			high = ratio;
	}
	ret->low = low;
	ret->scale = BINS / (high - low);
	return high > low && ret->scale < INFINITY;
}

static unsigned bin_of(const struct range *range, double ratio)
{
	double bin = (ratio - range->low) * range->scale;

	if (ratio == INFINITY)
		return BINS;
	return bin < BINS - 1 ? (unsigned)bin : BINS - 1;
}

/* Leaves in items the nr of the bin that holds the median; *passed: the weight below them. 0: they
 * can't be parted any more. */
static int narrow(struct dilution_item *items, size_t *nr, double half, double *passed)
{
	double weights[BINS + 1] = {0}, below = *passed;
	struct range range;
	unsigned bin = 0;
	size_t kept = 0;

	if (!find_range(items, *nr, &range))
		return 0;
	for (size_t i = 0; i < *nr; i++)
		weights[bin_of(&range, items[i].ratio)] += items[i].weight;
	while (bin < BINS && below + weights[bin] < half)
		below += weights[bin++];
	for (size_t i = 0; i < *nr; i++) {
		if (bin_of(&range, items[i].ratio) == bin)
			items[kept++] = items[i];
	}
	/* Sums in another order may miss the half by their rounding: nothing is left then. */
	if (kept == 0)
		return 0;
	*nr = kept;
	*passed = below;
	return 1;
}

double dilution_median(struct dilution_item *items, size_t nr)
{
	double whole = 0, passed = 0, half;

	if (nr <= SORTED)
		sort(items, nr);
	for (size_t i = 0; i < nr; i++)
		whole += items[i].weight;
	half = whole / 2;
	while (nr > SORTED && narrow(items, &nr, half, &passed))
		;
	sort(items, nr);
	for (size_t i = 0; i < nr; i++) {
		passed += items[i].weight;
		if (passed >= half)
			return items[i].ratio;
	}
	return nr ? items[nr - 1].ratio : 1;
}
