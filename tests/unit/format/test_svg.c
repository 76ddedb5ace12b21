/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>

#include "unit/folded.h"

extern const struct format format_folded, format_svg;

TestSuite(svg, .fini = check_leaks);

static char *written(const struct stoke_profile *profile, const char *params)
{
	void *values = NULL;
	struct stoke_error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(eq(int,
		params_parse(
			format_svg.params, format_svg.params_size, "svg", params, &values, &err),
		0));
	cr_assert(eq(int, format_svg.write(profile, values, out), 0));
	cr_assert(eq(int, fclose(out), 0));
	params_free(format_svg.params, values);
	return text;
}

static void check_has(const char *text, const char *word)
{
	cr_assert(strstr(text, word) != NULL, "%s", word);
}

static size_t occurrences(const char *text, const char *word)
{
	size_t nr = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		nr++;
	}
	return nr;
}

Test(svg, holds_the_still_picture_the_profile_and_the_program)
{
	struct stoke_profile *profile = folded_profile("main;work 3\nmain;read_[k] 1\n");
	char *text = written(profile, NULL);

	cr_assert(
		eq(int, strncmp(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ", 44), 0));
	check_has(text, "<title id=\"sk-t\">test</title>");
	check_has(text, "Most self time: work 75.0");
	check_has(text, ">work</text>");
	check_has(text, "<metadata class=\"sk-names\">kread\nnmain\nnwork\nrall</metadata>");
	check_has(text, "&quot;unit&quot;:&quot;samples&quot;");
	cr_assert(eq(sz, occurrences(text, "<script>"), 1));
	cr_assert(eq(sz, occurrences(text, "]]>"), 2));
	cr_assert(eq(int, strcmp(text + strlen(text) - 26, "})();\n]]></script>\n</svg>\n"), 0));
	free(text);
	stoke_profile_free(profile);
}

Test(svg, names_never_leave_their_context)
{
	struct stoke_profile *profile = folded_profile(
		"main;\"><script>alert(1)</script> 10\nmain;]]><script>alert(3)</script> 10\n"
		"main;x\" onmouseover=\"alert(1) 10\nmain;a & &amp \\ 10\nmain;esc\x1b[31m 10\n");
	struct stoke_profile *plain = folded_profile("main;a 10\nmain;b 10\n");
	char *text, *harmless = written(plain, NULL);

	cr_assert(eq(int, profile_fact(profile, 0, "target", "</title><script>x \" \\ \x07"), 0));
	text = written(profile, NULL);
	cr_assert(eq(sz, occurrences(text, "<script"), occurrences(harmless, "<script")));
	cr_assert(eq(sz, occurrences(text, "]]>"), occurrences(harmless, "]]>")));
	cr_assert(eq(sz, occurrences(text, "onmouseover=\""), 0));
	check_has(text, "na &amp; &amp;amp \\\n");
	check_has(text, "nesc\\x1b[31m\n");
	cr_assert(eq(sz, occurrences(text, "\x1b"), 0));
	/* JSON first, then XML. */
	check_has(text, "&quot;&lt;/title&gt;&lt;script&gt;x \\&quot; \\\\ \\\\x07&quot;");
	free(text);
	free(harmless);
	stoke_profile_free(profile);
	stoke_profile_free(plain);
}

Test(svg, the_same_profile_gives_the_same_bytes)
{
	struct stoke_profile *a = folded_profile("m;a 1\nm;b 2\nk;c 3\n");
	struct stoke_profile *b = folded_profile("k;c 3\nm;b 2\nm;a 1\n");
	char *x = written(a, NULL), *y = written(b, NULL);

	cr_assert(eq(str, x, y));
	free(x);
	free(y);
	stoke_profile_free(a);
	stoke_profile_free(b);
}

Test(svg, options_change_size_title_and_direction)
{
	struct stoke_profile *profile = folded_profile("main;work 3\n");
	char *text = written(profile, "width=800,flame,title=My <run>");

	check_has(text, "width=\"800\"");
	check_has(text, "<title id=\"sk-t\">My &lt;run&gt;</title>");
	check_has(text, "&quot;flame&quot;:true");
	/* work is drawn above main, main above all */
	check_has(text, "y=\"110.5\"><title>work");
	check_has(text, "y=\"146.5\"><title>all");
	free(text);
	stoke_profile_free(profile);
}

Test(svg, processor_time_is_shown_as_a_time_beside_the_samples)
{
	struct stoke_profile *profile = folded_profile("main;work 3\n");
	unsigned value = 0;
	char *text;

	cr_assert(eq(int, profile_value(profile, "cpu", "nanoseconds", &value), 0));
	profile->default_value = value;
	profile->rows.value[value][0] = 30303030;
	text = written(profile, NULL);

	check_has(text, "3 samples \xc2\xb7 30.3 ms CPU");
	check_has(text, "&quot;unit&quot;:&quot;ns&quot;");
	free(text);
	stoke_profile_free(profile);
}

Test(svg, an_empty_profile_says_why)
{
	struct stoke_profile *profile = NULL;
	char *text;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	text = written(profile, NULL);
	check_has(text, "no samples");
	check_has(text, "<metadata class=\"sk-tree\">AA</metadata>");
	free(text);
	stoke_profile_free(profile);
}

Test(svg, stays_under_its_budget_and_says_what_it_left_out)
{
	struct stoke_profile *profile = folded_profile("main;big 50000\n");
	char *text;

	for (int i = 0; i < 40000; i++) {
		char name[64];
		uint32_t node = 0;
		int n = snprintf(name, sizeof(name), "some_function_%d", i * 7919 % 40000);

		cr_assert(eq(int,
			stacks_child(&profile->stacks, 1 + (uint32_t)i % 2,
				folded_frame(profile, name, (size_t)n), &node),
			0));
		cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){1 + i % 3}), 0));
	}
	text = written(profile, "budget=300");
	cr_assert(le(sz, strlen(text), 300000));
	check_has(text, " left out to stay under 300 kB");
	free(text);
	text = written(profile, NULL);
	cr_assert(gt(sz, strlen(text), 300000));
	cr_assert(strstr(text, "left out to stay") == NULL);
	free(text);
	stoke_profile_free(profile);
}

