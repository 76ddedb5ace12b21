/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.c: one escape for each context: text for XML; JSON, then XML; the program and the style
 * sheet are constant bytes in CDATA.
 */
#include "view/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/flamegraph.h"
#include "view/json.h"
#include "view/palette.h"
#include "view/xml.h"

#define FONT	   "system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,Liberation Sans,Arial,sans-serif"
#define MIN_DATA   (64 << 10) /* bytes for the profile, whatever the still picture took */
#define HEAD_BYTES 8192 /* of all that is not counted one by one */

static void write_head(const struct page *page, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" class=\"stoke\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"sk-t sk-d\" "
		"font-family=\"" FONT "\" font-size=\"12\">\n<title id=\"sk-t\">",
		page->width, page->height, page->width, page->height);
	xml_puts(out, page->title);
	fputs("</title>\n<desc id=\"sk-d\">", out);
	xml_puts(out, page->description);
	fputs("</desc>\n<style><![CDATA[\n", out);
	palette_write_css(out);
	if (page->flags & FLAMEGRAPH_DIFFERENCE)
		palette_write_changes_css(out);
	flamegraph_write_css(out, page->flags);
	fputs("]]></style>\n", out);
}

static void write_data(const struct page *page, FILE *out)
{
	fputs("<metadata class=\"sk-meta\">", out);
	xml_text(out, page->meta, page->meta_size);
	fputs("</metadata>\n<metadata class=\"sk-names\">", out);
	xml_text(out, page->payload->names, page->payload->names_size);
	fputs("</metadata>\n<metadata class=\"sk-tree\">", out);
	(void)fwrite(
		page->payload->tree, 1, page->payload->tree_size, out); /* kept by the stream */
	if (page->payload->evidence) {
		/* Digits of ours, as the tree's. */
		fprintf(out,
			"</metadata>\n<metadata class=\"sk-evidence\">%s</metadata>\n"
			"<metadata class=\"sk-marks\">%s",
			page->payload->evidence, page->payload->marks);
	}
	fputs("</metadata>\n<script><![CDATA[\n", out);
	flamegraph_write_js(out, page->flags);
	fputs("]]></script>\n</svg>\n", out);
}

size_t page_room(const struct page *page, size_t budget)
{
	size_t used =
		page->still_size + page->meta_size * 2 + flamegraph_size(page->flags) + HEAD_BYTES;

	return budget > used + MIN_DATA ? budget - used : MIN_DATA;
}

void page_write(const struct page *page, FILE *out)
{
	write_head(page, out);
	if (page->defs)
		fputs(page->defs, out);
	fputs("<g class=\"sk-static\">", out);
	(void)fwrite(page->still, 1, page->still_size, out); /* kept by the stream */
	fputs("</g>\n", out);
	write_data(page, out);
}

void page_facts_json(const char *facts, FILE *out)
{
	putc('[', out);
	while (*facts) {
		const char *dot = strstr(facts, PAGE_DOT);
		size_t size = dot ? (size_t)(dot - facts) : strlen(facts);

		json_text(out, facts, size);
		facts += size + (dot ? strlen(PAGE_DOT) : 0);
		if (*facts)
			putc(',', out);
	}
	putc(']', out);
}

int page_text(void *of, int (*write)(void *of, FILE *out), char **ret, size_t *ret_size)
{
	char *new = NULL;
	size_t size;
	FILE *out = open_memstream(&new, &size);
	int r, failed;

	if (!out)
		return -ENOMEM;
	r = write(of, out);
	failed = ferror(out);
	if (fclose(out) != 0 || failed)
		r = -ENOMEM;
	if (r < 0) {
		free(new);
		return r;
	}
	free(*ret);
	*ret = new;
	*ret_size = size;
	return 0;
}
