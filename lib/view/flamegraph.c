/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flamegraph.c: puts the files in, the script's parts in the order in which they run, in one
 * function of their own. Compiled from a copy in the build folder: see base/embed.h.
 */
#include "view/flamegraph.h"

#include "base/cleanup.h"
#include "base/embed.h"

EMBED(flamegraph_css, "view/flamegraph/style.css");
EMBED(flamegraph_data, "view/flamegraph/data.js");
EMBED(flamegraph_names, "view/flamegraph/names.js");
EMBED(flamegraph_shell, "view/flamegraph/shell.js");
EMBED(flamegraph_graph, "view/flamegraph/graph.js");
EMBED(flamegraph_difference, "view/flamegraph/difference.js");
EMBED(flamegraph_difference_css, "view/flamegraph/difference.css");
EMBED(flamegraph_input, "view/flamegraph/input.js");

struct part {
	const char *start, *end;
	unsigned flags; /* only in pictures that have them */
};

static const struct part scripts[] = {
	{flamegraph_data, flamegraph_data_end},
	{flamegraph_names, flamegraph_names_end},
	{flamegraph_shell, flamegraph_shell_end},
	{flamegraph_graph, flamegraph_graph_end},
	{flamegraph_difference, flamegraph_difference_end, FLAMEGRAPH_DIFFERENCE},
	{flamegraph_input, flamegraph_input_end},
};

static const struct part sheets[] = {
	{flamegraph_css, flamegraph_css_end},
	{flamegraph_difference_css, flamegraph_difference_css_end, FLAMEGRAPH_DIFFERENCE},
};

static const char before[] = "(function () {\n'use strict';\n", behind[] = "})();\n";

static size_t size_of(const struct part *parts, size_t nr, unsigned flags)
{
	size_t size = 0;

	for (size_t i = 0; i < nr; i++) {
		if ((parts[i].flags & flags) == parts[i].flags)
			size += (size_t)(parts[i].end - parts[i].start);
	}
	return size;
}

static void put(FILE *out, const struct part *parts, size_t nr, unsigned flags)
{
	for (size_t i = 0; i < nr; i++) {
		if ((parts[i].flags & flags) == parts[i].flags)
			(void)fwrite(parts[i].start, 1, (size_t)(parts[i].end - parts[i].start),
				out); /* the stream keeps its error */
	}
}

size_t flamegraph_size(unsigned flags)
{
	return sizeof(before) + sizeof(behind) + size_of(scripts, ARRAY_SIZE(scripts), flags) +
	       size_of(sheets, ARRAY_SIZE(sheets), flags);
}

void flamegraph_write_css(FILE *out, unsigned flags)
{
	put(out, sheets, ARRAY_SIZE(sheets), flags);
}

void flamegraph_write_js(FILE *out, unsigned flags)
{
	fputs(before, out);
	put(out, scripts, ARRAY_SIZE(scripts), flags);
	fputs(behind, out);
}
