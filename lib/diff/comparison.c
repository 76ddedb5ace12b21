/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * comparison.c: THE STORY OF A COMPARISON. May they be compared; names that mean the same become
 * the same; the JVM's own work is put aside; counts a unit; is it chance; one tree of both sides;
 * where did it begin; what could have been seen; what does the budget say.
 */
#include "diff/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "diff/separate.h"
#include "names/alias.h"
#include "profile/tally.h"

#define LEAST	    0.005 /* half a point */
#define LEAST_RATIO 0.05
#define MIN_SHARE   1e-5 /* of all: what is narrower is left out of the tree, its sum is kept */

static void free_aliases(struct aliases **aliases)
{
	aliases_free(*aliases);
}

static int rename_all(struct stoke_comparison *comparison, const struct stoke_profile *profile,
	struct stoke_error *err)
{
	const struct stoke_compare_options *options = &comparison->options;
	_cleanup_(free_aliases) struct aliases *aliases = NULL;
	struct names_options names = {
		.level = options->names,
		/* perf script and --by mark them, folded text of the same cannot. */
		.flags = (options->flags & STOKE_NO_FOLD) | NAMES_PLAIN_ROOTS,
	};
	int r;

	if (names.level == STOKE_NAMES_AUTO) {
		comparison->level_chosen = comparison->comparable->jvms_differ;
		names.level = comparison->level_chosen ? STOKE_NAMES_JDK : STOKE_NAMES_BUILD;
	}
	comparison->level = names.level;
	if (options->aliases) {
		r = aliases_parse(options->aliases, options->aliases_size,
			options->aliases_name ? options->aliases_name : "aliases", &aliases, err);
		if (r < 0)
			return r;
	}
	names.aliases = aliases;
	return names_rewrite(profile, &names, &comparison->profile, &comparison->merged, err);
}

/* What a run says that it did, or NAN. */
static double work_said(const struct stoke_profile *profile, uint32_t run)
{
	const char *text = profile_fact_find(profile, run, "work");
	char *end;
	double work;

	if (!text)
		return NAN;
	work = strtod(text, &end);
	return end != text && !*end && isfinite(work) && work > 0 ? work : NAN;
}

/* Chooses what counts are divided by. work: room for a number a run. */
static int choose_exposure(struct stoke_comparison *comparison, double *work,
	enum stoke_exposure *ret, struct stoke_error *err)
{
	const struct stoke_compare_options *options = &comparison->options;
	const struct stoke_profile *profile = comparison->profile;
	enum stoke_exposure exposure = options->exposure;
	int all = 1;

	for (uint32_t run = 0; run < profile->nr_runs; run++) {
		work[run] = options->work ? options->work[run] : work_said(profile, run);
		all = all && isfinite(work[run]) && work[run] > 0;
		if (exposure == STOKE_EXPOSURE_TIME && !profile->runs[run].duration_ns)
			return fail(err, -EINVAL,
				"run %u does not say how long it took: it cannot be compared by "
				"time; compare by share",
				run + 1);
	}
	if (exposure == STOKE_EXPOSURE_AUTO && comparison->budget)
		exposure = comparison->budget->exposure;
	if (exposure == STOKE_EXPOSURE_AUTO)
		exposure = all ? STOKE_EXPOSURE_WORK : STOKE_EXPOSURE_SHARE;
	if (exposure == STOKE_EXPOSURE_WORK && !all)
		return fail(err, -EINVAL,
			"not every run says how much work it did: give --work-before and "
			"--work-after, or record with --work");
	*ret = exposure;
	return 0;
}

static int count(struct stoke_comparison *comparison, struct stoke_error *err)
{
	const struct stoke_compare_options *options = &comparison->options;
	double least = options->least > 0 ? options->least : LEAST;
	double ratio = options->least_ratio > 0 ? options->least_ratio : LEAST_RATIO;
	const struct units_limit plain[] = {
		{NULL, HYPOTHESIS_SELF, least, ratio},
		{NULL, HYPOTHESIS_TOTAL, least, ratio},
		{NULL, HYPOTHESIS_GROUP, least, ratio},
	};
	struct units_options units = {
		.nr_before = comparison->nr_before,
		.limits = plain,
		.nr_limits = ARRAY_SIZE(plain),
	};
	_cleanup_free_ double *work = calloc(comparison->profile->nr_runs, sizeof(*work));
	int r;

	if (!work)
		return fail(err, -ENOMEM, "out of memory");
	r = choose_exposure(comparison, work, &units.exposure, err);
	if (r < 0)
		return r;
	units.work = units.exposure == STOKE_EXPOSURE_WORK ? work : NULL;
	if (comparison->budget)
		budget_ask(comparison->budget, &units);
	return units_make(comparison->profile, &units, &comparison->units, err);
}

/* Of a handful of samples anything can be chance, whatever a test would say. */
static int has_few_samples(const struct comparable *comparable)
{
	return comparable->sides[0].samples < COMPARISON_FEW_SAMPLES ||
	       comparable->sides[1].samples < COMPARISON_FEW_SAMPLES;
}

