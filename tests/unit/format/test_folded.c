/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>

TestSuite(folded, .fini = check_leaks);

extern const struct format format_folded;

static struct stoke_profile *read_sized(const char *text, size_t size)
{
	struct stoke_error err = {0};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, size, NULL, &err)), "%s",
		err.text);
	return profile;
}

static struct stoke_profile *read_text(const char *text)
{
	return read_sized(text, strlen(text));
}

/* Reading in gives out, and reading out gives out. */
static void assert_round(const char *in, size_t size, const char *out)
{
	struct stoke_profile *profile = read_sized(in, size);
	char *written = write_bytes(profile, &format_folded, NULL);
	char *again;

	cr_assert(eq(str, written, (char *)out));
	stoke_profile_free(profile);
	profile = read_text(written);
	again = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, again, (char *)out));
	stoke_profile_free(profile);
	free(written);
	free(again);
}

#define ROUND(in, out) assert_round(in, sizeof(in) - 1, out)

/* The kind of the innermost function of the only row */
static enum function_kind kind_of(const char *text, const char *name)
{
	struct stoke_profile *profile = read_text(text);
	const struct frame *frame = &profile->frames[profile->stacks.frame[profile->rows.stack[0]]];
	const struct function *function = &profile->functions[frame->function];
	enum function_kind kind = function->kind;

	cr_assert(eq(str, (char *)strings_text(&profile->strings, function->name), (char *)name));
	stoke_profile_free(profile);
	return kind;
}

Test(folded, equal_stacks_are_one_line_and_lines_are_sorted_as_bytes)
{
	ROUND("b;x 1\na;y 2\nb;x 3\na 4\na;b;c 5\n", "a 4\na;b;c 5\na;y 2\nb;x 4\n");
	ROUND("a;b 2\na.x 1\na 3\na(int);z 4\n", "a 3\na(int);z 4\na.x 1\na;b 2\n");
	/* a name that goes on with a blank comes behind the one that ends there */
	ROUND("a 2 x;z 3\na 4\n", "a 4\na 2 x;z 3\n");
	ROUND("a 4\na 2 x;z 3\n", "a 4\na 2 x;z 3\n");
}

Test(folded, sums_are_exact_in_64_bits)
{
	ROUND("main;y 4294967295\nmain;y 1\nmain;z 9007199254740992\nmain;z 1\nmain;z 2\n",
		"main;y 4294967296\nmain;z 9007199254740995\n");
	ROUND("m 18446744073709551615\n", "m 18446744073709551615\n");
}

Test(folded, the_count_is_what_stands_behind_the_last_blank)
{
	ROUND("main;parse v2 10 3\nmain;a b  c 5 5\nmain;impl Trait for Vec<T, 8>;run 4\nmain\t7\n",
		"main 7\nmain;a b  c 5 5\nmain;impl Trait for Vec<T, 8>;run 4\nmain;parse v2 10 "
		"3\n");
}

Test(folded, ends_of_line_blank_lines_comments_and_a_mark_of_order_are_no_stacks)
{
	ROUND("\xef\xbb\xbf"
	      "a;b 1\r\n\r\n# comment 5\n  \na;c 2",
		"a;b 1\na;c 2\n");
}

Test(folded, bytes_sorted_text_makes_no_node_twice)
{
	struct stoke_profile *profile = read_text("a 1\na b;c 1\na(int) 2\na(int).x;q 3\na(int);z "
						  "1\na.x 2\na;b 3\na;b.c 1\na;b;c 4\nb 1\n");

	/* root, a, "a b", c, a(int), a(int).x, q, z, a.x, b, b.c, c, b */
	cr_assert(eq(sz, profile->stacks.nr, 13));
	cr_assert(eq(ptr, profile->stacks.slots, NULL), "nodes were looked up");
	cr_assert(eq(sz, profile->rows.nr, 10));
	stoke_profile_free(profile);
}

Test(folded, tree_sorted_text_makes_no_node_twice)
{
	struct stoke_profile *profile = read_text("a;b 1\na;b;c 2\na;b.c 3\na.x 4\na.x;y 5\n");

	cr_assert(eq(sz, profile->stacks.nr, 7));
	cr_assert(eq(ptr, profile->stacks.slots, NULL), "nodes were looked up");
	stoke_profile_free(profile);
}

Test(folded, unsorted_text_makes_no_node_twice)
{
	struct stoke_profile *profile =
		read_text("b;x 1\na;y 1\nb;x;z 1\na;y 1\na;y.z 1\na;y;q 1\nb;x 1\n");

	cr_assert(eq(sz, profile->stacks.nr, 8));
	cr_assert(eq(sz, profile->rows.nr, 5));
	stoke_profile_free(profile);
}

