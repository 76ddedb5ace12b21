/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/relabel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(relabel, .fini = check_leaks);

static uint32_t bits_of(const struct relabel *relabel)
{
	uint32_t bits = 0;

	for (unsigned u = 0; u < relabel->nr; u++)
		bits |= (uint32_t)relabel->after[u] << u;
	return bits;
}

static void starts(struct relabel *relabel, unsigned nr, unsigned nr_before, unsigned flags)
{
	cr_assert(eq(int, relabel_init(relabel, nr, nr_before, flags, 200000, 19999, 0), 0));
}

/* Every one once, each a single exchange from the last. */
static void check_all(unsigned nr, unsigned nr_before, unsigned flags, uint64_t ways)
{
	uint8_t *seen = calloc(1u << nr, 1);
	struct relabel relabel = {0};
	uint32_t last = 0, observed = ((1u << (nr - nr_before)) - 1) << nr_before;
	uint64_t count = 0;

	starts(&relabel, nr, nr_before, flags);
	cr_assert(eq(u64, relabel.total, ways));
	cr_assert(eq(u64, relabel.seed, 0));
	while (relabel_next(&relabel)) {
		uint32_t bits = bits_of(&relabel);

		cr_assert(eq(int, __builtin_popcount(bits), (int)(nr - nr_before)));
		cr_assert(eq(u8, seen[bits], 0), "%u of %u: %x twice", nr_before, nr, bits);
		seen[bits] = 1;
		if (count++)
			cr_assert(eq(int, __builtin_popcount(bits ^ last), 2));
		last = bits;
	}
	cr_assert(eq(u64, count, ways));
	cr_assert(eq(u8, seen[observed], 1));
	relabel_done(&relabel);
	free(seen);
}

Test(relabel, gives_every_combination_once_by_single_exchanges)
{
	check_all(2, 1, 0, 2);
	check_all(5, 1, 0, 5);
	check_all(5, 4, 0, 5);
	check_all(6, 3, 0, 20);
	check_all(8, 4, 0, 70);
	check_all(8, 3, 0, 56);
	check_all(8, 5, 0, 56);
	check_all(10, 5, 0, 252);
	check_all(13, 6, 0, 1716);
	check_all(16, 8, 0, 12870);
	check_all(20, 10, 0, 184756);
}

Test(relabel, pairs_change_places_in_every_way_once)
{
	check_all(2, 1, RELABEL_PAIRED, 2);
	check_all(10, 5, RELABEL_PAIRED, 32);
	check_all(20, 10, RELABEL_PAIRED, 1024);
}

Test(relabel, draws_beyond_the_limit_begin_with_what_was_observed_and_repeat_by_seed)
{
	struct relabel one = {0}, other = {0};
	unsigned in_first = 0;

	starts(&one, 22, 11, 0);
	starts(&other, 22, 11, 0);
	cr_assert(eq(u64, one.total, 20000));
	cr_assert(ne(u64, one.seed, 0));
	cr_assert(eq(int, relabel_next(&one), 1));
	cr_assert(eq(u32, bits_of(&one), 0x7ffu << 11));
	cr_assert(eq(int, relabel_next(&other), 1));
	while (relabel_next(&one)) {
		cr_assert(eq(int, relabel_next(&other), 1));
		cr_assert(eq(u32, bits_of(&one), bits_of(&other)));
		cr_assert(eq(int, __builtin_popcount(bits_of(&one)), 11));
		in_first += one.after[0];
	}
	/* Half of them, within five standard deviations. */
	cr_assert(gt(u32, in_first, 10000 - 354));
	cr_assert(lt(u32, in_first, 10000 + 354));
	relabel_done(&one);
	relabel_done(&other);
}

Test(relabel, pairs_are_drawn_beyond_the_limit)
{
	struct relabel relabel = {0};
	unsigned swapped = 0;

	starts(&relabel, 140, 70, RELABEL_PAIRED);
	cr_assert(eq(u64, relabel.total, 20000));
	while (relabel_next(&relabel)) {
		for (unsigned i = 0; i < 70; i++)
			cr_assert(ne(u8, relabel.after[i], relabel.after[70 + i]));
		swapped += relabel.after[69];
	}
	cr_assert(gt(u32, swapped, 10000 - 354));
	cr_assert(lt(u32, swapped, 10000 + 354));
	relabel_done(&relabel);
}

Test(relabel, refuses_empty_sides_and_uneven_pairs)
{
	struct relabel relabel = {0};

	cr_assert(eq(int, relabel_init(&relabel, 4, 0, 0, 100, 99, 0), -EINVAL));
	cr_assert(eq(int, relabel_init(&relabel, 4, 4, 0, 100, 99, 0), -EINVAL));
	cr_assert(eq(int, relabel_init(&relabel, 5, 2, RELABEL_PAIRED, 100, 99, 0), -EINVAL));
}
