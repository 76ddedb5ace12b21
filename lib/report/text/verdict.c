/* SPDX-License-Identifier: BSD-2-Clause */
/* verdict.c: what a gate says, and what to do about it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/columns.h"
#include "report/text/sheet.h"

#define MOST_FAILURES 20
#define MOST_PATH     4 /* names: the first, and where it ends */
#define RULE_COLUMN   72 /* of "stoke.budget:4" */
#define DECIMALS      1 /* a gate speaks of points, not of hundredths */

static const char *budget_name(const struct sheet *sheet)
{
	const char *name = sheet->comparison->budget->name;

	return name ? name : "built in";
}

/* "stoke.budget:4" at the end of a line that has `used` columns. */
static void put_place(const struct sheet *sheet, const struct rule *rule, size_t used)
{
	int pad = used + 2 > RULE_COLUMN ? 2 : (int)(RULE_COLUMN - used);

	fprintf(sheet->out, "%*s", pad, "");
	text_print(sheet->out, budget_name(sheet), strlen(budget_name(sheet)));
	if (rule->line)
		fprintf(sheet->out, ":%u", rule->line);
	fputs("\n", sheet->out);
}

static void say_rule(const struct sheet *sheet, const char *title, const struct rule *rule)
{
	size_t used = 12 + text_columns(rule->text, strlen(rule->text));
	char points[2 * SAID_ROOM];

	fprintf(sheet->out, "    %-8s", title);
	text_print(sheet->out, rule->text, strlen(rule->text));
	fputs(said_points(points, sheet->comparison, rule), sheet->out);
	put_place(sheet, rule, used + strlen(points));
}

/* "total 10.1 -> 13.0 %   +2.9 pts (+1.3 .. +4.8)   p 0.008" */
static int say_figures(const struct sheet *sheet, const struct breach *breach)
{
	const struct change *change = &sheet->comparison->evidence->changes[breach->hypothesis];
	const struct hypothesis *h = &sheet->comparison->units->hypotheses[breach->hypothesis];
	const struct said_scale *scale = &sheet->scale;
	int decimals = scale->decimals > 2 ? scale->decimals : DECIMALS;
	_cleanup_free_ char *name = said_name(sheet->comparison, breach->hypothesis, SIZE_MAX);
	char a[SAID_ROOM], b[SAID_ROOM], d[SAID_ROOM], low[SAID_ROOM], high[SAID_ROOM],
		p[SAID_ROOM];

	if (!name)
		return -ENOMEM;
	fprintf(sheet->out, "  %s    %s %s -> %s %s   %s %s (%s .. %s)   p %s\n", name,
		said_kind(h), said_number(a, change->before * scale->factor, decimals),
		said_number(b, change->after * scale->factor, decimals), scale->unit,
		said_change(d, change->difference * scale->factor, decimals), scale->points,
		said_change(low, change->low * scale->factor, decimals),
		said_change(high, change->high * scale->factor, decimals),
		said_p(p, change->p_grew));
	if (fabs(change->grown - change->difference) * scale->factor >= pow(10, -decimals) / 2)
		fprintf(sheet->out,
			"    judged  %s %s: what shrank elsewhere made the rest a larger share\n",
			said_change(d, change->grown * scale->factor, decimals), scale->points);
	return 0;
}

/* "frame *.parkNanos 0.048 of max 0.05 cores" */
static void say_ceiling(const struct sheet *sheet, const char *title, const struct breach *breach)
{
	const struct rule *rule = breach->rule;
	double limit = isnan(rule->max_share) ? rule->max_cores : rule->max_share;
	struct said_scale scale;
	char value[SAID_ROOM], low[SAID_ROOM], line[COLUMNS_TEXT_BYTES];
	const char *name = rule->name ? rule->name : "total-cpu";
	size_t used;

	said_rule_scale(rule, &scale);
	(void)columns_fit(line, name, strlen(name), 60, COLUMNS_CUT_START);
	used = 10 + text_columns(line, strlen(line));
	fprintf(sheet->out, "%-10s%s", title, line);
	used += (size_t)fprintf(sheet->out, "   %s of max %.10g %s (at least %s)",
		said_number(value, breach->value * scale.factor, scale.decimals),
		limit * scale.factor, scale.unit,
		said_number(low, breach->low * scale.factor, scale.decimals));
	put_place(sheet, rule, used);
}

