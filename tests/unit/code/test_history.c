/* SPDX-License-Identifier: BSD-2-Clause */
#include "code/history.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(history, .fini = check_leaks);

static void add(struct code_history *history, uint64_t start, uint32_t size, uint32_t name)
{
	cr_assert(eq(int, code_history_add(history, start, size, name), 0));
}

static void commit(struct code_history *history, uint64_t time)
{
	cr_assert(eq(int, code_history_commit(history, time), 0));
}

/* Name, or minus name when stale; 0 for nobody. */
static int owner(const struct code_history *history, uint64_t time, uint64_t address)
{
	uint32_t name = 0;
	int r = code_history_lookup(history, time, time, address, 0, &name);

	if (r == -EAGAIN)
		return -1000;
	return r == -ESTALE ? -(int)name : r == 1 ? (int)name : r;
}

Test(history, a_range_has_its_name_to_the_last_byte)
{
	struct code_history history = {0};

	add(&history, 0x1000, 0x100, 7);
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 5, 0xfff), 0));
	cr_assert(eq(int, owner(&history, 5, 0x1000), 7));
	cr_assert(eq(int, owner(&history, 5, 0x10ff), 7));
	cr_assert(eq(int, owner(&history, 5, 0x1100), 0));
	code_history_done(&history);
}

Test(history, size_zero_is_one_address)
{
	struct code_history history = {0};

	add(&history, 0x1000, 0, 7);
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 5, 0x1000), 7));
	cr_assert(eq(int, owner(&history, 5, 0x1001), 0));
	code_history_done(&history);
}

Test(history, of_one_start_the_later_line_wins)
{
	struct code_history history = {0};

	add(&history, 0x1000, 0x80, 1);
	add(&history, 0x2000, 0x40, 2);
	add(&history, 0x1000, 0x80, 3);
	add(&history, 0x2000, 0x60, 4);
	add(&history, 0x2000, 0x60, 5);
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 5, 0x1000), 3));
	cr_assert(eq(int, owner(&history, 5, 0x107f), 3));
	cr_assert(eq(int, owner(&history, 5, 0x2000), 5));
	cr_assert(eq(int, owner(&history, 5, 0x205f), 5));
	cr_assert(eq(int, owner(&history, 5, 0x2060), 0));
	code_history_done(&history);
}

Test(history, a_later_line_wins_over_the_part_that_it_covers)
{
	struct code_history history = {0};

	add(&history, 0x1000, 0x1000, 1);
	add(&history, 0x1400, 0x100, 2);
	add(&history, 0x1f00, 0x200, 3);
	add(&history, 0x0f00, 0x180, 4);
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 5, 0x107f), 4));
	cr_assert(eq(int, owner(&history, 5, 0x1080), 1));
	cr_assert(eq(int, owner(&history, 5, 0x14ff), 2));
	cr_assert(eq(int, owner(&history, 5, 0x1500), 1));
	cr_assert(eq(int, owner(&history, 5, 0x1eff), 1));
	cr_assert(eq(int, owner(&history, 5, 0x20ff), 3));
	code_history_done(&history);
}

Test(history, a_sample_waits_for_the_reading_after_it)
{
	struct code_history history = {0};

	cr_assert(eq(int, owner(&history, 5, 0x1000), -1000));
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 10, 0x1000), 0));
	cr_assert(eq(int, owner(&history, 11, 0x1000), -1000));
	commit(&history, 20);
	cr_assert(eq(int, owner(&history, 11, 0x1000), 0));
	code_history_done(&history);
}

Test(history, a_late_name_is_found_by_asking_again)
{
	struct code_history history = {0};

	commit(&history, 10);
	commit(&history, 20);
	cr_assert(eq(int, owner(&history, 5, 0x1000), 0));
	add(&history, 0x1000, 0x10, 7);
	commit(&history, 30);
	cr_assert(eq(int, owner(&history, 5, 0x1000), 7));
	cr_assert(eq(int, owner(&history, 25, 0x1000), 7)); /* nobody before: not stale */
	code_history_done(&history);
}

Test(history, an_owner_that_changed_around_the_sample_is_stale)
{
	struct code_history history = {0};

	add(&history, 0x1000, 0x100, 1);
	commit(&history, 10);
	add(&history, 0x1080, 0x100, 2);
	commit(&history, 20);
	commit(&history, 30);
	cr_assert(eq(int, owner(&history, 10, 0x1090), 1)); /* seen before the change */
	cr_assert(eq(int, owner(&history, 15, 0x1090), -2));
	cr_assert(eq(int, owner(&history, 15, 0x1000), 1)); /* its part did not change */
	cr_assert(eq(int, owner(&history, 15, 0x1150), 2)); /* had no owner before */
	cr_assert(eq(int, owner(&history, 25, 0x1090), 2));
	code_history_done(&history);
}