Test(folded, suffixes_are_kinds)
{
	cr_assert(eq(int, kind_of("a;vfs_read_[k] 1\n", "vfs_read"), FUNCTION_KERNEL));
	cr_assert(eq(int, kind_of("a;Foo.bar_[j] 1\n", "Foo.bar"), FUNCTION_JIT));
	cr_assert(eq(int, kind_of("a;Foo.bar_[i] 1\n", "Foo.bar"), FUNCTION_INLINED));
	cr_assert(eq(int, kind_of("a;Foo.bar_[0] 1\n", "Foo.bar"), FUNCTION_INTERPRETED));
	cr_assert(eq(int, kind_of("a;Foo.bar_[1] 1\n", "Foo.bar"), FUNCTION_JIT));
	cr_assert(eq(int, kind_of("a;foo_[x] 1\n", "foo_[x]"), FUNCTION_UNKNOWN));
	cr_assert(eq(int, kind_of("a;_[k] 1\n", "_[k]"), FUNCTION_UNKNOWN));
	cr_assert(eq(int, kind_of("a;[truncated] 1\n", "[truncated]"), FUNCTION_MARK));
	cr_assert(eq(int, kind_of("a;[libc.so.6+0x12] 1\n", "[libc.so.6+0x12]"), FUNCTION_UNKNOWN));
	cr_assert(eq(int, kind_of("a;- 1\n", "-"), FUNCTION_MARK));
	cr_assert(eq(int, kind_of("a;-- 1\n", "--"), FUNCTION_MARK));
	cr_assert(eq(int, kind_of("a;-x 1\n", "-x"), FUNCTION_UNKNOWN));
	ROUND("a;b_[k] 1\na;c_[j] 2\na;d_[i] 3\na;e_[0] 4\n",
		"a;b_[k] 1\na;c_[j] 2\na;d_[i] 3\na;e_[0] 4\n");
}

Test(folded, a_name_that_ends_like_a_suffix_comes_back)
{
	struct stoke_profile *profile;
	uint32_t frame, node, run;
	unsigned value;
	char *text;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "r", &run)));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	cr_assert(zero(int, profile_named_frame(profile, "odd_[k]", 7, FUNCTION_NATIVE, &frame)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, frame, &node)));
	cr_assert(zero(int, profile_row(profile, run, node, 0, 0, &(uint64_t){3})));
	text = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, text, "odd_[k]_[n] 3\n"));
	cr_assert(eq(int, kind_of(text, "odd_[k]"), FUNCTION_UNKNOWN));
	ROUND("odd_[k]_[n] 3\nodd_[k]_[k] 1\n", "odd_[k]_[k] 1\nodd_[k]_[n] 3\n");
	free(text);
	stoke_profile_free(profile);
}

Test(folded, separators_in_names_become_one_mark_each)
{
	struct stoke_profile *profile;
	uint32_t frame, node, run;
	unsigned value;
	char *text;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "r", &run)));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	cr_assert(zero(int, profile_named_frame(profile, "#f(Ljava/lang/String;\nI)V", 25,
				    FUNCTION_JIT, &frame)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, frame, &node)));
	cr_assert(zero(int, profile_row(profile, run, node, 0, 0, &(uint64_t){3})));
	text = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, text, "\\x23f(Ljava/lang/String:\\x0aI)V_[j] 3\n"));
	assert_round(text, strlen(text), text);
	free(text);
	stoke_profile_free(profile);
}

Test(folded, hostile_bytes_in_names_leave_as_harmless_utf8)
{
	ROUND("m;a\0b 1\nm;\x1b[2J 2\nm;\xff 3\n", "m;\\x1b[2J 2\nm;a\\x00b 1\nm;\xef\xbf\xbd 3\n");
}

Test(folded, an_empty_frame_is_named_unknown)
{
	ROUND("a;;b 2\na; 1\n;x 4\n", "[unknown];x 4\na;[unknown] 1\na;[unknown];b 2\n");
}

Test(folded, bad_lines_are_counted_and_the_first_is_told)
{
	struct stoke_profile *profile =
		read_text("main;good 5\n 12\nnocount\n\nmain;neg -5\nmain;frac 1.5\n"
			  "main;big 18446744073709551616\nmain;zero 0\n# c\n"
			  "main;hex 0x10\nmain;end 8");
	char *text = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, text, "main;end 8\nmain;good 5\n"));
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 6));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "first-bad-line"),
		"line 2: no stack before the count"));
	free(text);
	stoke_profile_free(profile);
}

