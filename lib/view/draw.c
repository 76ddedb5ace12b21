/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c: where things stand on the page. y grows downwards; an icicle has its root on top. */
#include "view/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "view/label.h"
#include "view/number.h"
#include "view/palette.h"
#include "view/xml.h"

#define GRAPH_TOP    98
#define ROW	     18
#define BOX	     17 /* of the row; the rest is the gap */
#define MIN_LABEL_PX 22 /* narrower boxes have no label */
#define LABEL_PAD    4
#define TABLE_ROW    20
#define MAX_TITLES   (512 << 10) /* bytes of labels; then they come without the full name */
#define NAME_ROOM    4096 /* of a label: more than fits any box */

#define INK   "#15181d"
#define MUTED "#59616c"

/* A picture being drawn. */
struct pen {
	FILE *out;
	const struct tree *tree;
	const struct layout *layout;
	const struct draw_options *options;
	char *name; /* LABEL_NAME_ROOM, one name at a time */
	char *class_of; /* box -> letter and shade, two bytes */
};

/* Tenths of a pixel, without a locale's comma: "12", "12.5". */
static void put_px(FILE *out, double px)
{
	long tenths = (long)(px * 10 + (px < 0 ? -0.5 : 0.5));

	if (tenths % 10)
		fprintf(out, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10,
			labs(tenths) % 10);
	else
		fprintf(out, "%ld", tenths / 10);
}

unsigned draw_top(const struct table *functions, const struct table_row *ret[DRAW_TOP])
{
	unsigned nr = 0;

	for (size_t i = 0; i < functions->nr; i++) {
		const struct table_row *row = &functions->rows[i];
		unsigned at = nr;

		/* The table's order decides between equals. */
		while (at > 0 && ret[at - 1]->self < row->self)
			at--;
		if (!row->self || at == DRAW_TOP)
			continue;
		if (nr < DRAW_TOP)
			nr++;
		memmove(ret + at + 1, ret + at, (nr - 1 - at) * sizeof(*ret));
		ret[at] = row;
	}
	return nr;
}

static unsigned table_top(const struct layout *layout)
{
	return GRAPH_TOP + layout->nr_rows * ROW + 26;
}

unsigned draw_height(const struct layout *layout, const struct table *functions)
{
	const struct table_row *top[DRAW_TOP];

	return table_top(layout) + TABLE_ROW * (draw_top(functions, top) + 1) + 26;
}

static void put_text(const struct pen *pen, const char *class, double x, double y,
	const char *attributes, const char *text, size_t size)
{
	fprintf(pen->out, "<text class=\"%s\" x=\"", class);
	put_px(pen->out, x);
	fputs("\" y=\"", pen->out);
	put_px(pen->out, y);
	fprintf(pen->out, "\" fill=\"%s\"%s>", strcmp(class, "fg2") == 0 ? MUTED : INK, attributes);
	xml_text(pen->out, text, size);
	fputs("</text>", pen->out);
}

/* Printable text, cut to a width. */
static void put_line(const struct pen *pen, const char *class, double x, double y,
	const char *attributes, const char *text, double font_px, double px)
{
	char fitted[NAME_ROOM];
	size_t n = label_fit(
		text, strlen(text), 'k', px * LABEL_FONT_PX / font_px, fitted, sizeof(fitted));

	put_text(pen, class, x, y, attributes, fitted, n);
}

static void put_header(const struct pen *pen)
{
	const struct draw_options *o = pen->options;
	double right = label_width(o->verdict, strlen(o->verdict), LABEL_FONT_PX * 1.12) + 24;
	char verdict[NAME_ROOM];
	size_t n;

	if (right > 0.6 * o->width)
		right = 0.6 * o->width;
	n = label_fit(o->verdict, strlen(o->verdict), 'k', right, verdict, sizeof(verdict));
	fputs("<rect class=\"bg\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>", pen->out);
	put_line(pen, "fg1", DRAW_MARGIN, 30, " font-size=\"18\" font-weight=\"600\"", o->title, 20,
		o->width - 3 * DRAW_MARGIN - right);
	/* The mark says it without colour. */
	fprintf(pen->out,
		"<text class=\"%s\" x=\"%u\" y=\"30\" text-anchor=\"end\" font-weight=\"600\" "
		"fill=\"%s\">%s ",
		o->good ? "good" : "warn", o->width - DRAW_MARGIN, o->good ? "#135c26" : "#704400",
		o->good ? "\xe2\x97\x8f" : "\xe2\x96\xb2");
	xml_text(pen->out, verdict, n);
	fputs("</text>", pen->out);
	put_line(pen, "fg2", DRAW_MARGIN, 51, "", o->facts, LABEL_FONT_PX,
		o->width - 2 * DRAW_MARGIN);
}

