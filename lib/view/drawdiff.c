/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drawdiff.c: bars stand outside of the coloured box, so that neither its text nor its colour
 * suffers: before above, after below, both from the left edge, as long as their shares.
 */
#include "view/drawdiff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/label.h"
#include "view/number.h"
#include "view/palette.h"
#include "view/pen.h"
#include "view/xml.h"

#define GRAPH_TOP   114 /* with one line of story */
#define STORY_LINES 4 /* at most; the rest is in the description and in a browser */
#define STORY_LINE  16 /* px */
#define ROW	    27
#define BAR	    3
#define TOP_CHANGES 10
#define LEGEND_TOP  64
#define STORY_Y	    99
#define LOST	    60 /* px that a label keeps for the name before it says the change */
#define TITLE_BYTES 160 /* of markup and numbers, about */

struct drawing {
	struct pen pen;
	const struct difference *difference;
	const struct drawdiff_options *options;
};

static unsigned nr_rows(const struct drawdiff_options *options)
{
	return options->nr_functions < TOP_CHANGES ? (unsigned)options->nr_functions : TOP_CHANGES;
}

/* How much of a text fits into a line, cut between words; the whole width where a word is longer.
 */
static size_t line_of(const char *text, double px)
{
	size_t size = strlen(text), n = 0;

	for (size_t i = 1; i <= size; i++) {
		if (i < size && text[i] != ' ')
			continue;
		if (label_width(text, i, LABEL_FONT_PX) > px)
			break;
		n = i;
	}
	return n;
}

/* The story in lines, each put where pen is not NULL. Returns how many. */
static unsigned put_story(const struct pen *pen, const struct drawdiff_options *options)
{
	const char *rest = options->story;
	double px = options->width - 2 * PEN_MARGIN;
	unsigned nr = 0;

	while (*rest && nr < STORY_LINES) {
		size_t n = nr + 1 < STORY_LINES ? line_of(rest, px) : 0;
		double y = STORY_Y + nr++ * STORY_LINE;

		if (n && pen)
			pen_text(pen, "fg1", PEN_MARGIN, y, "", rest, n);
		if (!n) {
			/* The last line, or a word that no line holds. */
			if (pen)
				pen_line(pen, "fg1", PEN_MARGIN, y, "", rest, LABEL_FONT_PX, px);
			break;
		}
		rest += n;
		rest += *rest == ' ';
	}
	return nr;
}

static unsigned graph_top(const struct drawdiff_options *options)
{
	unsigned nr = put_story(NULL, options);

	return GRAPH_TOP + (nr > 1 ? nr - 1 : 0) * STORY_LINE;
}

static unsigned table_top(const struct layout *layout, const struct drawdiff_options *options)
{
	return graph_top(options) + layout->nr_rows * ROW + 26;
}

unsigned drawdiff_height(const struct layout *layout, const struct drawdiff_options *options)
{
	return table_top(layout, options) + PEN_ROW * (nr_rows(options) + 1) + 26;
}

static void put_swatch(const struct pen *pen, const char *class, const char *fill, double x,
	unsigned y, unsigned w, unsigned h)
{
	fprintf(pen->out, "<rect class=\"%s\" x=\"", class);
	pen_px(pen, x);
	fprintf(pen->out, "\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"/>", LEGEND_TOP + y, w,
		h, fill);
}

static void put_change(
	const struct pen *pen, const char *class, double x, unsigned y, unsigned w, unsigned h)
{
	put_swatch(pen, class, palette_change_fill(class), x, y, w, h);
}

static double put_words(const struct pen *pen, double x, const char *text)
{
	pen_text(pen, "fg2", x, LEGEND_TOP + 11, "", text, strlen(text));
	return x + label_width(text, strlen(text), LABEL_FONT_PX);
}

/* "5", "0.5": points of the full colour. */
static void put_full(char *buffer, double full)
{
	unsigned hundredths = (unsigned)(full * 1e4 + .5);
	unsigned rest = hundredths % 100;

	if (!rest)
		(void)snprintf(buffer, NUMBER_ROOM, "%u", hundredths / 100);
	else
		(void)snprintf(buffer, NUMBER_ROOM, rest % 10 ? "%u.%02u" : "%u.%u",
			hundredths / 100, rest % 10 ? rest : rest / 10);
}

