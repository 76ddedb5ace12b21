/* SPDX-License-Identifier: BSD-2-Clause */
/* evidence.c: what the counts say of every hypothesis, in the order of a report's columns. */
#include "diff/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "diff/maxt.h"
#include "diff/numbers.h"
#include "diff/relabel.h"
#include "diff/statistic.h"

#define DEFAULT_ALPHA	 0.05
#define ROUNDING	 1e-12 /* p <= alpha when both are 1/20 */
#define CONFIDENCE	 0.975 /* either end of an interval of 95 % */
#define CORRELATED_LEAST 0.005 /* share of functions that tell whether blocks hang together */
#define CORRELATED_MOST	 0.9995

struct weighing {
	const struct units *units;
	const struct evidence_options *options;
	struct statistic statistic;
	struct labelling labelling; /* as observed */
	struct evidence *evidence;
	double *observed[NR_DIRECTIONS], *p[NR_DIRECTIONS];
};

static void weighing_done(struct weighing *w)
{
	statistic_done(&w->statistic);
	labelling_done(&w->labelling);
	for (unsigned d = 0; d < NR_DIRECTIONS; d++) {
		free(w->observed[d]);
		free(w->p[d]);
	}
	evidence_free(w->evidence);
}

static int in_family(const struct weighing *w, size_t h)
{
	return w->statistic.floor[h] > 0;
}

/* F also of what is not tested: its interval has to come from somewhere. */
static double sampling_variance(const struct weighing *w, size_t h, const double *exposure)
{
	const struct units *units = w->units;
	double count = 0, rate;

	if (in_family(w, h))
		return w->statistic.floor[h];
	for (unsigned u = 0; u < units->nr; u++)
		count += units->counts[h * units->nr + u];
	rate = count / (exposure[0] + exposure[1]);
	if (units->exposure == STOKE_EXPOSURE_SHARE)
		rate = rate < 1 ? rate * (1 - rate) : 0;
	return rate * (1 / exposure[0] + 1 / exposure[1]);
}

/* Welch and Satterthwaite's. */
static double freedom_of(const struct weighing *w, const struct rates *rates)
{
	unsigned before = w->labelling.nr[0], after = w->labelling.nr[1];
	double a = rates->variance_before, b = rates->variance_after, parts = 0;

	if (w->options->flags & EVIDENCE_PAIRED)
		return before - 1;
	if (!(a + b > 0))
		return before + after - 2;
	if (before > 1)
		parts += a * a / (before - 1);
	if (after > 1)
		parts += b * b / (after - 1);
	return (a + b) * (a + b) / parts;
}

static int has_spread(const struct weighing *w)
{
	return w->labelling.nr[0] > 1 && w->labelling.nr[1] > 1;
}

static double half_width(const struct weighing *w, const struct change *change, double variance)
{
	if (!has_spread(w))
		return normal_quantile(CONFIDENCE) * sqrt(change->floor);
	return t_quantile(CONFIDENCE, change->freedom) *
	       sqrt(variance > change->floor ? variance : change->floor);
}

/* What the function's own cost did if all else stayed as it was. */
static double cost_ratio(const struct weighing *w, size_t h, double before, double after)
{
	int plain = !w->units->hypotheses[h].condition;

	if (!(before > 0))
		return NAN;
	if (w->units->exposure != STOKE_EXPOSURE_SHARE)
		return after / before;
	if (!plain || before >= 1 || after >= 1)
		return NAN;
	return after / (1 - after) / (before / (1 - before));
}

