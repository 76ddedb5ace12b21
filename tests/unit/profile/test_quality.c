/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/quality.h"

#include <errno.h>
#include <string.h>

#include "profile/profile.h"
#include "unit/test.h"

TestSuite(quality, .fini = check_leaks);

static struct stoke_profile *profile;
static struct quality_text text;

/* A profile of one run with a column of samples. */
static uint64_t *begin(void)
{
	uint32_t run = 9;
	unsigned value = 9;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "one", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	return profile->runs[0].quality.count;
}

static void fact(const char *key, const char *value)
{
	cr_assert(eq(int, profile_fact(profile, 0, key, value), 0));
}

struct place {
	const char *name;
	enum function_kind kind;
	const char *module;
};

/* Adds samples of a stack, outermost first, of a process. */
static void samples(const struct place *stack, uint64_t n, const char *process)
{
	struct label label = {0};
	uint32_t node = 0, labels = 0;

	for (; stack->name; stack++) {
		struct frame key = {.address = 0x1000, .nr_functions = 1};
		struct module module = {.kind = MODULE_FILE,
			.path = (char *)stack->module,
			.fd = -1,
			.root_fd = -1};
		uint32_t frame = 0;

		cr_assert(eq(int,
			profile_function(profile, stack->name, strlen(stack->name), stack->kind, 0,
				0, &key.function),
			0));
		if (stack->module)
			cr_assert(eq(int, profile_module(profile, &module, &key.module), 0));
		cr_assert(eq(int, profile_frame(profile, &key, &frame), 0));
		cr_assert(eq(int, stacks_child(&profile->stacks, node, frame, &node), 0));
	}
	cr_assert(eq(int, profile_text(profile, "process", &label.key), 0));
	cr_assert(eq(int, profile_text(profile, process, &label.str), 0));
	cr_assert(eq(int, profile_labels(profile, &label, 1, &labels), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, labels, 0, (uint64_t[]){n}), 0));
}

static void plain_samples(uint64_t n)
{
	samples((struct place[]){{"main", FUNCTION_NATIVE}, {0}}, n, "app");
}

/* What is said, in one string, a sentence a line; the profile is gone afterwards. */
static char *said(void)
{
	static char all[16384];

	all[0] = '\0';
	cr_assert(eq(int, quality_say(profile, &text), 0));
	for (size_t i = 0; i < text.nr; i++) {
		strncat(all, text.sentence[i], sizeof(all) - strlen(all) - 1);
		strncat(all, "\n", sizeof(all) - strlen(all) - 1);
	}
	stoke_profile_free(profile);
	return all;
}

static void says(const char *all, const char *part)
{
	cr_assert(ne(ptr, (void *)strstr(all, part), NULL), "\"%s\" is not in: %s", part, all);
}

static void does_not_say(const char *all, const char *part)
{
	cr_assert(eq(ptr, (void *)strstr(all, part), NULL), "\"%s\" is in: %s", part, all);
}

Test(quality, every_count_has_a_word_that_leads_back_to_it)
{
	for (int i = 0; i < NR_QUALITY_COUNTS; i++) {
		const char *name = quality_name((enum quality_count)i);

		cr_assert(ne(ptr, (void *)name, NULL));
		cr_assert(eq(int, quality_find(name, strlen(name)), i));
		cr_assert(eq(int, quality_find(name, strlen(name) - 1), -ENOENT));
	}
}

Test(quality, runs_are_summed_without_overflow)
{
	struct quality sum;
	uint32_t run = 9;

	(void)begin();
	cr_assert(eq(int, profile_run(profile, "two", &run), 0));
	for (int i = 0; i < 2; i++) {
		profile->runs[i].quality.count[QUALITY_SAMPLES] = UINT64_MAX - 5;
		profile->runs[i].quality.count[QUALITY_FRAMES] = 7;
	}
	quality_sum(profile, &sum);
	cr_assert(eq(u64, sum.count[QUALITY_SAMPLES], UINT64_MAX));
	cr_assert(eq(u64, sum.count[QUALITY_FRAMES], 14));
	stoke_profile_free(profile);
}

