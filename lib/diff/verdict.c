/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdict.c: from breaches to a word. What stands in the way of a word at all, which growth an
 * allowance covers, which breaches are one and the same.
 */
#include "diff/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "diff/comparison.h"
#include "diff/gather.h"
#include "diff/judge.h"
#include "diff/numbers.h"
#include "diff/unmet.h"

#define LEAST_SAMPLES  1000 /* of a run */
#define NO_VARIATION   1e6 /* times as much as the other: that one does not vary */
#define MOST_RATIO     4 /* of the sides' noise */
#define MANY_FUNCTIONS 20 /* whose noise together is that of the runs */

static const struct units *units_of(const struct judging *judging)
{
	return judging->comparison->units;
}

static int doubt_comparability(struct judging *judging)
{
	const struct comparable *comparable = judging->comparison->comparable;

	for (size_t i = 0; i < comparable->nr_findings; i++) {
		const struct comparable_finding *finding = &comparable->findings[i];

		if (finding->weight == FINDING_REFUSAL &&
			judging_reason(judging, judging_text("%s", finding->text), NULL) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int doubt_repeats(struct judging *judging)
{
	const struct stoke_comparison *comparison = judging->comparison;
	unsigned repeats = judging->budget->repeats;
	size_t before = comparison->nr_before, after = comparison->profile->nr_runs - before;

	if (before == 1 && after == 1)
		return judging_reason(judging,
			judging_text("one capture a side says nothing of how much runs differ"),
			judging_text("5 captures a side: stoke bench records them"));
	if (before < repeats || after < repeats)
		return judging_reason(judging,
			judging_text("%zu run%s before and %zu after; %u a side are the least",
				before, before == 1 ? "" : "s", after, repeats),
			judging_text("more captures; 5 a side see most: stoke bench records them"));
	if (!comparison->too_few)
		return 0;
	return judging_reason(judging,
		judging_text("%zu and %zu runs: no change could have been told from chance at "
			     "alpha %g",
			before, after, comparison->evidence->alpha),
		judging_text("more captures; 5 a side see most: stoke bench records them"));
}

static int doubt_samples(struct judging *judging)
{
	const struct units *units = units_of(judging);
	uint64_t least = UINT64_MAX;
	char number[32];

	for (unsigned unit = 0; unit < units->nr && !units->blocks; unit++)
		least = units->samples[unit] < least ? units->samples[unit] : least;
	if (least >= LEAST_SAMPLES)
		return 0;
	return judging_reason(judging,
		judging_text(
			"a run has %s samples; 1,000 are the least", text_count(number, least)),
		judging_text("longer runs, or more samples a second: -F 199"));
}

/* Sums over what is tested of how much of its own rate a change's runs vary by, squared; their
 * ratio. A program that slows down tenfold has runs that vary ten times as much, and is no noisier.
 */
static double relative_noise(const struct evidence *evidence, size_t *ret_nr)
{
	double noise[2] = {0, 0};

	*ret_nr = 0;
	for (size_t i = 0; i < evidence->nr; i++) {
		const struct change *change = &evidence->changes[i];

		if (!(change->flags & CHANGE_TESTED) || !(change->before > 0) ||
			!(change->after > 0))
			continue;
		noise[0] += change->variance_before / (change->before * change->before);
		noise[1] += change->variance_after / (change->after * change->after);
		(*ret_nr)++;
	}
	if (noise[0] > 0)
		return noise[1] / noise[0];
	return noise[1] > 0 ? INFINITY : NAN;
}

/* The ratio of two variances of that many runs each that chance exceeds once in a hundred (F). */
static double chance_ratio(unsigned repeats)
{
	double half = (repeats - 1) / 2.0, low = 1, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double middle = sqrt(low * high);

		if (beta_cdf(half, half, middle / (1 + middle)) < 0.99)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Few functions tell little of how noisy a side is. */
static double most_ratio(const struct judging *judging, size_t nr_tested)
{
	const struct units *units = units_of(judging);
	unsigned after = units->nr - units->nr_before;
	unsigned repeats = units->nr_before < after ? units->nr_before : after;
	double most = repeats > 1 && nr_tested < MANY_FUNCTIONS ? chance_ratio(repeats) : 0;

	return most > MOST_RATIO ? most : MOST_RATIO;
}

static int doubt_noise(struct judging *judging)
{
	const struct evidence *evidence = judging->comparison->evidence;
	double ratio = evidence->noise_ratio, relative, most, times;
	size_t nr_tested;
	const char *side = ratio > 1 ? "after" : "before", *other = ratio > 1 ? "before" : "after";

	relative = relative_noise(evidence, &nr_tested);
	if (isnan(ratio) || isnan(relative) || (ratio > 1) != (relative > 1))
		return 0;
	most = most_ratio(judging, nr_tested);
	times = ratio > 1 ? fmin(ratio, relative) : fmin(1 / ratio, 1 / relative);
	/* Few functions may happen not to vary at all, but for rounding. */
	if (times <= most || times > NO_VARIATION)
		return 0;
	return judging_reason(judging,
		judging_text("runs \"%s\" vary %.0f times as much as \"%s\" (limit %.0f): no word "
			     "about regressions",
			side, times, other, most),
		judging_text("more repeats (--plan says how many), or a quieter machine"));
}

/* 1 when two units have the same counts of everything, which no two captures have. */
static int are_copies(const struct units *units, unsigned a, unsigned b)
{
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		if (memcmp(&units->counts[h * units->nr + a], &units->counts[h * units->nr + b],
			    sizeof(*units->counts)) != 0)
			return 0;
	}
	return units->nr_hypotheses && units->samples[a] == units->samples[b];
}

/* One file given several times has no spread, and any change beside it would look sure. */
static int doubt_copies(struct judging *judging)
{
	static const char *const sides[] = {"before", "after"};
	const struct units *units = units_of(judging);
	int r = 0;

	for (int side = 0; r >= 0 && side < 2 && !units->blocks; side++) {
		unsigned first = side ? units->nr_before : 0;
		unsigned end = side ? units->nr : units->nr_before, unit = first + 1;

		while (unit < end && are_copies(units, first, unit))
			unit++;
		if (end - first < 2 || unit < end)
			continue;
		r = judging_reason(judging,
			judging_text("runs \"%s\" are all the same, sample by sample: copies of "
				     "one run are no repeats",
				sides[side]),
			judging_text("record each of them anew: stoke bench"));
	}
	return r;
}

/* All that stands in the way of a word. */
static int find_doubts(struct judging *judging)
{
	int r = doubt_comparability(judging);

	if (r >= 0 && !judging->comparison->evidence)
		return judging_reason(judging, judging_text("there is nothing to test"), NULL);
	if (r >= 0)
		r = doubt_repeats(judging);
	if (r >= 0)
		r = doubt_samples(judging);
	if (r >= 0)
		r = doubt_copies(judging);
	if (r >= 0)
		r = doubt_noise(judging);
	return r;
}

/* Does an allowance speak of this hypothesis? */
static int allows(const struct stoke_comparison *comparison, const struct rule *rule,
	const struct hypothesis *h)
{
	const struct strings *strings = &comparison->profile->strings;

	if (rule->kind != RULE_ALLOW ||
		(rule->which == HYPOTHESIS_SELF) != (h->kind == HYPOTHESIS_SELF))
		return 0;
	if (!rule->glob || (!h->sum && !h->name)) /* all samples are no function */
		return !rule->glob && !h->sum && !h->name;
	if (h->sum)
		return strcmp(rule->name, comparison->budget->sums[h->sum - 1].name) == 0;
	return !rule->within && budget_matches(rule->glob, strings_text(strings, h->name),
					strings_size(strings, h->name));
}

/* Growth that a rule allows this change, as a rate. */
static double allowance(const struct stoke_comparison *comparison, const struct rule *rule,
	const struct change *change)
{
	double points = rule->growth * units_rate(comparison->units);
	double ratio = isnan(rule->ratio) ? 0 : rule->ratio * change->before;

	return points > ratio ? points : ratio;
}

/* The allowance of most weight for a change: one that covers it, else one that would have. */
static const struct rule *find_allowance(
	const struct judging *judging, size_t hypothesis, int *ret_covers)
{
	const struct stoke_comparison *comparison = judging->comparison;
	const struct stoke_budget *budget = judging->budget;
	const struct change *change = &comparison->evidence->changes[hypothesis];
	const struct rule *found = NULL;

	*ret_covers = 0;
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		if (!allows(comparison, rule, &comparison->units->hypotheses[hypothesis]))
			continue;
		found = rule;
		*ret_covers = !rule_has_expired(rule, judging->today) &&
			      change->grown <= allowance(comparison, rule, change);
		if (*ret_covers)
			return rule;
	}
	return found;
}

/* Changes that breaches and allowances speak of, to see what they have in common. */
struct crowd {
	size_t *changes; /* hypotheses: those of breaches first */
	size_t *breach; /* position of each in the verdict's, or BREACH_OWN */
	size_t nr, nr_breaches;
};

static void crowd_done(struct crowd *crowd)
{
	free(crowd->changes);
	free(crowd->breach);
}

static void gather_cleanup(struct gather **gather)
{
	gather_free(*gather);
}

static int is_growth(const struct breach *breach)
{
	return breach->outcome != OUTCOME_WARN && isnan(breach->value);
}

/* Failures that are growth; with_allowed: and what grew under an allowance, flagged or not. */
static int crowd_init(const struct judging *judging, int with_allowed, struct crowd *ret)
{
	const struct verdict *verdict = judging->verdict;
	const struct evidence *evidence = judging->comparison->evidence;
	size_t most = verdict->nr_breaches + (with_allowed ? evidence->nr : 0) + 1;

	*ret = (struct crowd){calloc(most, sizeof(size_t)), calloc(most, sizeof(size_t)), 0, 0};
	if (!ret->changes || !ret->breach)
		return -ENOMEM;
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];

		if (!is_growth(breach) || (!with_allowed && breach->outcome != OUTCOME_FAIL))
			continue;
		ret->changes[ret->nr] = breach->hypothesis;
		ret->breach[ret->nr++] = i;
	}
	ret->nr_breaches = ret->nr;
	for (size_t h = 0; with_allowed && h < evidence->nr; h++) {
		int covers, known = 0;

		if (!(evidence->changes[h].grown > 0) || !find_allowance(judging, h, &covers) ||
			!covers)
			continue;
		for (size_t i = 0; i < ret->nr_breaches; i++)
			known |= ret->changes[i] == h;
		if (known)
			continue;
		ret->changes[ret->nr] = h;
		ret->breach[ret->nr++] = BREACH_OWN;
	}
	return 0;
}

