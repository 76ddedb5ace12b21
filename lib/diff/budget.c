/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.c: the words of a budget: what each line may say, and what it asks to be counted. */
#include "diff/budget.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "diff/judge.h"
#include "diff/words.h"

#define MAX_BUDGET_BYTES (1 << 20)
#define MOST_GROWTH	 1e7 /* of all samples before: a program may get slower many times over */
#define MAX_RULES	 4096

/* A group, until the file has been read. */
struct group {
	char *name, *glob;
};

/* A file in reading, and the line it is at. */
struct reading {
	struct stoke_budget *budget;
	const char *name;
	unsigned line;
	char *words[WORDS_MAX]; /* unquoted */
	size_t nr, at; /* words, and the next one */
	unsigned said; /* bits of enum once */
	struct group *groups;
	size_t nr_groups, groups_capacity;
	size_t rules_capacity;
	const struct rule_word *row;
	struct stoke_error *err;
};

enum once { SAID_VERSION = 1, SAID_ALPHA = 2, SAID_REPEATS = 4, SAID_EXPOSURE = 8 };

/* What is wrong with a line, and how it is written. -EINVAL. */
static int __attribute__((format(printf, 2, 3)))
wrong(const struct reading *reading, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long */
	va_end(args);
	return fail(reading->err, -EINVAL, "%s:%u: %s", reading->name, reading->line, text);
}

static void cleanup_budget(struct stoke_budget **budget)
{
	stoke_budget_free(*budget);
}

static int no_memory(struct reading *reading)
{
	return fail(reading->err, -ENOMEM, "out of memory");
}

/* The next word, NULL behind the last. */
static const char *next_word(struct reading *reading)
{
	return reading->at < reading->nr ? reading->words[reading->at++] : NULL;
}

/* 1 and one further when the next word is this one. */
static int take(struct reading *reading, const char *word)
{
	if (reading->at >= reading->nr || strcmp(reading->words[reading->at], word) != 0)
		return 0;
	reading->at++;
	return 1;
}

static int once(struct reading *reading, enum once what, const char *word)
{
	if (reading->said & what)
		return wrong(reading, "%s was said before; once is enough", word);
	reading->said |= what;
	return 0;
}

static double percent(const char *word)
{
	return words_amount(word, "%") / 100;
}

static int parse_version(struct reading *reading)
{
	const char *word = next_word(reading);

	if (!word || strcmp(word, "1") != 0)
		return wrong(reading, "version %s is unknown; this stoke reads version 1",
			word ? word : "");
	return once(reading, SAID_VERSION, "version");
}

static int parse_alpha(struct reading *reading)
{
	const char *word = next_word(reading);
	double alpha = word ? words_amount(word, "") : NAN;

	if (word && isnan(alpha))
		alpha = percent(word);
	if (!(alpha >= 0.0001 && alpha <= 0.5))
		return wrong(reading,
			"alpha %s: it is the chance of a false alarm, 0.0001 to 0.5; 0.05 is usual",
			word ? word : "");
	reading->budget->alpha = alpha;
	return once(reading, SAID_ALPHA, "alpha");
}

static int parse_repeats(struct reading *reading)
{
	const char *word = next_word(reading);
	double repeats = word ? words_amount(word, "") : NAN;

	if (!(repeats >= 2 && repeats <= 1000) || repeats != floor(repeats))
		return wrong(reading, "repeats %s: a whole number from 2 to 1000 is wanted",
			word ? word : "");
	reading->budget->repeats = (unsigned)repeats;
	return once(reading, SAID_REPEATS, "repeats");
}

static int parse_exposure(struct reading *reading)
{
	static const struct {
		const char *word;
		enum stoke_exposure exposure;
	} words[] = {
		{"share", STOKE_EXPOSURE_SHARE},
		{"work", STOKE_EXPOSURE_WORK},
		{"time", STOKE_EXPOSURE_TIME},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (take(reading, words[i].word)) {
			reading->budget->exposure = words[i].exposure;
			return once(reading, SAID_EXPOSURE, "exposure");
		}
	}
	return wrong(reading, "exposure is one of share, work, time");
}

