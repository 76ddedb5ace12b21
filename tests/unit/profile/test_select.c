/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>

#include "names/pools.h"
#include "profile/select.h"

extern const struct format format_folded;

TestSuite(select, .fini = check_leaks);

/* One sample of a thread, its stack as frames with ';' between, at a slice. */
struct sampled {
	const char *stack, *process, *thread;
	int pid, tid, cpu;
	uint32_t slice;
	uint64_t samples;
};

static const struct sampled all[] = {
	{"main;parse;read_[k]", "java", "http-1", 10, 11, 0, 0, 5},
	{"main;parse;hot", "java", "http-2", 10, 12, 1, 1, 7},
	{"main;parse;parse;hot", "java", "gc", 10, 13, 0, 2, 1},
	{"main;idle", "java", "main", 20, 20, 1, 3, 11},
	{"swapper_[k]", "kthread", "kthread", 30, 30, 0, 3, 2},
	{0},
};

static void add_stack(struct stoke_profile *profile, const char *stack, uint32_t *node)
{
	const char *end;

	*node = 0;
	for (;; stack = end + 1) {
		size_t size;
		uint32_t frame;
		int kernel;

		end = strchrnul(stack, ';');
		size = (size_t)(end - stack);
		kernel = size > 4 && memcmp(end - 4, "_[k]", 4) == 0;
		cr_assert(zero(int, profile_named_frame(profile, stack, kernel ? size - 4 : size,
					    kernel ? FUNCTION_KERNEL : FUNCTION_NATIVE, &frame)));
		cr_assert(zero(int, stacks_child(&profile->stacks, *node, frame, node)));
		if (!*end)
			return;
	}
}

static struct stoke_profile *make(const struct sampled *sampled)
{
	struct stoke_profile *profile;
	uint32_t run, node, set;
	unsigned value;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "rec", &run)));
	cr_assert(zero(int, profile_fact(profile, run, "kernel", "6.1")));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	profile->runs[run].slice_ns = 20000000;
	profile->runs[run].quality.count[QUALITY_SAMPLES] = 26;
	for (; sampled->stack; sampled++) {
		struct label labels[5] = {0};
		const char *const keys[] = {"process", "thread", "pid", "tid", "cpu"};

		for (size_t i = 0; i < 5; i++)
			cr_assert(zero(int, profile_text(profile, keys[i], &labels[i].key)));
		cr_assert(zero(int, profile_text(profile, sampled->process, &labels[0].str)));
		cr_assert(zero(int, profile_text(profile, sampled->thread, &labels[1].str)));
		labels[2].num = sampled->pid;
		labels[3].num = sampled->tid;
		labels[4].num = sampled->cpu;
		cr_assert(zero(int, profile_labels(profile, labels, 5, &set)));
		add_stack(profile, sampled->stack, &node);
		cr_assert(zero(int,
			profile_row(profile, run, node, set, sampled->slice, &sampled->samples)));
	}
	return profile;
}

static void assert_selects(
	const struct sampled *sampled, struct stoke_select_options options, const char *folded)
{
	struct stoke_profile *profile = make(sampled), *selected;
	struct stoke_error err = {0};
	char *text;

	cr_assert(zero(int, profile_select(profile, &options, pool_of, &selected, &err)), "%s",
		err.text);
	stoke_profile_free(profile); /* nothing may be borrowed from it */
	text = write_bytes(selected, &format_folded, NULL);
	cr_assert(eq(str, text, (char *)folded));
	cr_assert(eq(str, (char *)profile_fact_find(selected, 0, "kernel"), "6.1"));
	cr_assert(eq(u64, selected->runs[0].quality.count[QUALITY_SAMPLES], 26));
	free(text);
	stoke_profile_free(selected);
}

#define SELECTS(folded, ...) assert_selects(all, (struct stoke_select_options){__VA_ARGS__}, folded)

Test(select, no_option_leaves_everything)
{
	SELECTS("main;idle 11\nmain;parse;hot 7\nmain;parse;parse;hot 1\nmain;parse;read_[k] "
		"5\nswapper_[k] 2\n",
		0);
}

Test(select, focus_and_ignore_look_at_whole_stacks)
{
	SELECTS("main;parse;hot 7\nmain;parse;parse;hot 1\n", .focus = "^hot$");
	SELECTS("main;idle 11\nswapper_[k] 2\n", .ignore = "parse");
	SELECTS("main;parse;read_[k] 5\n", .focus = "parse", .ignore = "^(hot|idle)$");
}

Test(select, hidden_frames_leave_their_weight)
{
	SELECTS("main;hot 8\nmain;idle 11\nmain;read_[k] 5\nswapper_[k] 2\n", .hide = "^parse$");
}

