/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * statistic.c: T = change / sqrt(V before + V after + sampling floor). V is the ratio estimator's
 * variance over runs. The floor keeps few runs that agree by luck from looking exact. Everything is
 * summed in the order of the units, so that equal relabellings give equal bits.
 */
#include "diff/statistic.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "diff/evidence.h"

#define DILUTION_LEAST	   0.002 /* of all samples: what tells dilution */
#define SHARE_OF_THE_WHOLE 0.9995 /* a function that is always there cannot change its share */

static const double *exposures_of(const struct units *units, size_t h)
{
	return units->exposures + (size_t)units->hypotheses[h].condition * units->nr;
}

static double sum(const double *values, unsigned nr)
{
	double total = 0;

	for (unsigned u = 0; u < nr; u++)
		total += values[u];
	return total;
}

/* F of a hypothesis under the labels as they are, 0 when it has no place in the family: when
 * neither side could reach what matters, or one was not looked at. */
static double floor_of(const struct units *units, size_t h)
{
	const struct hypothesis *hypothesis = &units->hypotheses[h];
	const double *exposures = exposures_of(units, h);
	double before = sum(exposures, units->nr_before), whole = sum(exposures, units->nr);
	double after = 0, rate, spread;

	for (unsigned u = units->nr_before; u < units->nr; u++)
		after += exposures[u];
	if (!(before > 0) || !(after > 0))
		return 0;
	rate = sum(units->counts + h * units->nr, units->nr) / whole;
	if (rate * whole / (before < after ? before : after) < hypothesis->least)
		return 0;
	if (units->exposure == STOKE_EXPOSURE_SHARE && rate > SHARE_OF_THE_WHOLE)
		return 0;
	spread = units->exposure == STOKE_EXPOSURE_SHARE ? rate * (1 - rate) : rate;
	return spread * (1 / before + 1 / after);
}

static int tells_dilution(const struct units *units, size_t h)
{
	const struct hypothesis *hypothesis = &units->hypotheses[h];

	return hypothesis->kind == HYPOTHESIS_SELF && !hypothesis->sum && !hypothesis->condition &&
	       sum(units->counts + h * units->nr, units->nr) >=
		       DILUTION_LEAST * sum(units->exposures, units->nr);
}

/* Counts of the functions that tell dilution, a unit behind the other. */
static int gather_selves(struct statistic *statistic)
{
	const struct units *units = statistic->units;
	size_t cells, at = 0;
	int r;

	for (size_t h = 0; h < units->nr_hypotheses; h++)
		statistic->nr_selves += tells_dilution(units, h);
	r = size_multiply(statistic->nr_selves, units->nr, &cells);
	if (r < 0)
		return r;
	statistic->selves = calloc(cells + 1, sizeof(*statistic->selves));
	statistic->whole = calloc(statistic->nr_selves + 1, sizeof(*statistic->whole));
	statistic->items = calloc(statistic->nr_selves + 1, sizeof(*statistic->items));
	if (!statistic->selves || !statistic->whole || !statistic->items)
		return -ENOMEM;
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		if (!tells_dilution(units, h))
			continue;
		for (unsigned u = 0; u < units->nr; u++)
			statistic->selves[u * statistic->nr_selves + at] =
				units->counts[h * units->nr + u];
		statistic->whole[at++] = sum(units->counts + h * units->nr, units->nr);
	}
	return 0;
}

int statistic_init(struct statistic *statistic, const struct units *units, unsigned flags)
{
	struct statistic new = {.units = units, .flags = flags};
	int r = -ENOMEM;

	new.sum = calloc(units->nr_hypotheses + 1, sizeof(*new.sum));
	new.floor = calloc(units->nr_hypotheses + 1, sizeof(*new.floor));
	if (new.sum &&new.floor)
		r = gather_selves(&new);
	if (r < 0) {
		statistic_done(&new);
		return r;
	}
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		new.sum[h] = sum(units->counts + h * units->nr, units->nr);
		new.floor[h] = floor_of(units, h);
	}
	*statistic = new;
	return 0;
}

void statistic_done(struct statistic *statistic)
{
	free(statistic->sum);
	free(statistic->floor);
	free(statistic->selves);
	free(statistic->whole);
	free(statistic->items);
	*statistic = (struct statistic){0};
}

