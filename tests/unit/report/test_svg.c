/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/report.h"

#include <errno.h>

#include "report/story.h"
#include "unit/report/made.h"

extern const struct report report_svg;

TestSuite(report_svg, .fini = check_leaks);

#define THIN  "\xe2\x80\x89"
#define ARROW " \xe2\x86\x92 "

static int write_to(const struct made *m, const char *params, char **ret)
{
	void *values = NULL;
	struct stoke_error err = {0};
	size_t size;
	FILE *out = open_memstream(ret, &size);
	int r;

	cr_assert(eq(int,
		params_parse(
			report_svg.params, report_svg.params_size, "svg", params, &values, &err),
		0));
	r = report_svg.comparison(&m->c, values, out);
	cr_assert(eq(int, fclose(out), 0));
	params_free(report_svg.params, values);
	return r;
}

static char *written(const struct made *m, const char *params)
{
	char *text = NULL;

	cr_assert(eq(int, write_to(m, params, &text), 0));
	return text;
}

static char *story_of(const struct made *m)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	story_tell(&m->c, out);
	cr_assert(eq(int, fclose(out), 0));
	return text;
}

static void check_has(const char *text, const char *word)
{
	cr_assert(strstr(text, word) != NULL, "%s", word);
}

static void check_lacks(const char *text, const char *word)
{
	cr_assert(strstr(text, word) == NULL, "%s", word);
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

#define UNION_BEFORE "main;a 30\nmain;a;x 20\nmain;old 25\nmain;b 25\n"
#define UNION_AFTER  "main;a 20\nmain;a;x 35\nmain;b 25\nmain;fresh 20\n"

Test(report_svg, new_and_gone_frames_have_room_a_sign_and_their_change)
{
	struct made m;
	char *text;

	made_from(&m, UNION_BEFORE, UNION_AFTER);
	text = written(&m, "width=1382"); /* 1350 px for 1.35 */
	check_has(text, ">+ fresh  +20.0" THIN "pts</text>");
	check_has(text, ">\xc3\x97 old  \xe2\x88\x92"
			"25.0" THIN "pts</text>");
	/* old begins at 1100 of 1350 and is 250 wide, its bar above it, no bar below */
	check_has(text, "<path class=\"hh\" fill=\"url(#sk-h)\" d=\"M1116 171h249v17h-249z\"/>");
	check_has(text, "M1116 168h249v3h-249z");
	check_lacks(text, "M1116 188h");
	/* fresh has a bar below alone */
	check_has(text, "M916 188h199v3h-199z");
	check_lacks(text, "M916 168h");
	check_has(text, "difference 35.0" THIN "%");
	check_has(text, "<pattern id=\"sk-h\"");
	free(text);
	made_done(&m);
}

Test(report_svg, noise_is_grey_and_scale_is_fixed)
{
	struct made m;
	char *text;

	made_from(&m, "m;a 300\nm;b 500\nm;c 200\n", "m;a 315\nm;b 485\nm;c 200\n");
	text = written(&m, NULL);
	/* 1.5 points are not enough for the made evidence: all boxes in one grey path. */
	check_has(text, "<g class=\"sk-frames\"><path class=\"dx\" fill=\"#ebedf0\"");
	check_lacks(text, "<path class=\"dp");
	check_lacks(text, "<path class=\"dm");
	check_has(text, "could be chance: p 0.500");
	check_has(text, "less after  \xe2\x88\x92"
			"5 pts");
	check_has(text, "+5 pts  more after");
	free(text);
	text = written(&m, "all,full=2%");
	check_has(text, "<path class=\"dp4\"");
	check_has(text, "<path class=\"dm4\"");
	check_has(text, "+2 pts  more after");
	check_has(text, ">no change</text>");
	free(text);
	made_done(&m);
}

Test(report_svg, colour_has_evidence_in_the_direction_of_the_frame)
{
	struct made m;
	char *text;

	/* f grew as a whole; under q it shrank, of which nothing is known. */
	made_from(&m, "m;p;f 100\nm;q;f 100\nm;z 800\n", "m;p;f 200\nm;q;f 90\nm;z 710\n");
	text = written(&m, NULL);
	check_has(text, "before 10.0" THIN "%, after 20.0" THIN "%, +10.0" THIN
			"pts; self 10.0" THIN "%, 20.0" THIN "%; evidence: p 0.004");
	check_has(text,
		"before 10.0" THIN "%, after 9.00" THIN "%, \xe2\x88\x92"
		"1.00" THIN "pts; self 10.0" THIN "%, 9.00" THIN "%; could be chance: p 1.000");
	free(text);
	made_done(&m);
}

Test(report_svg, moved_and_inserted_frames_are_marked)
{
	struct made m;
	char *text;

	made_from(&m, "m;run;eval 60\nm;run 10\nm;z 30\n", "m;run 71\nm;z 29\n");
	text = written(&m, NULL);
	check_has(text, ">\xe2\x87\x84 eval</text>");
	check_has(text, "<path class=\"dv\"");
	check_has(text, "<path class=\"mm\"");
	check_lacks(text, "<path class=\"hh\"");
	free(text);
	made_done(&m);
	made_from(&m, "m;w;a 60\nm;w;b 40\n", "m;i;w;a 60\nm;i;w;b 40\n");
	text = written(&m, NULL);
	check_has(text, ">\xe2\x86\xb3 i</text>");
	check_has(text, "<metadata class=\"sk-marks\">CC</metadata>");
	check_has(text, "difference 0" THIN "%");
	free(text);
	made_done(&m);
}

Test(report_svg, swapped_sides_change_places_and_widths_are_of_one_side)
{
	struct made m;
	char *text;

	made_from(&m, UNION_BEFORE, UNION_AFTER);
	text = written(&m, "swap");
	check_has(text, ">\xc3\x97 fresh  \xe2\x88\x92"
			"20.0" THIN "pts</text>");
	check_has(text, ">+ old  +25.0" THIN "pts</text>");
	check_has(text, "more before</text>");
	check_has(text, "upper bar after, lower before");
	check_has(text, "sides swapped");
	/* The story is the same whichever way one looks. */
	check_has(text, "Most growth: fresh, 0" THIN "%" ARROW "20.0" THIN "%");
	free(text);
	text = written(&m, "widths=after");
	check_has(text, "+ fresh");
	check_lacks(text, "\xc3\x97 old");
	free(text);
	text = written(&m, "widths=a,swap");
	check_has(text, "+ old");
	check_lacks(text, "\xc3\x97 fresh");
	free(text);
	cr_assert(eq(int, write_to(&m, "widths=both", &text), -EINVAL));
	free(text);
	made_done(&m);
}

Test(report_svg, names_never_leave_their_context)
{
	struct made m, plain;
	char *text, *harmless;

	made_from(&plain, "main;a 10\n", "main;b 10\n");
	made_from(&m,
		"main;\"><script>alert(1)</script> 10\nmain;]]><script>alert(3)</script> 10\n",
		"main;x\" onmouseover=\"alert(1) 10\nmain;a & &amp \\ 10\nmain;esc\x1b[31m 10\n");
	m.comparable.sides[0].name = "</title><script>x \" \\ \x07";
	harmless = written(&plain, NULL);
	text = written(&m, NULL);
	cr_assert(eq(sz, occurrences(text, "<script"), occurrences(harmless, "<script")));
	cr_assert(eq(sz, occurrences(text, "]]>"), occurrences(harmless, "]]>")));
	cr_assert(eq(sz, occurrences(text, "onmouseover=\""), 0));
	cr_assert(eq(sz, occurrences(text, "\x1b"), 0));
	check_has(text, "before: &lt;/title&gt;&lt;script&gt;x &quot; \\ \\x07, 20 samples");
	free(text);
	free(harmless);
	made_done(&m);
	made_done(&plain);
}

Test(report_svg, the_budget_holds_and_what_is_left_out_is_said)
{
	struct made m;
	char *lines = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	for (unsigned i = 0; i < 20000; i++)
		fprintf(out, "main;a_rather_long_name_%u;leaf_%u 1\n", i % 977, i);
	fputs("main;big 20000\n", out);
	cr_assert(eq(int, fclose(out), 0));
	made_from(&m, lines, "main;big 20000\nmain;new 20000\n");
	text = written(&m, "budget=300");
	cr_assert(lt(sz, strlen(text), 300000));
	check_has(text, "left out to stay under 300 kB");
	check_has(text, "+ new  +50.0");
	free(text);
	free(lines);
	made_done(&m);
}

Test(report_svg, with_too_few_runs_colour_is_what_sampling_could_not_do)
{
	struct made m;
	char *text;

	made_from(&m, UNION_BEFORE, UNION_AFTER);
	m.c.too_few = 1;
	m.units.nr = 2;
	for (size_t i = 0; i < m.units.nr_hypotheses; i++) {
		m.evidence.changes[i].t_grew = m.evidence.changes[i].difference >= .2 ? 4.1 : 3.9;
		m.evidence.changes[i].t_shrank =
			m.evidence.changes[i].difference <= -.2 ? 4.1 : 3.9;
	}
	text = written(&m, NULL);
	check_has(text, "<path class=\"dp4\"");
	check_has(text, ">+ fresh  +20.0" THIN "pts</text>");
	check_has(text, "; beyond sampling error");
	check_has(text, "; within sampling error");
	check_has(text, ">within sampling error</text>");
	check_lacks(text, "; evidence: p");
	check_lacks(text, "p 0.004");
	check_has(text, "one capture a side: only sampling error is ruled out");
	check_has(text, "Beyond sampling error, not yet beyond chance. Most growth: fresh");
	free(text);
	m.c.evidence = NULL;
	text = written(&m, NULL);
	check_lacks(text, "<path class=\"dp");
	check_lacks(text, "<path class=\"dm");
	check_has(text, ">+ fresh  +20.0" THIN "pts</text>");
	check_has(text, "Not tested for chance. Most growth: fresh");
	free(text);
	made_done(&m);
}

Test(report_svg, story_names_the_owner_and_its_kind)
{
	struct made m;
	char *text;

	made_from(&m,
		"main;App.process 9385\nmain;SSL;Client;Finished 80\nmain;SSL;Client;Hello 20\n"
		"main;SSL;Client;Cert 15\nmain;other 500\n",
		"main;App.process 7102\nmain;SSL;Client;Finished 84\nmain;SSL;Client;Hello 1480\n"
		"main;SSL;Client;Cert 834\nmain;other 500\n");
	text = story_of(&m);
	cr_assert(eq(str, text,
		"Most growth: Client, 1.15" THIN "%" ARROW "24.0" THIN "% (+22.8" THIN
		"pts). Different work: Finished 69.6" THIN "%" ARROW "3.50" THIN
		"% of it, Hello 17.4" THIN "%" ARROW "61.7" THIN "%."));
	free(text);
	made_done(&m);
	made_from(&m, "m;req;parse;lex 100\nm;req;parse;alloc 50\nm;gc 850\n",
		"m;req;parse;lex 180\nm;req;parse;alloc 90\nm;gc 730\n");
	text = story_of(&m);
	check_has(text, "Most growth: parse, 15.0");
	check_has(text, "The same work, more of it");
	free(text);
	made_done(&m);
	made_from(&m, "m;a 500\nm;b 500\n", "m;a 510\nm;b 490\n");
	text = story_of(&m);
	check_has(text, "Could be chance. Most growth: a");
	check_has(text, "It is its own code.");
	free(text);
	made_done(&m);
	made_from(&m, "m;a 500\nm;b 500\n", "m;a 501\nm;b 499\n");
	text = story_of(&m);
	cr_assert(eq(str, text, "Nothing grew by as much as matters."));
	free(text);
	made_done(&m);
}

Test(report_svg, several_causes_are_told_by_the_largest_with_evidence)
{
	struct made m;
	char *text;

	made_from(&m, "m;a;x 10\nm;b;y 10\nm;c 80\n", "m;a;x 22\nm;b;y 20\nm;c 58\n");
	text = story_of(&m);
	check_has(text, "Most growth: x, 10.0");
	free(text);
	made_done(&m);
}

Test(report_svg, what_only_moved_is_not_told_as_growth)
{
	struct made m;
	char *text;

	made_from(&m, "m;old;a 20\nm;old;b 10\nm;z;y 70\n", "m;new;a 21\nm;new;b 9\nm;z;y 70\n");
	text = story_of(&m);
	check_has(text, "What grew only has another name or place now.");
	free(text);
	made_done(&m);
	made_from(&m, "m;old;a 20\nm;old;b 10\nm;z;y 10\nm;c 60\n",
		"m;new;a 21\nm;new;b 9\nm;z;y 15\nm;c 55\n");
	text = story_of(&m);
	check_has(text, "Most growth: y, 10.0");
	free(text);
	made_done(&m);
}

Test(report_svg, heading_has_the_ends_of_paths_that_tell_the_sides_apart)
{
	struct made m;
	char *text;

	made_from(&m, "m;a 5\n", "m;b 5\n");
	m.comparable.sides[0].name = "/a/long/way/to/old.folded";
	text = written(&m, NULL);
	check_has(text, "<title id=\"sk-t\">From old.folded to new.folded</title>");
	free(text);
	m.comparable.sides[1].name = "other/old.folded";
	text = written(&m, NULL);
	check_has(text, ">From /a/long/way/to/old.folded to other/old.folded</title>");
	free(text);
	made_done(&m);
}

Test(report_svg, rates_are_shares_of_all_before)
{
	struct made m;
	char *text;

	made_from(&m, "m;a 100\nm;b 100\n", "m;a 150\nm;b 150\n");
	m.units.exposure = STOKE_EXPOSURE_WORK;
	m.c.exposure[0] = m.c.exposure[1] = 50;
	cause_free(m.c.cause);
	cr_assert(eq(int, cause_find(m.c.aligned, m.c.exposure, .005, &m.c.cause), 0));
	text = written(&m, NULL);
	check_has(text, "compared by CPU an operation; 100 % is all of before");
	check_has(text, "m\nbefore 100" THIN "%, after 150.0" THIN "%, +50.0" THIN "pts");
	check_has(text, "&quot;exposure&quot;:[200,200]");
	free(text);
	made_done(&m);
}
