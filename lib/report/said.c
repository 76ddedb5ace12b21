/* SPDX-License-Identifier: BSD-2-Clause */
/* said.c: numbers and names as every report of a comparison writes them. */
#include "report/said.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "diff/gather.h"
#include "report/columns.h"

#define BEYOND_SAMPLING 4.0 /* standard errors, where no runs tell more */
#define PATH_COLUMNS	100 /* of a name in a path */
#define NAME_ROOM	(64 << 10) /* bytes of a name that are written */

void said_scale(const struct stoke_comparison *comparison, struct said_scale *ret)
{
	const struct side *sides = comparison->comparable->sides;
	double hz = sides[0].frequency_hz;

	switch (comparison->units->exposure) {
	case STOKE_EXPOSURE_TIME:
		*ret = (struct said_scale){1, "cores", "cores", "cores", "cores", 3};
		return;
	case STOKE_EXPOSURE_WORK:
		if (isnan(hz) || !(hz > 0) || hz != sides[1].frequency_hz)
			*ret = (struct said_scale){
				1, "samples", "samples", "samples", "samples an operation", 2};
		else
			*ret = (struct said_scale){
				1000 / hz, "ms", "ms", "ms", "CPU time an operation", 3};
		return;
	default:
		*ret = (struct said_scale){100, "%", "pts", "pp", "share of samples", 2};
	}
}

void said_rule_scale(const struct rule *rule, struct said_scale *ret)
{
	if (isnan(rule->max_share))
		*ret = (struct said_scale){1, "cores", "cores", "cores", "cores", 3};
	else
		*ret = (struct said_scale){100, "%", "pts", "pp", "share of samples", 2};
}

/*
 * 13.025 is a little less in binary, and people who compute it by hand write 13.03: a millionth of
 * the last place decides for them.
 */
char *said_number(char *buffer, double value, int decimals)
{
	double scale = pow(10, decimals);
	double rounded = floor(fabs(value) * scale + 0.5 + 1e-6) / scale;

	if (!isfinite(value))
		(void)snprintf(buffer, SAID_ROOM, "?");
	else
		(void)snprintf(buffer, SAID_ROOM, "%s%.*f", value < 0 && rounded > 0 ? "-" : "",
			decimals, rounded);
	return buffer;
}

char *said_change(char *buffer, double value, int decimals)
{
	size_t size;

	(void)said_number(buffer, value, decimals);
	size = strlen(buffer);
	if (*buffer == '-' || *buffer == '?' || size + 1 >= SAID_ROOM)
		return buffer;
	memmove(buffer + 1, buffer, size + 1);
	*buffer = '+';
	return buffer;
}

char *said_p(char *buffer, double p)
{
	if (p < 0.0001)
		(void)snprintf(buffer, SAID_ROOM, "<0.0001");
	else
		(void)snprintf(buffer, SAID_ROOM, "%.*f", p < 0.01 ? 4 : p < 0.1 ? 4 : 2, p);
	return buffer;
}

char *said_times(char *buffer, double ratio)
{
	return said_number(buffer, ratio, ratio < 10 ? 2 : 0);
}

/* Printable, at most width columns, cut in front: what a function is stands behind. */
static char *printable(const char *prefix, const char *text, size_t size, size_t width)
{
	size_t prefix_size = strlen(prefix), n;
	char fitted[COLUMNS_TEXT_BYTES], *name;

	if (width != SIZE_MAX) {
		(void)columns_fit(fitted, text, size, width > prefix_size ? width - prefix_size : 1,
			COLUMNS_CUT_START);
		text = fitted;
		size = strlen(fitted);
	}
	if (size > NAME_ROOM)
		size = NAME_ROOM;
	name = malloc(prefix_size + size * 6 + 1);
	if (!name)
		return NULL;
	memcpy(name, prefix, prefix_size);
	n = text_printable(name + prefix_size, size * 6, text, size);
	name[prefix_size + (n == SIZE_MAX ? 0 : n)] = '\0';
	return name;
}

