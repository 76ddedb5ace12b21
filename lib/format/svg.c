/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.c: a flame graph as one file: a still picture for where scripts may not run, the profile
 * itself, and the program that draws it where they may. Order of the parts: the still picture
 * takes what it needs of the budget, the profile gets the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/svg/read.h"
#include "view/draw.h"
#include "view/json.h"
#include "view/number.h"
#include "view/page.h"
#include "view/palette.h"
#include "view/payload.h"
#include "view/pen.h"

#define MAX_STRIP_BARS	150
#define TEXT_MAX	1024 /* bytes of a title or fact */
#define MIN_NAMED_PCT	95 /* of self time, to call a profile good that says nothing of itself */
#define VERDICT_COLUMNS 64

struct svg_params {
	uint64_t width;
	uint64_t budget_kb;
	char *title;
	unsigned flame;
};

static const struct param svg_param_list[] = {
	{"width", PARAM_NUMBER, offsetof(struct svg_params, width), "1200",
		"width in pixels of the still picture", 300, 10000},
	{"flame", PARAM_FLAG, offsetof(struct svg_params, flame), NULL,
		"root at the bottom, flames upwards"},
	{"title", PARAM_TEXT, offsetof(struct svg_params, title), NULL,
		"heading; otherwise the target or the file"},
	{"budget", PARAM_NUMBER, offsetof(struct svg_params, budget_kb), "2000",
		"size in kB that the file stays under; the smallest frames are left out", 100,
		1000000},
	{0},
};

/* A file in the making. */
struct svg {
	const struct stoke_profile *profile;
	const struct svg_params *params;
	const char *unit;
	struct tree *tree;
	struct layout *layout;
	struct table *functions;
	struct payload payload;
	struct quality_text *quality;
	char *title, *facts, *still, *meta, *verdict, *description;
	size_t description_size, facts_size, still_size, meta_size, title_size, verdict_size;
	int good;
};

static void svg_done(struct svg *svg)
{
	tree_free(svg->tree);
	layout_free(svg->layout);
	table_free(svg->functions);
	payload_done(&svg->payload);
	free(svg->quality);
	free(svg->title);
	free(svg->facts);
	free(svg->still);
	free(svg->meta);
	free(svg->verdict);
	free(svg->description);
}

static void print_limited(FILE *out, const char *text)
{
	text_print(out, text, strnlen(text, TEXT_MAX));
}

static const char *fact(const struct svg *svg, const char *key)
{
	return svg->profile->nr_runs ? profile_fact_find(svg->profile, 0, key) : NULL;
}

static int write_title(void *of, FILE *out)
{
	struct svg *svg = of;
	const struct stoke_profile *profile = svg->profile;
	const char *target = fact(svg, "target");

	if (svg->params->title && *svg->params->title)
		print_limited(out, svg->params->title);
	else if (target)
		print_limited(out, target);
	else if (profile->nr_runs == 1 && profile->runs[0].name)
		print_limited(out, strings_text(&profile->strings, profile->runs[0].name));
	else
		fputs("Flame graph", out);
	return 0;
}

/* The column of this type and unit; -1: there is none. */
static int column_of(const struct stoke_profile *profile, const char *type, const char *unit)
{
	for (unsigned i = 0; i < profile->nr_values; i++) {
		const struct value_type *value = &profile->values[i];

		if (strcmp(strings_text(&profile->strings, value->type), type) == 0 &&
			strcmp(strings_text(&profile->strings, value->unit), unit) == 0)
			return (int)i;
	}
	return -1;
}

static void separate(FILE *out, int *nr)
{
	if ((*nr)++)
		fputs(PAGE_DOT, out);
}

static void write_event(const struct svg *svg, FILE *out, int *nr)
{
	const struct stoke_profile *profile = svg->profile;
	const char *rate = fact(svg, "rate"), *event = fact(svg, "event");

	if (!event && profile->nr_runs && profile->runs[0].event)
		event = strings_text(&profile->strings, profile->runs[0].event);
	if (!event)
		return;
	separate(out, nr);
	print_limited(out, event);
	if (rate) {
		fputs(strncmp(rate, "one in", 6) == 0 ? ", " : " at ", out);
		print_limited(out, rate);
	}
}

