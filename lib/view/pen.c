/* SPDX-License-Identifier: BSD-2-Clause */
/* pen.c: y grows downwards; an icicle has its root on top. */
#include "view/pen.h"

#include <stdlib.h>
#include <string.h>

#include "view/label.h"
#include "view/number.h"
#include "view/xml.h"

void pen_px(const struct pen *pen, double px)
{
	long tenths = (long)(px * 10 + (px < 0 ? -0.5 : 0.5));

	if (tenths % 10)
		fprintf(pen->out, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10,
			labs(tenths) % 10);
	else
		fprintf(pen->out, "%ld", tenths / 10);
}

void pen_text(const struct pen *pen, const char *class, double x, double y, const char *attributes,
	const char *text, size_t size)
{
	fprintf(pen->out, "<text class=\"%s\" x=\"", class);
	pen_px(pen, x);
	fputs("\" y=\"", pen->out);
	pen_px(pen, y);
	fprintf(pen->out, "\" fill=\"%s\"%s>", strcmp(class, "fg2") == 0 ? PEN_MUTED : PEN_INK,
		attributes);
	xml_text(pen->out, text, size);
	fputs("</text>", pen->out);
}

void pen_line(const struct pen *pen, const char *class, double x, double y, const char *attributes,
	const char *text, double font_px, double px)
{
	char fitted[PEN_NAME];
	size_t n = label_fit(
		text, strlen(text), 'k', px * LABEL_FONT_PX / font_px, fitted, sizeof(fitted));

	pen_text(pen, class, x, y, attributes, fitted, n);
}

void pen_header(
	const struct pen *pen, const char *title, const char *facts, const char *verdict, int good)
{
	double right = label_width(verdict, strlen(verdict), LABEL_FONT_PX * 1.12) + 24;
	char fitted[PEN_NAME];
	size_t n;

	if (right > 0.6 * pen->width)
		right = 0.6 * pen->width;
	n = label_fit(verdict, strlen(verdict), 'k', right, fitted, sizeof(fitted));
	fputs("<rect class=\"bg\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>", pen->out);
	pen_line(pen, "fg1", PEN_MARGIN, 30, " font-size=\"18\" font-weight=\"600\"", title, 20,
		pen->width - 3 * PEN_MARGIN - right);
	/* The mark says it without colour. */
	fprintf(pen->out,
		"<text class=\"%s\" x=\"%u\" y=\"30\" text-anchor=\"end\" font-weight=\"600\" "
		"fill=\"%s\">%s ",
		good ? "good" : "warn", pen->width - PEN_MARGIN, good ? "#135c26" : "#704400",
		good ? "\xe2\x97\x8f" : "\xe2\x96\xb2");
	xml_text(pen->out, fitted, n);
	fputs("</text>", pen->out);
	pen_line(pen, "fg2", PEN_MARGIN, 51, "", facts, LABEL_FONT_PX, pen->width - 2 * PEN_MARGIN);
}

void pen_note(const struct pen *pen, const char *extra)
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
	if (*extra && strlen(extra) < sizeof(text) - n - 100)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ", extra);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
		"Open this file in a browser to zoom, search and see the rest.");
	/* What explains the colours is kept, what a browser shows anyway is not. */
	if (label_width(text, n, LABEL_FONT_PX) > pen->width - 2 * PEN_MARGIN)
		n = (size_t)snprintf(text, sizeof(text), "%.300s%sA browser shows all.", extra,
			*extra ? " " : "");
	pen_text(pen, "fg2", PEN_MARGIN, pen->top + layout->nr_rows * pen->row + 14, "", text, n);
}

void pen_rule(const struct pen *pen, double y)
{
	fprintf(pen->out, "<path class=\"ln\" stroke=\"#dfe3e8\" d=\"M%d ", PEN_MARGIN);
	pen_px(pen, y);
	fprintf(pen->out, "H%u\"/>", pen->width - PEN_MARGIN);
}

double pen_y(const struct pen *pen, const struct layout_box *box)
{
	unsigned row = pen->flame ? pen->layout->nr_rows - 1 - box->row : box->row;

	return pen->top + row * pen->row;
}

double pen_drawn_width(double w)
{
	double drawn = w > 4 ? w - 1 : w > 1 ? w - 0.3 : w;

	return drawn < 0.4 ? 0.4 : drawn;
}

void pen_box(const struct pen *pen, double x, double y, double w, unsigned h)
{
	putc('M', pen->out);
	pen_px(pen, x);
	fprintf(pen->out, " %.0fh", y);
	pen_px(pen, w);
	fprintf(pen->out, "v%uh", h);
	pen_px(pen, -w);
	putc('z', pen->out);
}