Test(quality, a_good_recording_has_a_line_and_no_sentence)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = 1000;
	count[QUALITY_STACKS_WHOLE] = 990;
	count[QUALITY_STACKS_EXIT] = 4;
	count[QUALITY_STACKS_BROKEN] = 6;
	count[QUALITY_FRAMES] = 20000;
	count[QUALITY_UNNAMED_GAP] = 60;
	count[QUALITY_OWN_CPU_NS] = 60000000;
	profile->runs[0].duration_ns = 30000000000;
	plain_samples(1000);
	cr_assert(eq(str, said(), ""));
	cr_assert(eq(str, text.line,
		"99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost 0.002 "
		"cores"));
}

Test(quality, text_input_says_nothing_of_its_quality)
{
	(void)begin();
	plain_samples(1000);
	cr_assert(eq(str, said(), ""));
	cr_assert(eq(str, text.line, "the input says nothing of it"));
}

Test(quality, a_lost_share_names_its_cause_and_half_the_rate)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = 979;
	count[QUALITY_LOST_RING] = 21;
	fact("rate", "999 Hz");
	plain_samples(979);
	cr_assert(eq(str, said(),
		"2.1 % of samples lost: stoke got too little CPU; -F 499, or nice -n -10; shares "
		"stay right if the loss is even\n"));
}

Test(quality, less_than_one_percent_lost_is_in_the_line_only)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = count[QUALITY_STACKS_WHOLE] = 9950;
	count[QUALITY_LOST_BUSY] = 50;
	plain_samples(9950);
	cr_assert(eq(str, said(), ""));
	cr_assert(eq(str, text.line, "100 % of stacks whole, 0 % of frames unnamed, 0.5 % lost"));
}

Test(quality, what_was_never_taken_is_not_called_lost)
{
	uint64_t *count = begin();
	char *all;

	count[QUALITY_SAMPLES] = 800;
	count[QUALITY_EXPECTED] = 1000;
	count[QUALITY_NOT_TAKEN] = 200;
	plain_samples(800);
	all = said();
	says(all, "20.0 % of the samples expected were never taken");
	does_not_say(all, "samples lost");
}

Test(quality, what_chance_explains_is_not_blamed_on_the_machine)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = 110;
	count[QUALITY_EXPECTED] = 118;
	count[QUALITY_NOT_TAKEN] = 8;
	plain_samples(110);
	cr_assert(eq(str, said(), ""));
}

Test(quality, an_idle_target_is_named_with_the_cpu_it_used)
{
	(void)begin();
	fact("target", "4242 java (jenkins.war), 97 threads");
	fact("state", "used 0.03 s of CPU in 30.0 s");
	cr_assert(eq(str, said(),
		"no samples: 4242 java (jenkins.war), 97 threads used 0.03 s of CPU in 30.0 s, and "
		"a profile of CPU time shows only what runs; a longer -d or a higher -F meets "
		"more\n"));
}

Test(quality, a_target_that_ended_is_said_to_have_ended)
{
	(void)begin();
	fact("target", "4242 true");
	fact("state", "ended after 0.1 s");
	cr_assert(eq(str, said(),
		"no samples: 4242 true ended after 0.1 s; a higher -F meets shorter work\n"));
}

Test(quality, few_samples_of_a_target_that_did_little_say_so)
{
	(void)begin();
	fact("state", "used 0.02 s of CPU in 30.0 s");
	plain_samples(2);
	says(said(), "only 2 samples, since the target used 0.02 s of CPU in 30.0 s: ");
}

Test(quality, an_empty_input_and_an_empty_choice_are_told_apart)
{
	uint64_t *count = begin();

	cr_assert(eq(str, said(),
		"no samples: there is no stack with a count, or none passes the filters\n"));
	count = begin();
	count[QUALITY_SAMPLES] = 70;
	cr_assert(
		eq(str, said(), "nothing is left: no sample of the profile passes the filters\n"));
}

Test(quality, few_samples_come_with_what_chance_does_to_a_share)
{
	(void)begin();
	fact("rate", "99 Hz");
	plain_samples(36);
	cr_assert(eq(str, said(),
		"only 36 samples: chance alone moves a share of 10 % by 10 points; a longer -d or "
		"a higher -F\n"));
}

