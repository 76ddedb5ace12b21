/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * markdown.c: a comparison for a page of a pull request or a job's summary. Hosts refuse what is
 * too long (1 MiB a summary, 64 kB a comment), so it is bounded by rows and by bytes.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/said.h"

#define NAME_COLUMNS 100
#define MOST_BYTES   900000

struct markdown_params {
	uint64_t n, bytes;
	char *sides, *options;
};

static const struct param markdown_params[] = {
	{"n", PARAM_NUMBER, offsetof(struct markdown_params, n), "50", "rows a table", 1, 5000},
	{"bytes", PARAM_NUMBER, offsetof(struct markdown_params, bytes), "900000",
		"at most so many: 60000 for a comment", 2000, MOST_BYTES},
	{"sides", PARAM_TEXT, offsetof(struct markdown_params, sides), NULL,
		"its files, as they would stand behind stoke diff", 0, 0},
	{"options", PARAM_TEXT, offsetof(struct markdown_params, options), NULL,
		"what else would stand there", 0, 0},
	{0},
};

/* A page in the writing, in memory, so that it can be cut. */
struct page {
	const struct stoke_comparison *comparison;
	const struct markdown_params *params;
	struct said_scale scale;
	FILE *out;
	int error; /* 0 or -ENOMEM: sticks, as the stream's do */
};

/* Text is a name or a sentence: nothing in it may become a link, a tag, a mention or a cell. */
static void put_text(FILE *out, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (strchr("\\`*_{}[]|~$", text[i]))
			fprintf(out, "\\%c", text[i]);
		else if (text[i] == '<')
			fputs("&lt;", out);
		else if (text[i] == '>')
			fputs("&gt;", out);
		else if (text[i] == '&')
			fputs("&amp;", out);
		else if (text[i] == '@' || text[i] == '#') /* mentions, issues */
			fprintf(out, "&#%d;", text[i]);
		else
			fputc(text[i] == '\n' || text[i] == '\r' ? ' ' : text[i], out);
	}
}

static void put_raw(struct page *page, const char *text)
{
	_cleanup_free_ char *printable = malloc(strlen(text) * 6 + 1);
	size_t n;

	if (!printable) {
		page->error = -ENOMEM;
		return;
	}
	n = text_printable(printable, strlen(text) * 6, text, strlen(text));
	printable[n == SIZE_MAX ? 0 : n] = '\0';
	put_text(page->out, printable);
}

/* In a code span bytes stand as they are; only backquotes would end it, and '|' a cell. */
static void put_code(FILE *out, const char *text)
{
	fputs("<code>", out);
	put_text(out, text);
	fputs("</code>", out);
}

static void put_number_cell(struct page *page, double value, const char *unit)
{
	char number[SAID_ROOM];

	fprintf(page->out, " %s %s |",
		said_number(number, value * page->scale.factor, page->scale.decimals), unit);
}

/* | name | total | before | after | change | interval | p | */
static int put_row(struct page *page, size_t hypothesis, int sign, const char *word)
{
	const struct stoke_comparison *comparison = page->comparison;
	const struct change *change = &comparison->evidence->changes[hypothesis];
	const struct said_scale *scale = &page->scale;
	_cleanup_free_ char *name = said_name(comparison, hypothesis, NAME_COLUMNS);
	char difference[SAID_ROOM], low[SAID_ROOM], high[SAID_ROOM], p[SAID_ROOM];

	if (!name)
		return -ENOMEM;
	fprintf(page->out, "| %s | ", word);
	put_code(page->out, name);
	fprintf(page->out, " | %s |", said_kind(&comparison->units->hypotheses[hypothesis]));
	put_number_cell(page, change->before, scale->unit);
	put_number_cell(page, change->after, scale->unit);
	fprintf(page->out, " **%s** %s | %s .. %s | %s |\n",
		said_change(difference, change->difference * scale->factor, scale->decimals),
		scale->points, said_change(low, change->low * scale->factor, scale->decimals),
		said_change(high, change->high * scale->factor, scale->decimals),
		said_has_no_test(comparison) ? "" : said_p(p, said_p_of(change, sign)));
	return 0;
}

static void put_header(struct page *page)
{
	fputs("| | function | | before | after | change | 95 % interval | p |\n"
	      "|---|---|---|--:|--:|--:|:-:|--:|\n",
		page->out);
}