static void refuse(const char *text, const char *sentence)
{
	struct stoke_error err = {0};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(eq(
		int, read_bytes(profile, &format_folded, text, strlen(text), NULL, &err), -EINVAL));
	cr_assert(eq(str, err.text, (char *)sentence));
	stoke_profile_free(profile);
}

Test(folded, only_bad_lines_are_no_profile)
{
	refuse("# head\nnocount\nx -1\n", "in is not folded text: none of its lines is a stack and "
					  "a count; line 2: no count at its end");
	refuse("x -1\n", "in is not folded text: none of its lines is a stack and a count; line 1: "
			 "the count is negative");
	refuse("x 0x10\n", "in is not folded text: none of its lines is a stack and a count; line "
			   "1: the count is not decimal");
	refuse("x 1.5\n", "in is not folded text: none of its lines is a stack and a count; line "
			  "1: the count is a fraction");
	refuse("x 99999999999999999999\n", "in is not folded text: none of its lines is a stack "
					   "and a count; line 1: the count is larger than 64 bits");
}

Test(folded, an_empty_file_is_a_profile_without_samples)
{
	ROUND("", "");
}

Test(folded, a_line_of_ten_megabytes_is_a_line_and_one_over_the_limit_is_not)
{
	size_t size = 10 << 20;
	char *text = malloc(70 << 20), *written;
	struct stoke_profile *profile;

	memset(text, 'x', size);
	text[5] = ';';
	memcpy(text + size, " 3\nend 1\n", 9);
	profile = read_sized(text, size + 9);
	cr_assert(eq(u64, profile_total(profile, 0), 4));
	stoke_profile_free(profile);

	size = 68 << 20;
	memset(text, 'y', size);
	memcpy(text, "a 1\n", 4);
	memcpy(text + size, " 3\nend 1\n", 9);
	profile = read_sized(text, size + 9);
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 1));
	written = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, written, "a 1\nend 1\n"));
	free(written);
	stoke_profile_free(profile);
	free(text);
}

Test(folded, depth_has_a_limit_that_is_counted)
{
	size_t nr = 70000;
	char *text = malloc(2 * nr + 16);
	struct stoke_profile *profile;

	for (size_t i = 0; i < nr; i++)
		memcpy(text + 2 * i, "f;", 2);
	memcpy(text + 2 * nr, "g 7\na 1\n", 9);
	profile = read_text(text);
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 1));
	cr_assert(eq(u64, profile_total(profile, 0), 1));
	stoke_profile_free(profile);
	free(text);
}

Test(folded, windows_make_no_difference)
{
	size_t size = 0, room = 4 << 20;
	char *text = malloc(room), *written;
	struct stoke_profile *profile;

	for (unsigned i = 0; size < room - 300; i++)
		size += (size_t)snprintf(text + size, room - size, "main;f%07u;%0*d;leaf %u\n", i,
			(int)(i % 200) + 1, 0, i + 1);
	profile = read_sized(text, size);
	written = write_bytes(profile, &format_folded, NULL);
	text[size] = '\0';
	cr_assert(zero(int, strcmp(written, text)));
	free(written);
	free(text);
	stoke_profile_free(profile);
}

Test(folded, a_rate_gives_cpu_time)
{
	static const char text[] = "main 490\nmain;busy 500\n";
	struct stoke_read_options options = {.frequency_hz = 99, .duration_ns = 10000000000};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(
		int, read_bytes(profile, &format_folded, text, sizeof(text) - 1, &options, NULL)));
	cr_assert(eq(u64, profile->runs[0].period, 10101010));
	cr_assert(eq(u64, profile->rows.value[1][1], 5050505000));
	cr_assert(eq(u64, profile->rows.value[1][0], 4949494900));
	cr_assert(eq(u64, profile->runs[0].duration_ns, 10000000000));
	cr_assert(eq(uint, profile->default_value, 1));
	stoke_profile_free(profile);
}

Test(folded, a_second_file_shares_the_nodes_of_the_first)
{
	struct stoke_profile *profile = read_text("a;b 1\na;c 2\n");
	char *text;

	cr_assert(zero(int, read_bytes(profile, &format_folded, "a;b 3\na;d 4\n", 12, NULL, NULL)));
	cr_assert(eq(sz, profile->stacks.nr, 5));
	cr_assert(eq(sz, profile->nr_runs, 2));
	text = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, text, "a;b 4\na;c 2\na;d 4\n"));
	free(text);
	stoke_profile_free(profile);
}