Test(history, several_owners_between_two_readings_are_stale)
{
	struct code_history history = {0};

	commit(&history, 10);
	add(&history, 0x1000, 0x100, 1);
	add(&history, 0x1000, 0x100, 2);
	commit(&history, 20);
	cr_assert(eq(int, owner(&history, 15, 0x1000), -2));
	cr_assert(eq(int, owner(&history, 20, 0x1000), -2));
	commit(&history, 30);
	cr_assert(eq(int, owner(&history, 25, 0x1000), 2));
	code_history_done(&history);
}

Test(history, the_same_name_again_is_no_change)
{
	struct code_history history = {0};
	uint64_t changes;

	add(&history, 0x1000, 0x100, 1);
	commit(&history, 10);
	changes = history.nr_changes;
	add(&history, 0x1000, 0x100, 1);
	commit(&history, 20);
	cr_assert(eq(int, owner(&history, 15, 0x1000), 1));
	cr_assert(eq(u64, history.nr_changes, changes));
	code_history_done(&history);
}

Test(history, a_span_is_stale_when_an_owner_changed_within_it)
{
	struct code_history history = {0};
	uint32_t name = 0;

	add(&history, 0x1000, 0x100, 1);
	commit(&history, 10);
	add(&history, 0x1000, 0x100, 2);
	commit(&history, 20);
	commit(&history, 30);
	cr_assert(eq(int, code_history_lookup(&history, 12, 28, 0x1000, 0, &name), -ESTALE));
	cr_assert(eq(u32, name, 2));
	cr_assert(eq(int, code_history_lookup(&history, 22, 28, 0x1000, 0, &name), 1));
	cr_assert(eq(int, code_history_lookup(&history, 22, 31, 0x1000, 0, &name), -EAGAIN));
	cr_assert(eq(int, code_history_lookup(&history, 22, 31, 0x1000, 1, &name), 1));
	code_history_done(&history);
}

Test(history, a_map_written_anew_ends_what_it_does_not_name)
{
	struct code_history history = {0}, whole = {0};

	add(&history, 0x1000, 0x100, 1);
	add(&history, 0x2000, 0x100, 2);
	add(&history, 0x3000, 0x100, 3);
	commit(&history, 10);
	add(&whole, 0x2000, 0x100, 2);
	add(&whole, 0x3000, 0x80, 4);
	add(&whole, 0x4000, 0x100, 5);
	cr_assert(eq(int, code_history_merge(&whole), 0));
	cr_assert(eq(int, code_history_replace(&history, &whole), 0));
	commit(&history, 20);
	commit(&history, 30);

	cr_assert(eq(int, owner(&history, 5, 0x1000), 1));
	cr_assert(eq(int, owner(&history, 15, 0x1000), -1)); /* may have been it to the end */
	cr_assert(eq(int, owner(&history, 25, 0x1000), 0));
	cr_assert(eq(int, owner(&history, 15, 0x2000), 2));
	cr_assert(eq(int, owner(&history, 15, 0x3000), -4));
	cr_assert(eq(int, owner(&history, 25, 0x3080), 0));
	cr_assert(eq(int, owner(&history, 15, 0x4000), 5));
	cr_assert(eq(sz, code_history_nr_owned(&history), 3));
	code_history_done(&history);
	code_history_done(&whole);
}

/* Against the plainest rule there is: the last line that covers an address. */
Test(history, agrees_with_a_table_of_every_address)
{
	static uint32_t table[4096];
	struct code_history history = {0};
	uint32_t seed = 1;

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 50; i++) {
			uint32_t start, size, name;

			seed = seed * 1664525 + 1013904223;
			start = seed >> 8 & 0xfff;
			size = seed >> 20 & 0x3f;
			name = 1 + (seed >> 26);
			if (start + size > 4096)
				size = 4096 - start;
			add(&history, start, size, name);
			for (uint32_t at = start; at < start + (size ? size : 1); at++)
				table[at] = name;
		}
		commit(&history, 10 + (uint64_t)round * 10);
		commit(&history, 15 + (uint64_t)round * 10);
		for (uint32_t at = 0; at < 4096; at++)
			cr_assert(eq(int, owner(&history, 12 + (uint64_t)round * 10, at),
				(int)table[at]));
	}
	code_history_done(&history);
}

Test(history, deep_overlap_is_not_quadratic)
{
	struct code_history history = {0};

	for (uint32_t i = 0; i < 200000; i++)
		add(&history, 0x1000 + i, 0x100000, 1 + i);
	commit(&history, 10);
	cr_assert(eq(int, owner(&history, 5, 0x1000 + 0x100000), 200000));
	cr_assert(eq(int, owner(&history, 5, 0x1001), 2));
	code_history_done(&history);
}
