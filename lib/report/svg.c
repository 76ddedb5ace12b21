/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.c: a comparison as one picture with both sides in it. Rates of work and time are shown as
 * shares of all of before, so that one scale of colours serves all. Swapped, the sides change
 * places in the picture; the story stays.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "diff/comparison.h"
#include "report/report.h"
#include "report/said.h"
#include "report/story.h"
#include "report/svg/meta.h"
#include "view/drawdiff.h"
#include "view/flamegraph.h"
#include "view/number.h"
#include "view/page.h"
#include "view/pen.h"

static const struct param svg_param_list[] = {
	{"width", PARAM_NUMBER, offsetof(struct svg_params, width), "1200",
		"width in pixels of the still picture", 300, 10000},
	{"flame", PARAM_FLAG, offsetof(struct svg_params, flame), NULL,
		"root at the bottom, flames upwards"},
	{"title", PARAM_TEXT, offsetof(struct svg_params, title), NULL,
		"heading; otherwise the names of both sides"},
	{"widths", PARAM_TEXT, offsetof(struct svg_params, widths), "union",
		"what boxes are as wide as: union, before (a) or after (b)"},
	{"swap", PARAM_FLAG, offsetof(struct svg_params, swap), NULL,
		"as if after had come before"},
	{"full", PARAM_SHARE, offsetof(struct svg_params, full), "5%",
		"change that has the full colour"},
	{"all", PARAM_FLAG, offsetof(struct svg_params, all), NULL,
		"colour for every change, with evidence or not"},
	{"budget", PARAM_NUMBER, offsetof(struct svg_params, budget_kb), "2000",
		"size in kB that the file stays under; the smallest frames are left out", 100,
		1000000},
	{0},
};

static void svg_done(struct svg *svg)
{
	free(svg->total);
	free(svg->self);
	free(svg->marks);
	free(svg->functions);
	layout_free(svg->layout);
	payload_done(&svg->payload);
	free(svg->title);
	free(svg->facts);
	free(svg->verdict);
	free(svg->story);
	free(svg->description);
	free(svg->still);
	free(svg->meta);
}

static uint32_t millionths(double p)
{
	return p >= 1 ? 1000000 : p > 0 ? (uint32_t)(p * 1e6 + .5) : 0;
}

/* With too few runs no chance is small: what is beyond sampling error stands as none, the rest as
 * certain. */
static struct payload_chance chance_of(const struct stoke_comparison *c, size_t i)
{
	const struct change *change = &c->evidence->changes[i];

	if (!c->too_few)
		return (struct payload_chance){
			millionths(change->p_grew), millionths(change->p_shrank)};
	return (struct payload_chance){
		said_is_change(c, i, 1) ? 0 : 1000000, said_is_change(c, i, -1) ? 0 : 1000000};
}

/* Gives each name of the tree what is known of its function. */
static int find_chances(struct svg *svg)
{
	const struct stoke_comparison *c = svg->comparison;
	const struct tree *tree = c->aligned->tree;
	const struct payload_chance untested = {PAYLOAD_UNTESTED, PAYLOAD_UNTESTED};
	size_t nr_strings = c->profile->strings.nr;
	_cleanup_free_ uint32_t *name_of = calloc(nr_strings, TREE_NR_CLASSES * sizeof(*name_of));

	svg->total = malloc(tree->nr_names * sizeof(*svg->total));
	svg->self = malloc(tree->nr_names * sizeof(*svg->self));
	if (!name_of || !svg->total || !svg->self)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		svg->total[i] = svg->self[i] = untested;
		if (tree->names[i].name && tree->names[i].name < nr_strings)
			name_of[tree->names[i].class * nr_strings + tree->names[i].name] = i;
	}
	for (size_t i = 0; c->evidence && i < c->units->nr_hypotheses; i++) {
		const struct hypothesis *h = &c->units->hypotheses[i];
		const struct change *change = &c->evidence->changes[i];
		struct payload_chance chance;
		uint32_t name;

		if (h->sum || h->condition || h->kind == HYPOTHESIS_GROUP || !h->name ||
			!(change->flags & CHANGE_TESTED))
			continue;
		name = name_of[h->class * nr_strings + h->name];
		if (!name)
			continue;
		chance = chance_of(c, i);
		(h->kind == HYPOTHESIS_TOTAL ? svg->total : svg->self)[name] =
			svg->params->swap ? (struct payload_chance){chance.shrank, chance.grew}
					  : chance;
	}
	return 0;
}

