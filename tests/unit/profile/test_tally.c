/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/tally.h"

#include <math.h>

#include "unit/test.h"

TestSuite(tally, .fini = check_leaks);

/* A run with a row of each of two stacks: samples (none where NULL) and CPU time. */
static void add_run(struct stoke_profile *profile, const uint64_t *samples, const uint64_t *cpu_ns,
	uint64_t period)
{
	static const char *const names[] = {"a", "b"};
	unsigned count = 0, cpu;
	uint32_t run;

	cr_assert(zero(int, profile_run(profile, "file", &run)));
	if (samples)
		cr_assert(zero(int, profile_value(profile, "samples", "count", &count)));
	cr_assert(zero(int, profile_value(profile, "cpu", "nanoseconds", &cpu)));
	profile->default_value = cpu;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t values[PROFILE_MAX_VALUES] = {0};
		uint32_t frame, node;

		cr_assert(zero(
			int, profile_named_frame(profile, names[i], 1, FUNCTION_NATIVE, &frame)));
		cr_assert(ge(int, stacks_child(&profile->stacks, 0, frame, &node), 0));
		if (samples)
			values[count] = samples[i];
		values[cpu] = cpu_ns[i];
		cr_assert(ge(int, profile_row(profile, run, node, 0, 0, values), 0));
	}
	if (!period)
		return;
	profile->runs[run].period = period;
	cr_assert(zero(
		int, profile_text(profile, "nanoseconds", &profile->runs[run].period_type.unit)));
}

static struct stoke_profile *made(void)
{
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	return profile;
}

static const uint64_t times[] = {30000000, 70000000};
static const uint64_t counts[] = {6, 14};

Test(tally, a_column_of_samples_is_what_counts)
{
	struct stoke_profile *profile = made();
	struct tally tally;

	add_run(profile, counts, times, 5000000);
	cr_assert(zero(int, tally_init(&tally, profile)));
	cr_assert(eq(u64, tally_of(&tally, 0), 6));
	cr_assert(eq(u64, tally_of(&tally, 1), 14));
	cr_assert(eq(dbl, tally_sample_ns(&tally, 0), 5e6));
	tally_done(&tally);
	stoke_profile_free(profile);
}

Test(tally, time_by_samples_is_the_period_of_a_file_that_says_none_or_a_senseless_one)
{
	static const uint64_t periods[] = {0, 1, 500, 200000000};

	for (unsigned i = 0; i < 4; i++) {
		struct stoke_profile *profile = made();
		struct tally tally;

		add_run(profile, counts, times, periods[i]);
		cr_assert(zero(int, tally_init(&tally, profile)));
		cr_assert(eq(dbl, tally.period_ns[0], 5e6), "%llu", (unsigned long long)periods[i]);
		tally_done(&tally);
		stoke_profile_free(profile);
	}
}

Test(tally, times_alone_are_counted_by_the_period_or_the_usual_one)
{
	static const struct {
		uint64_t period, first, second;
	} cases[] = {{5000000, 6, 14}, {0, 3, 7}, {1, 3, 7}};

	for (unsigned i = 0; i < 3; i++) {
		struct stoke_profile *profile = made();
		struct tally tally;

		add_run(profile, NULL, times, cases[i].period);
		cr_assert(zero(int, tally_init(&tally, profile)));
		cr_assert(eq(u64, tally_of(&tally, 0), cases[i].first));
		cr_assert(eq(u64, tally_of(&tally, 1), cases[i].second));
		/* As many as that of that much: the time is what the file said. */
		cr_assert(eq(dbl, 10 * tally_sample_ns(&tally, 0),
			cases[i].period == 5000000 ? 5e7 : 1e8));
		cr_assert(eq(int, isnan(tally.period_ns[0]) != 0, cases[i].period != 5000000));
		tally_done(&tally);
		stoke_profile_free(profile);
	}
}

/* One file counts samples, the other only has times: both sides are counted. */
Test(tally, a_filled_profile_counts_every_run_in_one_column)
{
	struct stoke_profile *profile = made();
	unsigned column;

	add_run(profile, NULL, times, 0);
	add_run(profile, counts, times, 0);
	cr_assert(zero(int, tally_fill(profile, &column)));
	for (size_t i = 0; i < profile->rows.nr; i++) {
		uint64_t cpu = profile->rows.value[profile->default_value][i];
		uint64_t period = profile->runs[profile->rows.run[i]].period;

		cr_assert(eq(u64, profile->rows.value[column][i] * period, cpu));
	}
	stoke_profile_free(profile);
}

Test(tally, a_profile_without_a_column_of_samples_gets_one)
{
	struct stoke_profile *profile = made();
	unsigned column;

	add_run(profile, NULL, times, 5000000);
	cr_assert(zero(int, tally_fill(profile, &column)));
	cr_assert(
		eq(str, strings_text(&profile->strings, profile->values[column].type), "samples"));
	cr_assert(eq(u64, profile->rows.value[column][1], 14));
	stoke_profile_free(profile);
}
