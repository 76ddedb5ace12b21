/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <zlib.h>

#include "unit/diff/made.h"

TestSuite(evidence, .fini = check_leaks);

static struct evidence *weighed(const struct units *units, struct evidence_options options)
{
	struct evidence *evidence = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, &err), 0), "%s", err.text);
	return evidence;
}

static void fill(double *counts, const struct units *units, const int *values)
{
	for (unsigned u = 0; u < units->nr; u++)
		counts[u] = values[u];
}

/* The answers of an independent implementation: tests/data/diff/vectors.py says how they came. */
struct answers {
	gzFile file;
	char line[65536];
	char *word;
	char name[64];
	struct units *units;
	char names[256][96]; /* of the functions */
	struct evidence_options options;
	double alpha_of_one; /* 1 / relabellings, at which nothing is too few */
	double tested, relabellings, dilution[2];
	int share;
};

static int next_line(struct answers *a)
{
	if (!gzgets(a->file, a->line, sizeof(a->line)))
		return 0;
	a->line[strcspn(a->line, "\n")] = 0;
	a->word = a->line;
	return 1;
}

static char *text(struct answers *a)
{
	char *word = a->word, *end = strchr(word, '\t');

	a->word = end ? end + 1 : word + strlen(word);
	if (end)
		*end = 0;
	return word;
}

static double number(struct answers *a)
{
	const char *word = text(a);

	return strcmp(word, "-") == 0 ? -INFINITY : strtod(word, NULL);
}

static double least, least_ratio; /* of the case being read */

static void begin(struct answers *a)
{
	unsigned before, after;
	int rate;

	(void)snprintf(a->name, sizeof(a->name), "%s", text(a));
	before = (unsigned)number(a);
	after = (unsigned)number(a);
	rate = strcmp(text(a), "rate") == 0;
	a->share = !rate;
	least = number(a);
	least_ratio = number(a);
	a->options = (struct evidence_options){
		.alpha = 1, .flags = number(a) > 0 ? 0 : EVIDENCE_NO_DILUTION};
	a->tested = number(a);
	a->relabellings = number(a);
	a->dilution[0] = number(a);
	a->dilution[1] = number(a);
	a->units = units_new(before, after, 1);
	if (rate)
		a->units->exposure = STOKE_EXPOSURE_WORK;
	a->units->blocks = strcmp(a->name, "10-blocks") == 0;
}

static void add_function(struct answers *a)
{
	enum hypothesis_kind kind =
		strcmp(text(a), "self") == 0 ? HYPOTHESIS_SELF : HYPOTHESIS_TOTAL;
	size_t h = a->units->nr_hypotheses;
	double *counts = units_add(a->units, kind, (uint32_t)h + 1);

	(void)snprintf(a->names[h], sizeof(a->names[h]), "%s", text(a));
	a->units->hypotheses[h].least = least;
	a->units->hypotheses[h].least_ratio = least_ratio;
	for (unsigned u = 0; u < a->units->nr; u++)
		counts[u] = number(a);
}

static const struct change *find(struct answers *a, const struct evidence *evidence)
{
	enum hypothesis_kind kind =
		strcmp(text(a), "self") == 0 ? HYPOTHESIS_SELF : HYPOTHESIS_TOTAL;
	const char *name = text(a);

	for (size_t h = 0; h < a->units->nr_hypotheses; h++) {
		if (a->units->hypotheses[h].kind == kind && strcmp(a->names[h], name) == 0)
			return &evidence->changes[h];
	}
	cr_fatal("%s: no %s", a->name, name);
	return NULL;
}

static void same(const struct answers *a, const char *what, double got, double wanted)
{
	double room = 1e-8 * fabs(wanted) + 1e-11;

	if (isinf(wanted))
		cr_assert(eq(dbl, got, wanted), "%s: %s", a->name, what);
	else
		cr_assert(epsilon_eq(dbl, got, wanted, room), "%s: %s", a->name, what);
}

