/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>

#include "diff/comparable.h"

extern const struct format format_folded;

TestSuite(comparable, .fini = check_leaks);

static struct stoke_profile *sides(const char *before, const char *after)
{
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(
		zero(int, read_bytes(profile, &format_folded, before, strlen(before), NULL, NULL)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, after, strlen(after), NULL, NULL)));
	return profile;
}

static void say(
	struct stoke_profile *profile, const char *key, const char *before, const char *after)
{
	cr_assert(zero(int, profile_fact(profile, 0, key, before)));
	cr_assert(zero(int, profile_fact(profile, 1, key, after)));
}

static struct comparable *look(struct stoke_profile *profile)
{
	struct comparable *comparable;

	cr_assert(zero(int, comparable_look(profile, 1, &comparable, NULL)));
	return comparable;
}

/* Takes the profile over. */
static void expect(struct stoke_profile *profile, enum finding_weight weight, const char *key,
	const char *text)
{
	struct comparable *comparable = look(profile);
	int found = 0;

	for (size_t i = 0; i < comparable->nr_findings; i++) {
		const struct comparable_finding *it = &comparable->findings[i];

		if (strcmp(it->key, key) != 0)
			continue;
		found++;
		cr_expect(eq(int, it->weight, weight));
		cr_expect(eq(str, it->text, (char *)text));
	}
	cr_expect(eq(int, found, 1), "%s", key);
	cr_expect(eq(int, comparable_worst(comparable, weight), 1));
	comparable_free(comparable);
	stoke_profile_free(profile);
}

static void event_of(
	struct stoke_profile *profile, uint32_t run, const char *event, uint64_t period)
{
	uint32_t id, unit;

	cr_assert(zero(int, profile_text(profile, event, &id)));
	cr_assert(zero(int, profile_text(profile, "nanoseconds", &unit)));
	profile->runs[run].event = id;
	profile->runs[run].period = period;
	profile->runs[run].period_type.unit = unit;
}

Test(comparable, what_says_nothing_hinders_nothing)
{
	struct stoke_profile *profile = sides("a;b 3\n", "a;b 5\n");
	struct comparable *comparable = look(profile);

	cr_assert(zero(int, comparable_worst(comparable, FINDING_NOTE)));
	cr_assert(eq(u64, comparable->sides[0].samples, 3));
	cr_assert(eq(u64, comparable->sides[1].samples, 5));
	comparable_free(comparable);
	stoke_profile_free(profile);
}

Test(comparable, other_events_refuse)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	event_of(profile, 0, "cpu-clock", 1000);
	event_of(profile, 1, "cycles", 1000);
	expect(profile, FINDING_REFUSAL, "event",
		"before has cpu-clock, after cycles: not comparable. Record both with -e "
		"cpu-clock");
}

Test(comparable, other_rates_refuse_but_rounding_does_not)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	event_of(profile, 0, "cpu-clock", 10101010);
	event_of(profile, 1, "cpu-clock", 1001001);
	expect(profile, FINDING_REFUSAL, "rate",
		"before was sampled at 99 Hz, after at 999: not comparable. Record both with -F "
		"999");
	profile = sides("a 1\n", "a 1\n");
	event_of(profile, 0, "cpu-clock", 10101010);
	event_of(profile, 1, "cpu-clock", 10101101);
	expect(profile, FINDING_SAME, "rate", "rate");
}

Test(comparable, a_map_that_is_missing_on_one_side_passes_for_a_change)
{
	expect(sides("a;b 97\na;[unknown] 3\n", "a;b 60\na;0x7f12 40\n"), FINDING_REFUSAL,
		"unnamed",
		"frames without names: 1.5 % before, 20.0 % after, and that passes for a change; "
		"give both their symbols or perf map");
}

Test(comparable, truncation_is_seen_behind_process_and_thread_too)
{
	expect(sides("java;main;[truncated];f 10\njava;main;f 90\n", "java;main;f 100\n"),
		FINDING_REFUSAL, "truncated",
		"stacks cut at the limit: 10.0 % before, 0.0 % after, and that passes for a "
		"change; "
		"record less recursion, or both alike");
}

Test(comparable, lost_samples_refuse)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	profile->runs[1].quality.count[QUALITY_SAMPLES] = 970;
	profile->runs[1].quality.count[QUALITY_LOST_RING] = 30;
	expect(profile, FINDING_REFUSAL, "lost",
		"after lost 3.0 % of its samples: shares may be bent; record with a lower -F");
}

Test(comparable, jvms_of_other_releases_ask_for_their_names)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");
	struct comparable *comparable;

	say(profile, "jvm", "1.8.0_202", "17.0.15+6");
	comparable = look(profile);
	cr_assert(eq(int, comparable->jvms_differ, 1));
	comparable_free(comparable);
	stoke_profile_free(profile);

	profile = sides("a 1\n", "a 1\n");
	say(profile, "jvm", "1.8.0_74", "1.8.0_202");
	comparable = look(profile);
	cr_assert(zero(int, comparable->jvms_differ));
	comparable_free(comparable);
	expect(profile, FINDING_NOTE, "jvm", "JDK 1.8.0_74 before, 1.8.0_202 after");
}

