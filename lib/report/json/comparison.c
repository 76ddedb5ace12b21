/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * comparison.c: a comparison for programs, "stoke-diff-1", docs/json.md: counts of every unit, what
 * they were divided by, the seed, the limits, so that every number can be computed anew from it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "diff/judge.h"
#include "report/json/writer.h"
#include "report/said.h"

static json_t *word(const char *text)
{
	return json_string_nocheck(text);
}

static const char *exposure_word(enum stoke_exposure exposure)
{
	static const char *const words[] = {
		[STOKE_EXPOSURE_AUTO] = "auto",
		[STOKE_EXPOSURE_SHARE] = "share",
		[STOKE_EXPOSURE_WORK] = "work",
		[STOKE_EXPOSURE_TIME] = "time",
	};

	return words[exposure];
}

static void put_options(struct writer *writer, const struct stoke_comparison *comparison)
{
	static const char *const levels[] = {
		[STOKE_NAMES_AUTO] = "auto",
		[STOKE_NAMES_NONE] = "none",
		[STOKE_NAMES_BUILD] = "build",
		[STOKE_NAMES_JDK] = "jdk",
	};
	const struct stoke_compare_options *options = &comparison->options;
	json_t *object = json_object();

	writer_set(writer, object, "names", word(levels[comparison->level]));
	writer_set(writer, object, "names_chosen", json_boolean(comparison->level_chosen));
	writer_set(writer, object, "exposure", word(exposure_word(comparison->units->exposure)));
	writer_set(writer, object, "paired", json_boolean(options->flags & STOKE_PAIRED));
	writer_set(writer, object, "fold", json_boolean(!(options->flags & STOKE_NO_FOLD)));
	writer_set(writer, object, "today", writer_text_or_null(options->today));
	writer_put_member(writer, "options", object);
}

static json_t *side_object(struct writer *writer, const struct side *side)
{
	json_t *object = json_object();

	writer_set(writer, object, "name", writer_text_or_null(side->name));
	writer_set(writer, object, "runs", writer_number(side->nr_runs));
	writer_set(writer, object, "samples", writer_number(side->samples));
	writer_set(writer, object, "duration_ns", writer_number(side->duration_ns));
	writer_set(writer, object, "cores", writer_double(side->cores));
	writer_set(writer, object, "frequency_hz", writer_double(side->frequency_hz));
	writer_set(writer, object, "work", writer_double(side->work));
	writer_set(writer, object, "event", writer_text_or_null(side->event));
	writer_set(writer, object, "jvm", writer_text_or_null(side->jvm));
	writer_set(writer, object, "unnamed", writer_double(side->unnamed));
	writer_set(writer, object, "truncated", writer_double(side->truncated));
	writer_set(writer, object, "broken", writer_double(side->broken));
	writer_set(writer, object, "lost", writer_double(side->lost));
	writer_set(writer, object, "jit", writer_double(side->jit));
	writer_set(writer, object, "gc", writer_double(side->gc));
	return object;
}