static void put_sides(struct page *page)
{
	const struct side *sides = page->comparison->comparable->sides;

	fputs("\n| | | samples | JDK |\n|---|---|--:|---|\n", page->out);
	for (int i = 0; i < 2; i++) {
		char number[32];

		fprintf(page->out, "| %s | ", i ? "after" : "before");
		put_raw(page, sides[i].name);
		fprintf(page->out, " | %s | ", text_count(number, sides[i].samples));
		put_raw(page, sides[i].jvm ? sides[i].jvm : "");
		fputs(" |\n", page->out);
	}
	fprintf(page->out, "\n%zu run%s before, %zu after; %s.\n", said_runs(page->comparison, 0),
		said_s(said_runs(page->comparison, 0)), said_runs(page->comparison, 1),
		page->scale.of);
}

static void put_findings(struct page *page)
{
	const struct comparable *comparable = page->comparison->comparable;

	for (size_t i = 0; i < comparable->nr_findings; i++) {
		if (comparable->findings[i].weight < FINDING_WARNING)
			continue;
		fputs("- ", page->out);
		put_raw(page, comparable->findings[i].text);
		fputs("\n", page->out);
	}
}

static int put_direction(struct page *page, int sign)
{
	_cleanup_(said_changes_done) struct said_changes changes = {0};
	int r = said_changes(page->comparison, sign, &changes);

	if (r < 0)
		return r;
	if (!changes.nr_order) {
		fprintf(page->out, "\nNo evidence that anything %s.\n",
			sign > 0 ? "grew" : "shrank");
		return 0;
	}
	fprintf(page->out, "\n### %s\n\n", sign > 0 ? "Grew" : "Shrank");
	put_header(page);
	for (size_t i = 0; i < changes.nr_order && i < page->params->n; i++) {
		size_t hypothesis = changes.hypotheses[changes.order[i]];
		const struct owner *owner =
			sign > 0 ? said_owner(page->comparison, hypothesis) : NULL;
		uint32_t flags = page->comparison->evidence->changes[hypothesis].flags;

		if (put_row(page, hypothesis, sign,
			    flags & CHANGE_NEW			   ? "new"
			    : flags & CHANGE_GONE		   ? "gone"
			    : owner && owner->kind == CAUSE_MIX	   ? "different work"
			    : owner && owner->kind == CAUSE_SELF   ? "own code"
			    : owner && owner->kind == CAUSE_VOLUME ? "more of it"
								   : "") < 0)
			return -ENOMEM;
	}
	if (changes.nr_order > page->params->n)
		fprintf(page->out, "\n%zu more.\n", changes.nr_order - (size_t)page->params->n);
	return 0;
}

static int put_accept(struct page *page)
{
	const struct verdict *verdict = page->comparison->verdict;

	fputs("\nTo accept, put into `stoke.budget` in the same pull request:\n\n```\n", page->out);
	for (size_t i = 0; i < verdict->nr_failures && i < page->params->n; i++) {
		_cleanup_free_ char *line = said_allowance(page->comparison, &verdict->breaches[i]);

		if (!line)
			continue;
		/* A fence ends at three of them. */
		for (char *p = line; (p = strstr(p, "```")); p++)
			*p = '?';
		text_print(page->out, line, strlen(line));
		fputs("\n", page->out);
	}
	fputs("```\n", page->out);
	return 0;
}

static int put_failures(struct page *page)
{
	const struct verdict *verdict = page->comparison->verdict;
	int has_growth = 0;

	fprintf(page->out, "\n### %zu regression%s\n\n", verdict->nr_failures,
		said_s(verdict->nr_failures));
	for (size_t i = 0; i < verdict->nr_failures; i++)
		has_growth |= isnan(verdict->breaches[i].value);
	if (has_growth)
		put_header(page);
	for (size_t i = 0; i < verdict->nr_failures && i < page->params->n; i++) {
		if (isnan(verdict->breaches[i].value) &&
			put_row(page, verdict->breaches[i].hypothesis, 1, "regression") < 0)
			return -ENOMEM;
	}
	fputs("\n", page->out);
	for (size_t i = 0; i < verdict->nr_failures && i < page->params->n; i++) {
		const struct breach *breach = &verdict->breaches[i];
		_cleanup_free_ char *text = said_breach(page->comparison, breach, 0);
		_cleanup_free_ char *path = said_path(
			page->comparison, said_node(page->comparison, breach->hypothesis, 1), 8);
		char points[2 * SAID_ROOM];

		if (!text || !path)
			return -ENOMEM;
		fputs("- ", page->out);
		put_text(page->out, text);
		fputs("; rule ", page->out);
		put_raw(page, breach->rule->text);
		put_text(page->out, said_points(points, page->comparison, breach->rule));
		fputs("; in ", page->out);
		put_code(page->out, path);
		fputs("\n", page->out);
	}
	if (page->params->sides) {
		fputs("\nLook: ", page->out);
		put_raw(page, "stoke diff ");
		put_raw(page, page->params->sides);
		fputs(said_exposure(page->comparison), page->out);
		if (page->params->options && *page->params->options) {
			fputs(" ", page->out);
			put_raw(page, page->params->options);
		}
		fputs(" -o diff.svg\n", page->out);
	}
	return has_growth ? put_accept(page) : 0;
}