static int say_cause(const struct sheet *sheet, const struct breach *breach)
{
	const struct owner *owner = said_owner(sheet->comparison, breach->hypothesis);
	uint32_t node = owner ? owner->node : said_node(sheet->comparison, breach->hypothesis, 1);
	_cleanup_free_ char *path = NULL;

	if (node) {
		path = said_path(sheet->comparison, node, MOST_PATH);
		if (!path)
			return -ENOMEM;
		fprintf(sheet->out, "    path    %s\n", path);
	}
	if (owner)
		fprintf(sheet->out, "    kind    %s\n", said_cause(owner->kind));
	if (breach->allowed_by)
		say_rule(sheet,
			rule_has_expired(breach->allowed_by, sheet->comparison->options.today)
				? "expired"
				: "over",
			breach->allowed_by);
	return 0;
}

static void say_also(const struct sheet *sheet, size_t own)
{
	const struct verdict *verdict = sheet->comparison->verdict;
	size_t nr = 0;

	for (size_t i = verdict->nr_failures; i < verdict->nr_breaches; i++)
		nr += verdict->breaches[i].outcome == OUTCOME_FAIL &&
		      verdict->breaches[i].of == own;
	if (nr)
		fprintf(sheet->out,
			"    also    %zu more that grew with it: callers, callees, "
			"packages\n",
			nr);
}

static int say_failures(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;

	for (size_t i = 0; i < verdict->nr_failures; i++) {
		const struct breach *breach = &verdict->breaches[i];
		int r = 0;

		if (i == MOST_FAILURES) {
			fprintf(sheet->out, "  ... %zu more: --out json=FILE has all\n",
				verdict->nr_failures - i);
			return 0;
		}
		if (!isnan(breach->value)) {
			say_ceiling(sheet, "  ceiling", breach);
			continue;
		}
		r = say_figures(sheet, breach);
		if (r < 0)
			return r;
		say_rule(sheet, "rule", breach->rule);
		r = say_cause(sheet, breach);
		if (r < 0)
			return r;
		say_also(sheet, i);
	}
	return 0;
}

static int say_word(const struct sheet *sheet)
{
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct verdict *verdict = comparison->verdict;

	if (!verdict->nr_failures || verdict->word == VERDICT_CANNOT_TELL)
		return 0;
	sheet_title(sheet, "FAIL");
	fprintf(sheet->out,
		"%zu regression%s   (%zu run%s before, %zu after; %s; false alarm 1 report in "
		"%.0f)\n",
		verdict->nr_failures, said_s(verdict->nr_failures), said_runs(comparison, 0),
		said_s(said_runs(comparison, 0)), said_runs(comparison, 1), sheet->scale.of,
		1 / comparison->budget->alpha);
	return say_failures(sheet);
}

static int say_allowed(const struct sheet *sheet, const struct breach *breach)
{
	_cleanup_free_ char *name = said_name(sheet->comparison, breach->hypothesis, 50);
	const struct change *change = &sheet->comparison->evidence->changes[breach->hypothesis];
	const struct said_scale *scale = &sheet->scale;
	char d[SAID_ROOM];

	if (!name)
		return -ENOMEM;
	sheet_title(sheet, "ALLOWED");
	fprintf(sheet->out, "%s %s %s %s: ", name,
		said_kind(&sheet->comparison->units->hypotheses[breach->hypothesis]),
		said_change(d, change->difference * scale->factor,
			scale->decimals > 2 ? scale->decimals : DECIMALS),
		scale->points);
	text_print(sheet->out, breach->allowed_by->reason, strlen(breach->allowed_by->reason));
	fprintf(sheet->out, ", until %s", breach->allowed_by->until);
	put_place(sheet, breach->allowed_by, RULE_COLUMN);
	return 0;
}

/* A guard that stands before nothing. */
static void say_unmet(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;

	for (size_t i = 0; i < verdict->nr_unmet; i++) {
		const struct rule *rule = verdict->unmet[i];
		size_t used = 10 + text_columns(rule->text, strlen(rule->text));

		sheet_title(sheet, "NO MATCH");
		text_print(sheet->out, rule->text, strlen(rule->text));
		put_place(sheet, rule, used);
	}
}

static int say_warnings(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;
	const struct comparable *comparable = sheet->comparison->comparable;
	size_t nr_carried = 0;

	for (size_t i = 0; i < comparable->nr_findings; i++) {
		if (comparable->findings[i].weight != FINDING_WARNING)
			continue;
		sheet_title(sheet, "WARN");
		text_print(sheet->out, comparable->findings[i].text,
			strlen(comparable->findings[i].text));
		fputs("\n", sheet->out);
	}
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];

		if (breach->outcome == OUTCOME_WARN)
			say_ceiling(sheet, "WARN", breach);
		if (breach->outcome == OUTCOME_ALLOWED && say_allowed(sheet, breach) < 0)
			return -ENOMEM;
		nr_carried += breach->outcome == OUTCOME_CARRIED;
	}
	if (nr_carried) {
		sheet_title(sheet, "ALLOWED");
		fprintf(sheet->out, "%zu more that grew with it: callers, callees, packages\n",
			nr_carried);
	}
	say_unmet(sheet);
	for (size_t i = 0; i < verdict->nr_expired; i++) {
		const struct rule *rule = verdict->expired[i];

		sheet_title(sheet, "EXPIRED");
		text_print(sheet->out, rule->text, strlen(rule->text));
		put_place(sheet, rule, 10 + text_columns(rule->text, strlen(rule->text)));
	}
	return 0;
}