static void put_sides(struct writer *writer, const struct comparable *comparable)
{
	static const char *const weights[] = {
		[FINDING_SAME] = "same",
		[FINDING_NOTE] = "note",
		[FINDING_WARNING] = "warning",
		[FINDING_REFUSAL] = "refusal",
	};
	json_t *object = json_object();

	writer_set(writer, object, "before", side_object(writer, &comparable->sides[0]));
	writer_set(writer, object, "after", side_object(writer, &comparable->sides[1]));
	writer_put_member(writer, "sides", object);
	writer_begin_list(writer, "findings");
	for (size_t i = 0; i < comparable->nr_findings; i++) {
		const struct comparable_finding *finding = &comparable->findings[i];

		object = json_object();
		writer_set(writer, object, "weight", word(weights[finding->weight]));
		writer_set(writer, object, "key", word(finding->key));
		writer_set(writer, object, "text", writer_text_or_null(finding->text));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static void put_runs(struct writer *writer, const struct stoke_comparison *comparison)
{
	const struct stoke_profile *profile = comparison->profile;

	writer_begin_list(writer, "runs");
	for (size_t i = 0; i < profile->nr_runs; i++) {
		const struct run *run = &profile->runs[i];
		json_t *object = json_object();

		writer_set(writer, object, "side",
			word(i < comparison->nr_before ? "before" : "after"));
		writer_set(writer, object, "name", writer_string_of(profile, run->name));
		writer_set(writer, object, "event", writer_string_of(profile, run->event));
		writer_set(writer, object, "start_ns", writer_number(run->start_ns));
		writer_set(writer, object, "duration_ns", writer_number(run->duration_ns));
		writer_set(writer, object, "period", writer_number(run->period));
		writer_set(writer, object, "facts", writer_facts(writer, run));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static void put_units(struct writer *writer, const struct units *units)
{
	json_t *object = json_object(), *list = json_array(), *conditions = json_array();

	writer_set(writer, object, "nr", writer_number(units->nr));
	writer_set(writer, object, "nr_before", writer_number(units->nr_before));
	writer_set(writer, object, "blocks", json_boolean(units->blocks));
	for (unsigned unit = 0; unit < units->nr; unit++)
		writer_append(writer, list, writer_number(units->samples[unit]));
	writer_set(writer, object, "samples", list);
	for (size_t c = 0; c < units->nr_exposures; c++) {
		list = json_array();
		for (unsigned unit = 0; unit < units->nr; unit++)
			writer_append(writer, list,
				writer_double(units->exposures[c * units->nr + unit]));
		writer_append(writer, conditions, list);
	}
	writer_set(writer, object, "exposures", conditions);
	writer_put_member(writer, "units", object);
}

static void put_evidence(struct writer *writer, const struct stoke_comparison *comparison)
{
	const struct evidence *evidence = comparison->evidence;
	const struct power *power = &comparison->power;
	json_t *object = json_object();

	writer_set(writer, object, "alpha", writer_double(evidence->alpha));
	writer_set(writer, object, "tested", writer_number(evidence->nr_tested));
	writer_set(writer, object, "relabellings", writer_number(evidence->relabellings));
	writer_set(writer, object, "seed", writer_number(evidence->seed));
	writer_set(writer, object, "too_few", json_boolean(comparison->too_few));
	writer_set(writer, object, "dilution_grew", writer_double(evidence->dilution_grew));
	writer_set(writer, object, "dilution_shrank", writer_double(evidence->dilution_shrank));
	writer_set(writer, object, "correlation",
		json_pack("[o,o]", writer_double(evidence->correlation[0]),
			writer_double(evidence->correlation[1])));
	writer_set(writer, object, "variation",
		json_pack("[o,o]", writer_double(evidence->variation[0]),
			writer_double(evidence->variation[1])));
	writer_set(writer, object, "noise_ratio", writer_double(evidence->noise_ratio));
	writer_set(writer, object, "difference", writer_double(evidence->difference));
	writer_put_member(writer, "evidence", object);
	object = json_object();
	writer_set(writer, object, "share", writer_double(power->share));
	writer_set(writer, object, "detectable", writer_double(power->detectable));
	writer_set(writer, object, "run_deviation", writer_double(power->run_deviation));
	writer_set(writer, object, "repeats", writer_number(power->repeats));
	writer_put_member(writer, "power", object);
}

/* Bits as words. */
static json_t *flag_list(struct writer *writer, uint32_t flags)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = {
		{CHANGE_TESTED, "tested"},
		{CHANGE_GREW, "grew"},
		{CHANGE_SHRANK, "shrank"},
		{CHANGE_NEW, "new"},
		{CHANGE_GONE, "gone"},
	};
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (flags & words[i].bit)
			writer_append(writer, list, word(words[i].word));
	}
	return list;
}

static void set_change(struct writer *writer, json_t *object, const struct change *change)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{"before", change->before},
		{"after", change->after},
		{"difference", change->difference},
		{"grown", change->grown},
		{"shrunk", change->shrunk},
		{"low", change->low},
		{"high", change->high},
		{"error", change->error},
		{"freedom", change->freedom},
		{"t_grew", change->t_grew},
		{"t_shrank", change->t_shrank},
		{"p_grew", change->p_grew},
		{"p_shrank", change->p_shrank},
		{"q", change->q},
		{"cost_ratio", change->cost_ratio},
		{"variance_before", change->variance_before},
		{"variance_after", change->variance_after},
		{"floor", change->floor},
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		writer_set(writer, object, numbers[i].name, writer_double(numbers[i].value));
	writer_set(writer, object, "flags", flag_list(writer, change->flags));
}

static json_t *hypothesis_name(const struct stoke_comparison *comparison, size_t i)
{
	_cleanup_free_ char *name = said_plain_name(comparison, i, SIZE_MAX);

	return name ? writer_text(name, strlen(name)) : NULL;
}

static void put_hypotheses(struct writer *writer, const struct stoke_comparison *comparison)
{
	static const char *const kinds[] = {[HYPOTHESIS_SELF] = "self",
		[HYPOTHESIS_TOTAL] = "total",
		[HYPOTHESIS_GROUP] = "group"};
	static const char *const classes[] = {
		[TREE_USER] = "user", [TREE_KERNEL] = "kernel", [TREE_MARK] = "mark"};
	const struct units *units = comparison->units;

	writer_begin_list(writer, "hypotheses");
	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		const struct hypothesis *h = &units->hypotheses[i];
		json_t *object = json_object(), *counts = json_array();

		writer_set(writer, object, "name", hypothesis_name(comparison, i));
		writer_set(writer, object, "kind", word(kinds[h->kind]));
		writer_set(writer, object, "class", word(classes[h->class]));
		writer_set(writer, object, "sum", writer_number(h->sum));
		writer_set(writer, object, "condition", writer_number(h->condition));
		writer_set(writer, object, "least", writer_double(h->least));
		writer_set(writer, object, "least_ratio", writer_double(h->least_ratio));
		for (unsigned unit = 0; unit < units->nr; unit++)
			writer_append(
				writer, counts, writer_double(units->counts[i * units->nr + unit]));
		writer_set(writer, object, "counts", counts);
		if (comparison->evidence)
			set_change(writer, object, &comparison->evidence->changes[i]);
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static json_t *tree_name_text(const struct tree *tree, uint32_t name)
{
	size_t size;
	const char *text = tree_text(tree, name, &size);

	return writer_text(text, size);
}

/* Names from the root down. */
static json_t *path_list(struct writer *writer, const struct tree *tree, uint32_t node)
{
	json_t *list = json_array();

	for (;; node = tree->parent[node]) {
		if (json_array_insert_new(list, 0, tree_name_text(tree, tree->name[node])) < 0)
			writer->error = -ENOMEM;
		if (!node)
			return list;
	}
}

static void put_owners(struct writer *writer, const struct tree *tree, const struct cause *cause)
{
	static const char *const kinds[] = {
		[CAUSE_NEW] = "new",
		[CAUSE_SELF] = "self",
		[CAUSE_VOLUME] = "volume",
		[CAUSE_MIX] = "mix",
	};

	writer_begin_list(writer, "owners");
	for (size_t i = 0; i < cause->nr_owners; i++) {
		const struct owner *owner = &cause->owners[i];
		json_t *object = json_object(), *parts = json_array();

		writer_set(writer, object, "path", path_list(writer, tree, owner->node));
		writer_set(writer, object, "kind", word(kinds[owner->kind]));
		writer_set(writer, object, "before", writer_double(owner->before));
		writer_set(writer, object, "after", writer_double(owner->after));
		writer_set(writer, object, "growth", writer_double(owner->growth));
		writer_set(writer, object, "crossroads", json_boolean(owner->crossroads));
		writer_set(writer, object, "variation", writer_double(owner->variation));
		writer_set(writer, object, "cost_ratio", writer_double(owner->cost_ratio));
		for (size_t p = 0; p < owner->nr_parts; p++) {
			const struct part *part = &owner->parts[p];
			json_t *element = json_array();

			writer_append(writer, element,
				part->name == CAUSE_OWN ? json_null()
							: tree_name_text(tree, part->name));
			writer_append(writer, element, writer_double(part->before));
			writer_append(writer, element, writer_double(part->after));
			writer_append(writer, parts, element);
		}
		writer_set(writer, object, "parts", parts);
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static void put_causes(struct writer *writer, const struct stoke_comparison *comparison)
{
	static const char *const kinds[] = {
		[MOVED_INLINED] = "inlined",
		[MOVED_OUTLINED] = "outlined",
		[MOVED_RENAMED] = "renamed",
		[MOVED_INSERTED] = "inserted",
	};
	const struct tree *tree = comparison->aligned->tree;
	const struct cause *cause = comparison->cause;

	put_owners(writer, tree, cause);
	writer_begin_list(writer, "sites");
	for (size_t i = 0; i < cause->nr_sites; i++) {
		json_t *object = json_object();

		writer_set(writer, object, "path", path_list(writer, tree, cause->sites[i].node));
		writer_set(writer, object, "growth", writer_double(cause->sites[i].growth));
		writer_set(writer, object, "self", writer_double(cause->sites[i].self));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
	writer_begin_list(writer, "moved");
	for (size_t i = 0; i < cause->nr_moved; i++) {
		const struct moved *moved = &cause->moved[i];
		json_t *object = json_object();

		writer_set(writer, object, "kind", word(kinds[moved->kind]));
		writer_set(writer, object, "path", path_list(writer, tree, moved->node));
		if (moved->kind != MOVED_INSERTED)
			writer_set(writer, object, "from", path_list(writer, tree, moved->from));
		writer_set(writer, object, "size", writer_double(moved->size));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
	writer_put_member(writer, "difference", writer_double(cause->difference));
}

static int is_met(const struct verdict *verdict, const struct rule *rule)
{
	for (size_t i = 0; i < verdict->nr_unmet; i++) {
		if (verdict->unmet[i] == rule)
			return 0;
	}
	return 1;
}

static void put_budget(struct writer *writer, const struct stoke_comparison *comparison)
{
	const struct stoke_budget *budget = comparison->budget;
	json_t *object = json_object();

	writer_set(writer, object, "name", writer_text_or_null(budget->name));
	writer_set(writer, object, "alpha", writer_double(budget->alpha));
	writer_set(writer, object, "repeats", writer_number(budget->repeats));
	writer_set(writer, object, "exposure", word(exposure_word(budget->exposure)));
	writer_put_member(writer, "budget", object);
	writer_begin_list(writer, "rules");
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		object = json_object();
		writer_set(writer, object, "line", writer_number(rule->line));
		writer_set(writer, object, "word", word(rule->word->word));
		writer_set(writer, object, "text", writer_text_or_null(rule->text));
		writer_set(
			writer, object, "matches", json_boolean(is_met(comparison->verdict, rule)));
		if (rule->reason)
			writer_set(writer, object, "reason", writer_text_or_null(rule->reason));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static void put_breaches(struct writer *writer, const struct stoke_comparison *comparison)
{
	static const char *const outcomes[] = {
		[OUTCOME_FAIL] = "fail",
		[OUTCOME_WARN] = "warn",
		[OUTCOME_ALLOWED] = "allowed",
		[OUTCOME_CARRIED] = "carried",
	};
	const struct verdict *verdict = comparison->verdict;
	const struct rule *rules = comparison->budget->rules;

	writer_begin_list(writer, "breaches");
	for (size_t i = 0; i < verdict->nr_breaches; i++) {
		const struct breach *breach = &verdict->breaches[i];
		json_t *object = json_object();

		writer_set(writer, object, "outcome", word(outcomes[breach->outcome]));
		writer_set(writer, object, "rule", writer_number((uint64_t)(breach->rule - rules)));
		writer_set(writer, object, "hypothesis",
			breach->hypothesis == NO_HYPOTHESIS ? json_null()
							    : writer_number(breach->hypothesis));
		writer_set(writer, object, "value", writer_double(breach->value));
		writer_set(writer, object, "low", writer_double(breach->low));
		writer_set(writer, object, "allowed", writer_double(breach->allowed));
		writer_set(writer, object, "allowed_by",
			breach->allowed_by ? writer_number((uint64_t)(breach->allowed_by - rules))
					   : json_null());
		writer_set(writer, object, "of",
			breach->of == BREACH_OWN ? json_null() : writer_number(breach->of));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static void put_verdict(struct writer *writer, const struct stoke_comparison *comparison)
{
	const struct verdict *verdict = comparison->verdict;

	put_budget(writer, comparison);
	writer_put_member(writer, "verdict",
		word(verdict->word == VERDICT_PASS	      ? "pass"
			: verdict->word == VERDICT_REGRESSION ? "regression"
							      : "cannot tell"));
	writer_put_member(writer, "exit", json_integer(verdict->word));
	writer_put_member(writer, "regressions", writer_number(verdict->nr_failures));
	writer_begin_list(writer, "reasons");
	for (size_t i = 0; i < verdict->nr_reasons; i++) {
		json_t *object = json_object();

		writer_set(writer, object, "why", writer_text_or_null(verdict->reasons[i].why));
		writer_set(writer, object, "cure", writer_text_or_null(verdict->reasons[i].cure));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
	put_breaches(writer, comparison);
}

int json_comparison(const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	struct writer writer = {.profile = comparison->profile, .out = out};

	fputs("{", out);
	writer_put_member(&writer, "schema", word("stoke-diff-1"));
	writer_put_member(&writer, "stoke", word(STOKE_VERSION));
	put_options(&writer, comparison);
	put_sides(&writer, comparison->comparable);
	put_runs(&writer, comparison);
	put_units(&writer, comparison->units);
	if (comparison->evidence)
		put_evidence(&writer, comparison);
	put_hypotheses(&writer, comparison);
	put_causes(&writer, comparison);
	if (comparison->merged)
		writer_put_member(
			&writer, "names_merged", writer_number(comparison->merged->nr_merged));
	if (comparison->verdict)
		put_verdict(&writer, comparison);
	fputs("\n}\n", out);
	return writer.error;
}