static int find_marks(struct svg *svg)
{
	const struct stoke_comparison *c = svg->comparison;
	const uint8_t *flags = c->aligned->flags;
	unsigned before = svg->params->swap ? PAYLOAD_INSERTED_AFTER : PAYLOAD_INSERTED_BEFORE;
	unsigned after = svg->params->swap ? PAYLOAD_INSERTED_BEFORE : PAYLOAD_INSERTED_AFTER;

	svg->marks = calloc(c->aligned->tree->nr, 1);
	if (!svg->marks)
		return -ENOMEM;
	for (size_t n = 0; n < c->aligned->tree->nr; n++)
		svg->marks[n] = (uint8_t)((flags[n] & ALIGN_INSERTED_BEFORE ? before : 0) |
					  (flags[n] & ALIGN_INSERTED_AFTER ? after : 0));
	/* Whoever took a cost over is there with evidence of its own; it is what came or went whose
	 * change is none. */
	for (size_t i = 0; i < c->cause->nr_moved; i++) {
		const struct moved *moved = &c->cause->moved[i];

		if (moved->kind == MOVED_OUTLINED || moved->kind == MOVED_RENAMED)
			svg->marks[moved->node] |= PAYLOAD_MOVED;
		if (moved->kind == MOVED_INLINED || moved->kind == MOVED_RENAMED)
			svg->marks[moved->from] |= PAYLOAD_MOVED;
	}
	return 0;
}

static void make_difference(struct svg *svg)
{
	static const char *const words[] = {"before", "after"};
	const struct stoke_comparison *c = svg->comparison;
	unsigned swap = svg->params->swap != 0;
	double scale = story_scale(c);
	struct difference *d = &svg->difference;

	svg->tree = *c->aligned->tree;
	for (unsigned side = 0; side < 2; side++) {
		unsigned from = side ^ swap;

		svg->tree.self[side] = c->aligned->tree->self[from];
		svg->tree.total[side] = c->aligned->tree->total[from];
		d->exposure[side] = scale > 0 ? c->exposure[from] / scale : 0;
		d->word[side] = words[from];
	}
	d->tree = &svg->tree;
	d->evidence = (struct payload_evidence){svg->total, svg->self, svg->marks};
	d->alpha = c->evidence ? c->evidence->alpha : 0.05;
	d->full = svg->params->full > 0 ? svg->params->full : 0.05;
	d->all = (int)svg->params->all;
	d->least = c->options.least > 0 ? c->options.least : 0.005;
	d->untested = !c->evidence || !c->evidence->nr_tested || c->too_few;
}

/* -EINVAL: no such word. */
static int parse_widths(struct svg *svg)
{
	static const struct {
		const char *word;
		unsigned widths;
	} words[] = {{"union", 0}, {"before", 1}, {"a", 1}, {"after", 2}, {"b", 2}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		unsigned side = words[i].widths;

		if (!svg->params->widths || strcmp(svg->params->widths, words[i].word) != 0)
			continue;
		/* The side meant stays the one meant, wherever it stands. */
		svg->widths = side && svg->params->swap ? 3 - side : side;
		return 0;
	}
	return -EINVAL;
}