Test(comparable, an_earlier_after_is_asked_about)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	profile->runs[0].start_ns = 2000;
	profile->runs[1].start_ns = 1000;
	cr_assert(zero(int, profile_text(profile, "b.folded", &profile->runs[0].name)));
	cr_assert(zero(int, profile_text(profile, "a.folded", &profile->runs[1].name)));
	expect(profile, FINDING_WARNING, "order",
		"before (b.folded) was recorded after after (a.folded): exchanged? Nothing is "
		"assumed; swap the operands if so");
}

Test(comparable, other_processors_warn_and_kernels_are_noted)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	say(profile, "processor", "X1", "X2");
	expect(profile, FINDING_WARNING, "processor", "different processors: X1 before, X2 after");
	profile = sides("a 1\n", "a 1\n");
	say(profile, "kernel", "6.1", "6.12");
	expect(profile, FINDING_NOTE, "kernel", "kernels: 6.1 before, 6.12 after");
}

static struct stoke_profile *loaded(
	const char *before, const char *after, const char *limit, const char *limit_after)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	say(profile, "machine", before, after);
	if (limit)
		cr_assert(zero(int, profile_fact(profile, 0, "limit", limit)));
	if (limit_after)
		cr_assert(zero(int, profile_fact(profile, 1, "limit", limit_after)));
	return profile;
}

#define QUIET "8 CPUs, 20 % busy (user 15 %, system 5 %, irq 0 %)"
#define BUSY  "8 CPUs, 71 % busy (user 60 %, system 11 %, irq 0 %), 30 % of that the target"

Test(comparable, another_load_is_noted_and_other_limits_warn)
{
	expect(loaded(QUIET, BUSY, NULL, NULL), FINDING_NOTE, "machine",
		"the machine was 20 % busy before, 71 % after");
	expect(loaded(QUIET, QUIET, "2.0 cores by cgroup, never throttled meanwhile", NULL),
		FINDING_WARNING, "limit",
		"a CPU limit of 2.0 cores before, none after: record both with the same");
	expect(loaded(QUIET, QUIET, NULL, "2.0 cores by cgroup, never throttled meanwhile"),
		FINDING_WARNING, "limit",
		"a CPU limit of 2.0 cores after, none before: record both with the same");
	expect(loaded(QUIET, QUIET, "2.0 cores by cgroup, never throttled meanwhile",
		       "4.0 cores by cgroup, never throttled meanwhile"),
		FINDING_WARNING, "limit", "CPU limits: 2.0 cores before, 4.0 after");
	expect(loaded(QUIET, QUIET, "2.0 cores by cgroup, never throttled meanwhile",
		       "2.0 cores by cgroup, throttled in 41 % of the periods: more CPU"),
		FINDING_WARNING, "throttled",
		"throttled in 0 % of the periods before, 41 % after: shares hold, cores and times "
		"do not");
}

static int is_of_loads(const char *key)
{
	return strcmp(key, "machine") == 0 || strcmp(key, "limit") == 0 ||
	       strcmp(key, "throttled") == 0;
}

Test(comparable, loads_and_limits_that_are_alike_are_not_told)
{
	struct stoke_profile *profile =
		loaded(QUIET, "8 CPUs, 38 % busy (user 30 %, system 8 %, irq 0 %)",
			"2.0 cores by cgroup, throttled in 41 % of the periods: more CPU",
			"2.0 cores by cgroup, throttled in 35 % of the periods: more CPU");
	struct comparable *comparable = look(profile);

	for (size_t i = 0; i < comparable->nr_findings; i++)
		cr_expect(zero(int, is_of_loads(comparable->findings[i].key)));
	comparable_free(comparable);
	stoke_profile_free(profile);
}

Test(comparable, compilers_at_work_are_told)
{
	expect(sides("C2 CompilerThread0;f 50\nmain;g 50\n", "GC Thread#0;f 10\nmain;g 90\n"),
		FINDING_NOTE, "runtime",
		"JIT 50 % of samples before, 0 after; GC 0 before, 10 after: kept apart from the "
		"application");
}

Test(comparable, scopes_must_agree)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");

	cr_assert(zero(int, profile_fact(profile, 0, "scope", "user code")));
	expect(profile, FINDING_REFUSAL, "scope",
		"before has user code, after user and kernel code: not comparable. Record both the "
		"same way (-U, -K)");
}

Test(comparable, a_side_without_runs_is_an_error)
{
	struct stoke_profile *profile = sides("a 1\n", "a 1\n");
	struct comparable *comparable;

	cr_assert(eq(int, comparable_look(profile, 0, &comparable, NULL), -ENODATA));
	cr_assert(eq(int, comparable_look(profile, 2, &comparable, NULL), -ENODATA));
	stoke_profile_free(profile);
}
