/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/dilution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(dilution, .fini = check_leaks);

static int by_ratio(const void *a, const void *b)
{
	const struct dilution_item *x = a, *y = b;

	return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

/* The definition, by sorting. Weights are whole numbers, so that the order of sums is no matter. */
static double sorted_median(const struct dilution_item *items, size_t nr)
{
	struct dilution_item *copy = malloc((nr + 1) * sizeof(*copy));
	double whole = 0, passed = 0, median = 1;

	memcpy(copy, items, nr * sizeof(*copy));
	qsort(copy, nr, sizeof(*copy), by_ratio);
	for (size_t i = 0; i < nr; i++)
		whole += copy[i].weight;
	for (size_t i = 0; i < nr; i++) {
		passed += copy[i].weight;
		if (passed >= whole / 2) {
			median = copy[i].ratio;
			break;
		}
	}
	free(copy);
	return median;
}

Test(dilution, half_of_the_weight_decides_not_half_of_the_functions)
{
	struct dilution_item items[] = {{3, 1}, {1.5, 10}, {0, 2}, {INFINITY, 3}};

	cr_assert(eq(dbl, dilution_median(items, 4), 1.5));
	cr_assert(eq(dbl, dilution_median(items, 0), 1));
}

Test(dilution, an_exact_half_takes_the_lower)
{
	struct dilution_item items[] = {{2, 1}, {0.5, 1}};

	cr_assert(eq(dbl, dilution_median(items, 2), 0.5));
}

Test(dilution, long_lists_give_what_sorting_gives)
{
	static struct dilution_item items[3000];

	srand(1);
	for (unsigned round = 0; round < 400; round++) {
		size_t nr = 1 + (size_t)rand() % ARRAY_SIZE(items);
		double spread = round % 4 == 0 ? 1e-9 : round % 4 == 1 ? 100 : 0.01, wanted;

		for (size_t i = 0; i < nr; i++) {
			int special = rand() % 20;
			double ratio = 1 + spread * (rand() % 1000) / 1000;

			if (round % 5 == 0)
				ratio = 1;
			items[i].ratio = special == 0 ? INFINITY : special == 1 ? 0 : ratio;
			items[i].weight = 1 + rand() % 100;
		}
		wanted = sorted_median(items, nr);
		cr_assert(eq(dbl, dilution_median(items, nr), wanted), "round %u", round);
	}
}

Test(dilution, all_may_be_new)
{
	static struct dilution_item items[500];

	for (size_t i = 0; i < 500; i++)
		items[i] = (struct dilution_item){INFINITY, 1};
	cr_assert(eq(dbl, dilution_median(items, 500), INFINITY));
}
