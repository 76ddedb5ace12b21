/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>
#include <math.h>

#include "diff/comparison.h"

extern const struct format format_folded, format_perfscript;

TestSuite(comparison, .fini = check_leaks);

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

static struct stoke_comparison *compare(
	const struct stoke_profile *profile, const struct stoke_compare_options *options)
{
	struct stoke_comparison *comparison;
	struct stoke_error err = {0};

	cr_assert(zero(int, stoke_compare(profile, 1, options, &comparison, &err)), "%s", err.text);
	return comparison;
}

/* The change of a function, NULL when it is no hypothesis. */
static const struct change *change_of(
	const struct stoke_comparison *comparison, enum hypothesis_kind kind, const char *name)
{
	const struct units *units = comparison->units;

	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		const struct hypothesis *it = &units->hypotheses[i];

		if (it->kind == kind && !it->sum &&
			strcmp(strings_text(&comparison->profile->strings, it->name), name) == 0)
			return &comparison->evidence->changes[i];
	}
	return NULL;
}

static void near(double value, double expected)
{
	cr_assert(lt(dbl, fabs(value - expected), 1e-9), "%.12g, not %.12g", value, expected);
}

Test(comparison, an_owner_and_its_kind_are_found)
{
	struct stoke_profile *profile = sides(
		"main;parse;scan 100\nmain;render 900\n", "main;parse;scan 300\nmain;render 900\n");
	struct stoke_comparison *comparison = compare(profile, NULL);
	const struct owner *owner = comparison->cause->owners;
	size_t size;

	cr_assert(eq(sz, comparison->cause->nr_owners, 1));
	cr_assert(eq(str,
		(char *)tree_text(comparison->aligned->tree,
			comparison->aligned->tree->name[owner->node], &size),
		"scan"));
	cr_assert(eq(int, owner->kind, CAUSE_SELF));
	near(owner->before, 0.1);
	near(owner->after, 0.25);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

Test(comparison, one_capture_a_side_is_not_tested_without_its_time)
{
	struct stoke_profile *profile =
		sides("main;a 900\nmain;b 100\n", "main;a 500\nmain;b 500\n");
	struct stoke_comparison *comparison = compare(profile, NULL);

	cr_assert(eq(int, comparison->too_few, 1));
	cr_assert(eq(int, stoke_comparison_verdict(comparison), 3), "nothing is proven");
	near(change_of(comparison, HYPOTHESIS_TOTAL, "b")->difference, 0.4);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

Test(comparison, names_are_those_of_a_build_unless_the_jvms_differ)
{
	struct stoke_profile *profile =
		sides("sun.misc.Unsafe.park 10\n", "sun.misc.Unsafe.park 10\n");
	struct stoke_comparison *comparison = compare(profile, NULL);

	cr_assert(eq(int, comparison->level, STOKE_NAMES_BUILD));
	cr_assert(zero(int, comparison->level_chosen));
	cr_assert(ne(ptr, (void *)change_of(comparison, HYPOTHESIS_TOTAL, "sun.misc.Unsafe.park"),
		NULL));
	stoke_comparison_free(comparison);

	cr_assert(zero(int, profile_fact(profile, 0, "jvm", "1.8.0_202")));
	cr_assert(zero(int, profile_fact(profile, 1, "jvm", "17.0.15+6")));
	comparison = compare(profile, NULL);
	cr_assert(eq(int, comparison->level, STOKE_NAMES_JDK));
	cr_assert(eq(int, comparison->level_chosen, 1));
	cr_assert(ne(ptr,
		(void *)change_of(comparison, HYPOTHESIS_TOTAL, "jdk.internal.misc.Unsafe.park"),
		NULL));
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

Test(comparison, aliases_join_what_no_rule_knows)
{
	static const char aliases[] = "old_* => new_name\n";
	struct stoke_profile *profile = sides("m;old_name 10\n", "m;new_name 10\n");
	struct stoke_comparison *comparison =
		compare(profile, &(struct stoke_compare_options){
					 .aliases = aliases, .aliases_size = sizeof(aliases) - 1});

	near(change_of(comparison, HYPOTHESIS_TOTAL, "new_name")->difference, 0);
	stoke_comparison_free(comparison);

	cr_assert(eq(int,
		stoke_compare(profile, 1,
			&(struct stoke_compare_options){.aliases = "x y\n", .aliases_size = 4},
			&comparison, NULL),
		-EINVAL));
	stoke_profile_free(profile);
}

Test(comparison, work_that_both_sides_say_is_what_counts_are_divided_by)
{
	struct stoke_profile *profile = sides("m;a 500\nm;b 500\n", "m;a 600\nm;b 600\n");
	struct stoke_comparison *comparison;

	cr_assert(zero(int, stoke_profile_set_work(profile, 100, NULL)));
	comparison = compare(profile, NULL);
	cr_assert(eq(int, comparison->units->exposure, STOKE_EXPOSURE_WORK));
	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->before, 5);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->after, 6);
	stoke_comparison_free(comparison);

	comparison =
		compare(profile, &(struct stoke_compare_options){.exposure = STOKE_EXPOSURE_SHARE});
	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->difference, 0);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

Test(comparison, work_or_time_that_is_not_known_is_an_error_with_its_cure)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");
	struct stoke_comparison *comparison;
	struct stoke_error err = {0};

	cr_assert(eq(int,
		stoke_compare(profile, 1,
			&(struct stoke_compare_options){.exposure = STOKE_EXPOSURE_WORK},
			&comparison, &err),
		-EINVAL));
	cr_assert(eq(str, err.text,
		"not every run says how much work it did: give --work-before and --work-after, or "
		"record with --work"));
	cr_assert(eq(int,
		stoke_compare(profile, 1,
			&(struct stoke_compare_options){.exposure = STOKE_EXPOSURE_TIME},
			&comparison, &err),
		-EINVAL));
	cr_assert(eq(str, err.text,
		"run 1 does not say how long it took: it cannot be compared by time; compare by "
		"share"));
	stoke_profile_free(profile);
}