const char *said_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* 1 when the program has a function of this name, too: "read" is the kernel's and the library's. */
static int has_namesake(const struct stoke_comparison *comparison, const struct hypothesis *of)
{
	const struct units *units = comparison->units;

	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		const struct hypothesis *other = &units->hypotheses[i];

		if (other->name == of->name && !other->sum && other->class == TREE_USER &&
			(other->kind == HYPOTHESIS_GROUP) == (of->kind == HYPOTHESIS_GROUP))
			return 1;
	}
	return 0;
}

char *said_name(const struct stoke_comparison *comparison, size_t hypothesis, size_t width)
{
	static const char mark[] = " (kernel)";
	const struct hypothesis *h =
		hypothesis == NO_HYPOTHESIS ? NULL : &comparison->units->hypotheses[hypothesis];
	_cleanup_free_ char *plain = NULL;
	char *name = NULL;

	if (!h || h->sum || h->class != TREE_KERNEL || !has_namesake(comparison, h))
		return said_plain_name(comparison, hypothesis, width);
	plain = said_plain_name(comparison, hypothesis,
		width != SIZE_MAX && width > sizeof(mark) ? width - strlen(mark) : width);
	if (plain && asprintf(&name, "%s%s", plain, mark) < 0)
		name = NULL;
	return name;
}

char *said_plain_name(const struct stoke_comparison *comparison, size_t hypothesis, size_t width)
{
	const struct strings *strings = &comparison->profile->strings;
	const struct hypothesis *h;

	if (hypothesis == NO_HYPOTHESIS)
		return strdup("all samples");
	h = &comparison->units->hypotheses[hypothesis];
	if (h->sum && comparison->budget) {
		const char *name = comparison->budget->sums[h->sum - 1].name;

		return printable("", name, strlen(name), width);
	}
	if (!h->name)
		return strdup("all samples");
	return printable(h->kind == HYPOTHESIS_GROUP ? "all of " : "",
		strings_text(strings, h->name), strings_size(strings, h->name), width);
}

const char *said_exposure(const struct stoke_comparison *comparison)
{
	static const char *const words[] = {
		[STOKE_EXPOSURE_AUTO] = "",
		[STOKE_EXPOSURE_SHARE] = " --exposure share",
		[STOKE_EXPOSURE_WORK] = " --exposure work",
		[STOKE_EXPOSURE_TIME] = " --exposure time",
	};

	return comparison->options.exposure == STOKE_EXPOSURE_AUTO && comparison->budget
		       ? words[comparison->budget->exposure]
		       : "";
}

char *said_points(char *buffer, const struct stoke_comparison *comparison, const struct rule *rule)
{
	double points = rule->growth * units_rate(comparison->units);
	struct said_scale scale;
	char text[SAID_ROOM];

	*buffer = '\0';
	if (comparison->units->exposure == STOKE_EXPOSURE_SHARE || isnan(points))
		return buffer;
	said_scale(comparison, &scale);
	(void)snprintf(buffer, 2 * SAID_ROOM, " (+%s %s)",
		said_number(text, points * scale.factor, scale.decimals), scale.unit); /* fits */
	return buffer;
}

const char *said_kind(const struct hypothesis *hypothesis)
{
	return hypothesis->kind == HYPOTHESIS_SELF ? "self" : "total";
}

