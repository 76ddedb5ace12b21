/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * changes.c: what grew and what shrank, most telling first. Of nested functions that changed
 * together one is named; what it was made of before and after says why.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/columns.h"
#include "report/text/sheet.h"

#define MOST_GREW    10
#define MOST_SHRANK  5
#define MOST_INSIDE  3
#define MOST_PATH    4 /* names: the first, and where it ends */
#define MOST_PARTS   6
#define WORTH_A_PART 0.03 /* change of a part's share of its frame */
#define FIGURES	     36 /* columns of "  1.15 -> 23.98 %  +22.83 pts" and the title */
#define NARROWEST    24

static size_t name_width(const struct sheet *sheet)
{
	return sheet->width > FIGURES + 10 + NARROWEST ? sheet->width - FIGURES : NARROWEST;
}

static int put_name(const struct sheet *sheet, size_t hypothesis)
{
	size_t width = name_width(sheet);
	_cleanup_free_ char *name = said_name(sheet->comparison, hypothesis, width);

	if (!name)
		return -ENOMEM;
	fprintf(sheet->out, "%s%*s", name, (int)(width - text_columns(name, strlen(name))), "");
	return 0;
}

/* "  1.15 -> 23.98 %  +22.83 pts" */
static void put_figures(const struct sheet *sheet, const struct change *change)
{
	const struct said_scale *scale = &sheet->scale;
	char before[SAID_ROOM], after[SAID_ROOM], difference[SAID_ROOM];

	fprintf(sheet->out, " %6s -> %5s %s %7s %s",
		said_number(before, change->before * scale->factor, scale->decimals),
		said_number(after, change->after * scale->factor, scale->decimals), scale->unit,
		said_change(difference, change->difference * scale->factor, scale->decimals),
		scale->points);
}

static const char *title_of(const struct change *change, int sign)
{
	if (sign > 0)
		return change->flags & CHANGE_NEW ? "NEW" : "GREW";
	return change->flags & CHANGE_GONE ? "GONE" : "SHRANK";
}

static const struct change *change_at(
	const struct sheet *sheet, const struct said_changes *changes, size_t position)
{
	return &sheet->comparison->evidence->changes[changes->hypotheses[position]];
}

/* Interval and p, where there are runs or blocks to have them from. */
static void say_interval(const struct sheet *sheet, const struct change *change, int sign)
{
	const struct said_scale *scale = &sheet->scale;
	char low[SAID_ROOM], high[SAID_ROOM], p[SAID_ROOM];

	fprintf(sheet->out, "%*s95 %% interval %s .. %s %s", 12, "",
		said_change(low, change->low * scale->factor, scale->decimals),
		said_change(high, change->high * scale->factor, scale->decimals), scale->points);
	if (!said_has_no_test(sheet->comparison))
		fprintf(sheet->out, ", p %s", said_p(p, said_p_of(change, sign)));
	fputs("\n", sheet->out);
}

static int say_path(const struct sheet *sheet, uint32_t node)
{
	_cleanup_free_ char *path = said_path(sheet->comparison, node, MOST_PATH);

	if (!path)
		return -ENOMEM;
	fprintf(sheet->out, "%*s%s\n", 12, "", path);
	return 0;
}

int sheet_say_parts(const struct sheet *sheet, const struct owner *owner)
{
	size_t width = name_width(sheet) - 10;

	fprintf(sheet->out, "%*s%-*s  before    after   (share of this frame)\n", 10, "",
		(int)width + 2, said_cause(owner->kind));
	for (size_t i = 0; i < owner->nr_parts && i < MOST_PARTS; i++) {
		const struct part *part = &owner->parts[i];
		_cleanup_free_ char *name = NULL;

		if (fabs(part->after - part->before) < WORTH_A_PART)
			break; /* sorted by it */
		name = said_part(sheet->comparison, part, width);
		if (!name)
			return -ENOMEM;
		fprintf(sheet->out, "%*s%s%*s %5.0f %%  %5.0f %%\n", 12, "", name,
			(int)(width - text_columns(name, strlen(name))), "", part->before * 100,
			part->after * 100);
	}
	return 0;
}

static int say_cause(const struct sheet *sheet, const struct owner *owner)
{
	const struct said_scale *scale = &sheet->scale;
	const struct tree *tree = sheet->comparison->aligned->tree;
	double self[2];
	char part[SAID_ROOM];

	if (owner->kind == CAUSE_MIX)
		return sheet_say_parts(sheet, owner);
	fprintf(sheet->out, "%*s%s", 10, "", said_cause(owner->kind));
	if (owner->kind == CAUSE_SELF) {
		for (int side = 0; side < 2; side++)
			self[side] = (double)tree->self[side][owner->node] /
				     (double)tree->total[side][owner->node] *
				     (side ? owner->after : owner->before);
		if (!(self[0] > 0))
			self[0] = 0;
		fprintf(sheet->out, ": %s of it",
			said_change(part, (self[1] - self[0]) * scale->factor, scale->decimals));
	}
	fputs("\n", sheet->out);
	return 0;
}