void labelling_done(struct labelling *labelling)
{
	free(labelling->after);
	free(labelling->units_after);
	free(labelling->exposure[0]);
	free(labelling->exposure[1]);
	free(labelling->selves);
	*labelling = (struct labelling){0};
}

int labelling_init(struct labelling *labelling, const struct statistic *statistic)
{
	const struct units *units = statistic->units;
	_cleanup_free_ uint8_t *observed = calloc(units->nr, sizeof(*observed));
	struct labelling new = {
		.after = calloc(units->nr, sizeof(*new.after)),
		.units_after = calloc(units->nr, sizeof(*new.units_after)),
		.exposure[0] = calloc(units->nr_exposures, sizeof(double)),
		.exposure[1] = calloc(units->nr_exposures, sizeof(double)),
		.selves = calloc(statistic->nr_selves + 1, sizeof(double)),
	};

	if (!observed || !new.after || !new.units_after || !new.exposure[0] || !new.exposure[1] ||
		!new.selves) {
		labelling_done(&new);
		return -ENOMEM;
	}
	memset(observed + units->nr_before, 1, units->nr - units->nr_before);
	labelling_set(&new, statistic, observed);
	*labelling = new;
	return 0;
}

/* Counts are whole numbers, so sums that follow the labels are exact. */
static void move_selves(
	struct labelling *labelling, const struct statistic *statistic, unsigned unit, double sign)
{
	const double *counts = statistic->selves + unit * statistic->nr_selves;

	for (size_t i = 0; i < statistic->nr_selves; i++)
		labelling->selves[i] += sign * counts[i];
}

void labelling_set(
	struct labelling *labelling, const struct statistic *statistic, const uint8_t *after)
{
	const struct units *units = statistic->units;

	labelling->dilution = NAN;
	labelling->nr[0] = labelling->nr[1] = 0;
	for (unsigned u = 0; u < units->nr; u++) {
		if (after[u] != labelling->after[u])
			move_selves(labelling, statistic, u, after[u] ? 1 : -1);
		labelling->after[u] = after[u];
		if (after[u])
			labelling->units_after[labelling->nr[1]] = u;
		labelling->nr[after[u]]++;
	}
	for (size_t c = 0; c < units->nr_exposures; c++) {
		const double *exposures = units->exposures + c * units->nr;
		double side[2] = {0, 0};

		for (unsigned u = 0; u < units->nr; u++)
			side[after[u]] += exposures[u];
		labelling->exposure[0][c] = side[0];
		labelling->exposure[1][c] = side[1];
	}
}

/* Counts are whole numbers, so what is not after is before, exactly. */
static void sum_sides(const struct statistic *statistic, const struct labelling *labelling,
	size_t h, double *before, double *after)
{
	const double *counts = statistic->units->counts + h * statistic->units->nr;
	double sum_after = 0;

	for (unsigned i = 0; i < labelling->nr[1]; i++)
		sum_after += counts[labelling->units_after[i]];
	*before = statistic->sum[h] - sum_after;
	*after = sum_after;
}

static double find_dilution(const struct statistic *statistic, const struct labelling *labelling)
{
	size_t nr = 0;
	double s;

	for (size_t i = 0; i < statistic->nr_selves; i++) {
		double before = statistic->whole[i] - labelling->selves[i];
		double after = labelling->selves[i];

		before /= labelling->exposure[0][0];
		after /= labelling->exposure[1][0];
		if (!(before + after > 0))
			continue;
		statistic->items[nr++] = (struct dilution_item){
			.ratio = before > 0 ? after / before : INFINITY,
			.weight = before + after,
		};
	}
	s = dilution_median(statistic->items, nr);
	return s > 0 && s < INFINITY ? s : 1;
}

double statistic_dilution(
	const struct statistic *statistic, struct labelling *labelling, enum direction direction)
{
	double s;

	if (statistic->units->exposure != STOKE_EXPOSURE_SHARE ||
		(statistic->flags & EVIDENCE_NO_DILUTION) || !statistic->nr_selves)
		return 1;
	if (isnan(labelling->dilution))
		labelling->dilution = find_dilution(statistic, labelling);
	s = labelling->dilution;
	if (direction == GREW)
		return s > 1 ? s : 1;
	return s < 1 ? s : 1;
}

double statistic_dilution_of(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, enum direction direction)
{
	/* Within a condition other shares dilute each other: not known, so not undone. */
	if (statistic->units->hypotheses[hypothesis].condition)
		return 1;
	return statistic_dilution(statistic, labelling, direction);
}