char *said_path(const struct stoke_comparison *comparison, uint32_t node, size_t most)
{
	const struct tree *tree = comparison->aligned->tree;
	size_t depth = tree->depth[node], size;
	_cleanup_free_ uint32_t *path = calloc(depth + 1, sizeof(*path));
	char *text = NULL, fitted[COLUMNS_TEXT_BYTES];
	FILE *out = path ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	for (size_t i = depth + 1; i > 0; i--, node = tree->parent[node])
		path[i - 1] = node;
	for (size_t i = 0; i <= depth; i++) {
		const char *name;
		size_t n;

		if (most > 1 && depth + 1 > most && i == 1) {
			fputs(" > ...", out);
			i = depth + 2 - most;
		}
		name = tree_text(tree, tree->name[path[i]], &n);
		(void)columns_fit(fitted, name, n, PATH_COLUMNS, COLUMNS_CUT_START);
		fprintf(out, "%s%s", i ? " > " : "", fitted);
	}
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

/* Is this node of the function, or one of the functions, that a hypothesis speaks of? */
static int is_of(
	const struct stoke_comparison *comparison, const struct hypothesis *h, uint32_t node)
{
	const struct tree *tree = comparison->aligned->tree;
	const struct tree_name *name = &tree->names[tree->name[node]];
	const char *text;
	size_t size;

	if (h->sum && comparison->budget) {
		text = tree_text(tree, tree->name[node], &size);
		return node &&
		       budget_matches(comparison->budget->sums[h->sum - 1].glob, text, size);
	}
	return h->kind != HYPOTHESIS_GROUP && h->name && name->name == h->name &&
	       name->class == h->class;
}

static double growth_of(const struct stoke_comparison *comparison, int self, uint32_t node)
{
	const struct tree *tree = comparison->aligned->tree;
	uint64_t *const *counts = self ? tree->self : tree->total;

	return (double)counts[1][node] / comparison->exposure[1] -
	       (double)counts[0][node] / comparison->exposure[0];
}

uint32_t said_node(const struct stoke_comparison *comparison, size_t hypothesis, int sign)
{
	const struct tree *tree = comparison->aligned->tree;
	const struct hypothesis *h;
	uint32_t best = 0;
	double most = 0;

	if (hypothesis == NO_HYPOTHESIS)
		return 0;
	h = &comparison->units->hypotheses[hypothesis];
	/* All samples are no function: where most of their growth is says more than "all". */
	if (!h->name && !h->sum && sign > 0 && comparison->cause && comparison->cause->nr_owners)
		return comparison->cause->owners[0].node;
	for (uint32_t node = 1; node < tree->nr; node++) {
		double growth;

		if (!is_of(comparison, h, node))
			continue;
		growth = sign * growth_of(comparison, h->kind == HYPOTHESIS_SELF, node);
		if (growth > most) {
			most = growth;
			best = node;
		}
	}
	return best;
}

const struct owner *said_owner(const struct stoke_comparison *comparison, size_t hypothesis)
{
	const struct cause *cause = comparison->cause;
	const struct hypothesis *h;

	if (hypothesis == NO_HYPOTHESIS || !cause)
		return NULL;
	h = &comparison->units->hypotheses[hypothesis];
	for (size_t i = 0; i < cause->nr_owners; i++) {
		if (!h->sum && is_of(comparison, h, cause->owners[i].node))
			return &cause->owners[i];
	}
	return NULL;
}

const char *said_cause(enum cause_kind kind)
{
	switch (kind) {
	case CAUSE_NEW:
		return "new in this place: there was nothing of it here before";
	case CAUSE_SELF:
		return "its own code";
	case CAUSE_VOLUME:
		return "the same work, more of it: callers, counts, configuration";
	case CAUSE_MIX:
		break;
	}
	return "different work, not only more of it";
}

char *said_part(const struct stoke_comparison *comparison, const struct part *part, size_t width)
{
	const char *name = "(its own code)";
	size_t size = strlen(name);

	if (part->name != CAUSE_OWN)
		name = tree_text(comparison->aligned->tree, part->name, &size);
	return printable("", name, size, width);
}

double said_p_of(const struct change *change, int sign)
{
	return sign > 0 ? change->p_grew : change->p_shrank;
}

int said_has_no_test(const struct stoke_comparison *comparison)
{
	const struct side *sides = comparison->comparable->sides;

	return comparison->too_few || sides[0].samples < COMPARISON_FEW_SAMPLES ||
	       sides[1].samples < COMPARISON_FEW_SAMPLES;
}

int said_is_change(const struct stoke_comparison *comparison, size_t i, int sign)
{
	const struct change *change = &comparison->evidence->changes[i];
	const struct hypothesis *h = &comparison->units->hypotheses[i];
	double t = sign > 0 ? change->t_grew : change->t_shrank;

	if (isinf(h->least))
		return 0;
	if (said_has_no_test(comparison))
		return t >= BEYOND_SAMPLING;
	return change->flags & (sign > 0 ? CHANGE_GREW : CHANGE_SHRANK);
}

static void free_gather(struct gather **gather)
{
	gather_free(*gather);
}

int said_changes(const struct stoke_comparison *comparison, int sign, struct said_changes *ret)
{
	_cleanup_(free_gather) struct gather *gather = NULL;
	_cleanup_(said_changes_done) struct said_changes changes = {0};
	size_t nr = comparison->evidence ? comparison->evidence->nr : 0;
	int r;

	changes.hypotheses = calloc(nr + 1, sizeof(size_t));
	changes.of = calloc(nr + 1, sizeof(size_t));
	changes.order = calloc(nr + 1, sizeof(size_t));
	if (!changes.hypotheses || !changes.of || !changes.order)
		return -ENOMEM;
	changes.by_chance = said_has_no_test(comparison);
	for (size_t i = 0; i < nr; i++) {
		if (said_is_change(comparison, i, sign))
			changes.hypotheses[changes.nr++] = i;
	}
	if (changes.nr) {
		r = gather_new(comparison, changes.hypotheses, changes.nr, sign, &gather);
		if (r >= 0)
			r = gather_find(gather, changes.of, changes.order, &changes.nr_order);
		if (r < 0)
			return r;
	}
	*ret = changes;
	changes = (struct said_changes){0};
	return 0;
}

void said_changes_done(struct said_changes *changes)
{
	free(changes->hypotheses);
	free(changes->of);
	free(changes->order);
}

size_t said_runs(const struct stoke_comparison *comparison, int side)
{
	return side ? comparison->profile->nr_runs - comparison->nr_before : comparison->nr_before;
}

static char *ceiling_text(const struct breach *breach, const char *name)
{
	const struct rule *rule = breach->rule;
	double limit = isnan(rule->max_share) ? rule->max_cores : rule->max_share;
	struct said_scale scale;
	char value[SAID_ROOM], *text;

	said_rule_scale(rule, &scale);
	(void)said_number(value, breach->value * scale.factor, scale.decimals);
	return asprintf(&text, "%s %s %s of max %.10g %s", name, value, scale.unit,
		       limit * scale.factor, scale.unit) < 0
		       ? NULL
		       : text;
}

char *said_breach(
	const struct stoke_comparison *comparison, const struct breach *breach, unsigned flags)
{
	_cleanup_free_ char *name = said_name(comparison, breach->hypothesis, SIZE_MAX);
	char before[SAID_ROOM], after[SAID_ROOM], difference[SAID_ROOM], low[SAID_ROOM],
		high[SAID_ROOM], p[SAID_ROOM], interval[3 * SAID_ROOM] = "", *text;
	const struct change *change;
	struct said_scale scale;
	double f;

	if (!name || !isnan(breach->value))
		return name ? ceiling_text(breach, name) : NULL;
	change = &comparison->evidence->changes[breach->hypothesis];
	said_scale(comparison, &scale);
	f = scale.factor;
	(void)said_p(p, change->p_grew);
	if (flags & SAID_INTERVAL)
		(void)snprintf(interval, sizeof(interval),
			", 95 %% interval %s .. %s %s, p %s", /* fits */
			said_change(low, change->low * f, scale.decimals),
			said_change(high, change->high * f, scale.decimals), scale.pp, p);
	return asprintf(&text, "%s %s %s %s -> %s %s (%s %s%s)%s%s", name,
		       said_kind(&comparison->units->hypotheses[breach->hypothesis]),
		       said_number(before, change->before * f, scale.decimals), scale.unit,
		       said_number(after, change->after * f, scale.decimals), scale.unit,
		       said_change(difference, change->difference * f, scale.decimals), scale.pp,
		       interval, flags & SAID_INTERVAL ? "" : ", p ",
		       flags & SAID_INTERVAL ? "" : p) < 0
		       ? NULL
		       : text;
}

/* A quarter of a year from today, so that it is looked at again. */
static void put_until(const char *today, char ret[11])
{
	unsigned year = 0, month = 0, day = 0;

	if (!today || sscanf(today, "%4u-%2u-%2u", &year, &month, &day) != 3) {
		(void)snprintf(ret, 11, "YYYY-MM-DD");
		return;
	}
	month += 3;
	if (month > 12) {
		month -= 12;
		year++;
	}
	(void)snprintf(
		ret, 11, "%04u-%02u-%02u", year % 10000, month % 100, (day > 28 ? 28 : day) % 100);
}

/* Half a point more than was seen, in half points: the next run is never quite the same. */
static double room_for(double grown)
{
	return ceil((grown + 0.005) * 200 - 1e-9) / 200;
}

/* One character of a name: as it stands where that is harmless, else as what matches its bytes. */
static size_t put_character(FILE *out, const char *name, size_t size)
{
	unsigned char first = (unsigned char)*name;
	size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	char printable[32];

	if (n <= size && text_printable(printable, sizeof(printable), name, n) == n &&
		memcmp(printable, name, n) == 0) {
		(void)fwrite(name, 1, n, out); /* the stream keeps its error */
		return n;
	}
	fputc('?', out);
	return 1;
}

/* A name in quotes, taken as it stands; a glob of the user's as it was written. What is printed can
 * be read again. */
static void put_name(FILE *out, const char *name, size_t size, int is_glob)
{
	fputc('"', out);
	for (size_t i = 0; i < size && i < NAME_ROOM;) {
		/* An @ in front would name a group. */
		if (!is_glob && (strchr("*?[]|\\", name[i]) || (!i && name[i] == '@')) && name[i])
			fputs("\\\\", out);
		if (name[i] == '"' || name[i] == '\\')
			fputc('\\', out);
		i += put_character(out, name + i, size - i);
	}
	fputs(!is_glob && size > NAME_ROOM ? "*\"" : "\"", out);
}

/* "NAME" in "NAME" of a rule. */
static void put_rule_name(FILE *out, const struct rule *rule)
{
	size_t within = rule->within ? strlen(rule->within) : 0;

	put_name(out, rule->name, strlen(rule->name) - (within ? within + 4 : 0), 1);
	fputs(within ? " in " : "", out);
	if (within)
		put_name(out, rule->within, within, 1);
}

/* The ceiling that would have held: a twentieth above what was seen. */
static void put_ceiling(FILE *out, const struct breach *breach)
{
	const struct rule *rule = breach->rule;
	char value[SAID_ROOM];

	if (rule->kind == RULE_TOTAL_MAX) {
		fputs("total-cpu", out);
	} else {
		fputs("frame ", out);
		put_rule_name(out, rule);
	}
	if (isnan(rule->max_share))
		fprintf(out, " max %scores",
			said_number(value, ceil(breach->value * 1.05 * 1000) / 1000, 3));
	else
		fprintf(out, " max %s%%",
			said_number(value, 100 * fmin(room_for(breach->value), 1), 1));
	/* Beside the old one it would lift nothing. */
	fprintf(out, "  # in place of line %u", rule->line);
}

static void put_allowance(
	FILE *out, const struct stoke_comparison *comparison, const struct breach *breach)
{
	const struct strings *strings = &comparison->profile->strings;
	const struct hypothesis *h = &comparison->units->hypotheses[breach->hypothesis];
	const struct change *change = &comparison->evidence->changes[breach->hypothesis];
	char until[11], growth[SAID_ROOM];

	fputs("allow ", out);
	if (h->sum)
		put_rule_name(out, breach->rule);
	else if (h->name)
		put_name(out, strings_text(strings, h->name), strings_size(strings, h->name), 0);
	else
		fputs("total-cpu", out);
	put_until(comparison->options.today, until);
	if (h->sum || h->name)
		fprintf(out, " %s +%spp", said_kind(h),
			said_number(growth,
				100 * room_for(change->grown / units_rate(comparison->units)), 1));
	else
		fprintf(out, " +%s%%",
			said_number(growth, 100 * room_for(change->grown / change->before), 1));
	fprintf(out, " until %s reason \"...\"", until);
}

char *said_allowance(const struct stoke_comparison *comparison, const struct breach *breach)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (isnan(breach->value))
		put_allowance(out, comparison, breach);
	else
		put_ceiling(out, breach);
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}
