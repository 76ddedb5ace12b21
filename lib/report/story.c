/* SPDX-License-Identifier: BSD-2-Clause */
/* story.c: the first line under a picture of two sides, true without the rest of it. */
#include "report/story.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/said.h"
#include "view/number.h"

#define MAX_PARTS     2
#define MIN_PART      0.05 /* change of a part's share that is worth a word */
#define WORTH_A_PLACE 0.0005 /* of all: less is one place, and rounding */
#define LONGEST_NAME  400 /* raw bytes of a name in a sentence */

size_t story_hypothesis(
	const struct stoke_comparison *comparison, uint32_t tree_name, enum hypothesis_kind kind)
{
	const struct units *units = comparison->units;
	const struct tree_name *name = &comparison->aligned->tree->names[tree_name];

	if (!comparison->evidence || !name->name)
		return SIZE_MAX;
	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		const struct hypothesis *h = &units->hypotheses[i];

		if (h->name == name->name && h->class == name->class && h->kind == kind &&
			!h->sum && !h->condition)
			return i;
	}
	return SIZE_MAX;
}

static const struct change *change_of(const struct stoke_comparison *comparison, uint32_t node)
{
	size_t i = story_hypothesis(
		comparison, comparison->aligned->tree->name[node], HYPOTHESIS_TOTAL);

	return i == SIZE_MAX ? NULL : &comparison->evidence->changes[i];
}

static int has_grown(const struct stoke_comparison *comparison, uint32_t node)
{
	size_t i = story_hypothesis(
		comparison, comparison->aligned->tree->name[node], HYPOTHESIS_TOTAL);

	return i != SIZE_MAX && said_is_change(comparison, i, 1);
}

/* Does a frame, or one above it, only have another name or place now? */
static int is_moved(const struct stoke_comparison *comparison, uint32_t node)
{
	const struct cause *cause = comparison->cause;
	const struct tree *tree = comparison->aligned->tree;

	for (size_t i = 0; i < cause->nr_moved; i++) {
		const struct moved *moved = &cause->moved[i];

		if ((moved->kind == MOVED_RENAMED || moved->kind == MOVED_OUTLINED) &&
			node >= moved->node && node < tree->end[moved->node])
			return 1;
	}
	return 0;
}

const struct owner *story_owner(const struct stoke_comparison *comparison)
{
	const struct cause *cause = comparison->cause;
	const struct owner *first = NULL;

	for (size_t i = 0; i < cause->nr_owners; i++) {
		const struct owner *owner = &cause->owners[i];

		if (owner->crossroads || is_moved(comparison, owner->node))
			continue;
		if (has_grown(comparison, owner->node))
			return owner;
		if (!first)
			first = owner;
	}
	return first;
}

double story_scale(const struct stoke_comparison *comparison)
{
	double all = (double)comparison->aligned->tree->total[0][0];

	if (comparison->units->exposure == STOKE_EXPOSURE_SHARE || !(all > 0))
		return 1;
	return comparison->exposure[0] / all;
}

static void put_name(const struct stoke_comparison *comparison, uint32_t name, FILE *out)
{
	size_t size;
	const char *text = tree_text(comparison->aligned->tree, name, &size);

	text_print(out, text, size < LONGEST_NAME ? size : LONGEST_NAME);
	if (size > LONGEST_NAME)
		fputs("\xe2\x80\xa6", out);
}

static void put_parts(
	const struct stoke_comparison *comparison, const struct owner *owner, FILE *out)
{
	char before[NUMBER_ROOM], after[NUMBER_ROOM];

	for (size_t i = 0; i < owner->nr_parts && i < MAX_PARTS; i++) {
		const struct part *part = &owner->parts[i];

		if (i && fabs(part->after - part->before) < MIN_PART)
			break;
		fputs(i ? ", " : ": ", out);
		if (part->name == CAUSE_OWN)
			fputs("own code", out);
		else
			put_name(comparison, part->name, out);
		fprintf(out, " %s \xe2\x86\x92 %s", number_rate(before, part->before),
			number_rate(after, part->after));
		if (!i)
			fputs(" of it", out);
	}
}

