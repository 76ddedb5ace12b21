/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/names.h"

#include <errno.h>
#include <fcntl.h>

#include "format/read_write.h"
#include "names/alias.h"

extern const struct format format_folded;

TestSuite(names, .fini = check_leaks);

static struct stoke_profile *read_folded(const char *text)
{
	struct stoke_profile *profile;
	struct stoke_error err = {0};

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(ge(int, read_bytes(profile, &format_folded, text, strlen(text), NULL, &err), 0),
		"%s", err.text);
	return profile;
}

static struct stoke_profile *rewrite(struct stoke_profile *profile,
	const struct names_options *options, struct names_merged **merged)
{
	struct stoke_profile *renamed;
	struct stoke_error err = {0};

	cr_assert(
		zero(int, names_rewrite(profile, options, &renamed, merged, &err)), "%s", err.text);
	stoke_profile_free(profile); /* nothing may be borrowed from it */
	return renamed;
}

static void assert_becomes(const char *text, struct names_options options, const char *want)
{
	struct stoke_profile *renamed = rewrite(read_folded(text), &options, NULL);
	_cleanup_free_ char *folded = write_bytes(renamed, &format_folded, NULL);

	cr_assert(eq(str, folded, (char *)want));
	stoke_profile_free(renamed);
}

#define BECOMES(text, want, ...) assert_becomes(text, (struct names_options){__VA_ARGS__}, want)

Test(names, stacks_whose_names_become_equal_are_one)
{
	BECOMES("java;Shop$$Lambda$233/0x0000000800d4c1f0.apply;Shop.price 30\n"
		"java;Shop$$Lambda/0x00007f12ac0a1b20.apply;Shop.price 20\n",
		"java;Shop$$Lambda.apply;Shop.price 50\n", 0);
	BECOMES("a;b.isra.0 1\na;b.cold 2\na;b 4\n", "a;b 7\n", .level = STOKE_NAMES_BUILD);
}

Test(names, level_none_leaves_names)
{
	BECOMES("a;b.isra.0 1\na;b.cold 2\n", "a;b.cold 2\na;b.isra.0 1\n",
		.level = STOKE_NAMES_NONE);
}

Test(names, adjacent_equal_frames_fold)
{
	BECOMES("walk;walk;walk;f 30\nwalk;f 10\nwalk;g;walk 5\n", "walk;f 40\nwalk;g;walk 5\n", 0);
	BECOMES("f;f.cold 3\n", "f 3\n", 0);
	BECOMES("walk;walk;f 30\n", "walk;walk;f 30\n", .flags = NAMES_NO_FOLD);
	BECOMES("walk;walk;f 30\n", "walk;f 30\n", .level = STOKE_NAMES_NONE);
}

Test(names, a_run_of_bridges_is_one_even_without_folding)
{
	const char *text = "a;java.lang.reflect.Method.invoke;sun.reflect.DelegatingMethodAccessor"
			   "Impl.invoke;sun.reflect.NativeMethodAccessorImpl.invoke0;b;b 3\n"
			   "a;java.lang.reflect.Method.invoke;jdk.internal.reflect.Direct"
			   "MethodHandleAccessor.invoke;java.lang.invoke.LambdaForm$DMH/0x00."
			   "invokeStatic;b;b 4\n";

	BECOMES(text, "a;java.lang.reflect.Method.invoke;[reflection];b;b 7\n",
		.level = STOKE_NAMES_JDK, .flags = NAMES_NO_FOLD);
}

Test(names, the_kernel_keeps_its_own)
{
	BECOMES("read;read_[k] 3\nread_[k];read 4\nmain;memcpy.isra.0_[k] 5\nmain;memcpy 6\n",
		"main;memcpy 6\nmain;memcpy_[k] 5\nread;read_[k] 3\nread_[k];read 4\n", 0);
}