/* Each kind that has self time, with its share of it. */
static int put_legend(const struct pen *pen)
{
	const struct tree *tree = pen->tree;
	uint64_t self[128];
	double x = DRAW_MARGIN;
	int r;

	r = palette_self(tree, self);
	if (r < 0)
		return r;
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		char text[NUMBER_ROOM * 2], share[NUMBER_ROOM];
		uint64_t sum = self[(unsigned char)kind->letter];

		if (!sum)
			continue;
		(void)snprintf(text, sizeof(text), "%s %s", kind->name,
			number_share(share, sum, tree->total[0][0]));
		fprintf(pen->out, "<rect class=\"k%c0\" x=\"", kind->letter);
		put_px(pen->out, x);
		fprintf(pen->out, "\" y=\"67\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>",
			kind->light[0]);
		put_text(pen, "fg2", x + 17, 77, "", text, strlen(text));
		x += 34 + label_width(text, strlen(text), LABEL_FONT_PX);
	}
	return 0;
}

static double box_y(const struct pen *pen, const struct layout_box *box)
{
	unsigned row = pen->options->flame ? pen->layout->nr_rows - 1 - box->row : box->row;

	return GRAPH_TOP + row * ROW;
}

/* A gap between boxes that are wide enough to spare it. */
static double drawn_width(const struct layout_box *box)
{
	double w = box->w > 4 ? box->w - 1 : box->w > 1 ? box->w - 0.3 : box->w;

	return w < 0.4 ? 0.4 : w;
}

static void classify(const struct pen *pen)
{
	for (size_t i = 0; i < pen->layout->nr; i++) {
		const struct layout_box *box = &pen->layout->boxes[i];
		char module[LABEL_NAME_ROOM];
		char *class = pen->class_of + 2 * i;
		uint32_t name;

		class[0] = PALETTE_LEFT_OUT;
		class[1] = 0;
		if (box->node == LAYOUT_NARROW)
			continue;
		name = pen->tree->name[box->node];
		class[0] = palette_letter(pen->tree, name);
		if (class[0] != PALETTE_LEFT_OUT) {
			size_t size = label_name(pen->tree, name, pen->name);
			size_t module_size = label_module(pen->tree, name, module);

			class[1] = (char)palette_shade(pen->name, size, module, module_size);
		}
	}
}

static void put_paths(const struct pen *pen)
{
	fputs("<g class=\"sk-frames\">", pen->out);
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		for (unsigned shade = 0; shade < PALETTE_SHADES; shade++) {
			int begun = 0;

			for (size_t i = 0; i < pen->layout->nr; i++) {
				const struct layout_box *box = &pen->layout->boxes[i];
				double w = drawn_width(box);

				if (pen->class_of[2 * i] != kind->letter ||
					pen->class_of[2 * i + 1] != (char)shade)
					continue;
				if (!begun++)
					fprintf(pen->out, "<path class=\"k%c%u\" fill=\"%s\" d=\"",
						kind->letter, shade, kind->light[shade]);
				putc('M', pen->out);
				put_px(pen->out, DRAW_MARGIN + box->x);
				fprintf(pen->out, " %.0fh", box_y(pen, box));
				put_px(pen->out, w);
				fprintf(pen->out, "v%dh", BOX);
				put_px(pen->out, -w);
				putc('z', pen->out);
			}
			if (begun)
				fputs("\"/>", pen->out);
		}
	}
	fputs("</g>", pen->out);
}

static void put_label(
	const struct pen *pen, const struct layout_box *box, char letter, size_t *bytes)
{
	const struct tree *tree = pen->tree;
	char label[NAME_ROOM], share[NUMBER_ROOM], value[NUMBER_ROOM], self[NUMBER_ROOM];
	char numbers[4 * NUMBER_ROOM];
	size_t size = label_name(tree, tree->name[box->node], pen->name);
	size_t n = label_fit(pen->name, size, letter, box->w - 2 * LABEL_PAD, label, sizeof(label));

	if (!n)
		return;
	fputs("<text x=\"", pen->out);
	put_px(pen->out, DRAW_MARGIN + box->x + LABEL_PAD);
	fputs("\" y=\"", pen->out);
	put_px(pen->out, box_y(pen, box) + 12.5);
	fputs("\">", pen->out);
	*bytes += n + 128;
	if (*bytes < MAX_TITLES) {
		*bytes += size;
		fputs("<title>", pen->out);
		xml_text(pen->out, pen->name, size);
		/* Shares may begin with '<'. */
		(void)snprintf(numbers, sizeof(numbers), "\n%s, %s, self %s",
			number_share(share, tree->total[0][box->node], tree->total[0][0]),
			number_value(value, tree->total[0][box->node], pen->options->unit),
			number_share(self, tree->self[0][box->node], tree->total[0][0]));
		xml_puts(pen->out, numbers);
		fputs("</title>", pen->out);
	}
	xml_text(pen->out, label, n);
	fputs("</text>", pen->out);
}