static int write_facts(void *of, FILE *out)
{
	struct svg *svg = of;
	const struct stoke_profile *profile = svg->profile;
	int samples = column_of(profile, "samples", "count"), nr = 0;
	const char *kernel = fact(svg, "kernel");
	char number[NUMBER_ROOM];

	write_event(svg, out, &nr);
	if (profile->nr_runs == 1 && profile->runs[0].duration_ns) {
		separate(out, &nr);
		fputs(number_time(number, profile->runs[0].duration_ns), out);
	} else if (profile->nr_runs > 1) {
		separate(out, &nr);
		fprintf(out, "%zu runs", profile->nr_runs);
	}
	if (samples >= 0) {
		separate(out, &nr);
		fprintf(out, "%s samples",
			number_count(number, profile_total(profile, (unsigned)samples)));
	}
	if (samples < 0 || (unsigned)samples != svg->tree->value) {
		separate(out, &nr);
		fprintf(out, "%s%s", number_value(number, svg->tree->total[0][0], svg->unit),
			strcmp(svg->unit, "ns") == 0 ? " CPU" : "");
	}
	if (kernel) {
		separate(out, &nr);
		fputs("Linux ", out);
		print_limited(out, kernel);
	}
	if (svg->payload.nr_left_out) {
		char threshold[NUMBER_ROOM];

		separate(out, &nr);
		fprintf(out, "%s frames under %s left out to stay under %llu kB",
			number_count(number, svg->payload.nr_left_out),
			number_value(threshold, svg->payload.threshold, svg->unit),
			(unsigned long long)svg->params->budget_kb);
	}
	return 0;
}

/* The badge: the first warning up to its cause, or the first figure of the quality line. */
static int write_verdict(void *of, FILE *out)
{
	struct svg *svg = of;
	const struct quality_text *quality = svg->quality;
	uint64_t total = svg->tree->total[0][0], self[128], unnamed;
	char share[NUMBER_ROOM];
	int r;

	r = palette_self(svg->tree, self);
	if (r < 0)
		return r;
	unnamed = self['u'];

	if (quality->nr) {
		const char *first = quality->sentence[0];
		size_t size = text_cut(first, strcspn(first, ":;"), VERDICT_COLUMNS);

		svg->good = 0;
		(void)fwrite(first, 1, size, out); /* into memory: checked when it is closed */
		if (first[size] && first[size] != ':' && first[size] != ';')
			fputs("\xe2\x80\xa6", out);
		if (quality->nr > 1)
			fprintf(out, " (and %zu more)", quality->nr - 1);
	} else if (strstr(quality->line, "of stacks whole")) {
		svg->good = 1;
		fprintf(out, "good: %.*s", (int)strcspn(quality->line, ","), quality->line);
	} else {
		svg->good = (unsigned __int128)(total - unnamed) * 100 >=
			    (unsigned __int128)total * MIN_NAMED_PCT;
		fprintf(out, "%s%s of self time named", svg->good ? "good: " : "only ",
			number_share(share, total - unnamed, total));
	}
	return 0;
}

static void write_quality_json(const struct svg *svg, FILE *out)
{
	fprintf(out, ",\"quality\":{\"ok\":%s,\"verdict\":", svg->good ? "true" : "false");
	json_puts(out, svg->verdict);
	fputs(",\"rows\":[[\"quality\",", out);
	json_puts(out, svg->quality->line);
	putc(']', out);
	for (size_t i = 0; i < svg->quality->nr; i++) {
		fputs(",[\"warning\",", out);
		json_puts(out, svg->quality->sentence[i]);
		putc(']', out);
	}
	fputs("]},\"run\":[", out);
	for (size_t run = 0, nr = 0; run < svg->profile->nr_runs; run++) {
		const struct run *of = &svg->profile->runs[run];

		for (size_t i = 0; i < of->nr_facts; i++) {
			const char *key = strings_text(&svg->profile->strings, of->facts[i].key);

			/* Warnings stand above, with those of the counts. */
			if (strcmp(key, "warning") == 0)
				continue;
			fputs(nr++ ? ",[" : "[", out);
			json_raw(out, key);
			putc(',', out);
			json_raw(out, strings_text(&svg->profile->strings, of->facts[i].value));
			putc(']', out);
		}
	}
	putc(']', out);
}

/* Values over time, in at most MAX_STRIP_BARS bars. */
static int write_strip_json(const struct svg *svg, FILE *out)
{
	const struct rows *rows = &svg->profile->rows;
	const uint64_t *value = rows->value[svg->tree->value];
	uint64_t bar[MAX_STRIP_BARS] = {0}, slice_ns;
	uint32_t last = 0, step;

	if (svg->profile->nr_runs != 1 || !value)
		return 0;
	slice_ns = svg->profile->runs[0].slice_ns;
	for (size_t i = 0; i < rows->nr; i++)
		last = rows->slice[i] > last ? rows->slice[i] : last;
	if (!slice_ns || last < 4)
		return 0;
	step = last / MAX_STRIP_BARS + 1;
	for (size_t i = 0; i < rows->nr; i++)
		bar[rows->slice[i] / step] += value[i];
	fprintf(out, ",\"strip\":{\"ms\":%llu,\"v\":[",
		(unsigned long long)(slice_ns / 1000000 * step));
	for (uint32_t i = 0; i <= last / step; i++)
		fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)bar[i]);
	fputs("]}", out);
	return 0;
}

