/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * github.c: a check as annotations, as GitHub's runners read them from a log: "::error
 * title=...::message". It shows ten of a step: the nine heaviest, and how many more there are.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/report.h"
#include "report/said.h"

#define MOST_SHOWN 9
#define MOST_BYTES 4000 /* of a message */

/* '%', CR and LF are spelled out; in a property ':' and ',' as well. What comes here is printable
 * already. */
static void put_escaped(FILE *out, const char *text, int is_property)
{
	for (size_t i = 0; text[i] && i < MOST_BYTES; i++) {
		if (strchr("%\r\n", text[i]) || (is_property && strchr(":,", text[i])))
			fprintf(out, "%%%02X", (unsigned char)text[i]);
		else
			fputc(text[i], out);
	}
}

static void put_annotation(FILE *out, const char *level, const char *title, const char *text)
{
	fprintf(out, "::%s title=", level);
	put_escaped(out, title, 1);
	fputs("::", out);
	put_escaped(out, text, 0);
	fputs("\n", out);
}

/* "stoke: parse total +3.03 pp" */
static char *title_of(const struct stoke_comparison *comparison, const struct breach *breach)
{
	_cleanup_free_ char *name = said_name(comparison, breach->hypothesis, 80);
	char difference[SAID_ROOM], *title;
	struct said_scale scale;
	int n;

	if (!name)
		return NULL;
	if (!isnan(breach->value)) {
		n = asprintf(&title, "stoke: %s over its ceiling", name);
	} else {
		const struct change *change = &comparison->evidence->changes[breach->hypothesis];

		said_scale(comparison, &scale);
		n = asprintf(&title, "stoke: %s %s %s %s", name,
			said_kind(&comparison->units->hypotheses[breach->hypothesis]),
			said_change(difference, change->difference * scale.factor, scale.decimals),
			scale.pp);
	}
	return n < 0 ? NULL : title;
}

/* "limit +0.5pp and 5 %", "limit +0.5pp (+0.012 cores)" */
static char *limit_of(const struct stoke_comparison *comparison, const struct rule *rule)
{
	char points[2 * SAID_ROOM], *text;
	int n;

	if (isnan(rule->growth))
		n = asprintf(&text, "limit %.10g %%", rule->ratio * 100);
	else if (isnan(rule->ratio) || !(rule->ratio > 0))
		n = asprintf(&text, "limit +%.10gpp%s", rule->growth * 100,
			said_points(points, comparison, rule));
	else
		n = asprintf(&text, "limit +%.10gpp%s and %.10g %%", rule->growth * 100,
			said_points(points, comparison, rule), rule->ratio * 100);
	return n < 0 ? NULL : text;
}

static int put_breach(const struct stoke_comparison *comparison, const char *level,
	const struct breach *breach, FILE *out)
{
	_cleanup_free_ char *title = title_of(comparison, breach);
	_cleanup_free_ char *text = said_breach(comparison, breach, SAID_INTERVAL);
	_cleanup_free_ char *limit = limit_of(comparison, breach->rule);
	_cleanup_free_ char *path =
		said_path(comparison, said_node(comparison, breach->hypothesis, 1), 8);
	_cleanup_free_ char *whole = NULL;
	int n;

	if (!title || !text || !limit || !path)
		return -ENOMEM;
	if (!isnan(breach->value))
		n = asprintf(&whole, "%s. Most of it in %s.", text, path);
	else
		n = asprintf(&whole, "%s, %s. Begins in %s.", text, limit, path);
	if (n < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	put_annotation(out, level, title, whole);
	return 0;
}

static int put_doubts(const struct verdict *verdict, FILE *out)
{
	for (size_t i = 0; i < verdict->nr_reasons && i < MOST_SHOWN; i++) {
		const struct reason *reason = &verdict->reasons[i];
		_cleanup_free_ char *text = NULL;

		if (asprintf(&text, "%s%s%s", reason->why, reason->cure ? ". Cure: " : "",
			    reason->cure ? reason->cure : "") < 0) {
			text = NULL;
			return -ENOMEM;
		}
		put_annotation(out, "warning", "stoke: cannot tell", text);
	}
	return 0;
}

static int github_comparison(
	const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	const struct verdict *verdict = comparison->verdict;
	size_t nr = 0, more = 0;

	if (!verdict)
		return -EOPNOTSUPP;
	if (verdict->nr_reasons && put_doubts(verdict, out) < 0)
		return -ENOMEM;
	if (verdict->word == VERDICT_CANNOT_TELL)
		return 0;
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];
		int is_own = i < verdict->nr_failures;

		if (!is_own && breach->outcome != OUTCOME_WARN)
			continue;
		if (nr == MOST_SHOWN) {
			more++;
			continue;
		}
		if (put_breach(comparison, is_own ? "error" : "warning", breach, out) < 0)
			return -ENOMEM;
		nr++;
	}
	if (more)
		fprintf(out,
			"::%s title=stoke%%3A %zu more::%zu more are not shown here; the report "
			"has all of them\n",
			verdict->nr_failures > MOST_SHOWN ? "error" : "warning", more, more);
	return 0;
}

const struct report report_github = {
	.name = "github",
	.summary = "a check as annotations in a log of GitHub Actions",
	.suffixes = "",
	.comparison = github_comparison,
};
