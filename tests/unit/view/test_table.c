/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/table.h"

#include <stdio.h>

#include "unit/folded.h"

TestSuite(table, .fini = check_leaks);

/* "name total/self xNR #ID", a row a line; the table is gone afterwards. */
static char *listed(struct table *table)
{
	static char text[4096];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %llu/%llu x%u #%lld\n",
			row->name, (unsigned long long)row->total, (unsigned long long)row->self,
			row->nr, (long long)row->id);
		cr_assert(lt(sz, at, sizeof(text)));
		cr_assert(eq(sz, strlen(row->name), row->name_size));
	}
	table_free(table);
	return text;
}

static struct tree *tree_of(const char *lines, struct stoke_profile **ret_profile)
{
	struct tree *tree = NULL;

	*ret_profile = folded_profile(lines);
	cr_assert(eq(int, tree_build(*ret_profile, &(struct tree_options){0}, &tree), 0));
	return tree;
}

static void done(struct tree *tree, struct stoke_profile *profile)
{
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(table, a_recursive_function_counts_a_sample_once)
{
	struct stoke_profile *profile;
	struct tree *tree = tree_of("main;f;g;f;f 5\nmain;f 2\nmain;g;f 1\nmain 4\n", &profile);
	struct table *table = NULL;

	cr_assert(eq(int, table_functions(tree, &table), 0));
	cr_assert(eq(u64, table->sum, 12));
	cr_assert(eq(str, listed(table), "main 12/4 x1 #-1\nf 8/8 x4 #-1\ng 6/0 x2 #-1\n"));
	done(tree, profile);
}

Test(table, equal_totals_are_ordered_by_self_then_name)
{
	struct stoke_profile *profile;
	struct tree *tree = tree_of("b 2\na 2\nc;d 2\n", &profile);
	struct table *table = NULL;

	cr_assert(eq(int, table_functions(tree, &table), 0));
	cr_assert(
		eq(str, listed(table), "a 2/2 x1 #-1\nb 2/2 x1 #-1\nd 2/2 x1 #-1\nc 2/0 x1 #-1\n"));
	done(tree, profile);
}

Test(table, a_user_and_a_kernel_function_of_one_name_are_two)
{
	struct stoke_profile *profile;
	struct tree *tree = tree_of("main;read;read_[k] 3\n", &profile);
	struct table *table = NULL;

	cr_assert(eq(int, table_functions(tree, &table), 0));
	cr_assert(eq(sz, table->nr, 3));
	cr_assert(eq(u32, table->rows[0].kind, FUNCTION_KERNEL));
	table_free(table);
	done(tree, profile);
}

Test(table, a_package_counts_a_sample_once_however_often_it_is_entered)
{
	struct stoke_profile *profile;
	struct tree *tree = tree_of("main;a.b.C.x_[j];java.util.M.get_[j];a.b.D.y_[j] 3\n"
				    "main;a.b.C.x_[j];write_[k] 1\n",
		&profile);
	struct table *table = NULL;

	cr_assert(eq(int, table_groups(tree, &table), 0));
	cr_assert(eq(u64, table->sum, 4));
	cr_assert(eq(
		str, listed(table), "a.b 4/3 x2 #-1\njava.util 3/0 x1 #-1\n[kernel] 1/1 x1 #-1\n"));
	done(tree, profile);
}

Test(table, packages_are_told_from_what_code_was_loaded_from)
{
	struct stoke_profile *profile;
	struct tree *tree =
		tree_of("std::sort;a.b.C.x_[j] 3\nstd::sort;Interpreter_[j] 1\n", &profile);
	struct table *table = NULL;

	cr_assert(eq(int, table_groups(tree, &table), 0));
	cr_assert(eq(sz, table->nr, 3));
	cr_assert(eq(str, (char *)table->rows[0].name, "std"));
	cr_assert(eq(u8, table->rows[0].kind, FUNCTION_UNKNOWN));
	cr_assert(eq(str, (char *)table->rows[1].name, "a.b"));
	cr_assert(eq(u8, table->rows[1].kind, FUNCTION_JIT));
	cr_assert(eq(u8, table->rows[2].kind, FUNCTION_UNKNOWN));
	table_free(table);
	done(tree, profile);
}

Test(table, callers_split_what_the_outermost_call_costs)
{
	struct stoke_profile *profile;
	struct tree *tree = tree_of("main;a;f;f 5\nmain;b;f;a;f 2\nf 1\nmain;b 9\n", &profile);
	uint8_t wanted[16] = {0};
	struct table *table = NULL;

	for (uint32_t i = 1; i < tree->nr_names; i++) {
		size_t size;
		const char *name = tree_text(tree, i, &size);

		wanted[i] = size == 1 && *name == 'f';
	}
	cr_assert(eq(int, table_callers(tree, wanted, &table), 0));
	cr_assert(eq(u64, table->sum, 8));
	cr_assert(eq(str, listed(table), "a 5/0 x1 #-1\nb 2/0 x1 #-1\nall 1/0 x1 #-1\n"));
	done(tree, profile);
}

/* Adds n samples of a thread; tid 0: its number is not known. */
static void thread(struct stoke_profile *profile, const char *process, int64_t pid,
	const char *name, int64_t tid, uint64_t n)
{
	struct label labels[4] = {{.num = pid}, {.num = tid}};
	uint32_t set = 0;

	cr_assert(eq(int, profile_text(profile, "pid", &labels[0].key), 0));
	cr_assert(eq(int, profile_text(profile, "tid", &labels[1].key), 0));
	cr_assert(eq(int, profile_text(profile, "process", &labels[2].key), 0));
	cr_assert(eq(int, profile_text(profile, process, &labels[2].str), 0));
	cr_assert(eq(int, profile_text(profile, "thread", &labels[3].key), 0));
	cr_assert(eq(int, profile_text(profile, name, &labels[3].str), 0));
	cr_assert(eq(int, profile_labels(profile, labels, 4, &set), 0));
	cr_assert(eq(int, profile_row(profile, 0, 0, set, 0, (uint64_t[]){n}), 0));
	/* And once more in another slice: a thread is not a row. */
	cr_assert(eq(int, profile_row(profile, 0, 0, set, 1, (uint64_t[]){1}), 0));
}

static char *threads(enum table_of which)
{
	struct stoke_profile *profile = folded_profile("unlabelled 7\n");
	struct table *table = NULL;
	char *text;

	thread(profile, "java", 10, "exec-1", 11, 4);
	thread(profile, "java", 10, "exec-2", 12, 9);
	thread(profile, "java", 10, "exec-2", 13, 1);
	thread(profile, "java", 10, "exec-7", 11, 1); /* thread 11 has a new name */
	thread(profile, "java", 10, "main", 10, 2);
	thread(profile, "node", 20, "main", 20, 5);
	cr_assert(eq(int, table_threads(profile, 0, which, &table), 0));
	cr_assert(eq(u64, table->sum, 35));
	text = listed(table);
	stoke_profile_free(profile);
	return text;
}

Test(table, threads_are_told_apart_by_number_and_by_the_name_they_had)
{
	cr_assert(eq(str, threads(TABLE_THREADS),
		"exec-2 10/10 x1 #12\nmain 6/6 x1 #20\nexec-1 5/5 x1 #11\nmain 3/3 x1 #10\n"
		"exec-2 2/2 x1 #13\nexec-7 2/2 x1 #11\n"));
}

Test(table, pools_count_their_threads)
{
	cr_assert(eq(str, threads(TABLE_POOLS), "exec-* 19/19 x3 #-1\nmain 9/9 x2 #-1\n"));
}

Test(table, a_pool_of_one_name_is_called_by_it)
{
	struct stoke_profile *profile = folded_profile("unlabelled 7\n");
	struct table *table = NULL;

	thread(profile, "java", 10, "exec-1", 11, 4);
	thread(profile, "java", 10, "exec-2", 12, 9);
	thread(profile, "java", 10, "VM Thread7", 13, 1);
	thread(profile, "java", 20, "VM Thread7", 23, 1);
	cr_assert(eq(int, table_threads(profile, 0, TABLE_POOLS, &table), 0));
	cr_assert(eq(str, listed(table), "exec-* 15/15 x2 #-1\nVM Thread7 4/4 x2 #-1\n"));
	stoke_profile_free(profile);
}

Test(table, processes_gather_their_threads)
{
	cr_assert(eq(str, threads(TABLE_PROCESSES), "java 22/22 x1 #10\nnode 6/6 x1 #20\n"));
}

Test(table, a_profile_of_nothing_has_empty_tables)
{
	struct stoke_profile *profile = NULL;
	struct tree *tree = NULL;
	struct table *table = NULL;
	unsigned value = 9;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, table_threads(profile, 0, TABLE_POOLS, &table), 0));
	cr_assert(eq(str, listed(table), ""));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	cr_assert(eq(int, tree_build(profile, &(struct tree_options){0}, &tree), 0));
	cr_assert(eq(int, table_functions(tree, &table), 0));
	cr_assert(eq(str, listed(table), ""));
	cr_assert(eq(int, table_groups(tree, &table), 0));
	cr_assert(eq(str, listed(table), ""));
	done(tree, profile);
}