/* Letters of kinds that the profile did not say, but how names are written. */
static void write_guessed(const struct tree *tree, FILE *out)
{
	uint8_t said[128] = {0}, seen[128] = {0};

	for (uint32_t i = 1; i < tree->nr_names; i++) {
		unsigned letter = (unsigned char)palette_letter(tree, i) & 127;

		seen[letter] = 1;
		said[letter] |= tree->names[i].kind != FUNCTION_UNKNOWN;
	}
	for (unsigned letter = 'a'; letter <= 'z'; letter++)
		if (seen[letter] && !said[letter])
			putc((int)letter, out);
}

static void write_counts_json(const struct stoke_profile *profile, FILE *out)
{
	const char *separator = "";
	struct quality quality;

	quality_sum(profile, &quality);
	for (unsigned i = 0; i < NR_QUALITY_COUNTS; i++) {
		if (!quality.count[i] || quality.count[i] > INT64_MAX)
			continue;
		fprintf(out, "%s\"%s\":%llu", separator, quality_name((enum quality_count)i),
			(unsigned long long)quality.count[i]);
		separator = ",";
	}
}

/* Those that came with the runs; the others follow from the counts. */
static void write_warnings_json(const struct stoke_profile *profile, FILE *out)
{
	const char *separator = "";

	for (size_t i = 0; i < profile->nr_runs; i++) {
		const struct run *run = &profile->runs[i];

		for (size_t f = 0; f < run->nr_facts; f++) {
			if (strcmp(strings_text(&profile->strings, run->facts[f].key), "warning"))
				continue;
			fputs(separator, out);
			json_raw(out, strings_text(&profile->strings, run->facts[f].value));
			separator = ",";
		}
	}
}

/* For those who read the profile back: what it does not hold itself. */
static void write_capture_json(const struct svg *svg, FILE *out)
{
	const struct stoke_profile *profile = svg->profile;
	int samples = column_of(profile, "samples", "count");
	const struct run *run = profile->runs;
	const struct {
		const char *key;
		uint64_t value;
	} entries[] = {
		{"samples", samples < 0 ? 0 : profile_total(profile, (unsigned)samples)},
		{"start_ns", profile->nr_runs == 1 ? run->start_ns : 0},
		{"duration_ns", profile->nr_runs == 1 ? run->duration_ns : 0},
		{"period", profile->nr_runs == 1 ? run->period : 0},
	};
	const char *separator = "";

	fputs(",\"capture\":{", out);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!entries[i].value || entries[i].value > INT64_MAX)
			continue;
		fprintf(out, "%s\"%s\":%llu", separator, entries[i].key,
			(unsigned long long)entries[i].value);
		separator = ",";
	}
	fprintf(out, "%s\"guessed\":\"", separator);
	write_guessed(svg->tree, out);
	fputs("\",\"quality\":{", out);
	write_counts_json(profile, out);
	fputs("},\"warnings\":[", out);
	write_warnings_json(profile, out);
	fputs("]}", out);
}

static int write_meta(void *of, FILE *out)
{
	struct svg *svg = of;
	fputs("{\"type\":\"flame\",\"v\":1,\"title\":", out);
	json_puts(out, svg->title);
	fputs(",\"unit\":", out);
	json_puts(out, svg->unit);
	fputs(",\"facts\":", out);
	page_facts_json(svg->facts, out);
	fputs(",\"kinds\":{", out);
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		fprintf(out, "%s\"%c\":", kind == palette ? "" : ",", kind->letter);
		json_puts(out, kind->name);
	}
	putc('}', out);
	write_quality_json(svg, out);
	write_capture_json(svg, out);
	(void)write_strip_json(svg, out);
	if (svg->params->flame)
		fputs(",\"flame\":true", out);
	putc('}', out);
	return 0;
}

static int write_still(void *of, FILE *out)
{
	struct svg *svg = of;
	const struct draw_options options = {
		.title = svg->title,
		.facts = svg->facts,
		.verdict = svg->verdict,
		.unit = svg->unit,
		.note = "",
		.width = (unsigned)svg->params->width,
		.good = svg->good,
		.flame = (int)svg->params->flame,
	};

	return draw_picture(out, svg->tree, svg->layout, svg->functions, &options);
}

