/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/ends.h"

#include <string.h>

#include "unit/test.h"

static struct stoke_profile *profile;
static struct ends ends;

static void setup(void)
{
	uint32_t run;
	unsigned column;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "test", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &column), 0));
	cr_assert(eq(int, ends_use(&ends, profile), 0));
}

static void teardown(void)
{
	ends_done(&ends);
	stoke_profile_free(profile);
	check_leaks();
}

TestSuite(ends, .init = setup, .fini = teardown);

static const char *mark(uint32_t end)
{
	const struct frame *frame = &profile->frames[profile->stacks.frame[ends_node(&ends, end)]];
	uint32_t function = frame_function(profile, frame, 0);

	return strings_text(&profile->strings, profile->functions[function].name);
}

Test(ends, have_a_mark_each_but_for_whole_stacks)
{
	cr_assert(eq(u32, ends_node(&ends, STACK_WHOLE), 0));
	cr_assert(eq(str, (char *)mark(STACK_TRUNCATED), "[truncated]"));
	cr_assert(eq(str, (char *)mark(STACK_BROKEN), "[broken]"));
	cr_assert(eq(str, (char *)mark(STACK_EXIT), "[exit]"));
}

Test(ends, name_each_file_without_unwind_information_once)
{
	const struct module first = {.kind = MODULE_FILE, .path = "/usr/lib/libfoo.so"};
	const struct module second = {.kind = MODULE_FILE, .path = "libbar.so"};
	const struct module nameless = {.kind = MODULE_FILE};
	uint32_t foo = 0, again = 0, bar = 0, none = 0;

	cr_assert(eq(int, ends_bare(&ends, &first, &foo), 0));
	cr_assert(eq(int, ends_bare(&ends, &second, &bar), 0));
	cr_assert(eq(int, ends_bare(&ends, &first, &again), 0));
	cr_assert(eq(int, ends_bare(&ends, &nameless, &none), 0));
	cr_assert(eq(u32, foo, again));
	cr_assert(ne(u32, foo, bar));
	cr_assert(ge(u32, foo, NR_STACK_ENDS));
	cr_assert(eq(str, (char *)mark(foo), "[no unwind info: libfoo.so]"));
	cr_assert(eq(str, (char *)mark(bar), "[no unwind info: libbar.so]"));
	cr_assert(eq(str, (char *)mark(none), "[no unwind info: ?]"));
}

Test(ends, cut_file_names_that_are_long)
{
	char path[300] = "/";
	const struct module module = {.kind = MODULE_FILE, .path = path};
	uint32_t end = 0;

	memset(path + 1, 'x', sizeof(path) - 2);
	cr_assert(eq(int, ends_bare(&ends, &module, &end), 0));
	cr_assert(lt(sz, strlen(mark(end)), 120));
}

/* A row under an end, with one frame of that name. */
static uint32_t add(uint32_t end, const char *name, uint64_t samples)
{
	const uint64_t values[2] = {samples, 0};
	uint32_t frame = 0, node = 0;

	cr_assert(ge(
		int, profile_named_frame(profile, name, strlen(name), FUNCTION_NATIVE, &frame), 0));
	cr_assert(ge(int, stacks_child(&profile->stacks, ends_node(&ends, end), frame, &node), 0));
	cr_assert(ge(int, profile_row(profile, 0, node, 0, 0, values), 0));
	for (uint64_t i = 0; i < samples; i++)
		ends_count(&ends, end);
	return node;
}

Test(ends, are_counted_by_kind_and_files_count_as_broken)
{
	const struct module module = {.kind = MODULE_FILE, .path = "libfoo.so"};
	struct quality quality = {0};
	uint32_t bare = 0;

	cr_assert(eq(int, ends_bare(&ends, &module, &bare), 0));
	(void)add(STACK_WHOLE, "main", 5);
	(void)add(STACK_BROKEN, "lost", 3);
	(void)add(bare, "foo", 2);
	(void)add(STACK_TRUNCATED, "deep", 4);
	(void)add(STACK_EXIT, "gone", 1);
	cr_assert(eq(int, ends_judge(&ends, &quality), 0));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_WHOLE], 5));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_BROKEN], 5));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_TRUNCATED], 4));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_EXIT], 1));
}

Test(ends, take_stacks_that_turn_out_to_be_whole_from_under_their_mark)
{
	struct quality quality = {0};
	uint32_t mended = add(STACK_BROKEN, "_start", 3);
	uint32_t lost = add(STACK_BROKEN, "helper", 2);
	uint32_t deep = add(STACK_TRUNCATED, "_start", 1);

	cr_assert(eq(int, ends_judge(&ends, &quality), 0));
	cr_assert(eq(u32, profile->stacks.parent[mended], 0));
	cr_assert(eq(u32, profile->stacks.parent[lost], ends_node(&ends, STACK_BROKEN)));
	cr_assert(eq(u32, profile->stacks.parent[deep], ends_node(&ends, STACK_TRUNCATED)));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_WHOLE], 3));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_BROKEN], 2));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_TRUNCATED], 1));
}