/* How much of each change of a crowd lies in what is allowed, added up. */
static int add_allowed(const struct judging *judging, const struct crowd *crowd,
	const struct gather *gather, double *allowed, const struct rule **by)
{
	_cleanup_free_ double *joint = calloc(crowd->nr + 1, sizeof(*joint));

	if (!joint)
		return -ENOMEM;
	for (size_t i = 0; i < crowd->nr; i++) {
		const struct stoke_comparison *comparison = judging->comparison;
		size_t h = crowd->changes[i];
		int covers;
		const struct rule *rule = find_allowance(judging, h, &covers);
		double most;

		/* Of self alone nothing follows for what calls it: that is limited by itself. */
		if (!covers || comparison->units->hypotheses[h].kind == HYPOTHESIS_SELF)
			continue;
		if (allowed[i] > gather_size(gather, i) / 2)
			continue; /* in another one that is allowed, and counted with it */
		most = allowance(comparison, rule, &comparison->evidence->changes[h]);
		if (gather_joint(gather, i, joint) < 0)
			return -ENOMEM;
		for (size_t c = 0; c < crowd->nr; c++) {
			if (c == i)
				continue;
			if (joint[c] > 0 && !by[c])
				by[c] = rule;
			allowed[c] += joint[c] < most ? joint[c] : most;
		}
	}
	return 0;
}