Test(comparison, a_jvm_that_compiles_more_does_not_shrink_the_application)
{
	struct stoke_profile *profile = sides("main;a 300\nmain;b 700\nC2 CompilerThread0;f 1000\n",
		"main;a 300\nmain;b 700\nC2 CompilerThread0;f 50\n");
	struct stoke_comparison *comparison = compare(profile, NULL);

	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->before, 0.3);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->after, 0.3);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "[JIT compiler]")->before, 1);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "[JIT compiler]")->after, 0.05);
	stoke_comparison_free(comparison);

	comparison = compare(profile, &(struct stoke_compare_options){.flags = STOKE_JVM_THREADS});
	near(change_of(comparison, HYPOTHESIS_TOTAL, "a")->before, 0.15);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

Test(comparison, a_side_without_files_or_samples_is_an_error)
{
	struct stoke_profile *profile = sides("a 1\n", "a 0\n");
	struct stoke_comparison *comparison;

	cr_assert(eq(int, stoke_compare(profile, 0, NULL, &comparison, NULL), -EINVAL));
	cr_assert(eq(int, stoke_compare(profile, 2, NULL, &comparison, NULL), -EINVAL));
	cr_assert(eq(int, stoke_compare(profile, 1, NULL, &comparison, NULL), -ENODATA));
	stoke_profile_free(profile);
}

Test(comparison, a_budget_makes_it_a_check)
{
	struct stoke_profile *profile = sides("a 5000\n", "a 5000\n");
	struct stoke_comparison *comparison;
	struct stoke_budget *budget;

	cr_assert(zero(int, stoke_budget_parse(NULL, 0, NULL, &budget, NULL)));
	comparison = compare(
		profile, &(struct stoke_compare_options){.budget = budget, .today = "2026-11-30"});
	cr_assert(eq(int, stoke_comparison_verdict(comparison), 3), "one run a side");
	stoke_comparison_free(comparison);
	stoke_budget_free(budget);
	stoke_profile_free(profile);
}

Test(comparison, outlives_the_profile)
{
	struct stoke_profile *profile = sides("main;a 100\n", "main;a 100\n");
	struct stoke_comparison *comparison;

	for (uint32_t run = 0; run < 2; run++) {
		cr_assert(zero(int, profile_fact(profile, run, "jvm", "17.0.15+6")));
		cr_assert(zero(int, profile_text(profile, "cpu-clock", &profile->runs[run].event)));
	}
	comparison = compare(profile, NULL);
	stoke_profile_free(profile);
	cr_assert(eq(str, (char *)comparison->comparable->sides[1].jvm, "17.0.15+6"));
	cr_assert(eq(str, (char *)comparison->comparable->sides[0].event, "cpu-clock"));
	stoke_comparison_free(comparison);
}