/* The scale, and which way round it is. */
static double put_scale(const struct drawing *d)
{
	const struct pen *pen = &d->pen;
	unsigned step = pen->width < 700 ? 8 : 20;
	double x = PEN_MARGIN;
	char text[128], full[NUMBER_ROOM];

	put_full(full, d->difference->full);
	(void)snprintf(
		text, sizeof(text), "less %s  \xe2\x88\x92%s pts", d->difference->word[1], full);
	x = put_words(pen, x, text) + 8;
	for (const struct palette_change *c = palette_changes; strcmp(c->class, "dv") != 0; c++) {
		put_change(pen, c->class, x, 0, step, 14);
		x += step;
	}
	(void)snprintf(text, sizeof(text), "+%s pts  more %s", full, d->difference->word[1]);
	return put_words(pen, x + 8, text) + 24;
}

enum sample { SAMPLE_GREY, SAMPLE_BARS, SAMPLE_NEW, SAMPLE_GONE, SAMPLE_MOVED, SAMPLE_INSERTED };

static void put_sample(const struct pen *pen, enum sample sample, double x)
{
	switch (sample) {
	case SAMPLE_GREY:
		put_change(pen, "dx", x, 0, 26, 14);
		break;
	case SAMPLE_BARS:
		put_change(pen, "ba", x, 0, 18, 4);
		put_change(pen, "bb", x, 10, 26, 4);
		break;
	case SAMPLE_NEW:
		put_change(pen, "dp2", x, 0, 26, 10);
		put_change(pen, "bb", x, 10, 26, 4);
		break;
	case SAMPLE_GONE:
		put_change(pen, "ba", x, 0, 26, 4);
		put_change(pen, "dm2", x, 4, 26, 10);
		put_swatch(pen, "hh", "url(#sk-h)", x, 4, 26, 10);
		break;
	case SAMPLE_MOVED:
		put_change(pen, "dv", x, 0, 26, 14);
		put_swatch(pen, "mm", "url(#sk-m)", x, 0, 26, 14);
		break;
	case SAMPLE_INSERTED:
		break;
	}
}

static void put_legend(const struct drawing *d)
{
	const struct difference *difference = d->difference;
	double x = put_scale(d);
	char bars[128];
	const struct {
		enum sample sample;
		const char *text;
	} entries[] = {
		{SAMPLE_GREY, difference->all	     ? "no change"
			      : difference->untested ? "within sampling error"
						     : "no evidence"},
		{SAMPLE_BARS, bars},
		{SAMPLE_NEW, "+ new"},
		{SAMPLE_GONE, "\xc3\x97 gone"},
		{SAMPLE_MOVED, "\xe2\x87\x84 moved"},
		{SAMPLE_INSERTED, "\xe2\x86\xb3 inserted"},
	};

	(void)snprintf(bars, sizeof(bars), "upper bar %s, lower %s", difference->word[0],
		difference->word[1]);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		unsigned room = entries[i].sample == SAMPLE_INSERTED ? 0 : 32;
		double w = label_width(entries[i].text, strlen(entries[i].text), LABEL_FONT_PX);

		if (x + room + w > d->pen.width - PEN_MARGIN)
			continue;
		put_sample(&d->pen, entries[i].sample, x);
		x = put_words(&d->pen, x + room, entries[i].text) + 14;
	}
}

/* All boxes of one class are one path. which: 0 boxes, 1 and 2 bars, 3 gone, 4 moved. */
static void put_path(const struct drawing *d, const char *class, const char *fill, unsigned which)
{
	const struct difference *difference = d->difference;
	const struct tree *tree = difference->tree;
	const struct layout *layout = d->pen.layout;
	int begun = 0;

	for (size_t i = 0; i < layout->nr; i++) {
		const struct layout_box *box = &layout->boxes[i];
		double x = PEN_MARGIN + box->x, y = pen_y(&d->pen, box),
		       w = pen_drawn_width(box->w);
		int narrow = box->node == LAYOUT_NARROW;
		unsigned height = PEN_BOX;

		if (which == 0) {
			if (strcmp(narrow ? "kd0" : difference_class(difference, box->node), class))
				continue;
			y += BAR;
		} else if (narrow) {
			continue;
		} else if (which <= 2) {
			uint64_t total = tree->total[which - 1][box->node];
			double bar = difference_rate(difference, which - 1, total) * layout->px;

			if (!total)
				continue;
			w = fmax(0.4, fmin(w, box->w > 4 ? bar - 1 : bar));
			y += which == 1 ? 0 : BAR + PEN_BOX;
			height = BAR;
		} else {
			int moved = difference->evidence.marks[box->node] & PAYLOAD_MOVED;

			if (which == 4 ? !moved
				       : moved || !difference_is_gone(difference, box->node))
				continue;
			y += BAR;
		}
		if (!begun++)
			fprintf(d->pen.out, "<path class=\"%s\" fill=\"%s\" d=\"", class, fill);
		pen_box(&d->pen, x, y, w, height);
	}
	if (begun)
		fputs("\"/>", d->pen.out);
}

