/* SPDX-License-Identifier: BSD-2-Clause */
/* meta.c: sides are called before and after, and each sentence says of which it speaks. */
#include "report/svg/meta.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/said.h"
#include "report/story.h"
#include "view/json.h"
#include "view/number.h"
#include "view/page.h"
#include "view/palette.h"

#define TEXT_MAX	1024 /* raw bytes of a title or name */
#define VERDICT_COLUMNS 64
#define MAX_CHANGES	5 /* in the description */
#define MAX_RUNS	200 /* in the list of runs */

static void print_limited(FILE *out, const char *text)
{
	text_print(out, text, strnlen(text, TEXT_MAX));
}

static const char *side_name(const struct svg *svg, unsigned side)
{
	const char *name = svg->comparison->comparable->sides[side].name;

	return name ? name : side ? "after" : "before";
}

/* The end of a path, where both sides' ends tell them apart. */
static const char *short_name(const struct svg *svg, unsigned side)
{
	const char *end[2];

	for (unsigned i = 0; i < 2; i++) {
		const char *slash = strrchr(side_name(svg, i), '/');

		end[i] = slash && slash[1] ? slash + 1 : side_name(svg, i);
	}
	return strcmp(end[0], end[1]) == 0 ? side_name(svg, side) : end[side];
}

int svg_write_title(void *of, FILE *out)
{
	const struct svg *svg = of;

	if (svg->params->title && *svg->params->title) {
		print_limited(out, svg->params->title);
		return 0;
	}
	fputs("From ", out);
	print_limited(out, short_name(svg, 0));
	fputs(" to ", out);
	print_limited(out, short_name(svg, 1));
	return 0;
}

static void write_side(const struct svg *svg, unsigned side, FILE *out)
{
	const struct side *of = &svg->comparison->comparable->sides[side];
	char number[NUMBER_ROOM];

	fprintf(out, "%s: ", side ? "after" : "before");
	print_limited(out, side_name(svg, side));
	if (of->jvm) {
		fputs(" (JDK ", out);
		print_limited(out, of->jvm);
		putc(')', out);
	}
	fprintf(out, ", %s sample%s", number_count(number, of->samples), said_s(of->samples));
	if (of->duration_ns)
		fprintf(out, " in %s", number_time(number, of->duration_ns));
}

static void write_exposure(const struct svg *svg, FILE *out)
{
	double all = (double)svg->comparison->aligned->tree->total[0][0];

	switch (svg->comparison->units->exposure) {
	case STOKE_EXPOSURE_WORK:
		fputs("compared by CPU an operation; 100 % is all of before", out);
		break;
	case STOKE_EXPOSURE_TIME:
		fputs("compared by CPU time in a second; 100 % is all of before", out);
		break;
	case STOKE_EXPOSURE_AUTO:
	case STOKE_EXPOSURE_SHARE:
		fputs("compared by share of samples", out);
		/* The JVM's own threads are in the picture, not in what is divided by. */
		if (svg->comparison->exposure[0] < all)
			fputs(", JIT and GC not counted in", out);
		break;
	}
}

int svg_write_facts(void *of, FILE *out)
{
	static const char *const levels[] = {"build", "as they are", "build", "jdk"};
	const struct svg *svg = of;
	char number[NUMBER_ROOM], threshold[NUMBER_ROOM];

	for (unsigned side = 0; side < 2; side++) {
		write_side(svg, side, out);
		fputs(PAGE_DOT, out);
	}
	write_exposure(svg, out);
	fprintf(out, PAGE_DOT "names %s", levels[svg->comparison->level]);
	fprintf(out, PAGE_DOT "difference %s",
		number_rate(
			number, svg->comparison->cause->difference * story_scale(svg->comparison)));
	if (svg->params->swap)
		fputs(PAGE_DOT "sides swapped", out);
	if (svg->payload.nr_left_out)
		fprintf(out, PAGE_DOT "%s frame%s under %s samples left out to stay under %llu kB",
			number_count(number, svg->payload.nr_left_out),
			said_s(svg->payload.nr_left_out),
			number_count(threshold, svg->payload.threshold),
			(unsigned long long)svg->params->budget_kb);
	return 0;
}

static void write_cut(FILE *out, const char *text)
{
	size_t size = text_cut(text, strcspn(text, ":;"), VERDICT_COLUMNS);

	text_print(out, text, size);
	if (text[size] && text[size] != ':' && text[size] != ';')
		fputs("\xe2\x80\xa6", out);
}

/* The badge: what a check said, else what speaks against the comparison, else its repeats. */
int svg_write_verdict(void *of, FILE *out)
{
	struct svg *svg = of;
	const struct stoke_comparison *c = svg->comparison;
	const struct comparable *comparable = c->comparable;
	const struct units *units = c->units;

	svg->good = 0;
	if (c->verdict) {
		svg->good = c->verdict->word == VERDICT_PASS;
		fputs(svg->good					 ? "pass"
			: c->verdict->word == VERDICT_REGRESSION ? "regression"
								 : "cannot tell",
			out);
	} else if (comparable->nr_findings && comparable->findings[0].weight >= FINDING_WARNING) {
		write_cut(out, comparable->findings[0].text);
	} else if (units->blocks) {
		fputs("one capture a side: chance judged inside these two only", out);
	} else if (svg->difference.untested) {
		fputs(units->nr == 2 ? "one capture a side: only sampling error is ruled out"
				     : "too few repeats: only sampling error is ruled out",
			out);
	} else {
		svg->good = 1;
		fprintf(out, "%u capture%s before, %u after", units->nr_before,
			said_s(units->nr_before), units->nr - units->nr_before);
	}
	return 0;
}