static void fill_change(struct weighing *w, size_t h)
{
	const struct units *units = w->units;
	unsigned condition = units->hypotheses[h].condition;
	const double exposure[2] = {
		w->labelling.exposure[0][condition], w->labelling.exposure[1][condition]};
	struct change *change = &w->evidence->changes[h];
	struct rates rates;
	double half;

	*change = (struct change){
		.t_grew = -INFINITY,
		.t_shrank = -INFINITY,
		.p_grew = 1,
		.p_shrank = 1,
		.q = 1,
		.cost_ratio = NAN,
	};
	if (!(exposure[0] > 0) || !(exposure[1] > 0))
		return;
	statistic_rates(&w->statistic, &w->labelling, h, 1, &rates);
	change->before = rates.before;
	change->after = rates.after;
	change->difference = rates.after - rates.before;
	change->grown = rates.after / statistic_dilution_of(&w->statistic, &w->labelling, h, GREW) -
			rates.before;
	change->shrunk = rates.before - rates.after / statistic_dilution_of(&w->statistic,
							      &w->labelling, h, SHRANK);
	change->variance_before = rates.variance_before;
	change->variance_after = rates.variance_after;
	change->floor = sampling_variance(w, h, exposure);
	change->error = sqrt(rates.variance + change->floor);
	change->freedom = freedom_of(w, &rates);
	half = half_width(w, change, rates.variance);
	change->low = change->difference - half;
	change->high = change->difference + half;
	/* No share can change by more than all there is. */
	if (units->exposure == STOKE_EXPOSURE_SHARE) {
		change->low = fmax(change->low, -1);
		change->high = fmin(change->high, 1);
	}
	change->cost_ratio = cost_ratio(w, h, rates.before, rates.after);
	if (rates.before <= 0 && rates.after > 0)
		change->flags |= CHANGE_NEW;
	if (rates.after <= 0 && rates.before > 0)
		change->flags |= CHANGE_GONE;
}

static void observe(struct weighing *w)
{
	for (size_t h = 0; h < w->units->nr_hypotheses; h++) {
		struct change *change = &w->evidence->changes[h];

		for (unsigned d = 0; d < NR_DIRECTIONS; d++)
			w->observed[d][h] = in_family(w, h)
						    ? statistic_of(&w->statistic, &w->labelling, h,
							      (enum direction)d, -INFINITY)
						    : -INFINITY;
		change->t_grew = w->observed[GREW][h];
		change->t_shrank = w->observed[SHRANK][h];
		if (in_family(w, h)) {
			change->flags |= CHANGE_TESTED;
			w->evidence->nr_tested++;
		}
	}
}

static int by_q(const void *a, const void *b, void *of)
{
	const struct evidence *evidence = of;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double x_q = evidence->changes[x].q, y_q = evidence->changes[y].q;

	if (x_q != y_q)
		return x_q < y_q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Benjamini and Hochberg over the family, from Student's t. */
static int find_q(struct weighing *w)
{
	struct evidence *evidence = w->evidence;
	_cleanup_free_ size_t *order = calloc(evidence->nr + 1, sizeof(*order));
	size_t nr = 0;
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t h = 0; h < evidence->nr; h++) {
		struct change *change = &evidence->changes[h];
		double t = -fabs(change->difference) / change->error;

		if (!in_family(w, h))
			continue;
		change->q = 2 * (has_spread(w) ? t_cdf(t, change->freedom) : normal_cdf(t));
		order[nr++] = h;
	}
	qsort_r(order, nr, sizeof(*order), by_q, evidence);
	for (size_t i = nr; i-- > 0;) {
		struct change *change = &evidence->changes[order[i]];
		double q = change->q * (double)nr / (double)(i + 1);

		least = q < least ? q : least;
		change->q = least;
	}
	return 0;
}

static int test(struct weighing *w, struct relabel *relabel)
{
	const double *const observed[NR_DIRECTIONS] = {w->observed[GREW], w->observed[SHRANK]};
	double *const p[NR_DIRECTIONS] = {w->p[GREW], w->p[SHRANK]};
	struct evidence *evidence = w->evidence;
	int r;

	r = maxt_run(&w->statistic, observed, relabel, p);
	if (r < 0)
		return r;
	evidence->relabellings = relabel->total;
	evidence->seed = relabel->seed;
	for (size_t h = 0; h < evidence->nr; h++) {
		struct change *change = &evidence->changes[h];

		change->p_grew = w->p[GREW][h];
		change->p_shrank = w->p[SHRANK][h];
		if (!in_family(w, h))
			continue;
		if (change->p_grew <= evidence->alpha + ROUNDING)
			change->flags |= CHANGE_GREW;
		if (change->p_shrank <= evidence->alpha + ROUNDING)
			change->flags |= CHANGE_SHRANK;
	}
	return find_q(w);
}