/* The ratio estimators' variances. */
static void find_variances(const struct units *units, const struct labelling *labelling, size_t h,
	const double *exposure, struct rates *ret)
{
	const double *counts = units->counts + h * units->nr, *exposures = exposures_of(units, h);
	const double rate[2] = {ret->before, ret->after};
	double squares[2] = {0, 0}, variance[2] = {0, 0};

	for (unsigned u = 0; u < units->nr; u++) {
		unsigned side = labelling->after[u];
		double rest = counts[u] - rate[side] * exposures[u];

		squares[side] += rest * rest;
	}
	for (unsigned side = 0; side < 2; side++) {
		unsigned nr = labelling->nr[side];

		if (nr > 1)
			variance[side] = (double)nr / (nr - 1) * squares[side] /
					 (exposure[side] * exposure[side]);
	}
	ret->variance_before = variance[0];
	ret->variance_after = variance[1];
}

/* Variance of the change from the pairs' own differences: what both of a pair share is no noise. */
static double pair_variance(const struct units *units, const struct labelling *labelling, size_t h,
	const double *exposure, double dilution, const struct rates *rates)
{
	const double *counts = units->counts + h * units->nr, *exposures = exposures_of(units, h);
	unsigned nr = units->nr_before;
	double squares = 0;

	for (unsigned i = 0; i < nr; i++) {
		unsigned b = labelling->after[i] ? nr + i : i, a = labelling->after[i] ? i : nr + i;
		double rest = (counts[a] - rates->after * exposures[a]) / (exposure[1] * dilution) -
			      (counts[b] - rates->before * exposures[b]) / exposure[0];

		squares += rest * rest;
	}
	return nr > 1 ? (double)nr / (nr - 1) * squares : 0;
}

static void set_exposure(
	const struct units *units, const struct labelling *labelling, size_t h, double *exposure)
{
	exposure[0] = labelling->exposure[0][units->hypotheses[h].condition];
	exposure[1] = labelling->exposure[1][units->hypotheses[h].condition];
}

static void finish_rates(const struct statistic *statistic, const struct labelling *labelling,
	size_t h, const double *exposure, double dilution, struct rates *ret)
{
	find_variances(statistic->units, labelling, h, exposure, ret);
	ret->variance =
		statistic->flags & EVIDENCE_PAIRED
			? pair_variance(statistic->units, labelling, h, exposure, dilution, ret)
			: ret->variance_before + ret->variance_after / (dilution * dilution);
}

void statistic_rates(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, double dilution, struct rates *ret)
{
	double exposure[2];

	*ret = (struct rates){0};
	set_exposure(statistic->units, labelling, hypothesis, exposure);
	if (!(exposure[0] > 0) || !(exposure[1] > 0))
		return;
	sum_sides(statistic, labelling, hypothesis, &ret->before, &ret->after);
	ret->before /= exposure[0];
	ret->after /= exposure[1];
	finish_rates(statistic, labelling, hypothesis, exposure, dilution, ret);
}

static double change_of(const struct rates *rates, double dilution, enum direction direction)
{
	double after = rates->after / dilution;

	return direction == GREW ? after - rates->before : rates->before - after;
}

double statistic_of(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, enum direction direction, double above)
{
	const struct units *units = statistic->units;
	const struct hypothesis *limits = &units->hypotheses[hypothesis];
	double floor = statistic->floor[hypothesis], root = sqrt(floor), exposure[2], s, change;
	struct rates rates;

	set_exposure(units, labelling, hypothesis, exposure);
	if (!(exposure[0] > 0) || !(exposure[1] > 0))
		return -INFINITY;
	sum_sides(statistic, labelling, hypothesis, &rates.before, &rates.after);
	rates.before /= exposure[0];
	rates.after /= exposure[1];
	/* Dilution only makes changes smaller: most are settled before it has to be known. */
	change = change_of(&rates, 1, direction);
	if (!(change >= limits->least) || change / root <= above)
		return -INFINITY;
	s = statistic_dilution_of(statistic, labelling, hypothesis, direction);
	change = change_of(&rates, s, direction);
	if (!(change >= limits->least) || change / root <= above ||
		!(change >=
			limits->least_ratio * (direction == GREW ? rates.before : rates.after / s)))
		return -INFINITY;
	finish_rates(statistic, labelling, hypothesis, exposure, s, &rates);
	return change / sqrt(rates.variance + floor);
}