static int make_views(struct svg *svg)
{
	const struct svg_params *params = svg->params;
	struct layout_options layout = {
		.width = (double)params->width - 2 * PEN_MARGIN,
		.max_boxes = (size_t)params->budget_kb * 1000 / 3 / PAGE_BYTES_PER_BOX / 2,
		.exposure = svg->difference.exposure,
	};
	int r;

	r = parse_widths(svg);
	if (r < 0)
		return r;
	layout.widths = svg->widths == 0   ? LAYOUT_UNION
			: svg->widths == 1 ? LAYOUT_FIRST
					   : LAYOUT_SECOND;
	r = find_chances(svg);
	if (r < 0)
		return r;
	r = find_marks(svg);
	if (r < 0)
		return r;
	make_difference(svg);
	r = layout_make(&svg->tree, &layout, &svg->layout);
	if (r < 0)
		return r;
	return difference_functions(&svg->difference, &svg->functions, &svg->nr_functions);
}

static struct drawdiff_options drawing_of(const struct svg *svg)
{
	return (struct drawdiff_options){
		.title = svg->title,
		.facts = svg->facts,
		.verdict = svg->verdict,
		.story = svg->story,
		.note = svg->difference.untested
				? "Too few runs to judge chance: colour is what sampling alone "
				  "could not do."
				: "",
		.functions = svg->functions,
		.nr_functions = svg->nr_functions,
		.width = (unsigned)svg->params->width,
		.good = svg->good,
		.flame = (int)svg->params->flame,
	};
}

static int write_still(void *of, FILE *out)
{
	const struct svg *svg = of;
	const struct drawdiff_options options = drawing_of(svg);

	return drawdiff_picture(out, &svg->difference, svg->layout, &options);
}

static int write_story(void *of, FILE *out)
{
	return story_tell(((const struct svg *)of)->comparison, out);
}

static int make_texts(struct svg *svg)
{
	const struct {
		int (*write)(void *of, FILE *out);
		char **text;
		size_t *size;
	} texts[] = {
		{svg_write_title, &svg->title, &svg->size},
		{svg_write_facts, &svg->facts, &svg->size},
		{svg_write_verdict, &svg->verdict, &svg->size},
		{write_story, &svg->story, &svg->size},
		{svg_write_description, &svg->description, &svg->size},
		{write_still, &svg->still, &svg->still_size},
		{svg_write_meta, &svg->meta, &svg->meta_size},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int r = page_text(svg, texts[i].write, texts[i].text, texts[i].size);

		if (r < 0)
			return r;
	}
	return 0;
}

static struct page page_of(const struct svg *svg)
{
	const struct drawdiff_options options = drawing_of(svg);

	return (struct page){
		.title = svg->title,
		.description = svg->description,
		.width = (unsigned)svg->params->width,
		.height = drawdiff_height(svg->layout, &options),
		.defs = DRAWDIFF_DEFS,
		.still = svg->still,
		.still_size = svg->still_size,
		.meta = svg->meta,
		.meta_size = svg->meta_size,
		.payload = &svg->payload,
		.flags = FLAMEGRAPH_DIFFERENCE,
	};
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
	r = payload_make(&svg->tree, page_room(&page, (size_t)svg->params->budget_kb * 1000),
		&svg->difference.evidence, &svg->payload);
	if (r < 0)
		return r;
	/* What was left out is one of the facts. */
	return svg->payload.nr_left_out ? make_texts(svg) : 0;
}

static int svg_comparison(const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	struct svg svg = {.comparison = comparison, .params = params};
	int r = make(&svg);

	if (r >= 0) {
		const struct page page = page_of(&svg);

		page_write(&page, out);
	}
	svg_done(&svg);
	return r < 0 ? r : 0;
}

const struct report report_svg = {
	.name = "svg",
	.summary = "of a comparison: both sides in one interactive picture, for any browser",
	.suffixes = ".svg",
	.params = svg_param_list,
	.params_size = sizeof(struct svg_params),
	.comparison = svg_comparison,
};