/* Lag-1 correlation of a function's blocks on one side, added to *product and *square. */
static void correlate(const struct units *units, size_t h, unsigned first, unsigned end,
	double *product, double *square)
{
	const double *counts = units->counts + h * units->nr;
	double count = 0, exposure = 0, rate, last = 0;

	for (unsigned u = first; u < end; u++) {
		count += counts[u];
		exposure += (double)units->samples[u];
	}
	rate = count / exposure;
	if (!(rate >= CORRELATED_LEAST) || rate > CORRELATED_MOST)
		return;
	for (unsigned u = first; u < end; u++) {
		double rest =
			(counts[u] - rate * (double)units->samples[u]) / sqrt(rate * (1 - rate));

		if (u > first)
			*product += last * rest;
		*square += rest * rest;
		last = rest;
	}
}

static double correlation_of(const struct units *units, unsigned first, unsigned end)
{
	double product = 0, square = 0;

	if (!units->blocks)
		return NAN;
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		const struct hypothesis *hypothesis = &units->hypotheses[h];

		if (hypothesis->sum || hypothesis->condition || !hypothesis->name ||
			hypothesis->kind == HYPOTHESIS_GROUP)
			continue;
		correlate(units, h, first, end, &product, &square);
	}
	return square > 0 ? product / square : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return (values[(nr - 1) / 2] + values[nr / 2]) / 2;
}

/* How noisy a side is against sampling alone: of the functions' ratios the middle one, since some
 * few of a JVM's vary a thousand times as much. */
static int find_variation(struct weighing *w, unsigned side)
{
	struct evidence *evidence = w->evidence;
	_cleanup_free_ double *ratios = calloc(evidence->nr_tested + 1, sizeof(*ratios));
	size_t nr = 0;

	if (!ratios)
		return -ENOMEM;
	evidence->variation[side] = NAN;
	if (!evidence->nr_tested || w->labelling.nr[side] < 2)
		return 0;
	for (size_t h = 0; h < evidence->nr; h++) {
		const struct change *change = &evidence->changes[h];
		unsigned condition = w->units->hypotheses[h].condition;
		double own = w->labelling.exposure[side][condition];
		double other = w->labelling.exposure[!side][condition];

		/* F is of both sides; each has the other's part of the exposure in it. */
		if (in_family(w, h))
			ratios[nr++] = (side ? change->variance_after : change->variance_before) /
				       (change->floor * other / (own + other));
	}
	evidence->variation[side] = median(ratios, nr);
	return 0;
}

/* How noisy the sides are against each other. */
static void find_noise_ratio(struct weighing *w)
{
	struct evidence *evidence = w->evidence;
	double noise[2] = {0, 0};

	evidence->noise_ratio = NAN;
	if (!evidence->nr_tested || !has_spread(w))
		return;
	for (size_t h = 0; h < evidence->nr; h++) {
		const struct change *change = &evidence->changes[h];

		if (!in_family(w, h))
			continue;
		noise[0] += change->variance_before / change->floor;
		noise[1] += change->variance_after / change->floor;
	}
	if (noise[0] > 0)
		evidence->noise_ratio = noise[1] / noise[0];
	else
		evidence->noise_ratio = noise[1] > 0 ? INFINITY : 1;
}