Test(svg, time_slices_become_a_strip)
{
	struct stoke_profile *profile = folded_profile("main;work 3\n");
	char *text;

	profile->runs[0].slice_ns = 20000000;
	for (uint32_t slice = 1; slice < 400; slice++)
		cr_assert(eq(int, profile_row(profile, 0, 1, 0, slice, (uint64_t[]){1}), 0));
	text = written(profile, NULL);
	/* 400 slices of 20 ms: three to a bar, the first with 3 + 2 samples */
	check_has(text, "&quot;strip&quot;:{&quot;ms&quot;:60,&quot;v&quot;:[5,3,3,");
	free(text);
	stoke_profile_free(profile);
}

static int read_back(const char *text, struct stoke_profile **ret, struct stoke_error *err)
{
	cr_assert(zero(int, stoke_profile_new(ret)));
	return read_bytes(*ret, &format_svg, text, strlen(text), NULL, err);
}

static void assert_comes_back(struct stoke_profile *profile)
{
	char *text = written(profile, NULL), *before, *after;
	struct stoke_error err = {0};
	struct stoke_profile *back;

	cr_assert(eq(int, format_svg.recognise((const uint8_t *)text, 4096), 100));
	cr_assert(zero(int, read_back(text, &back, &err)), "%s", err.text);
	before = write_bytes(profile, &format_folded, NULL);
	after = write_bytes(back, &format_folded, NULL);
	cr_assert(eq(str, before, after));
	stoke_profile_free(back);
	free(text);
	free(before);
	free(after);
}

Test(svg, is_a_profile_that_can_be_read_back)
{
	struct stoke_profile *profile = folded_profile(
		"main;a<b> & \"c\" 3\nmain;read_[k] 1\nmain;Foo.bar_[j] 5\nmain;in_[i] 2\n"
		"java/lang/Thread.run;x 7\n");

	assert_comes_back(profile);
	stoke_profile_free(profile);
	cr_assert(zero(int, stoke_profile_new(&profile)));
	/* Text that says no kinds does not get any by having been drawn. */
	cr_assert(zero(int,
		read_bytes(profile, &format_folded,
			"java/lang/Thread.run;std::move 4\n[truncated];y 1\n", 50, NULL, NULL)));
	assert_comes_back(profile);
	stoke_profile_free(profile);
}

