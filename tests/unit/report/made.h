/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_REPORT_MADE_H
#define STOKE_TESTS_UNIT_REPORT_MADE_H

/*
 * A comparison made by hand from folded lines: alignment and causes are real, evidence is a rule:
 * what changed by two points of all samples or more has a chance of 0.004, the rest 0.5; functions
 * under half a per cent were not tested.
 */

#include <math.h>

#include "diff/comparison.h"
#include "unit/folded.h"
#include "view/difference.h"

struct made {
	struct stoke_comparison c;
	struct comparable comparable;
	struct comparable_finding finding;
	struct units units;
	struct evidence evidence;
};

static inline void made_change(
	struct made *m, const struct difference_function *f, enum hypothesis_kind kind)
{
	const struct tree_name *name = &m->c.aligned->tree->names[f->name];
	const double *side = kind == HYPOTHESIS_TOTAL ? f->total : f->self;
	double change = side[1] - side[0];
	size_t i = m->units.nr_hypotheses++;

	m->units.hypotheses[i] = (struct hypothesis){
		.name = name->name, .kind = (uint8_t)kind, .class = name->class};
	m->evidence.changes[i] = (struct change){
		.before = side[0],
		.after = side[1],
		.difference = change,
		.p_grew = change >= .02 ? .004
			  : change > 0	? .5
					: 1,
		.p_shrank = change <= -.02 ? .004
			    : change < 0   ? .5
					   : 1,
		.flags = (side[0] >= .005 || side[1] >= .005 ? CHANGE_TESTED : 0) |
			 (change >= .02 ? CHANGE_GREW : 0) | (change <= -.02 ? CHANGE_SHRANK : 0),
	};
}

static inline void made_evidence(struct made *m)
{
	const struct difference all = {
		.tree = m->c.aligned->tree,
		.exposure = {m->c.exposure[0], m->c.exposure[1]},
		.evidence = {calloc(all.tree->nr_names, sizeof(struct payload_chance)),
			calloc(all.tree->nr_names, sizeof(struct payload_chance)), NULL},
	};
	struct difference_function *functions = NULL;
	size_t nr = 0;

	cr_assert(eq(int, difference_functions(&all, &functions, &nr), 0));
	m->units.hypotheses = calloc(2 * nr + 1, sizeof(*m->units.hypotheses));
	m->evidence.changes = calloc(2 * nr + 1, sizeof(*m->evidence.changes));
	for (size_t i = 0; i < nr; i++) {
		made_change(m, &functions[i], HYPOTHESIS_TOTAL);
		made_change(m, &functions[i], HYPOTHESIS_SELF);
	}
	m->evidence.nr = m->evidence.nr_tested = m->units.nr_hypotheses;
	m->evidence.alpha = .05;
	m->evidence.relabellings = 252;
	free((void *)all.evidence.total);
	free((void *)all.evidence.self);
	free(functions);
}

/* Of a profile of two runs, which it takes over. */
static inline void made_of(struct made *m, struct stoke_profile *profile)
{
	static const char *const names[] = {"old.folded", "new.folded"};

	*m = (struct made){0};
	m->c.profile = profile;
	m->c.nr_before = 1;
	m->c.level = STOKE_NAMES_BUILD;
	m->c.power = (struct power){.share = .1, .detectable = .009};
	cr_assert(eq(int,
		align_build(m->c.profile, &(struct tree_options){.nr_before = 1}, &m->c.aligned),
		0));
	for (unsigned side = 0; side < 2; side++) {
		m->c.exposure[side] = (double)m->c.aligned->tree->total[side][0];
		m->comparable.sides[side] = (struct side){.first = side,
			.nr_runs = 1,
			.samples = m->c.aligned->tree->total[side][0],
			.name = names[side]};
	}
	cr_assert(eq(int, cause_find(m->c.aligned, m->c.exposure, .005, &m->c.cause), 0));
	m->units.exposure = STOKE_EXPOSURE_SHARE;
	m->units.nr = 10;
	m->units.nr_before = 5;
	m->c.comparable = &m->comparable;
	m->c.units = &m->units;
	m->c.evidence = &m->evidence;
	made_evidence(m);
}

static inline void made_from(struct made *m, const char *before, const char *after)
{
	struct stoke_profile *profile = folded_profile(before);

	folded_add(profile, after);
	made_of(m, profile);
}

static inline void made_done(struct made *m)
{
	cause_free(m->c.cause);
	aligned_free(m->c.aligned);
	stoke_profile_free(m->c.profile);
	free(m->units.hypotheses);
	free(m->evidence.changes);
}

#endif
