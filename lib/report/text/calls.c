/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: what calls what. How far everything goes one way before it splits, and the call tree
 * with an indentation for each split, not for each call: stacks are deep, decisions are few.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "names/short.h"
#include "report/columns.h"
#include "report/text/page.h"

#define TREE_SHARE 100 /* the tree folds what is less than one part in so many */
#define DEEPEST	   24 /* levels of indentation that are drawn */
#define ARROW	   " > "
#define MORE	   "... > "

static uint32_t next_sibling(const struct tree *tree, uint32_t node)
{
	return tree->end[node];
}

static uint32_t heaviest_child(const struct tree *tree, uint32_t node)
{
	uint32_t best = 0;

	for (uint32_t i = node + 1; i < tree->end[node]; i = next_sibling(tree, i)) {
		if (!best || tree->total[0][i] > tree->total[0][best])
			best = i;
	}
	return best;
}

/*
 * Where everything goes one way: down as long as one child has three quarters of its parent. From
 * the root half will do, since threads beside each other are no decision of the code.
 */
static uint32_t end_of_path(const struct tree *tree)
{
	uint32_t node = 0;

	for (;;) {
		uint32_t child = heaviest_child(tree, node);
		unsigned pct = node == 0 ? 50 : 75;

		if (!child || tree->names[tree->name[child]].class == TREE_MARK ||
			(__uint128_t)tree->total[0][child] * 100 <
				(__uint128_t)tree->total[0][node] * pct)
			return node;
		node = child;
	}
}

/* A function's short name, made printable, of at most width columns. Returns its columns. */
static size_t node_name(const struct tree *tree, uint32_t node, char *out, size_t width)
{
	size_t size, n;
	const char *name = tree_text(tree, tree->name[node], &size);
	char text[COLUMNS_NAME_BYTES];

	n = short_name(name, size, (enum function_kind)tree->names[tree->name[node]].kind, text,
		sizeof(text));
	return columns_fit(out, text, n, width, COLUMNS_CUT_START);
}

/* From the end of the path as many names as the line holds; a recursion is named once. */
static uint32_t first_named(const struct tree *tree, uint32_t end, size_t room)
{
	uint32_t first = end;
	char text[COLUMNS_TEXT_BYTES];
	size_t used = node_name(tree, end, text, room);

	for (uint32_t i = tree->parent[end]; i != 0; i = tree->parent[i]) {
		size_t columns;

		if (tree->name[i] == tree->name[first]) {
			first = i;
			continue;
		}
		columns = node_name(tree, i, text, room) + strlen(ARROW);
		if (used + columns > room)
			break;
		used += columns;
		first = i;
	}
	return first;
}

