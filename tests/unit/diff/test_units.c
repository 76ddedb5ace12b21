/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/units.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "diff/evidence.h"
#include "names/names.h"
#include "unit/folded.h"

TestSuite(units, .fini = check_leaks);

static struct units *made(struct stoke_profile *profile, struct units_options options)
{
	struct units *units = NULL;
	struct stoke_error err = {0};

	if (!options.nr_before)
		options.nr_before = 1;
	if (!options.exposure)
		options.exposure = STOKE_EXPOSURE_SHARE;
	cr_assert(eq(int, units_make(profile, &options, &units, &err), 0), "%s", err.text);
	return units;
}

/* "self f: 3 4" a line, in order */
static char *listed(const struct units *units, const struct stoke_profile *profile)
{
	static const char *const kinds[] = {"self", "total", "group"};
	static char text[4096];
	size_t at = 0;

	text[0] = 0;
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		const struct hypothesis *hypothesis = &units->hypotheses[h];

		at += (size_t)snprintf(text + at, sizeof(text) - at,
			"%s %s:", kinds[hypothesis->kind],
			hypothesis->sum ? "(sum)"
					: strings_text(&profile->strings, hypothesis->name));
		for (unsigned u = 0; u < units->nr; u++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %g",
				units->counts[h * units->nr + u]);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "\n");
		cr_assert(lt(sz, at, sizeof(text)));
	}
	return text;
}

static double difference_of(struct stoke_profile *profile)
{
	struct units *units = made(profile, (struct units_options){0});
	double difference = units->difference;

	units_free(units);
	stoke_profile_free(profile);
	return difference;
}