static int check_glob(struct reading *reading, const char *glob)
{
	const char *complaint = budget_glob_complaint(glob);

	return complaint ? wrong(reading, "%.100s: %s", glob, complaint) : 0;
}

static int parse_group(struct reading *reading)
{
	const char *name = next_word(reading);
	struct group *group;

	if (!name || !take(reading, "=") || reading->at >= reading->nr)
		return wrong(reading, "a group is written: group NAME = \"GLOB|GLOB\"");
	for (size_t i = 0; i < reading->nr_groups; i++) {
		if (strcmp(reading->groups[i].name, name) == 0)
			return wrong(
				reading, "group %s is there already; one name, one group", name);
	}
	if (array_reserve(&reading->groups, &reading->groups_capacity, reading->nr_groups, 1) < 0)
		return no_memory(reading);
	group = &reading->groups[reading->nr_groups++];
	*group = (struct group){strdup(name), strdup(next_word(reading))};
	return group->name && group->glob ? check_glob(reading, group->glob) : no_memory(reading);
}

/* A new rule, its words without the reason as its text. */
static int add_rule(struct reading *reading, enum rule_kind kind, struct rule **ret)
{
	struct stoke_budget *budget = reading->budget;
	struct rule *rule;

	if (budget->nr_rules >= MAX_RULES)
		return wrong(
			reading, "more than %d rules; globs take many names at once", MAX_RULES);
	if (array_reserve(&budget->rules, &reading->rules_capacity, budget->nr_rules, 1) < 0)
		return no_memory(reading);
	rule = &budget->rules[budget->nr_rules++];
	*rule = (struct rule){
		.kind = kind,
		.word = reading->row,
		.line = reading->line,
		.which = HYPOTHESIS_TOTAL,
		.growth = NAN,
		.ratio = NAN,
		.max_share = NAN,
		.max_cores = NAN,
	};
	*ret = rule;
	return 0;
}

static char *join(char *const *words, size_t nr)
{
	size_t size = 1, at = 0;
	char *text;

	for (size_t i = 0; i < nr; i++)
		size += strlen(words[i]) + 1;
	text = malloc(size);
	for (size_t i = 0; text && i < nr; i++) {
		size_t n = strlen(words[i]);

		if (i)
			text[at++] = ' ';
		memcpy(text + at, words[i], n);
		at += n;
	}
	if (text)
		text[at] = '\0';
	return text;
}

/* The rule's words up to here become its text. */
static int set_text(struct reading *reading, struct rule *rule)
{
	rule->text = join(reading->words, reading->at);
	return rule->text ? 0 : no_memory(reading);
}

/* GLOB or @GROUP, and "in GLOB" where may_be_within. */
static int parse_glob(struct reading *reading, struct rule *rule, int may_be_within)
{
	size_t first = reading->at;
	const char *word = next_word(reading), *glob = word;

	if (!word)
		return wrong(reading, "the name of a function is missing; globs match many");
	if (*word == '@') {
		glob = NULL;
		for (size_t i = 0; i < reading->nr_groups; i++) {
			if (strcmp(reading->groups[i].name, word + 1) == 0)
				glob = reading->groups[i].glob;
		}
		if (!glob)
			return wrong(reading,
				"no group is called %s; a line above: group %s = \"GLOB|GLOB\"",
				word + 1, word + 1);
	}
	rule->glob = strdup(glob);
	if (check_glob(reading, glob) < 0)
		return -EINVAL;
	if (may_be_within && take(reading, "in")) {
		word = next_word(reading);
		if (!word)
			return wrong(reading, "in: the glob of a function or a thread is missing");
		rule->within = strdup(word);
		if (!rule->within || check_glob(reading, word) < 0)
			return rule->within ? -EINVAL : no_memory(reading);
	}
	rule->name = join(reading->words + first, reading->at - first);
	return rule->glob && rule->name ? 0 : no_memory(reading);
}