/* Growth that an allowance covers, by its own name or since it is the growth of one that is. */
static int apply_allowances(struct judging *judging)
{
	_cleanup_(crowd_done) struct crowd crowd = {0};
	_cleanup_(gather_cleanup) struct gather *gather = NULL;
	_cleanup_free_ const struct rule **by = NULL;
	_cleanup_free_ double *allowed = NULL;
	int r = crowd_init(judging, 1, &crowd);

	if (r < 0 || !crowd.nr_breaches)
		return r;
	by = calloc(crowd.nr, sizeof(*by));
	allowed = calloc(crowd.nr, sizeof(*allowed));
	if (!by || !allowed)
		return -ENOMEM;
	r = gather_new(judging->comparison, crowd.changes, crowd.nr, 1, &gather);
	if (r >= 0)
		r = add_allowed(judging, &crowd, gather, allowed, by);
	for (size_t i = 0; r >= 0 && i < crowd.nr_breaches; i++) {
		struct breach *breach = &judging->verdict->breaches[crowd.breach[i]];
		int covers;

		breach->allowed = allowed[i];
		breach->allowed_by = find_allowance(judging, breach->hypothesis, &covers);
		if (covers) {
			breach->outcome = OUTCOME_ALLOWED;
		} else if (by[i] && gather_is_explained(gather, i, allowed[i])) {
			breach->outcome = OUTCOME_CARRIED;
			breach->allowed_by = by[i];
		}
	}
	return r;
}

