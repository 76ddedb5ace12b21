/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c: where the parts of a flame graph stand on the page. */
#include "view/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "view/label.h"
#include "view/number.h"
#include "view/palette.h"
#include "view/pen.h"
#include "view/xml.h"

#define GRAPH_TOP 98
#define ROW	  18

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

	return table_top(layout) + PEN_ROW * (draw_top(functions, top) + 1) + 26;
}

/* Each kind that has self time, with its share of it. */
static int put_legend(const struct pen *pen)
{
	const struct tree *tree = pen->tree;
	uint64_t self[128];
	double x = PEN_MARGIN;
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
		pen_px(pen, x);
		fprintf(pen->out, "\" y=\"67\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>",
			kind->light[0]);
		pen_text(pen, "fg2", x + 17, 77, "", text, strlen(text));
		x += 34 + label_width(text, strlen(text), LABEL_FONT_PX);
	}
	return 0;
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
				double w = pen_drawn_width(box->w);

				if (pen->class_of[2 * i] != kind->letter ||
					pen->class_of[2 * i + 1] != (char)shade)
					continue;
				if (!begun++)
					fprintf(pen->out, "<path class=\"k%c%u\" fill=\"%s\" d=\"",
						kind->letter, shade, kind->light[shade]);
				pen_box(pen, PEN_MARGIN + box->x, pen_y(pen, box), w, PEN_BOX);
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
	char label[PEN_NAME], share[NUMBER_ROOM], value[NUMBER_ROOM], self[NUMBER_ROOM];
	char numbers[4 * NUMBER_ROOM];
	size_t size = label_name(tree, tree->name[box->node], pen->name);
	size_t n = label_fit(pen->name, size, letter, box->w - 2 * PEN_PAD, label, sizeof(label));

	if (!n)
		return;
	fputs("<text x=\"", pen->out);
	pen_px(pen, PEN_MARGIN + box->x + PEN_PAD);
	fputs("\" y=\"", pen->out);
	pen_px(pen, pen_y(pen, box) + 12.5);
	fputs("\">", pen->out);
	*bytes += n + 128;
	if (*bytes < PEN_TITLES) {
		*bytes += size;
		fputs("<title>", pen->out);
		xml_text(pen->out, pen->name, size);
		/* Shares may begin with '<'. */
		(void)snprintf(numbers, sizeof(numbers), "\n%s, %s, self %s",
			number_share(share, tree->total[0][box->node], tree->total[0][0]),
			number_value(value, tree->total[0][box->node], pen->unit),
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

	fputs("<g class=\"lb sk-labels\" fill=\"" PEN_INK "\">", pen->out);
	for (size_t i = 0; i < pen->layout->nr; i++) {
		const struct layout_box *box = &pen->layout->boxes[i];

		if (box->node != LAYOUT_NARROW && box->w >= PEN_LABEL)
			put_label(pen, box, pen->class_of[2 * i], &bytes);
	}
	fputs("</g>", pen->out);
}

static void put_cells(
	const struct pen *pen, const char *class, double y, const char *self, const char *total)
{
	pen_text(pen, class, 76, y, " text-anchor=\"end\"", self, strlen(self));
	pen_text(pen, class, 150, y, " text-anchor=\"end\"", total, strlen(total));
}

static void put_table(const struct pen *pen, const struct table *functions)
{
	const struct table_row *top[DRAW_TOP];
	unsigned nr = draw_top(functions, top);
	double px = pen->width - 170 - PEN_MARGIN;
	char self[NUMBER_ROOM], total[NUMBER_ROOM];

	for (unsigned i = 0; i <= nr; i++) {
		double y = table_top(pen->layout) + 22 + i * PEN_ROW;

		if (i == 0) {
			put_cells(pen, "fg2", y, "Self", "Total");
			pen_text(pen, "fg2", 170, y, "", "Top functions by self time", 26);
		} else {
			const struct table_row *row = top[i - 1];
			char label[PEN_NAME];
			size_t raw =
				row->name_size < LABEL_NAME_MAX ? row->name_size : LABEL_NAME_MAX;
			size_t size = text_printable(pen->name, LABEL_NAME_ROOM, row->name, raw);

			size = label_fit(pen->name, size == SIZE_MAX ? 0 : size,
				palette_letter_of(row->kind, row->name, row->name_size), px, label,
				sizeof(label));
			put_cells(pen, "fg1", y, number_share(self, row->self, functions->sum),
				number_share(total, row->total, functions->sum));
			pen_text(pen, "fg1", 170, y, "", label, size);
		}
		pen_rule(pen, y + 6.5);
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
		.width = options->width,
		.top = GRAPH_TOP,
		.row = ROW,
		.flame = options->flame,
		.name = name,
		.unit = options->unit,
		.class_of = class_of,
	};
	int r;

	if (!name || !class_of)
		return -ENOMEM;
	classify(&pen);
	pen_header(&pen, options->title, options->facts, options->verdict, options->good);
	r = put_legend(&pen);
	if (r < 0)
		return r;
	put_paths(&pen);
	put_labels(&pen);
	pen_note(&pen, options->note);
	put_table(&pen, functions);
	return 0;
}