static void put_paths(const struct drawing *d)
{
	fputs("<g class=\"sk-frames\">", d->pen.out);
	for (const struct palette_change *c = palette_changes; strcmp(c->class, "ba") != 0; c++)
		put_path(d, c->class, c->light, 0);
	put_path(d, "kd0", palette_fill(PALETTE_LEFT_OUT, 0), 0);
	put_path(d, "ba", palette_change_fill("ba"), 1);
	put_path(d, "bb", palette_change_fill("bb"), 2);
	put_path(d, "hh", "url(#sk-h)", 3);
	put_path(d, "mm", "url(#sk-m)", 4);
	fputs("</g>", d->pen.out);
}

static const char *say_chance(const struct difference *difference, uint32_t name, double change)
{
	int sure = difference_is_sure(difference, name, change);

	if (difference_chance(difference, name, change) == PAYLOAD_UNTESTED)
		return "not tested";
	if (difference->untested)
		return sure ? "beyond sampling error" : "within sampling error";
	return sure ? "evidence: p " : "could be chance: p ";
}

static void put_title(const struct drawing *d, uint32_t node, size_t size)
{
	const struct difference *difference = d->difference;
	const struct tree *tree = difference->tree;
	double change = difference_of(difference, node);
	uint32_t chance = difference_chance(difference, tree->name[node], change);
	char numbers[6 * NUMBER_ROOM], rate[4][NUMBER_ROOM], points[NUMBER_ROOM], p[NUMBER_ROOM];

	fputs("<title>", d->pen.out);
	xml_text(d->pen.out, d->pen.name, size);
	for (unsigned side = 0; side < 2; side++) {
		number_rate(rate[side], difference_rate(difference, side, tree->total[side][node]));
		number_rate(
			rate[2 + side], difference_rate(difference, side, tree->self[side][node]));
	}
	(void)snprintf(numbers, sizeof(numbers), "\n%s %s, %s %s, %s; self %s, %s; %s%s",
		difference->word[0], rate[0], difference->word[1], rate[1],
		number_points(points, change), rate[2], rate[3],
		say_chance(difference, tree->name[node], change),
		chance == PAYLOAD_UNTESTED || difference->untested ? "" : number_chance(p, chance));
	xml_puts(d->pen.out, numbers);
	fputs("</title>", d->pen.out);
}

/* Sign, name, and the change where there is evidence and room for it. Returns its size. */
static size_t fit(const struct drawing *d, uint32_t node, size_t size, double px,
	char label[PEN_NAME + 2 * NUMBER_ROOM])
{
	const struct difference *difference = d->difference;
	uint32_t name = difference->tree->name[node];
	double change = difference_of(difference, node), sign_px, change_px;
	const char *sign = difference_sign(difference, node);
	char points[NUMBER_ROOM + 2] = "  ";
	size_t n = strlen(sign), fitted;

	memcpy(label, sign, n);
	sign_px = label_width(sign, n, LABEL_FONT_PX);
	number_points(points + 2, change);
	change_px = label_width(points, strlen(points), LABEL_FONT_PX);
	if (!difference_is_told(difference, node) || change_px + LOST > px)
		change_px = 0;
	fitted = label_fit(d->pen.name, size, palette_letter(difference->tree, name),
		px - sign_px - change_px, label + n, PEN_NAME);
	if (!fitted)
		return n && sign_px <= px ? n - 1 : 0; /* the sign alone */
	n += fitted;
	if (change_px > 0) {
		memcpy(label + n, points, strlen(points));
		n += strlen(points);
	}
	return n;
}