int svg_write_description(void *of, FILE *out)
{
	const struct svg *svg = of;
	const struct difference *d = &svg->difference;
	char number[NUMBER_ROOM];
	unsigned nr = 0;

	fprintf(out, "%s %s", svg->facts, svg->story);
	for (size_t i = 0; i < svg->nr_functions && nr < MAX_CHANGES; i++) {
		const struct difference_function *function = &svg->functions[i];
		double change = function->total[1] - function->total[0];
		size_t size;
		const char *name = tree_text(d->tree, function->name, &size);

		if (!difference_is_sure(d, function->name, change))
			break;
		fputs(nr++ ? "; " : " Largest changes with evidence: ", out);
		text_print(out, name, size < 256 ? size : 256);
		fprintf(out, " %s", number_points(number, change));
	}
	if (nr)
		putc('.', out);
	return 0;
}

/* Six decimals, without a locale's comma. */
static void write_decimal(FILE *out, double value)
{
	double whole = floor(value);
	unsigned long long millionths = (unsigned long long)((value - whole) * 1e6 + .5);

	if (!(value >= 0) || value > 1e18) {
		putc('0', out);
		return;
	}
	if (millionths >= 1000000) {
		whole++;
		millionths = 0;
	}
	fprintf(out, "%llu", (unsigned long long)whole);
	if (millionths)
		fprintf(out, ".%06llu", millionths);
}

static void write_pair(FILE *out, int *nr, const char *key, const char *text)
{
	fputs((*nr)++ ? ",[" : "[", out);
	json_raw(out, key);
	putc(',', out);
	json_raw(out, text);
	putc(']', out);
}

static void write_evidence_rows(const struct svg *svg, FILE *out, int *nr)
{
	const struct stoke_comparison *c = svg->comparison;
	char text[256], number[2][NUMBER_ROOM];

	(void)snprintf(text, sizeof(text), "%u %s before, %u after", c->units->nr_before,
		c->units->blocks	   ? "blocks of one capture"
		: c->units->nr_before == 1 ? "capture"
					   : "captures",
		c->units->nr - c->units->nr_before);
	write_pair(out, nr, "units", text);
	if (c->evidence) {
		(void)snprintf(text, sizeof(text), "%s sums tested together by %s relabellings",
			number_count(number[0], c->evidence->nr_tested),
			number_count(number[1], c->evidence->relabellings));
		write_pair(out, nr, "test", text);
		write_pair(out, nr, "chance allowed", number_rate(number[0], c->evidence->alpha));
	}
	if (c->evidence && c->power.detectable > 0 && isfinite(c->power.detectable)) {
		(void)snprintf(text, sizeof(text), "%s in a frame of %s is found 9 times in 10",
			number_points(
				number[0], c->power.detectable * story_scale(svg->comparison)),
			number_rate(number[1], c->power.share));
		write_pair(out, nr, "could have seen", text);
	}
}

static void write_quality(const struct svg *svg, FILE *out)
{
	static const char *const weights[] = {"same", "note", "warning", "refusal"};
	const struct comparable *comparable = svg->comparison->comparable;
	int nr = 0;

	fprintf(out, "{\"ok\":%s,\"verdict\":", svg->good ? "true" : "false");
	json_puts(out, svg->verdict);
	fputs(",\"rows\":[", out);
	write_evidence_rows(svg, out, &nr);
	for (size_t i = 0; i < comparable->nr_findings; i++)
		write_pair(out, &nr, weights[comparable->findings[i].weight],
			comparable->findings[i].text);
	fputs("]},\"run\":[", out);
	nr = 0;
	for (size_t i = 0; i < svg->comparison->profile->nr_runs && i < MAX_RUNS; i++) {
		const struct stoke_profile *profile = svg->comparison->profile;

		write_pair(out, &nr, i < svg->comparison->nr_before ? "before" : "after",
			strings_text(&profile->strings, profile->runs[i].name));
	}
	putc(']', out);
}

static void write_kinds(FILE *out)
{
	putc('{', out);
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		fprintf(out, "%s\"%c\":", kind == palette ? "" : ",", kind->letter);
		json_puts(out, kind->name);
	}
	putc('}', out);
}

int svg_write_meta(void *of, FILE *out)
{
	const struct svg *svg = of;
	const struct difference *d = &svg->difference;

	fputs("{\"type\":\"diff\",\"v\":1,\"title\":", out);
	json_puts(out, svg->title);
	fputs(",\"unit\":\"samples\",\"facts\":", out);
	page_facts_json(svg->facts, out);
	fputs(",\"story\":", out);
	json_puts(out, svg->story);
	fprintf(out, ",\"sides\":[\"%s\",\"%s\"],\"exposure\":[", d->word[0], d->word[1]);
	write_decimal(out, d->exposure[0]);
	putc(',', out);
	write_decimal(out, d->exposure[1]);
	fputs("],\"alpha\":", out);
	write_decimal(out, d->alpha);
	fputs(",\"full\":", out);
	write_decimal(out, d->full);
	fputs(",\"least\":", out);
	write_decimal(out, d->least);
	fprintf(out, ",\"widths\":%u,\"kinds\":", svg->widths);
	write_kinds(out);
	fputs(",\"quality\":", out);
	write_quality(svg, out);
	if (d->all)
		fputs(",\"all\":true", out);
	if (d->untested)
		fputs(",\"untested\":true", out);
	if (svg->params->flame)
		fputs(",\"flame\":true", out);
	putc('}', out);
	return 0;
}