/* The line of a change, and behind it a word. */
static int say_change(const struct sheet *sheet, const struct said_changes *changes,
	size_t position, int sign, const char *word)
{
	const struct change *change = change_at(sheet, changes, position);
	const struct hypothesis *h =
		&sheet->comparison->units->hypotheses[changes->hypotheses[position]];

	sheet_title(sheet, title_of(change, sign));
	if (put_name(sheet, changes->hypotheses[position]) < 0)
		return -ENOMEM;
	put_figures(sheet, change);
	if (h->kind == HYPOTHESIS_SELF)
		fputs("  its own code", sheet->out);
	fprintf(sheet->out, "%s%s\n", *word ? "  " : "", word);
	return 0;
}

/* Of what lies below it on the stack and grew with it, the next after `last` in size. */
static size_t next_inside(const struct sheet *sheet, const struct said_changes *changes, size_t own,
	size_t last, int sign)
{
	const struct hypothesis *hypotheses = sheet->comparison->units->hypotheses;
	double most =
		last < changes->nr ? sign * change_at(sheet, changes, last)->difference : INFINITY;
	size_t best = changes->nr;

	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = change_at(sheet, changes, i);
		double size = sign * change->difference;

		if (changes->of[i] != own || i == own || i == last || size > most ||
			(size == most && i < last) ||
			hypotheses[changes->hypotheses[i]].kind != HYPOTHESIS_TOTAL ||
			change->before + change->after >=
				change_at(sheet, changes, own)->before +
					change_at(sheet, changes, own)->after)
			continue;
		if (best == changes->nr ||
			size > sign * change_at(sheet, changes, best)->difference)
			best = i;
	}
	return best;
}

static int say_inside(
	const struct sheet *sheet, const struct said_changes *changes, size_t own, int sign)
{
	size_t at = changes->nr;

	for (size_t shown = 0; shown < MOST_INSIDE; shown++) {
		at = next_inside(sheet, changes, own, at, sign);
		if (at == changes->nr)
			break;
		if (say_change(sheet, changes, at, sign, "inside it") < 0)
			return -ENOMEM;
	}
	return 0;
}

static int say_own(
	const struct sheet *sheet, const struct said_changes *changes, size_t own, int sign)
{
	const struct change *change = change_at(sheet, changes, own);
	const struct owner *owner =
		sign > 0 ? said_owner(sheet->comparison, changes->hypotheses[own]) : NULL;
	uint32_t node =
		owner ? owner->node : said_node(sheet->comparison, changes->hypotheses[own], sign);
	char word[SAID_ROOM + 8] = "", times[SAID_ROOM];
	int r;

	if (sign > 0 && change->cost_ratio >= 1 && isfinite(change->cost_ratio))
		(void)snprintf(word, sizeof(word), "cost x%s",
			said_times(times, change->cost_ratio)); /* fits */
	r = say_change(sheet, changes, own, sign, word);
	if (r >= 0)
		say_interval(sheet, change, sign);
	if (r >= 0 && node && sheet->comparison->aligned->tree->depth[node] > 1)
		r = say_path(sheet, node);
	if (r >= 0 && owner && !owner->crossroads)
		r = say_cause(sheet, owner);
	return r < 0 ? r : say_inside(sheet, changes, own, sign);
}

static int say_direction(
	const struct sheet *sheet, const struct said_changes *changes, int sign, size_t most)
{
	for (size_t i = 0; i < changes->nr_order && i < most; i++) {
		int r = say_own(sheet, changes, changes->order[i], sign);

		if (r < 0)
			return r;
	}
	return 0;
}

static const char *moved_word(const struct cause *cause)
{
	switch (cause->moved[0].kind) {
	case MOVED_INLINED:
	case MOVED_OUTLINED:
		return "inlined differently";
	case MOVED_RENAMED:
		return "renamed";
	case MOVED_INSERTED:
		break;
	}
	return "a frame between";
}

/* What was not shown. */
static void say_rest(const struct sheet *sheet, const struct said_changes *grew,
	const struct said_changes *shrank)
{
	const struct cause *cause = sheet->comparison->cause;
	size_t more = grew->nr_order > MOST_GREW ? grew->nr_order - MOST_GREW : 0;
	size_t less = shrank->nr_order > MOST_SHRANK ? shrank->nr_order - MOST_SHRANK : 0;

	sheet_title(sheet, "rest");
	if (more)
		fprintf(sheet->out, "GREW %zu   ", more);
	if (less)
		fprintf(sheet->out, "SHRANK %zu   ", less);
	if (cause && cause->nr_moved)
		fprintf(sheet->out, "MOVED %zu (%s)   ", cause->nr_moved, moved_word(cause));
	fprintf(sheet->out, "%sno evidence of change%s\n",
		more || less || (cause && cause->nr_moved) ? "else " : "",
		more || less || (cause && cause->nr_moved) ? "   (--all)" : "");
}