/* "total" or "self". */
static int parse_which(struct reading *reading, struct rule *rule)
{
	if (take(reading, "total"))
		rule->which = HYPOTHESIS_TOTAL;
	else if (take(reading, "self"))
		rule->which = HYPOTHESIS_SELF;
	else
		return wrong(reading, "%s where total or self is wanted",
			reading->at < reading->nr ? reading->words[reading->at] : "nothing");
	return 0;
}

/* "+0.5pp", then "5%" if it is there. */
static int parse_growth(struct reading *reading, struct rule *rule)
{
	const char *word = next_word(reading);

	rule->growth = word && *word == '+' ? words_amount(word + 1, "pp") / 100 : NAN;
	if (isnan(rule->growth) || rule->growth > MOST_GROWTH)
		return wrong(reading,
			"%s is no growth; points of all samples are written +0.5pp; +0pp 5%% "
			"is 5 %% of what it was",
			word ? word : "nothing");
	if (reading->at < reading->nr && !isnan(percent(reading->words[reading->at])))
		rule->ratio = percent(next_word(reading));
	return 0;
}

static int parse_default(struct reading *reading)
{
	struct rule *rule = NULL;
	int r = add_rule(reading, RULE_DEFAULT, &rule);

	if (r >= 0)
		r = parse_which(reading, rule);
	for (size_t i = 0; r >= 0 && i + 1 < reading->budget->nr_rules; i++) {
		const struct rule *other = &reading->budget->rules[i];

		if (other->kind == RULE_DEFAULT && other->which == rule->which)
			return wrong(reading, "default %s is in line %u already", reading->words[1],
				other->line);
	}
	if (r >= 0)
		r = parse_growth(reading, rule);
	if (r >= 0 && isnan(rule->ratio))
		rule->ratio = 0;
	return r < 0 ? r : set_text(reading, rule);
}

static int parse_max(struct reading *reading, struct rule *rule)
{
	const char *word = next_word(reading);

	rule->max_share = word ? percent(word) : NAN;
	rule->max_cores = word ? words_amount(word, "cores") : NAN;
	if (isnan(rule->max_share) && isnan(rule->max_cores))
		return wrong(reading, "max %s: a ceiling is written 10%% or 0.05cores",
			word ? word : "");
	return 0;
}

static int parse_frame(struct reading *reading)
{
	struct rule *rule = NULL;
	int r = add_rule(reading, RULE_FRAME, &rule);

	if (r >= 0)
		r = parse_glob(reading, rule, 1);
	if (r < 0)
		return r;
	if (take(reading, "max")) {
		rule->kind = RULE_MAX;
		r = parse_max(reading, rule);
	} else {
		r = parse_which(reading, rule);
		if (r >= 0)
			r = parse_growth(reading, rule);
	}
	return r < 0 ? r : set_text(reading, rule);
}

/* "+5%" of all samples. */
static int parse_whole_growth(struct reading *reading, struct rule *rule)
{
	const char *word = next_word(reading);

	rule->ratio = word && *word == '+' ? percent(word + 1) : NAN;
	if (isnan(rule->ratio))
		return wrong(reading, "total-cpu %s: it is written +5%% or max 2.5cores",
			word ? word : "");
	return 0;
}

static int parse_total_cpu(struct reading *reading)
{
	struct rule *rule = NULL;
	int r = add_rule(reading, RULE_TOTAL_CPU, &rule);
	const char *word;

	if (r < 0)
		return r;
	if (take(reading, "max")) {
		rule->kind = RULE_TOTAL_MAX;
		word = next_word(reading);
		rule->max_cores = word ? words_amount(word, "cores") : NAN;
		if (isnan(rule->max_cores))
			return wrong(reading, "total-cpu max %s: a ceiling is written 2.5cores",
				word ? word : "");
		return set_text(reading, rule);
	}
	r = parse_whole_growth(reading, rule);
	return r < 0 ? r : set_text(reading, rule);
}