Test(units, a_run_is_a_unit_and_hypotheses_come_in_order_of_kind_and_name)
{
	struct stoke_profile *profile = folded_profile("main;b 60\nmain;a 40\n");
	struct units *units;

	folded_add(profile, "main;b 90\nmain;a;b 30\n");
	units = made(profile, (struct units_options){0});
	cr_assert(eq(u32, units->nr, 2));
	cr_assert(eq(int, units->blocks, 0));
	cr_assert(eq(dbl, units->exposures[0], 100));
	cr_assert(eq(u64, units->samples[1], 120));
	cr_assert(eq(str, listed(units, profile),
		"self a: 40 0\nself b: 60 120\ntotal a: 40 30\ntotal b: 60 120\n"
		"total main: 100 120\n"));
	cr_assert(eq(dbl, units->hypotheses[0].least, 0.005));
	cr_assert(eq(dbl, units->hypotheses[0].least_ratio, 0.05));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, what_can_not_matter_is_left_out_but_for_what_tells_dilution)
{
	struct stoke_profile *profile = folded_profile("main;x;a 3\nmain;x;b 4\nmain;c 993\n");
	struct units *units;

	/* x: 7 of 1000, together 12, could be 0 and 12 of 1000; a: 4 of 2000, below 0.2 %. */
	folded_add(profile, "main;x;a 0\nmain;x;b 4\nmain;c 996\n");
	units = made(profile, (struct units_options){0});
	cr_assert(eq(str, listed(units, profile),
		"self b: 4 4\nself c: 993 996\ntotal b: 4 4\ntotal c: 993 996\n"
		"total main: 1000 1000\ntotal x: 7 4\n"));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, limits_are_those_of_the_last_that_matches)
{
	struct stoke_profile *profile = folded_profile("main;aa 50\nmain;ab 50\n");
	const struct units_limit limits[] = {
		{.kind = HYPOTHESIS_TOTAL, .least = 0.01, .least_ratio = 0.1},
		{.glob = "a*", .kind = HYPOTHESIS_TOTAL, .least = 0.02},
		{.glob = "*b", .kind = HYPOTHESIS_TOTAL, .least = INFINITY},
	};
	struct units *units;

	folded_add(profile, "main;aa 50\nmain;ab 50\n");
	units = made(profile, (struct units_options){.limits = limits, .nr_limits = 3});
	cr_assert(eq(u32, units->nr_hypotheses, 5));
	cr_assert(eq(dbl, units->hypotheses[0].least, 0.005)); /* self aa: none matches */
	cr_assert(eq(dbl, units->hypotheses[2].least, 0.02)); /* total aa */
	cr_assert(eq(dbl, units->hypotheses[2].least_ratio, 0));
	cr_assert(eq(dbl, units->hypotheses[3].least, INFINITY)); /* total ab */
	cr_assert(eq(dbl, units->hypotheses[4].least_ratio, 0.1)); /* total main */
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, a_group_is_not_doubled_by_a_function)
{
	struct stoke_profile *profile =
		folded_profile("m;a.b.C.f_[j] 10\nm;a.b.D.g_[j] 10\nm;x.y.Z.h_[j] 10\n");
	struct units *units;
	char *text;

	folded_add(profile, "m;a.b.C.f_[j] 10\nm;a.b.D.g_[j] 10\nm;x.y.Z.h_[j] 10\n");
	units = made(profile, (struct units_options){0});
	text = listed(units, profile);
	/* x.y is nothing but Z.h */
	cr_assert(ne(ptr, strstr(text, "group a.b: 20 20\n"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "group x.y"), NULL), "%s", text);
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, conditions_count_samples_by_their_stack_or_their_thread)
{
	struct stoke_profile *profile = folded_profile("Handling;f 10\nmain;f 20\n");
	const struct units_condition within[] = {{"Handl*"}, {"worker-?"}};
	const struct units_sum sums[] = {
		{.name = "f", .glob = "f", .condition = 1, .kind = HYPOTHESIS_TOTAL, .least = 0.1},
		{.name = "f", .glob = "f", .condition = 2, .kind = HYPOTHESIS_SELF},
		{.name = "@both", .glob = "Handling|main", .kind = HYPOTHESIS_TOTAL},
		{.name = "none", .glob = "none", .kind = HYPOTHESIS_TOTAL},
	};
	struct label label = {0};
	struct units *units;
	uint32_t set = 0;

	folded_add(profile, "Handling;f 5\nmain;f 6\n");
	cr_assert(eq(int, profile_text(profile, "thread", &label.key), 0));
	cr_assert(eq(int, profile_text(profile, "worker-7", &label.str), 0));
	cr_assert(eq(int, profile_labels(profile, &label, 1, &set), 0));
	cr_assert(eq(
		int, profile_row(profile, 1, profile->rows.stack[1], set, 0, (uint64_t[]){9}), 0));
	units = made(profile, (struct units_options){
				      .conditions = within,
				      .nr_conditions = 2,
				      .sums = sums,
				      .nr_sums = 4,
			      });
	cr_assert(eq(u32, units->nr_exposures, 3));
	cr_assert(eq(dbl, units->exposures[2], 10));
	cr_assert(eq(dbl, units->exposures[3], 5));
	cr_assert(eq(dbl, units->exposures[4], 0));
	cr_assert(eq(dbl, units->exposures[5], 9));
	cr_assert(ne(ptr,
		strstr(listed(units, profile), "total (sum): 10 5\nself (sum): 0 9\n"
					       "total (sum): 30 20\ntotal (sum): 0 0\n"),
		NULL));
	cr_assert(eq(u32, units->hypotheses[units->nr_hypotheses - 4].condition, 1));
	cr_assert(eq(dbl, units->hypotheses[units->nr_hypotheses - 4].least, 0.1));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, work_and_time_are_exposures_with_the_whole_as_first_hypothesis)
{
	struct stoke_profile *profile = folded_profile("main 100\n");
	const double work[] = {20, 40};
	struct units_options options = {
		.exposure = STOKE_EXPOSURE_WORK, .work = work, .nr_before = 1};
	struct units *units = NULL;
	struct stoke_error err;

	folded_add(profile, "main 80\n");
	units = made(profile, options);
	cr_assert(eq(str, listed(units, profile),
		"total : 100 80\nself main: 100 80\n"
		"total main: 100 80\n"));
	cr_assert(eq(dbl, units->exposures[1], 40));
	/* Half a percent of all samples an operation. */
	cr_assert(epsilon_eq(dbl, units->hypotheses[0].least, 0.005 * 180 / 60, 1e-12));
	units_free(units);
	units = NULL;

	options.exposure = STOKE_EXPOSURE_TIME;
	cr_assert(eq(int, units_make(profile, &options, &units, &err), -EINVAL));
	for (unsigned run = 0; run < 2; run++) {
		profile->runs[run].period = 10000000;
		profile->runs[run].duration_ns = (run + 1) * 2000000000ull;
		cr_assert(eq(int,
			profile_text(profile, "nanoseconds", &profile->runs[run].period_type.unit),
			0));
	}
	units = made(profile, options);
	/* 100 samples of 10 ms in 2 s: half a core. */
	cr_assert(epsilon_eq(dbl, units->counts[0] / units->exposures[0], 0.5, 1e-12));
	cr_assert(epsilon_eq(dbl, units->counts[1] / units->exposures[1], 0.2, 1e-12));
	units_free(units);
	stoke_profile_free(profile);
}