static int put_verdict(struct page *page)
{
	const struct verdict *verdict = page->comparison->verdict;
	int r = 0;

	fprintf(page->out, "## stoke check: %s\n%s",
		verdict->word == VERDICT_CANNOT_TELL  ? "cannot tell"
		: verdict->word == VERDICT_REGRESSION ? "regression"
						      : "pass",
		verdict->nr_reasons ? "\n" : "");
	for (size_t i = 0; i < verdict->nr_reasons; i++) {
		fputs("- ", page->out);
		put_raw(page, verdict->reasons[i].why);
		fputs(verdict->reasons[i].cure ? ". **Cure:** " : "", page->out);
		put_raw(page, verdict->reasons[i].cure ? verdict->reasons[i].cure : "");
		fputs("\n", page->out);
	}
	if (verdict->word == VERDICT_REGRESSION)
		r = put_failures(page);
	for (size_t i = 0; r >= 0 && i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];
		_cleanup_free_ char *text = NULL;

		if (breach->outcome != OUTCOME_WARN && breach->outcome != OUTCOME_ALLOWED)
			continue;
		text = said_breach(page->comparison, breach, 0);
		if (!text)
			return -ENOMEM;
		fprintf(page->out,
			"- %s: ", breach->outcome == OUTCOME_WARN ? "near its ceiling" : "allowed");
		put_text(page->out, text);
		fputs("\n", page->out);
	}
	for (size_t i = 0; r >= 0 && i < verdict->nr_unmet; i++) {
		fputs("- matches nothing here: ", page->out);
		put_raw(page, verdict->unmet[i]->text);
		fputs("\n", page->out);
	}
	if (r >= 0)
		fprintf(page->out, "\n%zu rule%s, %zu function%s.\n", verdict->nr_rules,
			said_s(verdict->nr_rules), verdict->nr_functions,
			said_s(verdict->nr_functions));
	return r;
}

static int put_page(struct page *page)
{
	int r = 0;

	if (page->comparison->verdict)
		r = put_verdict(page);
	else
		fputs("## stoke diff\n", page->out);
	if (r < 0)
		return r;
	put_sides(page);
	put_findings(page);
	if (page->comparison->verdict)
		return 0;
	r = put_direction(page, 1);
	return r < 0 ? r : put_direction(page, -1);
}

static int has_open_fence(const char *text)
{
	int open = 0;

	for (; (text = strstr(text, "\n```")); text += 4)
		open = !open;
	return open;
}

static int markdown_comparison(
	const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	struct page page = {.comparison = comparison, .params = params};
	char *text = NULL;
	size_t size = 0, most = (size_t)page.params->bytes;
	int r;

	page.out = open_memstream(&text, &size);
	if (!page.out)
		return -ENOMEM;
	said_scale(comparison, &page.scale);
	r = put_page(&page);
	if ((fclose(page.out) == EOF || page.error) && r >= 0)
		r = -ENOMEM;
	if (r >= 0 && size > most) {
		/* At the end of a line, or half of a tag would stand there. */
		while (most > 0 && text[most - 1] != '\n')
			most--;
		(void)fwrite(text, 1, most, out); /* the stream keeps its error */
		text[most] = '\0';
		if (has_open_fence(text))
			fputs("```\n", out);
		fputs("\n(cut here: the host takes no more)\n", out);
	} else if (r >= 0) {
		(void)fwrite(text, 1, size, out); /* as above */
	}
	free(text);
	return r;
}

const struct report report_markdown = {
	.name = "md",
	.summary = "a comparison in Markdown, for a job's summary or a comment",
	.suffixes = ".md",
	.params = markdown_params,
	.params_size = sizeof(struct markdown_params),
	.comparison = markdown_comparison,
};