static void put_labels(const struct drawing *d)
{
	const struct pen *pen = &d->pen;
	size_t bytes = 0;

	fputs("<g class=\"lb sk-labels\" fill=\"" PEN_INK "\">", pen->out);
	for (size_t i = 0; i < pen->layout->nr; i++) {
		const struct layout_box *box = &pen->layout->boxes[i];
		char label[PEN_NAME + 2 * NUMBER_ROOM];
		size_t size, n;

		if (box->node == LAYOUT_NARROW || box->w < PEN_LABEL)
			continue;
		size = label_name(pen->tree, pen->tree->name[box->node], pen->name);
		n = fit(d, box->node, size, box->w - 2 * PEN_PAD, label);
		if (!n)
			continue;
		fputs("<text x=\"", pen->out);
		pen_px(pen, PEN_MARGIN + box->x + PEN_PAD);
		fputs("\" y=\"", pen->out);
		pen_px(pen, pen_y(pen, box) + BAR + 12.5);
		fprintf(pen->out, "\"%s>",
			strcmp(difference_class(d->difference, box->node), "dx") == 0
				? " class=\"lx\""
				: "");
		bytes += n + TITLE_BYTES + size;
		if (bytes < PEN_TITLES)
			put_title(d, box->node, size);
		xml_text(pen->out, label, n);
		fputs("</text>", pen->out);
	}
	fputs("</g>", pen->out);
}

static void put_cells(const struct pen *pen, const char *class, double y, const char *const text[4])
{
	static const unsigned right[4] = {76, 150, 240, 300};

	for (unsigned i = 0; i < 4; i++)
		pen_text(pen, class, right[i], y, " text-anchor=\"end\"", text[i], strlen(text[i]));
}

static void put_function(
	const struct drawing *d, const struct difference_function *function, double y)
{
	const struct difference *difference = d->difference;
	const struct pen *pen = &d->pen;
	double change = function->total[1] - function->total[0];
	uint32_t chance = difference_chance(difference, function->name, change);
	char rate[2][NUMBER_ROOM], points[NUMBER_ROOM], p[NUMBER_ROOM] = "\xe2\x80\x93";
	char label[PEN_NAME];
	size_t size = label_name(difference->tree, function->name, pen->name);

	if (chance != PAYLOAD_UNTESTED && !difference->untested)
		number_chance(p, chance);
	put_cells(pen, difference_is_sure(difference, function->name, change) ? "fg1" : "fg2", y,
		(const char *const[]){number_rate(rate[0], function->total[0]),
			number_rate(rate[1], function->total[1]), number_points(points, change),
			p});
	size = label_fit(pen->name, size, palette_letter(difference->tree, function->name),
		pen->width - 320 - PEN_MARGIN, label, sizeof(label));
	pen_text(pen, "fg1", 320, y, "", label, size);
}

static void put_table(const struct drawing *d)
{
	const struct pen *pen = &d->pen;
	double y = table_top(pen->layout, d->options) + 22;

	put_cells(pen, "fg2", y,
		(const char *const[]){
			d->difference->word[0], d->difference->word[1], "change", "p"});
	pen_line(pen, "fg2", 320, y, "", "Largest changes of a function, those beyond chance first",
		LABEL_FONT_PX, pen->width - 320 - PEN_MARGIN);
	pen_rule(pen, y + 6.5);
	for (unsigned i = 0; i < nr_rows(d->options); i++) {
		y += PEN_ROW;
		put_function(d, &d->options->functions[i], y);
		pen_rule(pen, y + 6.5);
	}
}

int drawdiff_picture(FILE *out, const struct difference *difference, const struct layout *layout,
	const struct drawdiff_options *options)
{
	_cleanup_free_ char *name = malloc(LABEL_NAME_ROOM);
	const struct drawing d = {
		.pen =
			{
				.out = out,
				.tree = difference->tree,
				.layout = layout,
				.width = options->width,
				.top = graph_top(options),
				.row = ROW,
				.flame = options->flame,
				.name = name,
			},
		.difference = difference,
		.options = options,
	};

	if (!name)
		return -ENOMEM;
	pen_header(&d.pen, options->title, options->facts, options->verdict, options->good);
	put_legend(&d);
	(void)put_story(&d.pen, options); /* how many lines */
	put_paths(&d);
	put_labels(&d);
	pen_note(&d.pen, options->note);
	put_table(&d);
	return 0;
}