static void tell_owner(
	const struct stoke_comparison *comparison, const struct owner *owner, FILE *out)
{
	double scale = story_scale(comparison);
	const struct change *change = change_of(comparison, owner->node);
	char before[NUMBER_ROOM], after[NUMBER_ROOM], points[NUMBER_ROOM];

	if (!change || !(change->flags & CHANGE_TESTED))
		fputs("Not tested for chance. ", out);
	else if (comparison->too_few)
		fputs(has_grown(comparison, owner->node)
				? "Beyond sampling error, not yet beyond chance. "
				: "Could be sampling error. ",
			out);
	else if (!has_grown(comparison, owner->node))
		fputs("Could be chance. ", out);
	fputs("Most growth: ", out);
	if (owner->node)
		put_name(comparison, comparison->aligned->tree->name[owner->node], out);
	else
		fputs("all samples", out);
	/* A part of what the function has in all its places. */
	if (change && owner->node &&
		(fabs(change->before - owner->before) + fabs(change->after - owner->after)) *
				scale >
			WORTH_A_PLACE) {
		fputs(" in ", out);
		put_name(comparison,
			comparison->aligned->tree
				->name[comparison->aligned->tree->parent[owner->node]],
			out);
	}
	fprintf(out, ", %s \xe2\x86\x92 %s (%s). ", number_rate(before, owner->before * scale),
		number_rate(after, owner->after * scale),
		number_points(points, (owner->after - owner->before) * scale));
	switch (owner->kind) {
	case CAUSE_NEW:
		fputs("It was not there before", out);
		break;
	case CAUSE_SELF:
		fputs("It is its own code", out);
		break;
	case CAUSE_VOLUME:
		fputs("The same work, more of it: look at its callers and at counts", out);
		break;
	case CAUSE_MIX:
		fputs("Different work", out);
		put_parts(comparison, owner, out);
		break;
	}
	putc('.', out);
}

/* What reports name first among what grew, where no place in the tree has evidence: functions that
 * are called by others now, or whose callees went into them. 1: there is one, and it was
 * told. -ENOMEM. */
static int tell_grown(const struct stoke_comparison *comparison, FILE *out)
{
	_cleanup_(said_changes_done) struct said_changes changes = {0};
	_cleanup_free_ char *name = NULL;
	double scale = story_scale(comparison);
	const struct change *change;
	const struct hypothesis *h;
	char before[NUMBER_ROOM], after[NUMBER_ROOM], points[NUMBER_ROOM];
	size_t first;

	if (said_changes(comparison, 1, &changes) < 0)
		return -ENOMEM;
	if (!changes.nr_order)
		return 0;
	first = changes.hypotheses[changes.order[0]];
	name = said_name(comparison, first, SIZE_MAX);
	if (!name)
		return -ENOMEM;
	h = &comparison->units->hypotheses[first];
	change = &comparison->evidence->changes[first];
	fprintf(out, "%sMost growth: %.*s%s, %s \xe2\x86\x92 %s (%s).",
		changes.by_chance ? "Beyond sampling error, not yet beyond chance. " : "",
		LONGEST_NAME, name, h->kind == HYPOTHESIS_SELF ? ", its own code" : "",
		number_rate(before, change->before * scale),
		number_rate(after, change->after * scale),
		number_points(points, change->difference * scale));
	return 1;
}

/* Without growth: the largest function that surely shrank. */
static void tell_shrunk(const struct stoke_comparison *comparison, FILE *out)
{
	const struct units *units = comparison->units;
	const struct change *best = NULL;
	size_t of = 0;
	double scale = story_scale(comparison);
	char before[NUMBER_ROOM], after[NUMBER_ROOM], points[NUMBER_ROOM];

	for (size_t i = 0; comparison->evidence && i < units->nr_hypotheses; i++) {
		const struct hypothesis *h = &units->hypotheses[i];
		const struct change *change = &comparison->evidence->changes[i];

		if (h->kind != HYPOTHESIS_TOTAL || h->sum || h->condition || !h->name ||
			!said_is_change(comparison, i, -1))
			continue;
		if (!best || change->difference < best->difference) {
			best = change;
			of = i;
		}
	}
	if (!best)
		return;
	fputs(" Largest shrinkage: ", out);
	text_print(out, strings_text(&comparison->profile->strings, units->hypotheses[of].name),
		strings_size(&comparison->profile->strings, units->hypotheses[of].name));
	fprintf(out, ", %s \xe2\x86\x92 %s (%s).", number_rate(before, best->before * scale),
		number_rate(after, best->after * scale),
		number_points(points, best->difference * scale));
}

int story_tell(const struct stoke_comparison *comparison, FILE *out)
{
	const struct owner *owner = story_owner(comparison);

	if (!owner || !has_grown(comparison, owner->node)) {
		int r = tell_grown(comparison, out);

		if (r)
			return r < 0 ? r : 0;
	}
	if (owner) {
		tell_owner(comparison, owner, out);
		return 0;
	}
	fputs(comparison->cause->nr_owners ? "What grew only has another name or place now."
					   : "Nothing grew by as much as matters.",
		out);
	tell_shrunk(comparison, out);
	return 0;
}
