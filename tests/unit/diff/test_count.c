/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/count.h"

#include <stdio.h>

#include "unit/folded.h"
#include "view/tree.h"

TestSuite(count, .fini = check_leaks);

static void count_all(struct counter *counter, struct stoke_profile *profile)
{
	cr_assert(eq(int, counter_init(counter, profile), 0));
	counter_begin(counter);
	for (size_t i = 0; i < profile->rows.nr; i++)
		counter_add(counter, profile->rows.stack[i], profile->rows.value[0][i]);
	counter_finish(counter);
}

static size_t find(const struct stoke_profile *profile, const struct counted *list, size_t nr,
	const char *name, enum tree_class class)
{
	for (size_t i = 1; i < nr; i++) {
		if (list[i].class == class &&
			strcmp(strings_text(&profile->strings, list[i].name), name) == 0)
			return i;
	}
	cr_fatal("no %s", name);
	return 0;
}

/* "total/self" */
static char *both(const struct counter *counter, const char *name, enum tree_class class)
{
	static char text[64];
	size_t f = find(counter->profile, counter->functions, counter->nr_functions, name, class);

	(void)snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)counter->total[f],
		(unsigned long long)counter->self[f]);
	return text;
}

static uint64_t of_group(const struct counter *counter, const char *name)
{
	return counter->of_group[find(
		counter->profile, counter->groups, counter->nr_groups, name, TREE_USER)];
}

Test(count, a_function_counts_once_a_stack)
{
	struct stoke_profile *profile =
		folded_profile("walk;walk;walk;f 30\nwalk;f 10\nmain;f;g;f;g 2\n");
	struct counter counter;

	count_all(&counter, profile);
	cr_assert(eq(str, both(&counter, "walk", TREE_USER), "40/0"));
	cr_assert(eq(str, both(&counter, "f", TREE_USER), "42/40"));
	cr_assert(eq(str, both(&counter, "g", TREE_USER), "2/2"));
	counter_done(&counter);
	stoke_profile_free(profile);
}

Test(count, kernel_and_user_functions_of_one_name_are_two)
{
	struct stoke_profile *profile = folded_profile("main;read;read_[k] 3\nmain;read 2\n");
	struct counter counter;

	count_all(&counter, profile);
	cr_assert(eq(str, both(&counter, "read", TREE_USER), "5/2"));
	cr_assert(eq(str, both(&counter, "read", TREE_KERNEL), "3/3"));
	counter_done(&counter);
	stoke_profile_free(profile);
}

Test(count, nodes_may_stand_in_any_order_as_long_as_parents_come_first)
{
	struct stoke_profile *profile = NULL;
	uint32_t f = 0, g = 0, a = 0, b = 0, node[5] = {0}, run = 0;
	struct counter counter;
	unsigned value = 0;

	/* Breadth first: a and b, then f under each, g under b's f, f under a's f. */
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "x", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	a = folded_frame(profile, "a", 1);
	b = folded_frame(profile, "b", 1);
	f = folded_frame(profile, "f", 1);
	g = folded_frame(profile, "g", 1);
	cr_assert(eq(int, stacks_append(&profile->stacks, 0, a, &node[0]), 0));
	cr_assert(eq(int, stacks_append(&profile->stacks, 0, b, &node[1]), 0));
	cr_assert(eq(int, stacks_append(&profile->stacks, node[0], f, &node[2]), 0));
	cr_assert(eq(int, stacks_append(&profile->stacks, node[1], f, &node[3]), 0));
	cr_assert(eq(int, stacks_append(&profile->stacks, node[3], g, &node[4]), 0));
	cr_assert(eq(int, stacks_append(&profile->stacks, node[2], f, &node[2]), 0));
	cr_assert(eq(int, profile_row(profile, run, node[4], 0, 0, (uint64_t[]){5}), 0));
	cr_assert(eq(int, profile_row(profile, run, node[2], 0, 0, (uint64_t[]){7}), 0));

	count_all(&counter, profile);
	cr_assert(eq(str, both(&counter, "a", TREE_USER), "7/0"));
	cr_assert(eq(str, both(&counter, "b", TREE_USER), "5/0"));
	cr_assert(eq(str, both(&counter, "f", TREE_USER), "12/7"));
	cr_assert(eq(str, both(&counter, "g", TREE_USER), "5/5"));
	counter_done(&counter);
	stoke_profile_free(profile);
}

Test(count, a_package_counts_once_a_stack)
{
	struct stoke_profile *profile =
		folded_profile("java.util.A.f_[j];org.app.B.g_[j];java.util.C.h_[j] 4\n"
			       "org.app.B.g_[j];org.app.B.k_[j] 3\n");
	struct counter counter;

	count_all(&counter, profile);
	cr_assert(eq(u64, of_group(&counter, "java.util"), 4));
	cr_assert(eq(u64, of_group(&counter, "org.app"), 7));
	counter_done(&counter);
	stoke_profile_free(profile);
}

Test(count, how_a_stack_was_taken_is_no_function)
{
	struct stoke_profile *profile = folded_profile("[broken]_[m];f 4\n[JIT compiler]_[m] 3\n");
	struct counter counter;

	count_all(&counter, profile);
	cr_assert(eq(u8,
		counter.functions[find(profile, counter.functions, counter.nr_functions, "[broken]",
					  TREE_MARK)]
			.skip,
		1));
	cr_assert(eq(u8,
		counter.functions[find(profile, counter.functions, counter.nr_functions,
					  "[JIT compiler]", TREE_MARK)]
			.skip,
		0));
	counter_done(&counter);
	stoke_profile_free(profile);
}

Test(count, sums_that_overflow_stay_at_the_most)
{
	struct stoke_profile *profile =
		folded_profile("f;g 18446744073709551615\nf;h 18446744073709551615\n");
	struct counter counter;

	count_all(&counter, profile);
	cr_assert(eq(str, both(&counter, "f", TREE_USER), "18446744073709551615/0"));
	counter_done(&counter);
	stoke_profile_free(profile);
}