Test(svg, comes_back_with_what_the_run_said_and_its_quality)
{
	struct stoke_profile *profile = folded_profile("main;work 3\nmain;rest 1\n"), *back;
	struct module libc = {
		.kind = MODULE_FOREIGN, .path = "/usr/lib/libc.so.6", .fd = -1, .root_fd = -1};
	struct frame frame = {.nr_functions = 1};
	struct stoke_error err = {0};
	uint32_t node = 0, id;
	char *text;

	cr_assert(zero(int, profile_module(profile, &libc, &frame.module)));
	cr_assert(zero(int,
		profile_function(profile, "malloc", 6, FUNCTION_NATIVE, 0, 0, &frame.function)));
	cr_assert(zero(int, profile_frame(profile, &frame, &id)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, id, &node)));
	cr_assert(zero(int, profile_row(profile, 0, node, 0, 0, &(uint64_t){5})));
	cr_assert(zero(int, profile_fact(profile, 0, "work", "240")));
	cr_assert(zero(int, profile_fact(profile, 0, "warning", "maps were stale")));
	profile->runs[0].start_ns = 1764530000000000000;
	profile->runs[0].duration_ns = 30000000000;
	profile->runs[0].quality.count[QUALITY_LOST_RING] = 17;
	text = written(profile, NULL);
	cr_assert(zero(int, read_back(text, &back, &err)), "%s", err.text);
	cr_assert(eq(str, (char *)profile_fact_find(back, 0, "work"), "240"));
	cr_assert(eq(str, (char *)profile_fact_find(back, 0, "warning"), "maps were stale"));
	cr_assert(eq(u64, back->runs[0].start_ns, 1764530000000000000));
	cr_assert(eq(u64, back->runs[0].duration_ns, 30000000000));
	cr_assert(eq(u64, back->runs[0].quality.count[QUALITY_LOST_RING], 17));
	cr_assert(eq(sz, back->nr_modules, 2));
	cr_assert(eq(str, back->modules[1].path, "libc.so.6"));
	cr_assert(eq(u64, profile_total(back, 0), 9));
	stoke_profile_free(back);
	stoke_profile_free(profile);
	free(text);
}

Test(svg, of_cpu_time_comes_back_with_samples)
{
	struct stoke_profile *profile = folded_profile("main;a 30\nmain;b 10\n"), *back;
	unsigned cpu, samples;
	char *text;

	cr_assert(zero(int, profile_value(profile, "cpu", "nanoseconds", &cpu)));
	profile->default_value = cpu;
	for (size_t i = 0; i < 2; i++)
		profile->rows.value[cpu][i] = profile->rows.value[0][i] * 10101010;
	text = written(profile, NULL);
	cr_assert(zero(int, read_back(text, &back, NULL)));
	cr_assert(eq(uint, back->default_value, 0));
	cr_assert(eq(u64, profile_total(back, 0), 404040400));
	cr_assert(zero(int, profile_value(back, "samples", "count", &samples)));
	cr_assert(eq(u64, profile_total(back, samples), 40));
	stoke_profile_free(back);
	stoke_profile_free(profile);
	free(text);
}

#define HEAD "<?xml version=\"1.0\"?>\n<svg class=\"stoke\" width=\"1\">"
#define DATA(meta, names, tree)                                                                    \
	HEAD "<metadata class=\"sk-meta\">" meta "</metadata><metadata class=\"sk-names\">" names  \
	     "</metadata><metadata class=\"sk-tree\">" tree "</metadata></svg>"
#define META                                                                                       \
	"{&quot;type&quot;:&quot;flame&quot;,&quot;v&quot;:1,&quot;unit&quot;:&quot;samples&quot;" \
	"}"

Test(svg, what_was_left_out_is_marked_and_counted)
{
	struct stoke_profile *profile;
	char *text;

	cr_assert(zero(int, read_back(DATA(META,
					      "d1\xe2\x80\xaf"
					      "000 frames left out\nnmain\nrall",
					      "ACBBDDAB"),
				    &profile, NULL)));
	text = write_bytes(profile, &format_folded, NULL);
	cr_assert(eq(str, text, "[left out] 1\nmain 3\n"));
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_HIDDEN_NODES], 1000));
	stoke_profile_free(profile);
	free(text);
}

Test(svg, what_cannot_be_read_is_refused_with_its_cause)
{
	static const struct {
		const char *text, *says;
		int error; /* 0: -EINVAL */
	} cases[] = {
		{"<?xml version=\"1.0\"?><!DOCTYPE svg><svg width=\"1\"></svg>",
			"in is a picture that stoke did not draw: ", 0},
		{HEAD "</svg>", "in is a picture that has lost its profile: ", 0},
		{HEAD "<metadata class=\"sk-meta\">{",
			"in is a picture that has lost its profile: ", 0},
		{DATA("{", "rall", "AA"), "in is a damaged picture: ", 0},
		{DATA("&quot;", "rall", "AA"), "in is a damaged picture: ", 0},
		{DATA("&what;", "rall", "AA"), "in is a damaged picture: ", 0},
		{DATA(META, "rall", "AB"), "in is a damaged picture: ", 0},
		{DATA("{&quot;type&quot;:&quot;diff&quot;}", "rall", "AA"), "in shows a difference",
			-EMEDIUMTYPE},
		{DATA("{&quot;type&quot;:&quot;flame&quot;,&quot;v&quot;:2}", "rall", "AA"),
			"in was drawn by a newer stoke", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stoke_error err = {0};
		struct stoke_profile *profile;

		cr_assert(eq(int, read_back(cases[i].text, &profile, &err),
				  cases[i].error ? cases[i].error : -EINVAL),
			"%zu", i);
		cr_assert(zero(int, strncmp(err.text, cases[i].says, strlen(cases[i].says))), "%s",
			err.text);
		stoke_profile_free(profile);
	}
}