Test(select, stacks_of_nothing_but_hidden_frames_go)
{
	SELECTS("main;idle 11\nmain;parse;hot 7\nmain;parse;parse;hot 1\nmain;parse;read_[k] 5\n",
		.hide = "swapper");
}

Test(select, root_is_the_outermost_match)
{
	SELECTS("parse;hot 7\nparse;parse;hot 1\nparse;read_[k] 5\n", .root = "^parse$");
}

Test(select, user_and_kernel_parts_of_stacks)
{
	SELECTS("main;idle 11\nmain;parse 5\nmain;parse;hot 7\nmain;parse;parse;hot 1\n",
		.flags = STOKE_USER_ONLY);
	SELECTS("read_[k] 5\nswapper_[k] 2\n", .flags = STOKE_KERNEL_ONLY);
}

Test(select, threads_by_name_and_processes_by_number)
{
	SELECTS("main;parse;hot 7\nmain;parse;read_[k] 5\n", .thread = "^http");
	SELECTS("main;idle 11\nswapper_[k] 2\n", .pids = (pid_t[]){30, 20}, .nr_pids = 2);
}

Test(select, time_is_that_of_slices)
{
	SELECTS("main;parse;hot 7\nmain;parse;parse;hot 1\n", .from_ns = 20000000,
		.to_ns = 60000000);
	SELECTS("main;idle 11\nswapper_[k] 2\n", .from_ns = 60000000);
	SELECTS("main;parse;read_[k] 5\n", .to_ns = 1);
}

Test(select, roots_by_thread_have_numbers_only_where_names_are_shared)
{
	static const struct sampled shared[] = {
		{"f", "java", "pool-1", 10, 11, 0, 0, 1},
		{"f", "java", "pool-1", 10, 12, 0, 0, 2},
		{"f", "java", "other", 10, 13, 0, 0, 4},
		{0},
	};
	const enum stoke_by by[] = {STOKE_BY_THREAD};

	assert_selects(shared, (struct stoke_select_options){.by = by, .nr_by = 1},
		"other;f 4\npool-1 (11);f 1\npool-1 (12);f 2\n");
}

Test(select, a_pool_of_one_name_is_called_by_it)
{
	static const struct sampled pools[] = {
		{"f", "java", "http-1", 10, 11, 0, 0, 1},
		{"f", "java", "http-2", 10, 12, 0, 0, 2},
		{"f", "java", "http-1", 10, 11, 0, 1, 1},
		{"f", "java", "VM Thread7", 10, 13, 0, 0, 4},
		{"f", "java", "VM Thread7", 10, 14, 0, 0, 4},
		{0},
	};
	const enum stoke_by by[] = {STOKE_BY_POOL};

	assert_selects(pools, (struct stoke_select_options){.by = by, .nr_by = 1},
		"VM Thread7;f 8\nhttp-*;f 4\n");
}

/* make -j8 runs thousands of compilers: two are told apart, two dozen are one. */
Test(select, roots_by_process_have_no_numbers_where_many_share_a_name)
{
	const enum stoke_by by[] = {STOKE_BY_PROCESS};
	struct sampled many[26] = {
		{"g", "make", "make", 1, 1, 0, 0, 1}, {"g", "make", "make", 2, 2, 0, 0, 1}};

	for (int i = 0; i < 21; i++)
		many[2 + i] = (struct sampled){"f", "cc1", "cc1", 100 + i, 100 + i, 0, 0, 2};
	assert_selects(many, (struct stoke_select_options){.by = by, .nr_by = 1},
		"cc1;f 42\nmake (1);g 1\nmake (2);g 1\n");
}

Test(select, roots_nest_in_the_order_given)
{
	const enum stoke_by by[] = {STOKE_BY_PROCESS, STOKE_BY_POOL};

	SELECTS("java (10);gc;main;parse;parse;hot 1\njava (10);http-*;main;parse;hot 7\n"
		"java (10);http-*;main;parse;read_[k] 5\njava (20);main;main;idle 11\n"
		"kthread;kthread;swapper_[k] 2\n",
		.by = by, .nr_by = 2);
}