static int weigh(struct stoke_comparison *comparison, struct stoke_error *err)
{
	const struct stoke_compare_options *options = &comparison->options;
	struct evidence_options evidence = {
		.alpha = options->alpha,
		.seed = options->seed,
		.flags = options->flags & STOKE_PAIRED ? EVIDENCE_PAIRED : 0,
	};
	int r;

	if (comparison->budget && !(evidence.alpha > 0))
		evidence.alpha = comparison->budget->alpha;
	if (has_few_samples(comparison->comparable))
		evidence.flags |= EVIDENCE_NO_TEST;
	r = evidence_weigh(comparison->units, &evidence, &comparison->evidence, err);
	comparison->too_few = r == -ERANGE;
	return r == -ERANGE ? 0 : r;
}

/* What all counts of a side are divided by, in pictures and causes. */
static void sum_exposures(const struct units *units, double ret[2])
{
	ret[0] = ret[1] = 0;
	for (unsigned unit = 0; unit < units->nr; unit++)
		ret[unit >= units->nr_before] += units->exposures[unit];
}

/* Half a point of shares; of other rates the same part of what all of it was. */
static double least_rate(const struct stoke_comparison *comparison)
{
	const struct stoke_compare_options *options = &comparison->options;
	const struct tree *tree = comparison->aligned->tree;
	double least = options->least > 0 ? options->least : LEAST;
	double all = (double)tree->total[0][0] / comparison->exposure[0];

	return comparison->units->exposure == STOKE_EXPOSURE_SHARE ? least : least * all;
}

static int look_for_cause(struct stoke_comparison *comparison)
{
	const struct tree_options tree = {
		.value = comparison->value,
		.nr_before = comparison->nr_before,
		.min_share = MIN_SHARE,
	};
	int r = align_build(comparison->profile, &tree, &comparison->aligned);

	if (r < 0)
		return r;
	sum_exposures(comparison->units, comparison->exposure);
	return cause_find(comparison->aligned, comparison->exposure, least_rate(comparison),
		&comparison->cause);
}

static int compare(struct stoke_comparison *comparison, const struct stoke_profile *profile,
	struct stoke_error *err)
{
	int r = comparable_look(profile, comparison->nr_before, &comparison->comparable, err);

	if (r >= 0)
		r = rename_all(comparison, profile, err);
	if (r < 0)
		return r;
	/* From here on units, trees and pictures count the same. */
	r = tally_fill(comparison->profile, &comparison->value);
	if (r < 0)
		return fail(err, r, "cannot count samples: %s", strerror(-r));
	if (!(comparison->options.flags & STOKE_JVM_THREADS))
		r = separate_runtimes(comparison->profile, comparison->nr_before);
	if (r < 0)
		return fail(err, r, "cannot part the JVM's threads: %s", strerror(-r));
	r = count(comparison, err);
	if (r < 0)
		return r;
	/* The other profile is the caller's. Only now, since names of groups and threads that were
	 * added above may have moved this one's strings. */
	comparable_rely_on(comparison->comparable, comparison->profile);
	r = weigh(comparison, err);
	if (r < 0)
		return r;
	r = look_for_cause(comparison);
	if (r < 0)
		return fail(err, r, "cannot lay the sides over each other: %s", strerror(-r));
	power_of(comparison->units, comparison->evidence, &comparison->power);
	if (comparison->budget)
		r = verdict_find(comparison, comparison->options.today, &comparison->verdict);
	return r < 0 ? fail(err, r, "out of memory") : 0;
}

int stoke_compare(const struct stoke_profile *profile, uint32_t nr_before,
	const struct stoke_compare_options *options, struct stoke_comparison **ret,
	struct stoke_error *err)
{
	struct stoke_comparison *comparison;
	int r;

	if (!nr_before || nr_before >= profile->nr_runs)
		return fail(err, -EINVAL, "one side has no files: give some before and some after");
	comparison = calloc(1, sizeof(*comparison));
	if (!comparison)
		return fail(err, -ENOMEM, "out of memory");
	if (options)
		comparison->options = *options;
	comparison->nr_before = nr_before;
	comparison->budget = comparison->options.budget;
	r = compare(comparison, profile, err);
	if (r < 0) {
		stoke_comparison_free(comparison);
		return r;
	}
	*ret = comparison;
	return 0;
}

void stoke_comparison_free(struct stoke_comparison *comparison)
{
	if (!comparison)
		return;
	verdict_free(comparison->verdict);
	cause_free(comparison->cause);
	aligned_free(comparison->aligned);
	evidence_free(comparison->evidence);
	units_free(comparison->units);
	comparable_free(comparison->comparable);
	names_merged_free(comparison->merged);
	stoke_profile_free(comparison->profile);
	free(comparison);
}

int stoke_comparison_verdict(const struct stoke_comparison *comparison)
{
	const struct evidence *evidence = comparison->evidence;

	if (comparison->verdict)
		return (int)comparison->verdict->word;
	if (!evidence || comparison->too_few || has_few_samples(comparison->comparable) ||
		comparable_worst(comparison->comparable, FINDING_REFUSAL))
		return VERDICT_CANNOT_TELL;
	for (size_t i = 0; i < evidence->nr; i++) {
		if (evidence->changes[i].flags & CHANGE_GREW)
			return 1;
	}
	return 0;
}

const char *stoke_comparison_warning(const struct stoke_comparison *comparison, size_t i)
{
	const struct comparable *comparable = comparison->comparable;

	for (size_t f = 0; f < comparable->nr_findings; f++) {
		if (comparable->findings[f].weight >= FINDING_WARNING && !i--)
			return comparable->findings[f].text;
	}
	return NULL;
}