/* For those who do not see the picture. */
static int write_description(void *of, FILE *out)
{
	const struct svg *svg = of;
	const struct table_row *top[DRAW_TOP];
	unsigned nr = draw_top(svg->functions, top);
	char number[NUMBER_ROOM];

	fputs(number_value(number, svg->tree->total[0][0], svg->unit), out);
	putc('.', out);
	for (unsigned i = 0; i < nr && i < 5; i++) {
		size_t size = top[i]->name_size < 256 ? top[i]->name_size : 256;

		fputs(i ? "; " : " Most self time: ", out);
		text_print(out, top[i]->name, size);
		putc(' ', out);
		fputs(number_share(number, top[i]->self, svg->functions->sum), out);
	}
	return 0;
}

static struct page page_of(const struct svg *svg)
{
	return (struct page){
		.title = svg->title,
		.description = svg->description,
		.width = (unsigned)svg->params->width,
		.height = draw_height(svg->layout, svg->functions),
		.still = svg->still,
		.still_size = svg->still_size,
		.meta = svg->meta,
		.meta_size = svg->meta_size,
		.payload = &svg->payload,
	};
}

static const char *unit_of(const struct stoke_profile *profile, unsigned value)
{
	const char *unit;

	if (value >= profile->nr_values)
		return "samples";
	unit = strings_text(&profile->strings, profile->values[value].unit);
	if (strcmp(unit, "nanoseconds") == 0)
		return "ns";
	if (strcmp(unit, "count") == 0 || !*unit)
		return strings_text(&profile->strings, profile->values[value].type);
	return unit;
}

static int make_views(struct svg *svg)
{
	const struct tree_options tree_options = {.value = svg->profile->default_value};
	const struct layout_options layout_options = {
		.width = (double)svg->params->width - 2 * PEN_MARGIN,
		.max_boxes = (size_t)svg->params->budget_kb * 1000 / 3 / PAGE_BYTES_PER_BOX,
	};
	int r;

	r = tree_build(svg->profile, &tree_options, &svg->tree);
	if (r < 0)
		return r;
	r = layout_make(svg->tree, &layout_options, &svg->layout);
	if (r < 0)
		return r;
	r = table_functions(svg->tree, &svg->functions);
	if (r < 0)
		return r;
	svg->quality = calloc(1, sizeof(*svg->quality));
	if (!svg->quality)
		return -ENOMEM;
	return quality_say(svg->profile, svg->quality);
}

static int make_texts(struct svg *svg)
{
	int r;

	r = page_text(svg, write_title, &svg->title, &svg->title_size);
	if (r < 0)
		return r;
	r = page_text(svg, write_facts, &svg->facts, &svg->facts_size);
	if (r < 0)
		return r;
	r = page_text(svg, write_verdict, &svg->verdict, &svg->verdict_size);
	if (r < 0)
		return r;
	r = page_text(svg, write_still, &svg->still, &svg->still_size);
	if (r < 0)
		return r;
	r = page_text(svg, write_description, &svg->description, &svg->description_size);
	if (r < 0)
		return r;
	return page_text(svg, write_meta, &svg->meta, &svg->meta_size);
}

static int make(struct svg *svg)
{
	struct page page;
	int r;

	r = make_views(svg);
	if (r < 0)
		return r;
	r = make_texts(svg);
	if (r < 0)
		return r;
	page = page_of(svg);
	r = payload_make(svg->tree, page_room(&page, (size_t)svg->params->budget_kb * 1000), NULL,
		&svg->payload);
	if (r < 0)
		return r;
	/* What was left out is one of the facts. */
	return svg->payload.nr_left_out ? make_texts(svg) : 0;
}

static int svg_write(const struct stoke_profile *profile, const void *params, FILE *out)
{
	struct svg svg = {.profile = profile, .params = params};
	int r;

	svg.unit = unit_of(profile, profile->default_value);
	r = make(&svg);
	if (r >= 0) {
		const struct page page = page_of(&svg);

		page_write(&page, out);
	}
	svg_done(&svg);
	return r < 0 ? r : 0;
}

const struct format format_svg = {
	.name = "svg",
	.summary = "interactive flame graph, one file for any browser",
	.suffixes = ".svg",
	.recognise = svg_recognise,
	.read = svg_read,
	.params = svg_param_list,
	.params_size = sizeof(struct svg_params),
	.write = svg_write,
};