Test(select, roots_asked_for_replace_those_of_the_recording)
{
	const enum stoke_by process[] = {STOKE_BY_PROCESS}, pool[] = {STOKE_BY_POOL};
	const struct stoke_select_options recorded = {.by = process, .nr_by = 1};
	const struct stoke_select_options asked = {.by = pool, .nr_by = 1};
	struct stoke_profile *profile = make(all), *rooted, *selected;
	char *text;

	cr_assert(zero(int, profile_select(profile, &recorded, pool_of, &rooted, NULL)));
	cr_assert(zero(int, profile_select(rooted, &asked, pool_of, &selected, NULL)));
	text = write_bytes(selected, &format_folded, NULL);
	cr_assert(eq(str, text,
		"gc;main;parse;parse;hot 1\nhttp-*;main;parse;hot 7\n"
		"http-*;main;parse;read_[k] 5\nkthread;swapper_[k] 2\nmain;main;idle 11\n"));
	free(text);
	stoke_profile_free(profile);
	stoke_profile_free(rooted);
	stoke_profile_free(selected);
}

Test(select, roots_by_cpu)
{
	const enum stoke_by by[] = {STOKE_BY_CPU};

	SELECTS("CPU 0;main;parse;parse;hot 1\nCPU 0;main;parse;read_[k] 5\nCPU 0;swapper_[k] 2\n"
		"CPU 1;main;idle 11\nCPU 1;main;parse;hot 7\n",
		.by = by, .nr_by = 1);
}

Test(select, rows_without_labels_have_no_root)
{
	const enum stoke_by by[] = {STOKE_BY_PROCESS, STOKE_BY_THREAD, STOKE_BY_POOL, STOKE_BY_CPU};
	const struct stoke_select_options options = {.by = by, .nr_by = 4};
	struct stoke_profile *profile, *selected;
	char *text;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, "a;b 1\n", 6, NULL, NULL)));
	cr_assert(zero(int, profile_select(profile, &options, pool_of, &selected, NULL)));
	text = write_bytes(selected, &format_folded, NULL);
	cr_assert(eq(str, text, "a;b 1\n"));
	free(text);
	stoke_profile_free(profile);
	stoke_profile_free(selected);
}

static struct stoke_profile *with_inlined(void)
{
	static const char *const names[] = {"inner", "middle", "outer"};
	struct symbol symbols[3] = {0};
	struct stoke_profile *profile = make(all + 5);
	struct frame key = {.address = 1};
	uint32_t frame, node;

	for (size_t i = 0; i < 3; i++)
		symbols[i] = (struct symbol){.name = names[i],
			.name_size = strlen(names[i]),
			.kind = i < 2 ? FUNCTION_INLINED : FUNCTION_NATIVE};
	cr_assert(zero(int, profile_frame(profile, &key, &frame)));
	cr_assert(zero(int, profile_name_frame(profile, frame, symbols, 3)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, frame, &node)));
	cr_assert(zero(int, profile_row(profile, 0, node, 0, 0, &(uint64_t){3})));
	return profile;
}

static void assert_inlined(struct stoke_select_options options, const char *folded)
{
	struct stoke_profile *profile = with_inlined(), *selected;
	char *text;

	cr_assert(zero(int, profile_select(profile, &options, pool_of, &selected, NULL)));
	text = write_bytes(selected, &format_folded, NULL);
	cr_assert(eq(str, text, (char *)folded));
	free(text);
	stoke_profile_free(profile);
	stoke_profile_free(selected);
}

Test(select, what_inlining_joined_is_taken_apart)
{
	assert_inlined((struct stoke_select_options){0}, "outer;middle_[i];inner_[i] 3\n");
	assert_inlined((struct stoke_select_options){.hide = "middle"}, "outer;inner_[i] 3\n");
	assert_inlined((struct stoke_select_options){.hide = "inner|middle"}, "outer 3\n");
	assert_inlined((struct stoke_select_options){.root = "middle"}, "middle_[i];inner_[i] 3\n");
	assert_inlined((struct stoke_select_options){.hide = "inner|middle|outer"}, "");
}

static void refuse(struct stoke_select_options options, const char *sentence)
{
	struct stoke_profile *profile = make(all), *selected = NULL;
	struct stoke_error err = {0};

	profile->runs[0].slice_ns = 0;
	cr_assert(eq(int, profile_select(profile, &options, pool_of, &selected, &err), -EINVAL));
	cr_assert(eq(str, err.text, (char *)sentence));
	cr_assert(eq(ptr, selected, NULL));
	stoke_profile_free(profile);
}

Test(select, bad_expressions_and_times_that_are_not_known_are_refused)
{
	refuse((struct stoke_select_options){.focus = "(a"}, "--focus (a: Unmatched ( or \\(");
	refuse((struct stoke_select_options){.thread = "b)("}, "--thread b)(: Unmatched ( or \\(");
	refuse((struct stoke_select_options){.from_ns = 5},
		"rec does not say when its samples were taken: no part of its time can be chosen");
}
