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
EMBED(flamegraph_input, "view/flamegraph/input.js");

static const struct {
	const char *start, *end;
} parts[] = {
	{flamegraph_data, flamegraph_data_end},
	{flamegraph_names, flamegraph_names_end},
	{flamegraph_shell, flamegraph_shell_end},
	{flamegraph_graph, flamegraph_graph_end},
	{flamegraph_input, flamegraph_input_end},
};

static const char before[] = "(function () {\n'use strict';\n", behind[] = "})();\n";

static void put(FILE *out, const char *start, const char *end)
{
	(void)fwrite(start, 1, (size_t)(end - start), out); /* the stream keeps its error */
}

size_t flamegraph_size(void)
{
	size_t size =
		(size_t)(flamegraph_css_end - flamegraph_css) + sizeof(before) + sizeof(behind);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		size += (size_t)(parts[i].end - parts[i].start);
	return size;
}

void flamegraph_write_css(FILE *out)
{
	put(out, flamegraph_css, flamegraph_css_end);
}

void flamegraph_write_js(FILE *out)
{
	fputs(before, out);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		put(out, parts[i].start, parts[i].end);
	fputs(behind, out);
}
