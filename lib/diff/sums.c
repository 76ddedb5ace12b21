/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.c: whether a stack has a function that matches is handed down from parents to children. */
#include "diff/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "diff/budget.h"

struct summing {
	const struct stoke_profile *profile;
	const struct samples *samples;
	const struct units_options *options;
	struct units *units;
	uint8_t *function; /* [function] the glob of now matches its name */
	uint8_t *node; /* [node] it does so for one on the stack */
	uint8_t *set; /* [label set] its thread is within the condition */
	uint8_t *row; /* [row] within the condition */
};

static void summing_done(struct summing *s)
{
	free(s->function);
	free(s->node);
	free(s->set);
	free(s->row);
}

static int matches_string(const struct stoke_profile *profile, const char *glob, uint32_t string)
{
	return budget_matches(glob, strings_text(&profile->strings, string),
		strings_size(&profile->strings, string));
}

static void match_functions(struct summing *s, const char *glob)
{
	for (size_t f = 1; f < s->profile->nr_functions; f++)
		s->function[f] = s->profile->functions[f].name &&
				 matches_string(s->profile, glob, s->profile->functions[f].name);
}

static int is_match(const struct summing *s, uint32_t node)
{
	const struct frame *frame = &s->profile->frames[s->profile->stacks.frame[node]];

	return s->function[frame_function(s->profile, frame, 0)];
}

static void match_stacks(struct summing *s, const char *glob)
{
	const struct stacks *stacks = &s->profile->stacks;

	match_functions(s, glob);
	s->node[0] = 0;
	for (size_t node = 1; node < stacks->nr; node++)
		s->node[node] = s->node[stacks->parent[node]] || is_match(s, (uint32_t)node);
}

static void match_threads(struct summing *s, const char *glob)
{
	for (uint32_t set = 0; set < s->profile->nr_label_sets; set++) {
		const struct label *label = profile_label(s->profile, set, "thread");

		s->set[set] = label && label->str && matches_string(s->profile, glob, label->str);
	}
}

/* Condition 0 is none: all samples. */
static void look_within(struct summing *s, unsigned condition)
{
	const struct rows *rows = &s->profile->rows;
	struct units *units = s->units;
	double *exposures = units->exposures + (size_t)condition * units->nr;
	int share = units->exposure == STOKE_EXPOSURE_SHARE;

	if (!condition) {
		memset(s->row, 1, rows->nr);
		return;
	}
	match_stacks(s, s->options->conditions[condition - 1].glob);
	match_threads(s, s->options->conditions[condition - 1].glob);
	for (unsigned u = 0; u < units->nr; u++)
		exposures[u] = share ? 0 : units->exposures[u];
	for (size_t i = 0; i < rows->nr; i++) {
		s->row[i] = s->node[rows->stack[i]] || s->set[rows->labels[i]];
		if (s->row[i] && share)
			exposures[s->samples->unit[i]] += (double)s->samples->count[i];
	}
}

static void count_sum(struct summing *s, size_t sum)
{
	const struct units_sum *of = &s->options->sums[sum];
	const struct rows *rows = &s->profile->rows;
	struct units *units = s->units;
	size_t h = units->nr_hypotheses - s->options->nr_sums + sum;
	double *counts = units->counts + h * units->nr;

	if (of->kind == HYPOTHESIS_SELF)
		match_functions(s, of->glob);
	else
		match_stacks(s, of->glob);
	for (size_t i = 0; i < rows->nr; i++) {
		uint32_t unit = s->samples->unit[i], node = rows->stack[i];

		if (!s->row[i])
			continue;
		if (of->kind == HYPOTHESIS_SELF ? is_match(s, node) : s->node[node])
			counts[unit] += (double)s->samples->count[i];
	}
}

int sums_fill(const struct stoke_profile *profile, const struct samples *samples,
	const struct units_options *options, struct units *units)
{
	_cleanup_(summing_done) struct summing s = {
		.profile = profile, .samples = samples, .options = options, .units = units};

	if (!options->nr_sums && !options->nr_conditions)
		return 0;
	s.function = calloc(profile->nr_functions, 1);
	s.node = array_new(profile->stacks.nr, 1);
	s.set = calloc(profile->nr_label_sets, 1);
	s.row = calloc(profile->rows.nr + 1, 1);
	if (!s.function || !s.node || !s.set || !s.row)
		return -ENOMEM;
	for (unsigned c = 0; c <= options->nr_conditions; c++) {
		look_within(&s, c);
		for (size_t i = 0; i < options->nr_sums; i++) {
			if (options->sums[i].condition == c)
				count_sum(&s, i);
		}
	}
	return 0;
}