static int weighing_init(struct weighing *w)
{
	size_t nr = w->units->nr_hypotheses;
	int r;

	w->evidence = calloc(1, sizeof(*w->evidence));
	if (!w->evidence)
		return -ENOMEM;
	w->evidence->changes = calloc(nr + 1, sizeof(*w->evidence->changes));
	w->evidence->nr = nr;
	w->evidence->alpha = w->options->alpha > 0 ? w->options->alpha : DEFAULT_ALPHA;
	w->evidence->difference = w->units->difference;
	if (!w->evidence->changes)
		return -ENOMEM;
	for (unsigned d = 0; d < NR_DIRECTIONS; d++) {
		w->observed[d] = calloc(nr + 1, sizeof(double));
		w->p[d] = calloc(nr + 1, sizeof(double));
		if (!w->observed[d] || !w->p[d])
			return -ENOMEM;
	}
	r = statistic_init(&w->statistic, w->units, w->options->flags);
	return r < 0 ? r : labelling_init(&w->labelling, &w->statistic);
}

/* Units a side that would do. */
static unsigned repeats_needed(double alpha, unsigned flags)
{
	double ways = 1;
	unsigned k = 0;

	while (1 / ways > alpha + ROUNDING && k < 64) {
		k++;
		ways *= flags & EVIDENCE_PAIRED ? 2 : (4.0 * k - 2) / k;
	}
	return k;
}

static int too_few(const struct weighing *w, struct stoke_error *err)
{
	const struct evidence *evidence = w->evidence;

	if (!evidence->relabellings ||
		1.0 / (double)evidence->relabellings <= evidence->alpha + ROUNDING)
		return 0;
	return fail(err, -ERANGE,
		"%u runs before and %u after can be relabelled in %llu ways only, so no p-value "
		"can be below %.2g; record at least %u a side",
		w->units->nr_before, w->units->nr - w->units->nr_before,
		(unsigned long long)evidence->relabellings, 1.0 / (double)evidence->relabellings,
		repeats_needed(evidence->alpha, w->options->flags));
}

static int weigh(struct weighing *w)
{
	const struct units *units = w->units;
	struct evidence *evidence = w->evidence;
	_cleanup_(relabel_done) struct relabel relabel = {0};
	int r;

	for (size_t h = 0; h < evidence->nr; h++)
		fill_change(w, h);
	evidence->dilution_grew = statistic_dilution(&w->statistic, &w->labelling, GREW);
	evidence->dilution_shrank = statistic_dilution(&w->statistic, &w->labelling, SHRANK);
	observe(w);
	find_noise_ratio(w);
	if (find_variation(w, 0) < 0 || find_variation(w, 1) < 0)
		return -ENOMEM;
	evidence->correlation[0] = correlation_of(units, 0, units->nr_before);
	evidence->correlation[1] = correlation_of(units, units->nr_before, units->nr);
	if (w->options->flags & EVIDENCE_NO_TEST)
		return 0;
	r = relabel_init(&relabel, units->nr, units->nr_before,
		w->options->flags & EVIDENCE_PAIRED ? RELABEL_PAIRED : 0, EVIDENCE_MAX_EXACT,
		EVIDENCE_RANDOM, w->options->seed);
	return r < 0 ? r : test(w, &relabel);
}

int evidence_weigh(const struct units *units, const struct evidence_options *options,
	struct evidence **ret, struct stoke_error *err)
{
	_cleanup_(weighing_done) struct weighing w = {.units = units, .options = options};
	int r;

	if (units->nr_before == 0 || units->nr_before >= units->nr)
		return fail(err, -EINVAL, "one side has no runs");
	if ((options->flags & EVIDENCE_PAIRED) && units->nr != 2 * units->nr_before)
		return fail(err, -EINVAL,
			"%u runs before and %u after: pairs need as many on either side",
			units->nr_before, units->nr - units->nr_before);
	r = weighing_init(&w);
	if (r >= 0)
		r = weigh(&w);
	if (r < 0)
		return fail(err, r, "cannot weigh the evidence: out of memory");
	r = too_few(&w, err);
	*ret = take_pointer(w.evidence);
	return r;
}

void evidence_free(struct evidence *evidence)
{
	if (!evidence)
		return;
	free(evidence->changes);
	free(evidence);
}