/* Rows at slices 0 .. nr-1 of this run, one sample more in each. */
static void add_slices(struct stoke_profile *profile, uint32_t run, unsigned nr)
{
	uint32_t node = 0;

	cr_assert(eq(
		int, stacks_child(&profile->stacks, 0, folded_frame(profile, "f", 1), &node), 0));
	profile->runs[run].slice_ns = 1000000000;
	for (unsigned i = 0; i < nr; i++)
		cr_assert(eq(int, profile_row(profile, run, node, 0, i, (uint64_t[]){i + 1}), 0));
}

Test(units, two_single_runs_are_cut_into_blocks_of_whole_slices_and_none_is_left_out)
{
	struct stoke_profile *profile = folded_profile("");
	struct units *units;

	folded_add(profile, "");
	add_slices(profile, 0, 18); /* two a block, three in two of them */
	add_slices(profile, 1, 8);
	profile->runs[1].duration_ns = 16500000000ull; /* the later half was idle */
	units = made(profile, (struct units_options){0});
	cr_assert(eq(int, units->blocks, 1));
	cr_assert(eq(u32, units->nr, 16));
	cr_assert(eq(u32, units->nr_before, 8));
	cr_assert(eq(str, listed(units, profile),
		"self f: 6 9 13 17 33 27 31 35 3 7 11 15 0 0 0 0\n"
		"total f: 6 9 13 17 33 27 31 35 3 7 11 15 0 0 0 0\n"));
	for (unsigned u = 0; u < 16; u++)
		cr_expect(epsilon_eq(dbl, units->part[u],
			u >= 8		   ? 1.0 / 8
			: u == 0 || u == 4 ? 3.0 / 18
					   : 2.0 / 18,
			1e-12));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, runs_without_enough_slices_stay_whole)
{
	struct stoke_profile *profile = folded_profile("");
	struct units *units;

	folded_add(profile, "");
	add_slices(profile, 0, 18);
	add_slices(profile, 1, 7);
	units = made(profile, (struct units_options){0});
	cr_assert(eq(int, units->blocks, 0));
	cr_assert(eq(u32, units->nr, 2));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, without_samples_values_count_by_the_period)
{
	struct stoke_profile *profile = NULL;
	uint32_t run = 0, node = 0;
	unsigned value = 0;
	struct units *units;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_value(profile, "cpu", "nanoseconds", &value), 0));
	for (unsigned i = 0; i < 2; i++) {
		cr_assert(eq(int, profile_run(profile, "x", &run), 0));
		cr_assert(eq(int,
			stacks_child(&profile->stacks, 0, folded_frame(profile, "f", 1), &node),
			0));
		cr_assert(
			eq(int, profile_row(profile, run, node, 0, 0, (uint64_t[]){70000000}), 0));
	}
	profile->runs[0].period = 7000000; /* the other does not say: 10 ms is usual */
	units = made(profile, (struct units_options){0});
	cr_assert(eq(u64, units->samples[0], 10));
	cr_assert(eq(u64, units->samples[1], 7));
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, difference_is_what_moved_between_functions)
{
	struct stoke_profile *same = folded_profile("a;b 3\na;c 1\n");
	struct stoke_profile *apart = folded_profile("a;b 1\n"), *half = folded_profile("a 4\n");

	folded_add(same, "a;b 6\na;c 2\n");
	folded_add(apart, "c 1\n");
	folded_add(half, "a 2\nb 2\n");
	cr_assert(epsilon_eq(dbl, difference_of(same), 0, 1e-12));
	cr_assert(epsilon_eq(dbl, difference_of(apart), 1, 1e-12));
	cr_assert(epsilon_eq(dbl, difference_of(half), 0.5, 1e-12));
}

Test(units, a_side_without_samples_is_told_by_name)
{
	struct stoke_profile *profile = folded_profile("a 1\n");
	struct units_options options = {.nr_before = 1, .exposure = STOKE_EXPOSURE_SHARE};
	struct units *units = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, units_make(profile, &options, &units, &err), -ENODATA));
	folded_add(profile, "");
	cr_assert(eq(int, units_make(profile, &options, &units, &err), -ENODATA));
	cr_assert(ne(ptr, strstr(err.text, "after"), NULL), "%s", err.text);
	cr_assert(eq(ptr, units, NULL));
	stoke_profile_free(profile);
}