static void compare(struct answers *a, const struct evidence *evidence)
{
	int grew = strcmp(text(a), "+") == 0;
	const struct change *change = find(a, evidence);

	cr_assert(ne(u32, change->flags & CHANGE_TESTED, 0));
	same(a, "before", change->before, number(a));
	same(a, "after", change->after, number(a));
	same(a, "difference", change->difference, number(a));
	/* After dilution, after minus before in either direction. */
	same(a, "adjusted", grew ? change->grown : -change->shrunk, number(a));
	/* The reference leaves an interval open that goes beyond what a share can be. */
	same(a, "low", change->low, fmax(number(a), a->share ? -1 : -INFINITY));
	same(a, "high", change->high, fmin(number(a), a->share ? 1 : INFINITY));
	same(a, "error", change->error, number(a));
	same(a, "statistic", grew ? change->t_grew : change->t_shrank, number(a));
	/* Counts over relabellings, exactly. */
	cr_assert(eq(dbl, grew ? change->p_grew : change->p_shrank, number(a) / a->relabellings),
		"%s: p", a->name);
	same(a, "freedom", change->freedom, number(a));
}

static void end(struct answers *a, struct evidence *evidence)
{
	if (!a->units)
		return;
	units_drop(a->units);
	a->units = NULL;
	evidence_free(evidence);
}

static void weigh_case(struct answers *a, struct evidence **ret)
{
	*ret = weighed(a->units, a->options);
	same(a, "tested", (double)(*ret)->nr_tested, a->tested);
	same(a, "relabellings", (double)(*ret)->relabellings, a->relabellings);
	same(a, "growth's dilution", (*ret)->dilution_grew, a->dilution[0]);
	same(a, "shrinkage's dilution", (*ret)->dilution_shrank, a->dilution[1]);
}

Test(evidence, equals_an_independent_implementation, .timeout = 100)
{
	static struct answers a;
	struct evidence *evidence = NULL;
	unsigned nr_cases = 0, nr_rows = 0;

	a.file = gzopen(TEST_DATA "/diff/evidence.tsv.gz", "rb");
	cr_assert(ne(ptr, a.file, NULL));
	while (next_line(&a)) {
		const char *kind = text(&a);

		if (strcmp(kind, "case") == 0) {
			end(&a, evidence);
			evidence = NULL;
			begin(&a);
			nr_cases++;
		} else if (strcmp(kind, "h") == 0) {
			add_function(&a);
		} else if (strcmp(kind, "r") == 0) {
			if (!evidence)
				weigh_case(&a, &evidence);
			compare(&a, evidence);
			nr_rows++;
		} else {
			for (unsigned u = 0; u < a.units->nr; u++) {
				double value = number(&a);

				if (strcmp(kind, "E") == 0)
					a.units->exposures[u] = value;
				else
					a.units->samples[u] = (uint64_t)value;
			}
		}
	}
	end(&a, evidence);
	gzclose(a.file);
	cr_assert(eq(u32, nr_cases, 210));
	cr_assert(gt(u32, nr_rows, 6000));
}