Test(quality, few_samples_are_cured_by_what_can_cure_them)
{
	(void)begin(); /* not recorded by stoke: who knows how */
	plain_samples(1);
	cr_assert(eq(
		str, said(), "only 1 sample: chance alone moves a share of 10 % by 60 points\n"));
	(void)begin();
	fact("rate", "99 Hz");
	fact("state", "ended after 2.0 s");
	plain_samples(36);
	says(said(), "by 10 points; a higher -F\n");
	(void)begin();
	fact("rate", "10000 Hz");
	plain_samples(36);
	says(said(), "by 10 points; a longer -d\n");
	(void)begin();
	fact("rate", "one in 1000 events");
	plain_samples(36);
	says(said(), "by 10 points; a longer -d or a smaller -c\n");
	(void)begin();
	fact("rate", "99 Hz");
	fact("command", "make");
	plain_samples(36);
	says(said(), "by 10 points; a higher -F\n");
}

static const struct place no_callers[] = {
	{"[broken]", FUNCTION_MARK}, {"void a.B.c()", FUNCTION_JIT}, {0}};
static const struct place callers[] = {
	{"start_thread", FUNCTION_NATIVE, "/lib/libc.so.6"}, {"void a.B.c()", FUNCTION_JIT}, {0}};
static const struct place cut[] = {
	{"[truncated]", FUNCTION_MARK}, {"void a.B.c()", FUNCTION_JIT}, {0}};

Test(quality, java_without_callers_names_the_flag)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = 1000;
	count[QUALITY_STACKS_WHOLE] = 400;
	count[QUALITY_STACKS_BROKEN] = 600;
	samples(no_callers, 600, "java");
	samples(callers, 400, "java");
	cr_assert(eq(str, said(),
		"60.0 % of the stacks in generated code have no callers: no frame pointers there; "
		"start java with -XX:+PreserveFramePointer\n"));
}

Test(quality, deep_recursion_of_java_is_not_taken_for_missing_frame_pointers)
{
	uint64_t *count = begin();
	char *all;

	count[QUALITY_SAMPLES] = 1000;
	count[QUALITY_STACKS_WHOLE] = 400;
	count[QUALITY_STACKS_TRUNCATED] = 600;
	samples(cut, 600, "java");
	samples(callers, 400, "java");
	all = said();
	does_not_say(all, "PreserveFramePointer");
	says(all, "60.0 % of stacks deeper than the limit of 1024 frames");
}

Test(quality, broken_stacks_name_the_library_that_breaks_most)
{
	uint64_t *count = begin();

	count[QUALITY_SAMPLES] = 1000;
	count[QUALITY_STACKS_WHOLE] = 900;
	count[QUALITY_STACKS_BROKEN] = 100;
	plain_samples(900);
	samples((struct place[]){{"[broken]", FUNCTION_MARK},
			{"deflate", FUNCTION_NATIVE, "/usr/lib/libz.so.1"}, {0}},
		70, "app");
	samples((struct place[]){{"[broken]", FUNCTION_MARK},
			{"read", FUNCTION_NATIVE, "/usr/lib/libc.so.6"}, {0}},
		30, "app");
	cr_assert(eq(str, said(),
		"10.0 % of stacks end before their root, most of it in libz.so.1: no frame "
		"pointers there, and no unwind information that leads on; rebuild it with "
		"-fno-omit-frame-pointer\n"));
}

Test(quality, frames_without_names_say_what_would_name_them)
{
	uint64_t *count = begin();
	char *all;

	count[QUALITY_SAMPLES] = 1000;
	count[QUALITY_STACKS_WHOLE] = 1000;
	count[QUALITY_FRAMES] = 10000;
	count[QUALITY_UNNAMED_NO_SYMBOLS] = 300;
	count[QUALITY_UNNAMED_KERNEL] = 200;
	count[QUALITY_UNNAMED_UNREADABLE] = 100;
	count[QUALITY_UNNAMED_JIT] = 400;
	samples((struct place[]){{"main", FUNCTION_NATIVE, "/usr/bin/node"},
			{"[libfoo.so+0x1a2b]", FUNCTION_NATIVE, "/opt/libfoo.so"}, {0}},
		1000, "app.js");
	all = said();
	says(all, "3.0 % of frames in code without symbols, most of it in libfoo.so: "
		  "install its -dbgsym package or keep .symtab");
	says(all, "kernel.kptr_restrict=0");
	says(all, "CAP_DAC_READ_SEARCH");
	says(all, "4.0 % of frames in generated code that no perf map names; node: "
		  "start it with --perf-basic-prof");
	does_not_say(all, "jcmd");
}