static void say_pass(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;
	const struct power *power = &sheet->comparison->power;
	char points[SAID_ROOM];

	if (verdict->word == VERDICT_CANNOT_TELL)
		return;
	sheet_title(sheet, "PASS");
	fprintf(sheet->out, "%s%zu rule%s, %zu function%s", verdict->nr_failures ? "else " : "",
		verdict->nr_rules, said_s(verdict->nr_rules), verdict->nr_functions,
		said_s(verdict->nr_functions));
	if (power->detectable > 0 && isfinite(power->detectable))
		fprintf(sheet->out, "; +%s pts in a %.0f %% function is found 9 times in 10",
			said_number(points, power->detectable * 100, 1), power->share * 100);
	fputs("\n", sheet->out);
}

static void put_options(const struct sheet *sheet)
{
	const char *options = sheet->params->options;

	fputs(said_exposure(sheet->comparison), sheet->out);
	if (!options || !*options)
		return;
	fputs(" ", sheet->out);
	text_print(sheet->out, options, strlen(options));
}

/* The same comparison, as a picture; and the same again, of new captures. */
static void say_look(const struct sheet *sheet)
{
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct side *sides = comparison->comparable->sides;
	const char *operands = sheet->params->sides ? sheet->params->sides : "BEFORE AFTER";

	sheet_title(sheet, "look");
	fputs("stoke diff ", sheet->out);
	text_print(sheet->out, operands, strlen(operands));
	put_options(sheet);
	fputs(" -o diff.svg\n", sheet->out);
	sheet_title(sheet, "repeat");
	fprintf(sheet->out, "stoke bench -n %zu", said_runs(comparison, 1));
	if (sides[0].frequency_hz >= 1 && sides[0].frequency_hz == sides[1].frequency_hz)
		fprintf(sheet->out, " -F %.0f", sides[0].frequency_hz);
	fputs(" --before COMMAND --after COMMAND -o again\n", sheet->out);
	sheet_title(sheet, "");
	fputs("stoke check again/before-* -- again/after-*", sheet->out);
	put_options(sheet);
	if (sheet->params->budget) {
		fputs(" --budget ", sheet->out);
		text_print(sheet->out, sheet->params->budget, strlen(sheet->params->budget));
	}
	fputs("\n", sheet->out);
}

static void say_accept(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;
	int first = 1;

	for (size_t i = 0; i < verdict->nr_failures && i < MOST_FAILURES; i++) {
		_cleanup_free_ char *line =
			said_allowance(sheet->comparison, &verdict->breaches[i]);

		if (!line)
			continue;
		if (first) {
			sheet_title(sheet, "accept");
			fputs("a line for stoke.budget in the same pull request:\n", sheet->out);
		}
		first = 0;
		sheet_title(sheet, "");
		text_print(sheet->out, line, strlen(line));
		fputs("\n", sheet->out);
	}
}

/* How to look, how to repeat, how to accept. */
static void say_cures(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;

	if (!verdict->nr_failures || verdict->word == VERDICT_CANNOT_TELL)
		return;
	say_look(sheet);
	say_accept(sheet);
}

static void say_doubts(const struct sheet *sheet)
{
	const struct verdict *verdict = sheet->comparison->verdict;

	for (size_t i = 0; i < verdict->nr_reasons; i++) {
		const struct reason *reason = &verdict->reasons[i];

		fputs("CANNOT TELL  ", sheet->out);
		text_print(sheet->out, reason->why, strlen(reason->why));
		fputs("\n", sheet->out);
		if (!reason->cure)
			continue;
		sheet_title(sheet, "cure");
		text_print(sheet->out, reason->cure, strlen(reason->cure));
		fputs("\n", sheet->out);
	}
}

int sheet_say_verdict(const struct sheet *sheet)
{
	int r;

	say_doubts(sheet);
	r = say_word(sheet);
	if (r >= 0)
		r = say_warnings(sheet);
	if (r < 0)
		return r;
	say_pass(sheet);
	say_cures(sheet);
	return 0;
}