/* All of it, by what the comparison counts: shares have no such thing. */
static void say_all_samples(const struct sheet *sheet)
{
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct said_scale *scale = &sheet->scale;
	const struct tree *tree = comparison->aligned->tree;
	double before = (double)tree->total[0][0] / comparison->exposure[0];
	double after = (double)tree->total[1][0] / comparison->exposure[1];
	char a[SAID_ROOM], b[SAID_ROOM], times[SAID_ROOM];

	sheet_title(sheet, "total");
	fprintf(sheet->out, "%s -> %s %s (x%s)\n",
		said_number(a, before * scale->factor, scale->decimals),
		said_number(b, after * scale->factor, scale->decimals), scale->of,
		said_times(times, after / before));
}

/* CPU at all: shares may tell another story. */
static void say_total(const struct sheet *sheet)
{
	const struct side *sides = sheet->comparison->comparable->sides;
	char times[SAID_ROOM];

	if (sheet->comparison->units->exposure != STOKE_EXPOSURE_SHARE)
		say_all_samples(sheet);
	if (sheet->comparison->units->exposure == STOKE_EXPOSURE_TIME || !(sides[0].cores > 0) ||
		!(sides[1].cores > 0))
		return;
	sheet_title(sheet, "cores");
	fprintf(sheet->out,
		"%.2f -> %.2f (x%s). If answers got slower by more than that, they waited for "
		"something else than CPU\n",
		sides[0].cores, sides[1].cores, said_times(times, sides[1].cores / sides[0].cores));
}

static int say_both(const struct sheet *sheet, const struct said_changes *grew,
	const struct said_changes *shrank)
{
	int r = say_direction(sheet, grew, 1, MOST_GREW);

	if (r >= 0)
		r = say_direction(sheet, shrank, -1, MOST_SHRANK);
	if (r < 0)
		return r;
	say_rest(sheet, grew, shrank);
	say_total(sheet);
	return 0;
}

int sheet_say_changes(const struct sheet *sheet)
{
	_cleanup_(said_changes_done) struct said_changes grew = {0}, shrank = {0};
	int r = said_changes(sheet->comparison, 1, &grew);

	if (r >= 0)
		r = said_changes(sheet->comparison, -1, &shrank);
	return r < 0 ? r : say_both(sheet, &grew, &shrank);
}

static void say_moved(const struct sheet *sheet)
{
	static const char *const kinds[] = {
		[MOVED_INLINED] = "inlined into",
		[MOVED_OUTLINED] = "no longer inlined into",
		[MOVED_RENAMED] = "was called",
		[MOVED_INSERTED] = "stands between others now",
	};
	const struct cause *cause = sheet->comparison->cause;
	const struct tree *tree = sheet->comparison->aligned->tree;

	for (size_t i = 0; cause && i < cause->nr_moved; i++) {
		const struct moved *moved = &cause->moved[i];
		const char *name;
		char text[COLUMNS_TEXT_BYTES];
		size_t size;

		sheet_title(sheet, "MOVED");
		name = tree_text(tree, tree->name[moved->node], &size);
		(void)columns_fit(text, name, size, name_width(sheet), COLUMNS_CUT_START);
		fprintf(sheet->out, "%s  %s", text, kinds[moved->kind]);
		if (moved->kind != MOVED_INSERTED) {
			name = tree_text(tree, tree->name[moved->from], &size);
			(void)columns_fit(text, name, size, name_width(sheet), COLUMNS_CUT_START);
			fprintf(sheet->out, "  %s", text);
		}
		fputs("\n", sheet->out);
	}
}

/* Every change, also those that one word was enough for. */
static int say_list(const struct sheet *sheet, int sign)
{
	_cleanup_(said_changes_done) struct said_changes changes = {0};
	int r = said_changes(sheet->comparison, sign, &changes);

	for (size_t i = 0; r >= 0 && i < changes.nr; i++) {
		const struct change *change = change_at(sheet, &changes, i);
		char p[SAID_ROOM], word[SAID_ROOM + 4] = "";

		if (!said_has_no_test(sheet->comparison))
			(void)snprintf(word, sizeof(word), "p %s",
				said_p(p, said_p_of(change, sign))); /* fits */
		r = say_change(sheet, &changes, i, sign, word);
	}
	return r;
}

int sheet_say_all(const struct sheet *sheet)
{
	int r = say_list(sheet, 1);

	if (r >= 0)
		r = say_list(sheet, -1);
	if (r >= 0)
		say_moved(sheet);
	return r;
}