Test(quality, files_that_no_descriptor_was_left_for_are_not_cured_by_rights)
{
	uint64_t *count = begin();
	const char *all;

	count[QUALITY_SAMPLES] = count[QUALITY_STACKS_WHOLE] = 100;
	count[QUALITY_FRAMES] = 1000;
	count[QUALITY_UNNAMED_UNREADABLE] = 100;
	samples((struct place[]){{"main", FUNCTION_NATIVE, "/usr/bin/app"},
			{"[libfoo.so+0x1a2b]", FUNCTION_NATIVE, "/opt/libfoo.so"}, {0}},
		100, "app");
	profile->modules[profile->nr_modules - 1].open_error = EMFILE;
	all = said();
	says(all, "10.0 % of frames in files that could not be read, most of it in libfoo.so: "
		  "too many files were open; raise the limit: ulimit -n 65536");
	does_not_say(all, "CAP_");
}

Test(quality, what_a_perf_map_lacks_is_not_cured_twice)
{
	uint64_t *count = begin();

	count[QUALITY_FRAMES] = 100;
	count[QUALITY_UNNAMED_JIT] = 50;
	fact("warning", "/tmp/perf-42.map: not there; java: jcmd 42 Compiler.perfmap");
	plain_samples(100);
	cr_assert(eq(str, said(),
		"50.0 % of frames in generated code that no perf map names: /tmp/perf-42.map: not "
		"there; java: jcmd 42 Compiler.perfmap\n"));
}

Test(quality, a_perf_map_that_nobody_needed_is_not_missed)
{
	uint64_t *count = begin();
	const char *all;

	count[QUALITY_FRAMES] = 10000;
	count[QUALITY_UNNAMED_JIT] = 1;
	fact("warning", "/tmp/perf-42.map: not there; java: jcmd 42 Compiler.perfmap");
	fact("warning", "/tmp/perf-43.map is a symbolic link: ignored; delete it");
	plain_samples(100);
	all = said();
	does_not_say(all, "perf-42");
	says(all, "perf-43");
}

Test(quality, a_recording_of_nothing_has_no_stack_to_judge)
{
	begin()[QUALITY_OWN_CPU_NS] = 5;
	(void)said();
	cr_assert(eq(str, text.line, "there is no stack to judge"));
}

Test(quality, generated_code_of_an_unknown_runtime_names_them_all)
{
	uint64_t *count = begin();
	char *all;

	count[QUALITY_FRAMES] = 100;
	count[QUALITY_UNNAMED_JIT] = 50;
	plain_samples(100);
	all = said();
	says(all, "jcmd PID Compiler.perfmap");
	says(all, "-X perf");
}

Test(quality, refused_lines_and_lost_records_are_counted_aloud)
{
	uint64_t *count = begin();
	char *all;

	count[QUALITY_MAP_LINES_BAD] = 12;
	count[QUALITY_LINES_BAD] = 3;
	count[QUALITY_LOST_SIDEBAND] = 5;
	fact("first-bad-line", "line 7: no count");
	plain_samples(100);
	all = said();
	says(all, "12 lines of perf maps refused");
	says(all, "3 lines of the input refused; the first: line 7: no count");
	says(all, "5 records of mappings and processes lost");
}

Test(quality, findings_pass_and_hostile_bytes_do_not)
{
	(void)begin();
	fact("warning", "/tmp/perf-42.map: belongs to uid 1001\x1b[2J");
	plain_samples(100);
	cr_assert(eq(str, said(), "/tmp/perf-42.map: belongs to uid 1001\\x1b[2J\n"));
}

Test(quality, more_sentences_than_there_is_room_for_end_at_the_limit)
{
	(void)begin();
	for (int i = 0; i < 2 * QUALITY_MAX_SENTENCES; i++) {
		char value[32];

		(void)snprintf(value, sizeof(value), "finding %d", i);
		fact("warning", value);
	}
	plain_samples(100);
	(void)said();
	cr_assert(eq(sz, text.nr, QUALITY_MAX_SENTENCES));
}

Test(quality, sums_that_do_not_fit_are_told)
{
	(void)begin();
	plain_samples(UINT64_MAX - 1);
	does_not_say(said(), "a sum can hold");
	(void)begin();
	plain_samples(UINT64_MAX - 1);
	samples((struct place[]){{"other", FUNCTION_NATIVE, NULL}, {0}}, 2, "app");
	says(said(), "1 count beyond the 18,446,744,073,709,551,615 that a sum can hold: sums stop "
		     "there, and shares are wrong\n");
}
