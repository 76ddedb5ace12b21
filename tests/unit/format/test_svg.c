/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/format.h"

#include "unit/folded.h"

extern const struct format format_svg;

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
