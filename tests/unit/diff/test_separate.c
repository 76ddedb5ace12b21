/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include "diff/separate.h"

extern const struct format format_folded;

TestSuite(separate, .fini = check_leaks);

static void add(struct stoke_profile *profile, const char *text)
{
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, strlen(text), NULL, NULL)));
}

static struct stoke_profile *sides(const char *before, const char *after)
{
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	add(profile, before);
	add(profile, after);
	return profile;
}

static void assert_folded(const struct stoke_profile *profile, const char *expected)
{
	char *text = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, text, (char *)expected));
	free(text);
}

Test(separate, threads_that_are_frames_come_under_one_mark)
{
	struct stoke_profile *profile =
		sides("java;C2 CompilerThread0;compile;match 5\njava;main;run 10\n",
			"java;GC Thread#1;mark 2\njava;main;run 7\n");

	cr_assert(zero(int, separate_runtimes(profile, 1)));
	assert_folded(profile, "[JIT compiler] 5\n[garbage collector] 2\njava;main;run 17\n");
	cr_assert(eq(u64, profile_total(profile, 0), 24));
	stoke_profile_free(profile);
}

Test(separate, a_label_says_the_thread)
{
	struct stoke_profile *profile = sides("main;run 10\n", "main;run 7\n");
	struct label label = {0};
	uint32_t set;
	uint64_t three = 3;

	cr_assert(zero(int, profile_text(profile, "thread", &label.key)));
	cr_assert(zero(int, profile_text(profile, "G1 Conc#0", &label.str)));
	cr_assert(zero(int, profile_labels(profile, &label, 1, &set)));
	cr_assert(zero(int, profile_row(profile, 1, profile->rows.stack[0], set, 0, &three)));
	cr_assert(zero(int, separate_runtimes(profile, 1)));
	assert_folded(profile, "[garbage collector] 3\nmain;run 17\n");
	stoke_profile_free(profile);
}

Test(separate, deep_frames_are_code_not_threads)
{
	const char *text = "a;b;c;GC Thread#0 20\n";
	struct stoke_profile *profile = sides("a;b;c;GC Thread#0 10\n", "a;b;c;GC Thread#0 10\n");

	cr_assert(zero(int, separate_runtimes(profile, 1)));
	assert_folded(profile, text);
	stoke_profile_free(profile);
}

Test(separate, a_side_that_is_nothing_else_stays_as_it_is)
{
	struct stoke_profile *profile = sides("GC Thread#0;mark 5\n", "main;run 7\n");

	cr_assert(zero(int, separate_runtimes(profile, 1)));
	assert_folded(profile, "GC Thread#0;mark 5\nmain;run 7\n");
	stoke_profile_free(profile);
}

Test(separate, marks_are_known_again)
{
	struct stoke_profile *profile = sides("GC Thread#0;x 5\nmain 1\n", "main;run 7\n");
	uint32_t function = 0;

	cr_assert(zero(int, separate_runtimes(profile, 1)));
	for (uint32_t i = 1; i < profile->nr_functions; i++) {
		const char *name = strings_text(&profile->strings, profile->functions[i].name);

		cr_expect(eq(int, separate_is_mark(profile, i), name[0] == '['), "%s", name);
		function += separate_is_mark(profile, i);
	}
	cr_assert(eq(u32, function, 2));
	stoke_profile_free(profile);
}

/* The serial collector runs on the thread that also deoptimises and dumps. */
Test(separate, the_vm_thread_collects_where_its_stack_says_so)
{
	struct stoke_profile *profile =
		sides("java;VM Thread;VMThread::run;VM_GenCollectForAllocation::doit;mark 5\n"
		      "java;VM Thread;VMThread::run;VM_ThreadDump::doit 1\njava;main;run 10\n",
			"java;main;VM_GenCollectForAllocation::doit 2\njava;main;run 7\n");

	cr_assert(zero(int, separate_runtimes(profile, 1)));
	assert_folded(profile, "[garbage collector] 5\n"
			       "java;VM Thread;VMThread::run;VM_ThreadDump::doit 1\n"
			       "java;main;VM_GenCollectForAllocation::doit 2\njava;main;run 17\n");
	stoke_profile_free(profile);
}