/* "GLOB total +2pp", or "total-cpu +5%": of all samples. */
static int parse_allowed(struct reading *reading, struct rule *rule)
{
	const char *growth = reading->at + 1 < reading->nr ? reading->words[reading->at + 1] : "";
	int r;

	if (*growth == '+' && take(reading, "total-cpu"))
		return parse_whole_growth(reading, rule);
	r = parse_glob(reading, rule, 1);
	if (r >= 0)
		r = parse_which(reading, rule);
	return r < 0 ? r : parse_growth(reading, rule);
}

static int parse_allow(struct reading *reading)
{
	struct rule *rule = NULL;
	const char *word;
	int r = add_rule(reading, RULE_ALLOW, &rule);

	if (r >= 0)
		r = parse_allowed(reading, rule);
	if (r < 0)
		return r;
	word = take(reading, "until") ? next_word(reading) : NULL;
	if (!word || !words_is_date(word))
		return wrong(reading, "an allowance ends some day: until YYYY-MM-DD%s%s",
			word ? ", not " : "", word ? word : "");
	memcpy(rule->until, word, sizeof(rule->until));
	r = set_text(reading, rule);
	if (r < 0)
		return r;
	word = take(reading, "reason") ? next_word(reading) : NULL;
	if (!word || !*word)
		return wrong(reading, "an allowance has a reason \"...\", for whoever comes next");
	rule->reason = strdup(word);
	return rule->reason ? 0 : no_memory(reading);
}

static int parse_ignore(struct reading *reading)
{
	struct rule *rule = NULL;
	int r = add_rule(reading, RULE_IGNORE, &rule);

	if (r >= 0)
		r = parse_glob(reading, rule, 0);
	return r < 0 ? r : set_text(reading, rule);
}

static const struct rule_word rules[] = {
	{"version", parse_version, NULL},
	{"alpha", parse_alpha, NULL},
	{"repeats", parse_repeats, NULL},
	{"exposure", parse_exposure, NULL},
	{"group", parse_group, NULL},
	{"default", parse_default, judge_growth},
	{"frame", parse_frame, judge_frame},
	{"total-cpu", parse_total_cpu, judge_total_cpu},
	{"allow", parse_allow, judge_allowance},
	{"ignore", parse_ignore, NULL},
};

/* Words that begin a line, for who mistyped one. */
static int unknown_word(const struct reading *reading)
{
	char known[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules) && used < sizeof(known); i++)
		used += (size_t)snprintf(
			known + used, sizeof(known) - used, "%s%s", i ? ", " : "", rules[i].word);
	return wrong(reading, "unknown word %s; a line begins with %s", reading->words[0], known);
}

static int parse_line(struct reading *reading, struct scan line)
{
	const char *complaint = NULL;
	int r = words_split(line, reading->words, &reading->nr, &complaint);

	if (r == -EINVAL)
		return wrong(reading, "%s", complaint);
	if (r < 0)
		return no_memory(reading);
	if (!reading->nr)
		return 0;
	reading->at = 1;
	reading->row = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strcmp(rules[i].word, reading->words[0]) == 0)
			reading->row = &rules[i];
	}
	if (!reading->row)
		return unknown_word(reading);
	r = reading->row->parse(reading);
	if (r >= 0 && reading->at < reading->nr)
		return wrong(reading, "%s is too much: the rule was complete before it",
			reading->words[reading->at]);
	return r;
}

static int parse_lines(struct reading *reading, struct scan scan)
{
	struct scan line;
	int r = 0;

	while (r >= 0 && scan_left(&scan) > 0) {
		if (!scan_line(&scan, &line)) {
			line = scan;
			scan.at = scan.end;
		}
		reading->line++;
		r = parse_line(reading, line);
		words_done(reading->words, &reading->nr);
	}
	return r;
}