Test(names, aliases_come_last)
{
	const char *text = "com.acme.Old.run => com.acme.New.run\n";
	struct aliases *aliases;

	cr_assert(zero(int, aliases_parse(text, strlen(text), "x", &aliases, NULL)));
	BECOMES("void com.acme.Old.run() 1\n/com/acme/New.run 1\ncom/acme/New.run 2\n",
		"/com/acme/New.run 1\ncom.acme.New.run 3\n", .aliases = aliases);
	BECOMES("com.acme.Old.run 1\nx 2\n", "com.acme.New.run 1\nx 2\n", .aliases = aliases,
		.level = STOKE_NAMES_NONE);
	aliases_free(aliases);
}

/* Text says neither what is a mark nor that an address is no name. */
Test(names, code_without_a_name_is_one_however_it_was_written)
{
	BECOMES("java;[unknown];0x7f3b10a4c2e1 5\njava;0x7fa2c0d4c2e1 2\n[truncated];f 1\n",
		"[truncated];f 1\njava;[unknown] 7\n", 0);
	BECOMES("[libx.so+0x12];f 1\n[libx.so];f 2\nlibx.so+0x77;f 4\n", "[libx.so];f 7\n", 0);
}

static void add(struct stoke_profile *profile, uint32_t run, uint32_t labels, uint32_t slice,
	const struct frame *frames, size_t nr, uint64_t value)
{
	uint32_t node = 0, frame;

	for (size_t i = 0; i < nr; i++) {
		cr_assert(zero(int, profile_frame(profile, &frames[i], &frame)));
		cr_assert(zero(int, stacks_child(&profile->stacks, node, frame, &node)));
	}
	cr_assert(zero(int, profile_row(profile, run, node, labels, slice, &value)));
}

static uint32_t function(struct stoke_profile *profile, const char *name, enum function_kind kind)
{
	uint32_t id;

	cr_assert(zero(int, profile_function(profile, name, strlen(name), kind, 0, 0, &id)));
	return id;
}

static uint32_t module(struct stoke_profile *profile, const char *path)
{
	struct module module = {.kind = MODULE_FILE, .path = (char *)path, .fd = -1};
	uint32_t id;

	cr_assert(zero(int, profile_module(profile, &module, &id)));
	return id;
}

static struct stoke_profile *make(void)
{
	struct stoke_profile *profile;
	uint32_t run;
	unsigned value;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "before", &run)));
	cr_assert(zero(int, profile_run(profile, "after", &run)));
	cr_assert(zero(int, profile_fact(profile, 1, "kernel", "6.1")));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	profile->runs[1].slice_ns = 20000000;
	profile->runs[1].quality.count[QUALITY_SAMPLES] = 7;
	return profile;
}

Test(names, runs_labels_slices_and_sums_stay)
{
	struct stoke_profile *profile = make(), *renamed;
	struct label label = {.num = 7};
	struct frame a = {.nr_functions = 1}, b = a;
	uint32_t set;

	a.function = function(profile, "f.part.0", FUNCTION_NATIVE);
	b.function = function(profile, "f", FUNCTION_NATIVE);
	cr_assert(zero(int, profile_text(profile, "tid", &label.key)));
	cr_assert(zero(int, profile_labels(profile, &label, 1, &set)));
	add(profile, 0, 0, 0, &a, 1, 1);
	add(profile, 0, 0, 0, &b, 1, 2);
	add(profile, 1, 0, 0, &b, 1, 4);
	add(profile, 1, set, 0, &a, 1, 8);
	add(profile, 1, set, 3, &b, 1, 16);
	add(profile, 1, set, 3, &a, 1, 32);
	renamed = rewrite(profile, &(struct names_options){0}, NULL);
	cr_assert(eq(sz, renamed->rows.nr, 4));
	cr_assert(eq(u64, renamed->rows.value[0][0], 3));
	cr_assert(eq(u64, renamed->rows.value[0][3], 48));
	cr_assert(eq(u32, renamed->rows.slice[3], 3));
	cr_assert(eq(u32, renamed->rows.run[3], 1));
	cr_assert(eq(i64, profile_label(renamed, renamed->rows.labels[3], "tid")->num, 7));
	cr_assert(eq(u64, profile_total(renamed, 0), 63));
	cr_assert(eq(str, (char *)profile_fact_find(renamed, 1, "kernel"), "6.1"));
	cr_assert(eq(u64, renamed->runs[1].slice_ns, 20000000));
	cr_assert(eq(u64, renamed->runs[1].quality.count[QUALITY_SAMPLES], 7));
	cr_assert(eq(sz, renamed->stacks.nr, 2));
	stoke_profile_free(renamed);
}

