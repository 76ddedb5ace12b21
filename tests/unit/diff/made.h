/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_DIFF_MADE_H
#define STOKE_TESTS_UNIT_DIFF_MADE_H

/* Units for tests, from counts. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/units.h"
#include "unit/test.h"

#define UNITS_ROOM 16384 /* hypotheses */

/* No hypotheses yet; every unit has `samples` and the exposure that goes with shares. */
static inline struct units *units_new(unsigned nr_before, unsigned nr_after, uint64_t samples)
{
	struct units *units = calloc(1, sizeof(*units));

	cr_assert(ne(ptr, units, NULL));
	units->nr = nr_before + nr_after;
	units->nr_before = nr_before;
	units->exposure = STOKE_EXPOSURE_SHARE;
	units->nr_exposures = 1;
	units->samples = calloc(units->nr, sizeof(*units->samples));
	units->exposures = calloc(units->nr, sizeof(*units->exposures));
	units->hypotheses = calloc(UNITS_ROOM, sizeof(*units->hypotheses));
	units->counts = calloc((size_t)UNITS_ROOM * units->nr, sizeof(*units->counts));
	for (unsigned u = 0; u < units->nr; u++) {
		units->samples[u] = samples;
		units->exposures[u] = (double)samples;
	}
	return units;
}

/* Its counts, to be filled. name: any number but 0. */
static inline double *units_add(struct units *units, enum hypothesis_kind kind, uint32_t name)
{
	size_t h = units->nr_hypotheses++;

	cr_assert(lt(sz, h, UNITS_ROOM));
	units->hypotheses[h] = (struct hypothesis){
		.name = name, .kind = (uint8_t)kind, .least = 0.005, .least_ratio = 0.05};
	return units->counts + h * units->nr;
}

static inline void units_drop(struct units *units)
{
	free(units->samples);
	free(units->exposures);
	free(units->hypotheses);
	free(units->counts);
	free(units);
}

/* About normal, mean 0, deviation 1. */
static inline double units_noise(void)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)rand() / RAND_MAX;
	return sum;
}

/* A family with noise between runs, several functions that grow or shrink a little, two
 * conditions and runs of unequal length. */
static inline struct units *units_family(unsigned nr_before, unsigned nr_after, size_t nr)
{
	struct units *units = units_new(nr_before, nr_after, 10000);

	free(units->exposures);
	units->nr_exposures = 2;
	units->exposures = calloc((size_t)units->nr * 2, sizeof(double));
	for (unsigned u = 0; u < units->nr; u++) {
		units->exposures[u] = 8000 + rand() % 4000;
		units->exposures[units->nr + u] = (double)(rand() % 3000);
	}
	for (size_t i = 0; i < nr; i++) {
		unsigned condition = i % 7 == 6;
		double *counts = units_add(
			units, i % 3 ? HYPOTHESIS_TOTAL : HYPOTHESIS_SELF, (uint32_t)i + 1);
		double share = 0.002 + 0.05 * rand() / RAND_MAX;
		double shift = i % 10 == 0 ? 0.015 : i % 10 == 5 ? -0.01 : 0;

		units->hypotheses[i].condition = (uint16_t)condition;
		for (unsigned u = 0; u < units->nr; u++) {
			double exposure = units->exposures[condition * units->nr + u];
			double rate =
				share * (1 + 0.1 * units_noise()) + (u >= nr_before ? shift : 0);
			double count = rate * exposure + sqrt(share * exposure) * units_noise();

			counts[u] = rint(count > 0 ? count : 0);
		}
	}
	return units;
}

#endif