static const struct rule *find_default(const struct reading *reading, enum hypothesis_kind which)
{
	for (size_t i = 0; i < reading->budget->nr_rules; i++) {
		const struct rule *rule = &reading->budget->rules[i];

		if (rule->kind == RULE_DEFAULT && rule->which == which)
			return rule;
	}
	return NULL;
}

/* The default that a file leaves open is as the other one, or as built in. */
static int add_default(struct reading *reading, enum hypothesis_kind which)
{
	const struct rule *other = find_default(
		reading, which == HYPOTHESIS_TOTAL ? HYPOTHESIS_SELF : HYPOTHESIS_TOTAL);
	double growth = other ? other->growth : BUDGET_GROWTH;
	double ratio = other ? other->ratio : BUDGET_RATIO;
	struct rule *rule = NULL;
	char text[96];
	int r;

	if (find_default(reading, which))
		return 0;
	for (reading->row = rules; reading->row->parse != parse_default; reading->row++)
		;
	reading->line = 0;
	r = add_rule(reading, RULE_DEFAULT, &rule);
	if (r < 0)
		return r;
	rule->which = which;
	rule->growth = growth;
	rule->ratio = ratio;
	(void)snprintf(text, sizeof(text), "default %s +%.10gpp %.10g%%",
		which == HYPOTHESIS_TOTAL ? "total" : "self", growth * 100, ratio * 100);
	rule->text = strdup(text);
	return rule->text ? 0 : no_memory(reading);
}

static void reading_done(struct reading *reading)
{
	words_done(reading->words, &reading->nr);
	for (size_t i = 0; i < reading->nr_groups; i++) {
		free(reading->groups[i].name);
		free(reading->groups[i].glob);
	}
	free(reading->groups);
}

int stoke_budget_parse(const char *text, size_t size, const char *name, struct stoke_budget **ret,
	struct stoke_error *err)
{
	_cleanup_(cleanup_budget) struct stoke_budget *budget = calloc(1, sizeof(*budget));
	_cleanup_(reading_done) struct reading reading = {
		.budget = budget, .name = name ? name : "budget", .err = err};
	struct scan scan = scan_of(text ? text : "", text ? size : 0);
	int r;

	if (!budget || (name && !(budget->name = strdup(name))))
		return fail(err, -ENOMEM, "out of memory");
	if (size > MAX_BUDGET_BYTES)
		return fail(err, -EINVAL, "%s: a budget of %zu bytes is none; %d are the most",
			reading.name, size, MAX_BUDGET_BYTES);
	budget->alpha = BUDGET_ALPHA;
	budget->repeats = BUDGET_REPEATS;
	if (scan_left(&scan) >= 3 && !memcmp(scan.at, "\xef\xbb\xbf", 3))
		scan.at += 3; /* some editors begin UTF-8 so */
	r = parse_lines(&reading, scan);
	if (r >= 0)
		r = add_default(&reading, HYPOTHESIS_TOTAL);
	if (r >= 0)
		r = add_default(&reading, HYPOTHESIS_SELF);
	if (r < 0)
		return r;
	r = budget_prepare(budget);
	if (r < 0)
		return fail(err, r, "out of memory");
	*ret = take_pointer(budget);
	return 0;
}

void stoke_budget_free(struct stoke_budget *budget)
{
	if (!budget)
		return;
	for (size_t i = 0; i < budget->nr_rules; i++) {
		struct rule *rule = &budget->rules[i];

		free(rule->text);
		free(rule->name);
		free(rule->glob);
		free(rule->within);
		free(rule->reason);
	}
	free(budget->rules);
	free(budget->limits);
	free(budget->sums);
	free(budget->conditions);
	free(budget->name);
	free(budget);
}