/* Names of groups are added while functions are counted; with this many the strings must move. */
Test(comparison, what_is_said_of_sides_survives_many_names)
{
	enum { LINE = 64, MOST = 20000 };
	char *text = calloc(MOST + 1, LINE);
	struct stoke_profile *profile;
	struct stoke_comparison *comparison;
	size_t size = 0;

	for (unsigned i = 0; i < MOST; i++)
		size += (size_t)snprintf(
			text + size, LINE, "com.some%u.other%u.Thing.run_[j] 10\n", i, i);
	profile = sides(text, text);
	for (uint32_t run = 0; run < 2; run++)
		cr_assert(zero(int, profile_fact(profile, run, "jvm", "17.0.15+6")));
	comparison = compare(profile, NULL);
	cr_assert(eq(str, (char *)comparison->comparable->sides[1].jvm, "17.0.15+6"));
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
	free(text);
}

Test(comparison, more_samples_than_can_be_added_up_are_refused)
{
	static const char *const files[] = {"main;a 100\n",
		"main;a 18446744073709551615\nmain;b 18446744073709551615\n",
		"main;a 4611686018427387904\nmain;b 1\n"};

	for (unsigned i = 1; i < 3; i++) {
		for (unsigned side = 0; side < 2; side++) {
			struct stoke_profile *profile =
				sides(files[side ? 0 : i], files[side ? i : 0]);
			struct stoke_comparison *comparison = NULL;
			struct stoke_error err = {0};

			cr_assert(eq(
				int, stoke_compare(profile, 1, NULL, &comparison, &err), -ERANGE));
			cr_assert(
				ne(ptr, strstr(err.text, "more than 2^62"), NULL), "%s", err.text);
			stoke_profile_free(profile);
		}
	}
}

/* A run that only has CPU times, beside one that counts samples: rates, trees and totals are of the
 * same counts. */
Test(comparison, times_and_samples_are_counted_alike_in_tests_and_in_trees)
{
	struct stoke_profile *profile = NULL;
	struct stoke_comparison *comparison;
	unsigned cpu;
	uint32_t run, frame, node;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_value(profile, "cpu", "nanoseconds", &cpu)));
	cr_assert(zero(int, profile_run(profile, "times", &run)));
	for (unsigned i = 0; i < 2; i++) {
		uint64_t values[PROFILE_MAX_VALUES] = {0};

		values[cpu] = (i + 1) * 1000000000ull;
		cr_assert(zero(int,
			profile_named_frame(profile, i ? "b" : "a", 1, FUNCTION_NATIVE, &frame)));
		cr_assert(ge(int, stacks_child(&profile->stacks, 0, frame, &node), 0));
		cr_assert(ge(int, profile_row(profile, run, node, 0, 0, values), 0));
	}
	add(profile, "a 300\nb 300\n");
	comparison = compare(profile, NULL);
	cr_assert(eq(u64, comparison->comparable->sides[0].samples, 300));
	cr_assert(eq(u64, comparison->units->samples[0], 300));
	cr_assert(eq(u64, comparison->aligned->tree->total[0][0], 300));
	near(comparison->exposure[0], 300);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "b")->before, 2.0 / 3);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}

/* The command in front of a stack is marked as such by perf script only. */
Test(comparison, perf_script_and_folded_text_of_it_are_the_same)
{
	static const char script[] =
		"cksum 1 1.000: cpu-clock:\n\t1 work (/bin/cksum)\n\t2 cksum (/bin/cksum)\n\n"
		"cksum 1 1.010: cpu-clock:\n\t3 rest (/bin/cksum)\n\n";
	struct stoke_profile *profile;
	struct stoke_comparison *comparison;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(
		int, read_bytes(profile, &format_perfscript, script, strlen(script), NULL, NULL)));
	add(profile, "cksum;cksum;work 1\ncksum;rest 1\n");
	comparison = compare(profile, NULL);
	near(comparison->cause->difference, 0);
	cr_assert(eq(sz, comparison->cause->nr_moved, 0));
	for (size_t i = 0; i < comparison->units->nr_hypotheses; i++)
		near(comparison->evidence->changes[i].difference, 0);
	near(change_of(comparison, HYPOTHESIS_TOTAL, "cksum")->after, 1);
	stoke_comparison_free(comparison);
	stoke_profile_free(profile);
}