int page_say_path(const struct page *page)
{
	static const char word[] = "path before it splits  ";
	const struct tree *tree = page->tree;
	uint32_t end = end_of_path(tree), first, nr = 0;
	size_t room = page->width + PAGE_MORE - strlen(word) - strlen(MORE) - PAGE_FIGURE;
	_cleanup_free_ uint32_t *nodes = NULL;
	char text[COLUMNS_TEXT_BYTES];

	if (end == 0)
		return 0;
	first = first_named(tree, end, room);
	nodes = calloc((size_t)tree->depth[end] + 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (uint32_t i = end;; i = tree->parent[i]) {
		if (nr == 0 || tree->name[i] != tree->name[nodes[nr - 1]])
			nodes[nr++] = i;
		if (i == first)
			break;
	}
	fprintf(page->out, "%s%s", word, tree->parent[first] ? MORE : "");
	while (nr > 0) {
		(void)node_name(tree, nodes[--nr], text, room);
		fprintf(page->out, "%s%s", text, nr ? ARROW : "");
	}
	fprintf(page->out, "   %s\n", columns_share(text, tree->total[0][end], tree->total[0][0]));
	return 0;
}

/* Is a node wide enough to have a line? */
static int is_wide(const struct tree *tree, uint32_t node)
{
	return (__uint128_t)tree->total[0][node] * TREE_SHARE >= tree->total[0][0] &&
	       tree->total[0][node] > 0;
}

/* A node that waits for its line. */
struct waiting {
	uint32_t node;
	uint16_t level; /* of indentation */
	uint8_t is_branch; /* one of several ways on, not the next call of one */
};

struct lines {
	const struct page *page;
	struct waiting *waiting; /* the next one is the last */
	size_t nr, capacity;
};

static void lines_done(struct lines *lines)
{
	free(lines->waiting);
}

static void say_line(const struct lines *lines, const struct waiting *line, uint64_t total,
	const char *self, const char *name)
{
	const struct page *page = lines->page;
	unsigned level = line->level < DEEPEST ? line->level : DEEPEST;
	char share[32];

	fprintf(page->out, "%*s%*s  %*s%s%s\n", PAGE_FIGURE,
		columns_share(share, total, page->tree->total[0][0]), PAGE_FIGURE, self,
		(int)(2 * level), "",
		line->level == 0  ? ""
		: line->is_branch ? "- "
				  : "  ",
		name);
}

static void say_node(const struct lines *lines, const struct waiting *line)
{
	const struct tree *tree = lines->page->tree;
	size_t used = 2 * PAGE_FIGURE + 2 + 2 * (size_t)line->level;
	char self[32], text[COLUMNS_TEXT_BYTES];

	(void)node_name(tree, line->node, text,
		lines->page->width > used + 30 ? lines->page->width - used : 30);
	say_line(lines, line, tree->total[0][line->node],
		columns_share(self, tree->self[0][line->node], tree->total[0][0]), text);
}

/* Lightest first, of equals the later one, since the last is taken next. */
static int compare_waiting(const void *left, const void *right, void *arg)
{
	const struct waiting *a = left, *b = right;
	const uint64_t *total = arg;

	if (total[a->node] != total[b->node])
		return total[a->node] < total[b->node] ? -1 : 1;
	return a->node > b->node ? -1 : 1;
}

/* Lets the children wait that are wide enough for a line, and sums up the others. */
static int add_children(struct lines *lines, const struct waiting *parent)
{
	const struct tree *tree = lines->page->tree;
	size_t from = lines->nr;
	uint64_t rest = 0, narrow = 0;
	uint8_t is_branch;

	for (uint32_t i = parent->node + 1; i < tree->end[parent->node];
		i = next_sibling(tree, i)) {
		int r;

		if (!is_wide(tree, i)) {
			rest += tree->total[0][i];
			narrow++;
			continue;
		}
		r = array_reserve(&lines->waiting, &lines->capacity, lines->nr, 1);
		if (r < 0)
			return r;
		lines->waiting[lines->nr++] = (struct waiting){.node = i};
	}
	if (rest * TREE_SHARE < tree->total[0][0])
		rest = 0;
	is_branch = lines->nr - from > 1 || rest > 0 ||
		    (__uint128_t)tree->self[0][parent->node] * TREE_SHARE >= tree->total[0][0];
	for (size_t i = from; i < lines->nr; i++) {
		lines->waiting[i].level = (uint16_t)(parent->level + is_branch);
		lines->waiting[i].is_branch = is_branch;
	}
	if (rest > 0) {
		char number[32], text[64];

		(void)snprintf(
			text, sizeof(text), "[%s more under 1 %%]", text_count(number, narrow));
		say_line(lines,
			&(struct waiting){.level = (uint16_t)(parent->level + 1), .is_branch = 1},
			rest, "", text);
	}
	if (lines->nr > from)
		qsort_r(lines->waiting + from, lines->nr - from, sizeof(*lines->waiting),
			compare_waiting, tree->total[0]);
	return 0;
}

int page_say_tree(const struct page *page)
{
	_cleanup_(lines_done) struct lines lines = {.page = page};
	int r;

	fprintf(page->out, "%*s%*s  tree (from 1 %%; a dash is one of several ways)\n", PAGE_FIGURE,
		"total", PAGE_FIGURE, "self");
	r = add_children(&lines, &(struct waiting){.node = 0});
	while (r >= 0 && lines.nr > 0) {
		struct waiting line = lines.waiting[--lines.nr];

		say_node(&lines, &line);
		r = add_children(&lines, &line);
	}
	return r;
}