Test(names, inlined_functions_become_frames)
{
	struct stoke_profile *profile = make(), *renamed;
	const struct symbol symbols[] = {
		{.name = "leaf", .name_size = 4, .kind = FUNCTION_INLINED},
		{.name = "mid.cold", .name_size = 8, .kind = FUNCTION_INLINED},
		{.name = "outer", .name_size = 5, .kind = FUNCTION_NATIVE},
	};
	struct frame frame = {.address = 0x10};
	_cleanup_free_ char *folded = NULL;

	add(profile, 0, 0, 0, &frame, 1, 3);
	cr_assert(zero(int, profile_name_frame(profile, 1, symbols, 3)));
	renamed = rewrite(profile, &(struct names_options){0}, NULL);
	folded = write_bytes(renamed, &format_folded, NULL);
	cr_assert(eq(str, folded, "outer;mid_[i];leaf_[i] 3\n"));
	stoke_profile_free(renamed);
}

Test(names, a_module_stays_when_its_file_name_does)
{
	struct stoke_profile *profile = make(), *renamed;
	struct frame frames[] = {
		{.nr_functions = 1,
			.module = module(profile, "/jdk17/libjvm.so"),
			.function = function(profile, "gc", FUNCTION_CPP)},
		{.nr_functions = 1,
			.module = module(profile, "/jdk21/libjvm.so"),
			.function = function(profile, "gc.part.0", FUNCTION_NATIVE)},
		{.nr_functions = 1,
			.module = module(profile, "/bin/a"),
			.function = function(profile, "main", FUNCTION_NATIVE)},
		{.nr_functions = 1,
			.module = module(profile, "/bin/b"),
			.function = function(profile, "main", FUNCTION_NATIVE)},
		{.nr_functions = 1, .function = function(profile, "[unknown]", FUNCTION_UNKNOWN)},
		{.nr_functions = 1,
			.module = module(profile, "/bin/b"),
			.function = function(profile, "[unknown]", FUNCTION_UNKNOWN)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		add(profile, 0, 0, 0, &frames[i], 1, 1);
	renamed = rewrite(profile, &(struct names_options){0}, NULL);
	cr_assert(eq(sz, renamed->nr_frames, 4));
	cr_assert(eq(str, renamed->modules[renamed->frames[1].module].path, "/jdk17/libjvm.so"));
	cr_assert(eq(u32, renamed->functions[renamed->frames[1].function].kind, FUNCTION_CPP));
	cr_assert(eq(u32, renamed->frames[2].module, 0));
	cr_assert(eq(u32, renamed->frames[3].module, 0));
	stoke_profile_free(renamed);
}

Test(names, functions_of_hotspot_lose_their_parameters_between_jdks)
{
	struct stoke_profile *profile = make(), *renamed;
	struct frame frames[] = {
		{.nr_functions = 1,
			.module = module(profile, "/jdk17/libjvm.so"),
			.function =
				function(profile, "C::load(Symbol*, JavaThread*)", FUNCTION_CPP)},
		{.nr_functions = 1,
			.module = module(profile, "/bin/a"),
			.function = function(profile, "D::load(int)", FUNCTION_CPP)},
	};
	_cleanup_free_ char *folded = NULL;

	add(profile, 0, 0, 0, frames, ARRAY_SIZE(frames), 2);
	renamed = rewrite(profile, &(struct names_options){.level = STOKE_NAMES_JDK}, NULL);
	folded = write_bytes(renamed, &format_folded, NULL);
	cr_assert(eq(str, folded, "C::load;D::load(int) 2\n"));
	stoke_profile_free(renamed);
}

/* A thread may be called like a function with a suffix, and a process like its thread. */
Test(names, roots_and_marks_keep_their_names)
{
	struct stoke_profile *profile = make(), *renamed;
	struct frame frames[] = {
		{.nr_functions = 1, .function = function(profile, "pool.part.0", FUNCTION_ROOT)},
		{.nr_functions = 1, .function = function(profile, "java", FUNCTION_ROOT)},
		{.nr_functions = 1, .function = function(profile, "java", FUNCTION_ROOT)},
		{.nr_functions = 1, .function = function(profile, "java", FUNCTION_NATIVE)},
		{.nr_functions = 1, .function = function(profile, "[left out]", FUNCTION_MARK)},
	};
	_cleanup_free_ char *folded = NULL;

	add(profile, 0, 0, 0, frames, ARRAY_SIZE(frames), 2);
	renamed = rewrite(profile, &(struct names_options){.level = STOKE_NAMES_JDK}, NULL);
	folded = write_bytes(renamed, &format_folded, NULL);
	cr_assert(eq(str, folded, "pool.part.0;java;java;java;[left out] 2\n"));
	stoke_profile_free(renamed);
}

Test(names, what_was_merged_is_told)
{
	struct names_merged *merged;
	struct stoke_profile *renamed =
		rewrite(read_folded("main;f 1\nmain;f.cold 1\nmain;f.isra.0 1\nmain;f.part.1 1\n"
				    "f.cold 1\nmain;g.cold 1\n"),
			&(struct names_options){0}, &merged);
	const struct names_spellings *of;
	uint32_t f = function(renamed, "f", FUNCTION_UNKNOWN);
	uint32_t g = function(renamed, "g", FUNCTION_UNKNOWN);

	cr_assert(eq(sz, merged->nr_before, 6));
	cr_assert(eq(sz, merged->nr_after, 3));
	cr_assert(eq(sz, merged->nr_merged, 1));
	of = &merged->of[f];
	cr_assert(eq(u32, of->nr, 4));
	cr_assert(eq(str, (char *)strings_text(&renamed->strings, of->first[0]), "f"));
	cr_assert(eq(str, (char *)strings_text(&renamed->strings, of->first[2]), "f.isra.0"));
	cr_assert(eq(u32, merged->of[g].nr, 1));
	cr_assert(
		eq(str, (char *)strings_text(&renamed->strings, merged->of[g].first[0]), "g.cold"));
	cr_assert(eq(u32, merged->of[function(renamed, "main", FUNCTION_UNKNOWN)].nr, 0));
	names_merged_free(merged);
	stoke_profile_free(renamed);
}

Test(names, an_empty_profile_stays_empty)
{
	struct stoke_profile *renamed = rewrite(make(), &(struct names_options){0}, NULL);

	cr_assert(eq(sz, renamed->rows.nr, 0));
	cr_assert(eq(sz, renamed->nr_runs, 2));
	stoke_profile_free(renamed);
}

/* The worked case of folding and spellings: what it says each stack becomes. */
Test(names, recursion_and_spellings_come_out_as_worked_out)
{
	int fd = open(DIFF_EXAMPLES "/03-recursion-names/A.folded", O_RDONLY | O_CLOEXEC);
	struct stoke_profile *profile, *renamed;
	uint64_t walk = 0;

	if (fd < 0)
		cr_skip_test("the worked cases are not here");
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, stoke_profile_read(profile, fd, NULL, NULL)));
	close(fd);
	renamed = rewrite(profile, &(struct names_options){.level = STOKE_NAMES_JDK}, NULL);
	for (size_t i = 0; i < renamed->rows.nr; i++) {
		uint32_t node = renamed->rows.stack[i];
		int found = 0;

		for (; node; node = renamed->stacks.parent[node]) {
			const struct frame *frame = &renamed->frames[renamed->stacks.frame[node]];
			uint32_t name = renamed->functions[frame->function].name;

			found += strcmp(strings_text(&renamed->strings, name), "N.walk") == 0;
		}
		cr_assert(found <= 1, "a stack has N.walk %d times", found);
		walk += found ? renamed->rows.value[0][i] : 0;
	}
	cr_assert(eq(u64, profile_total(renamed, 0), 100));
	cr_assert(eq(u64, walk, 100));
	stoke_profile_free(renamed);
}