Test(evidence, blocks_that_hang_together_are_told)
{
	/* Of the same case, from that implementation too. */
	static const int hot[] = {10, 11, 9, 14}, other[] = {30, 10, 30, 10};
	struct units *units = units_new(4, 4, 100);
	struct evidence *evidence;

	units->blocks = 1;
	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units,
		(int[]){hot[0], hot[1], hot[2], hot[3], 10, 10, 30, 30});
	fill(units_add(units, HYPOTHESIS_TOTAL, 2), units,
		(int[]){other[0], other[1], other[2], other[3], 10, 10, 30, 30});
	evidence = weighed(units, (struct evidence_options){.alpha = 0.2});

	/* By hand: residues -1 0 -2 3 over .11 * .89, 10 -10 10 -10 over .2 * .8. */
	cr_assert(epsilon_eq(dbl, evidence->correlation[0],
		((0 + 0 - 6) / (.11 * .89) + -300 / .16) / (14 / (.11 * .89) + 400 / .16), 1e-9));
	cr_assert(epsilon_eq(dbl, evidence->correlation[1], 100.0 / 400, 1e-9));
	evidence_free(evidence);
	units->blocks = 0;
	evidence = weighed(units, (struct evidence_options){.alpha = 0.2});
	cr_assert(isnan(evidence->correlation[0]));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, too_few_runs_are_an_error_with_its_cure_and_rates_all_the_same)
{
	struct units *units = units_new(2, 2, 1000);
	struct evidence_options options = {0};
	struct evidence *evidence = NULL;
	struct stoke_error err = {0};

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){100, 100, 300, 300});
	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, &err), -ERANGE));
	cr_assert(ne(ptr, strstr(err.text, "record at least 3 a side"), NULL), "%s", err.text);
	cr_assert(epsilon_eq(dbl, evidence->changes[0].difference, 0.2, 1e-12));
	cr_assert(epsilon_eq(dbl, evidence->changes[0].p_grew, 1.0 / 6, 1e-12));
	cr_assert(eq(u32, evidence->changes[0].flags, CHANGE_TESTED));
	evidence_free(evidence);
	evidence = NULL;
	options.flags = EVIDENCE_PAIRED;
	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, &err), -ERANGE));
	cr_assert(ne(ptr, strstr(err.text, "record at least 5 a side"), NULL), "%s", err.text);
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, three_a_side_can_just_reach_one_in_twenty)
{
	struct units *units = units_new(3, 3, 1000);
	struct evidence *evidence;

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){100, 103, 98, 301, 300, 298});
	evidence = weighed(units, (struct evidence_options){0});
	cr_assert(eq(dbl, evidence->changes[0].p_grew, 1.0 / 20));
	cr_assert(ne(u32, evidence->changes[0].flags & CHANGE_GREW, 0));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, one_run_a_side_has_an_interval_by_sampling_alone)
{
	struct units *units = units_new(1, 1, 10000);
	struct evidence_options options = {.flags = EVIDENCE_NO_TEST};
	struct evidence *evidence;
	const struct change *change;

	/* The handshake that was 115 of 10,000 samples and became 2,398. */
	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){115, 2398});
	evidence = weighed(units, options);
	change = &evidence->changes[0];
	cr_assert(epsilon_eq(dbl, change->error, 0.00468747, 1e-8));
	cr_assert(
		epsilon_eq(dbl, change->high - change->difference, 1.959963985 * 0.00468747, 1e-8));
	cr_assert(epsilon_eq(dbl, change->cost_ratio, 27.11440925, 1e-8));
	cr_assert(eq(u64, evidence->relabellings, 0));
	cr_assert(eq(dbl, change->p_grew, 1));
	cr_assert(isnan(evidence->noise_ratio));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, no_interval_goes_beyond_what_a_share_can_change_by)
{
	struct units *units = units_new(1, 1, 100);
	struct evidence_options options = {.flags = EVIDENCE_NO_TEST};
	struct evidence *evidence;

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){100, 0});
	fill(units_add(units, HYPOTHESIS_TOTAL, 2), units, (int[]){0, 99});
	evidence = weighed(units, options);
	cr_assert(eq(dbl, evidence->changes[0].low, -1));
	cr_assert(eq(dbl, evidence->changes[1].high, 1));
	/* The other ends are where they were. */
	cr_assert(epsilon_eq(
		dbl, evidence->changes[0].high, -1 + 1.959963985 * sqrt(.25 * 2 / 100), 1e-8));
	evidence_free(evidence);
	units->exposure = STOKE_EXPOSURE_TIME;
	units->exposures[0] = units->exposures[1] = 10;
	evidence = weighed(units, options);
	cr_assert(lt(dbl, evidence->changes[0].low, -10));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, new_and_gone_are_told_and_have_no_cost_ratio)
{
	struct units *units = units_new(3, 3, 1000);
	struct evidence *evidence;

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){0, 0, 0, 30, 30, 31});
	/* Fewer than those, or this one by itself would be as much of a growth, labels swapped. */
	fill(units_add(units, HYPOTHESIS_TOTAL, 2), units, (int[]){20, 20, 21, 0, 0, 0});
	evidence = weighed(units, (struct evidence_options){0});
	cr_assert(eq(u32, evidence->changes[0].flags, CHANGE_TESTED | CHANGE_GREW | CHANGE_NEW));
	cr_assert(eq(u32, evidence->changes[1].flags, CHANGE_TESTED | CHANGE_GONE));
	cr_assert(isnan(evidence->changes[0].cost_ratio));
	cr_assert(eq(dbl, evidence->changes[1].cost_ratio, 0));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, pairs_see_what_differing_machines_hide)
{
	struct units *units = units_new(6, 6, 10000);
	double *counts = units_add(units, HYPOTHESIS_TOTAL, 1);
	struct evidence *evidence;

	for (unsigned u = 0; u < 6; u++) {
		counts[u] = 500 + 300 * u;
		counts[6 + u] = counts[u] + 150 + 10 * (u % 2);
	}
	evidence = weighed(units, (struct evidence_options){0});
	cr_assert(gt(dbl, evidence->changes[0].p_grew, 0.05));
	evidence_free(evidence);
	evidence = weighed(units, (struct evidence_options){.flags = EVIDENCE_PAIRED});
	cr_assert(eq(dbl, evidence->changes[0].p_grew, 1.0 / 64));
	cr_assert(eq(dbl, evidence->changes[0].freedom, 5));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, the_noisier_side_is_told)
{
	struct units *units = units_new(4, 4, 10000);
	struct evidence *evidence;

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units,
		(int[]){1000, 1010, 990, 1000, 1000, 1100, 900, 1000});
	evidence = weighed(units, (struct evidence_options){0});
	cr_assert(epsilon_eq(dbl, evidence->noise_ratio, 100, 1e-9));
	/* V = 4/3 * 200 / 40000^2 by .1 * .9 / 40000 */
	cr_assert(epsilon_eq(dbl, evidence->variation[0], 4.0 / 3 * 200 / 40000 / .09, 1e-9));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, q_is_benjamini_and_hochbergs)
{
	struct units *units = units_new(1, 1, 1000);
	const struct change *c;
	struct evidence *evidence;

	fill(units_add(units, HYPOTHESIS_TOTAL, 1), units, (int[]){100, 120});
	fill(units_add(units, HYPOTHESIS_TOTAL, 2), units, (int[]){100, 150});
	fill(units_add(units, HYPOTHESIS_TOTAL, 3), units, (int[]){100, 121});
	evidence = weighed(units, (struct evidence_options){.alpha = 1});
	c = evidence->changes;
	/* p of z = 20 / sqrt(2 * 1000 * .11 * .89), the largest, times 3/3 */
	cr_assert(epsilon_eq(dbl, c[0].q, erfc(20 / sqrt(2000 * .11 * .89) / M_SQRT2), 1e-9));
	cr_assert(epsilon_eq(dbl, c[1].q, 3 * erfc(50 / sqrt(2000 * .125 * .875) / M_SQRT2), 1e-9));
	/* Its own, times 3/2, would be more than the one above it. */
	cr_assert(eq(dbl, c[2].q, c[0].q));
	evidence_free(evidence);
	units_drop(units);
}

Test(evidence, uneven_pairs_and_empty_sides_are_refused)
{
	struct units *units = units_new(2, 3, 1000);
	struct evidence_options options = {.flags = EVIDENCE_PAIRED};
	struct evidence *evidence = NULL;

	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, NULL), -EINVAL));
	units->nr_before = 0;
	options.flags = 0;
	cr_assert(eq(int, evidence_weigh(units, &options, &evidence, NULL), -EINVAL));
	cr_assert(eq(ptr, evidence, NULL));
	units->nr_before = 2;
	units_drop(units);
}