static void put_labels(const struct pen *pen)
{
	size_t bytes = 0;

	fputs("<g class=\"lb sk-labels\" fill=\"" INK "\">", pen->out);
	for (size_t i = 0; i < pen->layout->nr; i++) {
		const struct layout_box *box = &pen->layout->boxes[i];

		if (box->node != LAYOUT_NARROW && box->w >= MIN_LABEL_PX)
			put_label(pen, box, pen->class_of[2 * i], &bytes);
	}
	fputs("</g>", pen->out);
}

/* What the still picture does not show. */
static void put_note(const struct pen *pen)
{
	const struct layout *layout = pen->layout;
	char text[512], count[NUMBER_ROOM];
	size_t n = 0;

	if (layout->nr_narrow)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"%s frames narrower than %s are drawn together in grey. ",
			number_count(count, layout->nr_narrow),
			layout->min_px <= 0.5 ? "half a pixel" : "a few pixels");
	if (layout->nr_rows_left_out)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"%u deeper levels are left out here. ", layout->nr_rows_left_out);
	if (*pen->options->note && strlen(pen->options->note) < sizeof(text) - n - 100)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ", pen->options->note);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
		"Open this file in a browser to zoom, search and see the rest.");
	put_text(pen, "fg2", DRAW_MARGIN, GRAPH_TOP + layout->nr_rows * ROW + 14, "", text, n);
}

static void put_cells(
	const struct pen *pen, const char *class, double y, const char *self, const char *total)
{
	put_text(pen, class, 76, y, " text-anchor=\"end\"", self, strlen(self));
	put_text(pen, class, 150, y, " text-anchor=\"end\"", total, strlen(total));
}

static void put_table(const struct pen *pen, const struct table *functions)
{
	const struct table_row *top[DRAW_TOP];
	unsigned nr = draw_top(functions, top);
	double px = pen->options->width - 170 - DRAW_MARGIN;
	char self[NUMBER_ROOM], total[NUMBER_ROOM];

	for (unsigned i = 0; i <= nr; i++) {
		double y = table_top(pen->layout) + 22 + i * TABLE_ROW;

		if (i == 0) {
			put_cells(pen, "fg2", y, "Self", "Total");
			put_text(pen, "fg2", 170, y, "", "Top functions by self time", 26);
		} else {
			const struct table_row *row = top[i - 1];
			char label[NAME_ROOM];
			size_t raw =
				row->name_size < LABEL_NAME_MAX ? row->name_size : LABEL_NAME_MAX;
			size_t size = text_printable(pen->name, LABEL_NAME_ROOM, row->name, raw);

			size = label_fit(pen->name, size == SIZE_MAX ? 0 : size,
				palette_letter_of(row->kind, row->name, row->name_size), px, label,
				sizeof(label));
			put_cells(pen, "fg1", y, number_share(self, row->self, functions->sum),
				number_share(total, row->total, functions->sum));
			put_text(pen, "fg1", 170, y, "", label, size);
		}
		fprintf(pen->out, "<path class=\"ln\" stroke=\"#dfe3e8\" d=\"M%d ", DRAW_MARGIN);
		put_px(pen->out, y + 6.5);
		fprintf(pen->out, "H%u\"/>", pen->options->width - DRAW_MARGIN);
	}
}

int draw_picture(FILE *out, const struct tree *tree, const struct layout *layout,
	const struct table *functions, const struct draw_options *options)
{
	_cleanup_free_ char *name = malloc(LABEL_NAME_ROOM);
	_cleanup_free_ char *class_of = malloc(2 * layout->nr);
	const struct pen pen = {
		.out = out,
		.tree = tree,
		.layout = layout,
		.options = options,
		.name = name,
		.class_of = class_of,
	};
	int r;

	if (!name || !class_of)
		return -ENOMEM;
	classify(&pen);
	put_header(&pen);
	r = put_legend(&pen);
	if (r < 0)
		return r;
	put_paths(&pen);
	put_labels(&pen);
	put_note(&pen);
	put_table(&pen, functions);
	return 0;
}