/* Lower comes first. */
static int class_of(const struct breach *breach)
{
	if (breach->outcome == OUTCOME_FAIL)
		return breach->of != BREACH_OWN;
	return 1 + (int)breach->outcome;
}

/* In order of class, within it as given by order (positions of the breaches as they are). */
static int arrange(struct verdict *verdict, const size_t *order)
{
	_cleanup_free_ struct breach *sorted = calloc(verdict->nr_breaches + 1, sizeof(*sorted));
	_cleanup_free_ size_t *moved = calloc(verdict->nr_breaches + 1, sizeof(*moved));
	size_t nr = 0;

	if (!sorted || !moved)
		return -ENOMEM;
	for (int class = 0; class <= 1 + (int)OUTCOME_CARRIED; class ++) {
		for (size_t i = 0; i < verdict->nr_breaches; i++) {
			if (class_of(&verdict->breaches[order[i]]) != class)
				continue;
			moved[order[i]] = nr;
			sorted[nr++] = verdict->breaches[order[i]];
		}
		if (class == 0)
			verdict->nr_failures = nr;
	}
	for (size_t i = 0; i < nr; i++) {
		if (sorted[i].of != BREACH_OWN)
			sorted[i].of = moved[sorted[i].of];
	}
	if (nr)
		memcpy(verdict->breaches, sorted, nr * sizeof(*sorted));
	return 0;
}

/* Ceilings first, growth in the order that gather.h finds, then the rest. */
static int find_own(struct judging *judging)
{
	struct verdict *verdict = judging->verdict;
	_cleanup_(crowd_done) struct crowd crowd = {0};
	_cleanup_(gather_cleanup) struct gather *gather = NULL;
	_cleanup_free_ size_t *of = calloc(verdict->nr_breaches + 1, sizeof(*of));
	_cleanup_free_ size_t *own = calloc(verdict->nr_breaches + 1, sizeof(*own));
	_cleanup_free_ size_t *order = calloc(verdict->nr_breaches + 1, sizeof(*order));
	size_t nr = 0, nr_own = 0;
	int r = of && own && order ? crowd_init(judging, 0, &crowd) : -ENOMEM;

	if (r >= 0 && crowd.nr)
		r = gather_new(judging->comparison, crowd.changes, crowd.nr, 1, &gather);
	for (size_t i = 0; r >= 0 && i < crowd.nr; i++)
		gather_take_away(gather, i, verdict->breaches[crowd.breach[i]].allowed);
	if (r >= 0 && crowd.nr)
		r = gather_find(gather, of, own, &nr_own);
	if (r < 0)
		return r;
	for (size_t i = 0; i < crowd.nr; i++) {
		if (of[i] != i)
			verdict->breaches[crowd.breach[i]].of = crowd.breach[of[i]];
	}
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		if (!is_growth(&verdict->breaches[i]))
			order[nr++] = i;
	}
	for (size_t i = 0; i < nr_own; i++)
		order[nr++] = crowd.breach[own[i]];
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];

		if (is_growth(breach) &&
			(breach->outcome != OUTCOME_FAIL || breach->of != BREACH_OWN))
			order[nr++] = i;
	}
	return arrange(verdict, order);
}

