/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.c: where there is only a time, it is divided by the period that goes with it. */
#include "profile/tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/measure.h"

/* Nanoseconds a sample where a file does not say: most profilers' 100 Hz. */
#define USUAL_PERIOD_NS 10000000
#define LEAST_PERIOD_NS                                                                            \
	1000 /* nobody samples more often: what is less is no period, but a unit                   \
	      */
#define ODD_RATIO 2 /* of a period to what time and samples say: it is not believed */

static int is_time(const struct stoke_profile *profile, uint32_t unit)
{
	return strcmp(strings_text(&profile->strings, unit), "nanoseconds") == 0;
}

/* The column of CPU time, or PROFILE_MAX_VALUES. */
static unsigned cpu_column(const struct stoke_profile *profile)
{
	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (is_time(profile, profile->values[i].unit) &&
			strcmp(strings_text(&profile->strings, profile->values[i].type), "cpu") ==
				0)
			return i;
	}
	return PROFILE_MAX_VALUES;
}

/* A period of no type is of what the file is of. */
static int is_of_time(const struct stoke_profile *profile, const struct run *run)
{
	uint32_t unit = run->period_type.unit;

	if (!unit && profile->nr_values)
		unit = profile->values[profile->default_value].unit;
	return is_time(profile, unit);
}

/* ratio: time by samples, 0: not known. */
static double period_of(const struct stoke_profile *profile, uint32_t run, double ratio)
{
	const struct run *of = &profile->runs[run];
	double said = (double)of->period;

	if (said < LEAST_PERIOD_NS || !is_of_time(profile, of))
		return ratio > 0 ? ratio : NAN;
	if (ratio > 0 && (said > ODD_RATIO * ratio || ratio > ODD_RATIO * said))
		return ratio;
	return said;
}

/* Sums of the two columns: where a file has both, their ratio is its period. */
static int look_at_rows(struct tally *tally)
{
	const struct stoke_profile *profile = tally->profile;
	const struct rows *rows = &profile->rows;
	unsigned cpu = cpu_column(profile);
	_cleanup_free_ double *time = calloc(profile->nr_runs + 1, sizeof(*time));
	_cleanup_free_ double *samples = calloc(profile->nr_runs + 1, sizeof(*samples));

	if (!time || !samples)
		return -ENOMEM;
	for (size_t i = 0; tally->column < PROFILE_MAX_VALUES && i < rows->nr; i++) {
		uint32_t run = rows->run[i];

		samples[run] += (double)rows->value[tally->column][i];
		if (cpu < PROFILE_MAX_VALUES)
			time[run] += (double)rows->value[cpu][i];
	}
	for (uint32_t run = 0; run < profile->nr_runs; run++) {
		tally->counted[run] = samples[run] > 0;
		tally->period_ns[run] =
			period_of(profile, run, samples[run] > 0 ? time[run] / samples[run] : 0);
	}
	return 0;
}

int tally_init(struct tally *tally, const struct stoke_profile *profile)
{
	struct tally new = {
		.profile = profile,
		.column = measure_samples_column(profile),
		.counted = calloc(profile->nr_runs + 1, sizeof(*new.counted)),
		.period_ns = calloc(profile->nr_runs + 1, sizeof(*new.period_ns)),
	};
	int r = new.counted &&new.period_ns ? look_at_rows(&new) : -ENOMEM;

	if (r < 0) {
		tally_done(&new);
		return r;
	}
	*tally = new;
	return 0;
}

void tally_done(struct tally *tally)
{
	free(tally->counted);
	free(tally->period_ns);
	*tally = (struct tally){0};
}

/* What the default value of a run without counts is divided by. */
static uint64_t divisor_of(const struct tally *tally, uint32_t run)
{
	const struct stoke_profile *profile = tally->profile;
	uint32_t unit = profile->values[profile->default_value].unit;

	if (profile->runs[run].period && !is_time(profile, unit))
		return profile->runs[run].period;
	if (!is_time(profile, unit))
		return 1;
	return isnan(tally->period_ns[run]) ? USUAL_PERIOD_NS : (uint64_t)tally->period_ns[run];
}

uint64_t tally_of(const struct tally *tally, size_t row)
{
	const struct stoke_profile *profile = tally->profile;
	uint32_t run = profile->rows.run[row];
	uint64_t divisor, value;

	if (tally->counted[run])
		return profile->rows.value[tally->column][row];
	if (!profile->nr_values)
		return 0;
	divisor = divisor_of(tally, run);
	value = profile->rows.value[profile->default_value][row];
	return value / divisor + (value % divisor >= (divisor + 1) / 2);
}

double tally_sample_ns(const struct tally *tally, uint32_t run)
{
	const struct stoke_profile *profile = tally->profile;

	if (!isnan(tally->period_ns[run]))
		return tally->period_ns[run];
	if (tally->counted[run] || !profile->nr_values ||
		!is_time(profile, profile->values[profile->default_value].unit))
		return NAN;
	return (double)divisor_of(tally, run);
}

/* As a time: what a sample of a run stands for. */
static int set_period(struct stoke_profile *profile, const struct tally *tally, uint32_t run)
{
	double ns = tally_sample_ns(tally, run);
	struct value_type type = {0};
	int r;

	if (!(ns >= 1) || ns > 1e18)
		return 0;
	r = profile_text(profile, "cpu", &type.type);
	if (r >= 0)
		r = profile_text(profile, "nanoseconds", &type.unit);
	if (r < 0)
		return r;
	profile->runs[run].period = (uint64_t)(ns + 0.5);
	profile->runs[run].period_type = type;
	return 0;
}

int tally_fill(struct stoke_profile *profile, unsigned *ret_column)
{
	_cleanup_(tally_done) struct tally tally = {0};
	unsigned column;
	int r = tally_init(&tally, profile);

	if (r < 0)
		return r;
	column = tally.column;
	if (column == PROFILE_MAX_VALUES)
		r = profile_value(profile, "samples", "count", &column);
	for (size_t i = 0; r >= 0 && i < profile->rows.nr; i++) {
		if (!tally.counted[profile->rows.run[i]])
			profile->rows.value[column][i] = tally_of(&tally, i);
	}
	for (uint32_t run = 0; r >= 0 && run < profile->nr_runs; run++)
		r = set_period(profile, &tally, run);
	if (r < 0)
		return r;
	*ret_column = column;
	return 0;
}