/* Worked cases that others wrote; where they are not there, there is nothing to compare with. */
static struct stoke_profile *read_case(const char *path, enum stoke_names level, unsigned flags)
{
	static const char *const sides[] = {"A", "B"};
	struct stoke_profile *raw = NULL, *canonical = NULL;
	const struct names_options options = {.level = level, .flags = flags};
	char name[512];

	cr_assert(eq(int, stoke_profile_new(&raw), 0));
	for (unsigned i = 0; i < 2; i++) {
		struct stoke_error err = {0};
		int fd;

		(void)snprintf(
			name, sizeof(name), "%s/%s/%s.folded", DIFF_EXAMPLES, path, sides[i]);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			cr_skip("no %s", name);
		cr_assert(eq(int,
			stoke_profile_read(
				raw, fd, &(struct stoke_read_options){.name = name}, &err),
			0));
		close(fd);
	}
	cr_assert(eq(int, names_rewrite(raw, &options, &canonical, NULL, NULL), 0));
	stoke_profile_free(raw);
	return canonical;
}

static json_t *expected(const char *path)
{
	char name[512];

	(void)snprintf(name, sizeof(name), "%s/%s/expected.json", DIFF_EXAMPLES, path);
	return json_load_file(name, 0, NULL);
}

static void check_level(const char *word, enum stoke_names level, unsigned flags)
{
	const struct units_limit limits[] = {{.kind = HYPOTHESIS_TOTAL}, {.kind = HYPOTHESIS_SELF}};
	struct stoke_profile *profile = read_case("03-recursion-names", level, flags);
	struct units *units =
		made(profile, (struct units_options){.limits = limits, .nr_limits = 2});
	json_t *root = expected("03-recursion-names");
	size_t nr = 0;

	for (unsigned side = 0; side < 2; side++) {
		json_t *of = json_object_get(json_object_get(root, word), side ? "B" : "A");

		for (size_t h = 0; h < units->nr_hypotheses; h++) {
			const struct hypothesis *hypothesis = &units->hypotheses[h];
			char key[256];

			if (hypothesis->kind == HYPOTHESIS_GROUP)
				continue;
			(void)snprintf(key, sizeof(key), "%s:%s",
				hypothesis->kind == HYPOTHESIS_SELF ? "self" : "total",
				strings_text(&profile->strings, hypothesis->name));
			cr_assert(eq(dbl, units->counts[h * 2 + side],
					  (double)json_integer_value(json_object_get(of, key))),
				"%s %s", word, key);
			nr += json_object_get(of, key) != NULL;
		}
		cr_assert(eq(u64, units->samples[side],
			(uint64_t)json_integer_value(json_object_get(of, "n"))));
		nr -= json_object_size(of) - 1;
	}
	cr_assert(eq(sz, nr, 0), "%s: something was not counted", word);
	json_decref(root);
	units_free(units);
	stoke_profile_free(profile);
}

Test(units, counts_of_a_worked_case_at_three_levels_of_names)
{
	check_level("none", STOKE_NAMES_NONE, NAMES_NO_FOLD);
	check_level("build", STOKE_NAMES_BUILD, 0);
	check_level("jdk", STOKE_NAMES_JDK, 0);
}

Test(units, blocks_of_a_worked_case_carry_its_evidence)
{
	struct stoke_profile *profile = read_case("10-slices", STOKE_NAMES_BUILD, 0);
	struct units *units = made(profile, (struct units_options){0});
	struct evidence *evidence = NULL;
	const struct evidence_options options = {0};
	unsigned nr = 0;

	cr_assert(eq(int, units->blocks, 1));
	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, NULL), 0));
	cr_assert(eq(u64, evidence->relabellings, 12870));
	cr_assert(epsilon_eq(dbl, evidence->correlation[0], -0.2268453843, 1e-8));
	cr_assert(epsilon_eq(dbl, evidence->correlation[1], -0.1241832915, 1e-8));
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		if (strcmp(strings_text(&profile->strings, units->hypotheses[h].name), "hot") != 0)
			continue;
		cr_assert(epsilon_eq(dbl, evidence->changes[h].t_grew, 2.893317768, 1e-8));
		cr_assert(eq(dbl, evidence->changes[h].p_grew, 7.0 / 12870));
		nr++;
	}
	cr_assert(eq(u32, nr, 2));
	evidence_free(evidence);
	units_free(units);
	stoke_profile_free(profile);
}