static int judge_rules(struct judging *judging)
{
	const struct stoke_budget *budget = judging->budget;

	for (size_t i = 0; i < budget->nr_rules; i++) {
		enum rule_kind kind = budget->rules[i].kind;

		judging->nr_ceilings += kind == RULE_MAX || kind == RULE_TOTAL_MAX;
	}
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		if (rule->word->judge && rule->word->judge(judging, rule) < 0)
			return -ENOMEM;
	}
	return 0;
}

int verdict_counts(
	const struct verdict *verdict, const struct stoke_budget *budget, const struct rule *rule)
{
	int said = 0;

	if (rule->kind == RULE_IGNORE)
		return 0;
	if (rule->line)
		return 1;
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		if (verdict->breaches[i].outcome == OUTCOME_FAIL &&
			verdict->breaches[i].rule == rule)
			return 1;
	}
	for (size_t i = 0; i < budget->nr_rules; i++)
		said |= budget->rules[i].kind == RULE_DEFAULT && budget->rules[i].line;
	return !said && rule->which == HYPOTHESIS_TOTAL;
}

static void count(struct judging *judging)
{
	const struct stoke_comparison *comparison = judging->comparison;
	struct verdict *verdict = judging->verdict;

	for (size_t i = 0; i < judging->budget->nr_rules; i++)
		verdict->nr_rules +=
			verdict_counts(verdict, judging->budget, &judging->budget->rules[i]) != 0;
	for (size_t i = 0; comparison->evidence && i < comparison->evidence->nr; i++) {
		const struct hypothesis *h = &comparison->units->hypotheses[i];

		verdict->nr_functions += h->kind == HYPOTHESIS_TOTAL && !h->sum && h->name &&
					 (comparison->evidence->changes[i].flags & CHANGE_TESTED);
	}
}

int verdict_find(const struct stoke_comparison *comparison, const char *today, struct verdict **ret)
{
	struct verdict *verdict = calloc(1, sizeof(*verdict));
	struct judging judging = {
		.comparison = comparison,
		.budget = comparison->budget,
		.today = today,
		.verdict = verdict,
	};
	int r = verdict ? find_doubts(&judging) : -ENOMEM;
	size_t nr_doubts = verdict ? verdict->nr_reasons : 0; /* in all of it */

	if (r >= 0)
		r = judge_rules(&judging);
	if (r >= 0 && comparison->evidence)
		r = apply_allowances(&judging);
	if (r >= 0)
		r = find_own(&judging);
	if (r >= 0)
		r = unmet_find(comparison, &verdict->unmet, &verdict->nr_unmet);
	if (r < 0) {
		verdict_free(verdict);
		return r;
	}
	count(&judging);
	/* A rule that cannot be judged hides nothing that others found. */
	verdict->word = nr_doubts	       ? VERDICT_CANNOT_TELL
			: verdict->nr_failures ? VERDICT_REGRESSION
			: verdict->nr_reasons  ? VERDICT_CANNOT_TELL
					       : VERDICT_PASS;
	*ret = verdict;
	return 0;
}

void verdict_free(struct verdict *verdict)
{
	if (!verdict)
		return;
	for (size_t i = 0; i < verdict->nr_reasons; i++) {
		free(verdict->reasons[i].why);
		free(verdict->reasons[i].cure);
	}
	free(verdict->reasons);
	free(verdict->breaches);
	free(verdict->expired);
	free(verdict->unmet);
	free(verdict);
}