/* The sum of a slice. */
static uint64_t slice_total(const struct stoke_profile *profile, uint32_t slice)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->rows.nr; i++)
		sum += profile->rows.slice[i] == slice ? profile->rows.value[0][i] : 0;
	return sum;
}

Test(folded, slices_are_times_and_as_wide_as_all_of_them_allow)
{
	struct stoke_profile *profile =
		read_text("#slice t=0s;\na;b 1\na;c 2\n#slice t=1.5s;\na;b 4\n"
			  "#slice t=500ms;\na;b 8\nz 16\n#slice t=1500000us;\na;b 32\n");

	cr_assert(eq(u64, profile->runs[0].slice_ns, 500000000));
	cr_assert(eq(u64, slice_total(profile, 0), 3));
	cr_assert(eq(u64, slice_total(profile, 1), 24));
	cr_assert(eq(u64, slice_total(profile, 3), 36));
	cr_assert(eq(sz, profile->rows.nr, 5)); /* equal stacks of one time are one row */
	cr_assert(eq(sz, profile->stacks.nr, 5));
	cr_assert(zero(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD]));
	stoke_profile_free(profile);
}

Test(folded, a_file_whose_first_slice_is_unsaid_begins_at_zero)
{
	struct stoke_profile *profile = read_text("a 1\n#slice t=20ms;\na 2\n");

	cr_assert(eq(u64, profile->runs[0].slice_ns, 20000000));
	cr_assert(eq(u64, slice_total(profile, 0), 1));
	cr_assert(eq(u64, slice_total(profile, 1), 2));
	stoke_profile_free(profile);
}

Test(folded, comments_are_no_bad_lines_and_some_are_facts)
{
	struct stoke_profile *profile = read_text("#stoke-profile 1;\n#event cpu-clock;\n#freq "
						  "99Hz;\n#work 240;\r\n#work 9;\n# any thing 3\n"
						  "#event ;\na 1\n");

	cr_assert(zero(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD]));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "work"), "240"));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "rate"), "99 Hz"));
	cr_assert(eq(
		str, (char *)strings_text(&profile->strings, profile->runs[0].event), "cpu-clock"));
	cr_assert(zero(u64, profile->runs[0].slice_ns));
	stoke_profile_free(profile);
}

Test(folded, a_slice_without_a_time_is_a_bad_line)
{
	static const struct {
		const char *line, *reason;
	} cases[] = {
		{"#slice t=;", "line 2: no time in a #slice line"},
		{"#slice t=5;", "line 2: the time of the slice has no unit: s, ms, us or ns"},
		{"#slice t=5h;", "line 2: the time of the slice has no unit: s, ms, us or ns"},
		{"#slice t=99999999999999999999s;", "line 2: the time of the slice is too large"},
		{"#slice t=99999999999s;", "line 2: the time of the slice is too large"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[128];
		struct stoke_profile *profile;

		(void)snprintf(text, sizeof(text), "a 1\n%s\nb 2\n", cases[i].line);
		profile = read_text(text);
		cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 1));
		cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "first-bad-line"),
			(char *)cases[i].reason));
		cr_assert(eq(u64, profile_total(profile, 0), 3));
		stoke_profile_free(profile);
	}
}

Test(folded, times_are_written_when_they_are_asked_for)
{
	static const char text[] = "#stoke-profile 1;\n#event cpu-clock;\n#freq 99Hz;\n#work 240;\n"
				   "#slice t=0s;\na;b 1\na;c 2\n#slice t=0.02s;\na;b 4\n"
				   "#slice t=12.5s;\na 7\nz 8\n";
	const struct {
		unsigned slices;
	} params = {1};
	struct stoke_profile *profile = read_text(text);
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	cr_assert(zero(int, format_folded.write(profile, &params, out)));
	cr_assert(zero(int, fclose(out)));
	cr_assert(eq(str, written, (char *)text));
	free(written);
	written = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, written, "a 7\na;b 5\na;c 2\nz 8\n"));
	free(written);
	stoke_profile_free(profile);
}

Test(folded, recognised_by_its_lines)
{
	cr_assert(ge(int, format_folded.recognise((const uint8_t *)"a;b 1\nx\n", 8), 50));
	cr_assert(lt(int, format_folded.recognise((const uint8_t *)"hello\n", 6), 50));
	cr_assert(zero(int, format_folded.recognise((const uint8_t *)"PERFILE2\0\0", 10)));
	cr_assert(ge(int, format_folded.recognise((const uint8_t *)"", 0), 50));
}
