/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * junit.c: a check as a test suite: one test case a rule of the budget, so that every CI host that
 * shows tests shows which rule was broken. "Cannot tell" is an error, and no rule a pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "diff/judge.h"
#include "report/report.h"
#include "report/said.h"

#define MOST_ALSO 100 /* failures of a rule that are listed */

/* One suite in the writing. */
struct suite {
	const struct stoke_comparison *comparison;
	FILE *out;
	int error; /* 0 or -ENOMEM: sticks, as the stream's do */
};

/* For elements and attributes alike. What XML 1.0 has no way to write, text_printable() spells
 * out. */
static void put_xml(struct suite *suite, const char *text, size_t size)
{
	_cleanup_free_ char *printable = malloc(size * 6 + 1);
	FILE *out = suite->out;
	size_t n;

	if (!printable) {
		suite->error = -ENOMEM;
		return;
	}
	n = text_printable(printable, size * 6, text, size);
	for (size_t i = 0; n != SIZE_MAX && i < n; i++) {
		switch (printable[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(printable[i], out);
		}
	}
}

/* What a rule that limits growth says, "no frame grows by +0.5pp and 5%"; other rules as they are,
 * without their first word. To be freed. */
static char *rule_text(const struct rule *rule)
{
	const char *behind = strchr(rule->text, ' ');
	char *text;

	if (rule->kind != RULE_DEFAULT)
		return strdup(behind ? behind + 1 : rule->text);
	if (asprintf(&text, "no frame%s grows by +%.10gpp and %.10g%%",
		    rule->which == HYPOTHESIS_SELF ? "'s own code" : "", rule->growth * 100,
		    rule->ratio * 100) < 0)
		return NULL;
	return text;
}

/* A rule that is a test case. */
static int is_case(const struct suite *suite, const struct rule *rule)
{
	return verdict_counts(suite->comparison->verdict, suite->comparison->budget, rule);
}

/* The first failure of a rule from a position on, or nr_breaches. */
static size_t next_failure(const struct verdict *verdict, const struct rule *rule, size_t at)
{
	while (at < verdict->nr_breaches && (verdict->breaches[at].outcome != OUTCOME_FAIL ||
						    verdict->breaches[at].rule != rule))
		at++;
	return at;
}

static void put_attribute(struct suite *suite, const char *name, const char *text)
{
	fprintf(suite->out, " %s=\"", name);
	put_xml(suite, text, strlen(text));
	fputs("\"", suite->out);
}

static int put_failure(struct suite *suite, const struct rule *rule, size_t at)
{
	const struct stoke_comparison *comparison = suite->comparison;
	const struct verdict *verdict = comparison->verdict;
	_cleanup_free_ char *text = said_breach(comparison, &verdict->breaches[at], 0);
	_cleanup_free_ char *path = said_path(
		comparison, said_node(comparison, verdict->breaches[at].hypothesis, 1), SIZE_MAX);
	size_t nr = 0;

	if (!text || !path)
		return -ENOMEM;
	fputs("      <failure type=\"regression\"", suite->out);
	put_attribute(suite, "message", text);
	fputs(">change begins in: ", suite->out);
	put_xml(suite, path, strlen(path));
	while ((at = next_failure(verdict, rule, at + 1)) < verdict->nr_breaches &&
		nr++ < MOST_ALSO) {
		_cleanup_free_ char *also = said_breach(comparison, &verdict->breaches[at], 0);

		if (!also)
			return -ENOMEM;
		fputs("\nalso: ", suite->out);
		put_xml(suite, also, strlen(also));
	}
	fputs("</failure>\n", suite->out);
	return 0;
}

static int put_case(struct suite *suite, const struct rule *rule)
{
	const struct verdict *verdict = suite->comparison->verdict;
	_cleanup_free_ char *name = rule_text(rule);
	size_t at = next_failure(verdict, rule, 0);
	int r = 0;

	if (!name)
		return -ENOMEM;
	fprintf(suite->out, "    <testcase classname=\"stoke.%s\"", rule->word->word);
	put_attribute(suite, "name", name);
	if (verdict->word == VERDICT_CANNOT_TELL) {
		fputs(">\n      <skipped message=\"cannot tell\"/>\n    </testcase>\n", suite->out);
	} else if (at == verdict->nr_breaches) {
		fputs("/>\n", suite->out);
	} else {
		fputs(">\n", suite->out);
		r = put_failure(suite, rule, at);
		fputs("    </testcase>\n", suite->out);
	}
	return r;
}

static void put_doubts(struct suite *suite)
{
	const struct verdict *verdict = suite->comparison->verdict;

	fputs("    <testcase classname=\"stoke\" name=\"the comparison can tell\">\n", suite->out);
	fputs("      <error type=\"cannot tell\"", suite->out);
	put_attribute(suite, "message", verdict->reasons[0].why);
	fputs(">", suite->out);
	for (size_t i = 0; i < verdict->nr_reasons; i++) {
		const struct reason *reason = &verdict->reasons[i];

		fputs(i ? "\n" : "", suite->out);
		put_xml(suite, reason->why, strlen(reason->why));
		fputs(reason->cure ? "; " : "", suite->out);
		if (reason->cure)
			put_xml(suite, reason->cure, strlen(reason->cure));
	}
	fputs("</error>\n    </testcase>\n", suite->out);
}

static int junit_comparison(
	const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	const struct stoke_budget *budget = comparison->budget;
	const struct verdict *verdict = comparison->verdict;
	struct suite suite = {comparison, out, 0};
	size_t nr = 0, failures = 0, errors;

	if (!verdict)
		return -EOPNOTSUPP;
	errors = verdict->nr_reasons > 0;
	for (size_t i = 0; i < budget->nr_rules; i++) {
		if (!is_case(&suite, &budget->rules[i]))
			continue;
		nr++;
		failures += verdict->word != VERDICT_CANNOT_TELL &&
			    next_failure(verdict, &budget->rules[i], 0) < verdict->nr_breaches;
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"stoke\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n"
		"  <testsuite name=\"stoke check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\">\n",
		nr + errors, failures, errors, nr + errors, failures, errors,
		verdict->word == VERDICT_CANNOT_TELL ? nr : 0);
	if (errors)
		put_doubts(&suite);
	for (size_t i = 0; i < budget->nr_rules; i++) {
		if (is_case(&suite, &budget->rules[i]) && put_case(&suite, &budget->rules[i]) < 0)
			return -ENOMEM;
	}
	fputs("  </testsuite>\n</testsuites>\n", out);
	return suite.error;
}

const struct report report_junit = {
	.name = "junit",
	.summary = "a check as JUnit XML: a test case a rule",
	.suffixes = ".junit.xml .xml",
	.comparison = junit_comparison,
};
