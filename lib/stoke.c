/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stoke.c: joins what may not know each other: reading and naming, selecting and the names of
 * pools, words and the tables of plug-ins.
 */
#include "stoke.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "format/format.h"
#include "names/alias.h"
#include "names/names.h"
#include "names/pools.h"
#include "profile/select.h"
#include "report/report.h"
#include "resolver/resolver.h"
#include "source/source.h"

/*
 * Text that was given a duration but no date: the file was written when the recording ended, so it
 * began that long before.
 */
static void guess_start(struct run *run, int fd)
{
	struct stat status;
	uint64_t end_ns;

	if (run->start_ns || !run->duration_ns || fstat(fd, &status) < 0 ||
		!S_ISREG(status.st_mode) || status.st_mtim.tv_sec <= 0)
		return;
	end_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
	if (end_ns > run->duration_ns)
		run->start_ns = end_ns - run->duration_ns;
}

int stoke_profile_read(struct stoke_profile *profile, int fd,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	const struct format *format;
	size_t nr_runs = profile->nr_runs;
	struct input *input;
	int r;

	r = input_open(fd, options && options->name ? options->name : "-", &input, err);
	if (r < 0)
		return r;
	r = format_recognise(input, &format, err);
	if (r >= 0)
		r = format->read(profile, input, options, err);
	input_close(input);
	if (r < 0)
		return r;
	for (size_t i = nr_runs; options && options->duration_ns && i < profile->nr_runs; i++)
		guess_start(&profile->runs[i], fd);
	r = resolve_profile(profile, NULL, NULL);
	return r < 0 ? fail(err, r, "out of memory") : 0;
}

int stoke_profile_set_work(
	struct stoke_profile *profile, double operations, struct stoke_error *err)
{
	char text[32];
	int r = 0;

	if (!isfinite(operations) || operations <= 0)
		return fail(err, -EINVAL, "work is a number of operations above zero");
	(void)snprintf(text, sizeof(text), "%.15g", operations); /* fits */
	for (uint32_t run = 0; r >= 0 && run < profile->nr_runs; run++)
		r = profile_fact(profile, run, "work", text);
	return r < 0 ? fail(err, r, "out of memory") : 0;
}

int stoke_profile_select(const struct stoke_profile *profile,
	const struct stoke_select_options *options, struct stoke_profile **ret,
	struct stoke_error *err)
{
	return profile_select(profile, options, pool_of, ret, err);
}

int stoke_profile_rename(const struct stoke_profile *profile,
	const struct stoke_rename_options *options, struct stoke_profile **ret,
	struct stoke_error *err)
{
	struct names_options names = {.level = options->names, .flags = options->flags};
	struct aliases *aliases = NULL;
	int r = 0;

	if (options->aliases)
		r = aliases_parse(options->aliases, options->aliases_size,
			options->aliases_name ? options->aliases_name : "stoke.alias", &aliases,
			err);
	if (r < 0)
		return r;
	names.aliases = aliases;
	r = names_rewrite(profile, &names, ret, NULL, err);
	aliases_free(aliases);
	return r;
}

/* Cuts "name:params"; the size of the name. */
static size_t name_size(const char *text, const char **ret_params)
{
	const char *colon = strchr(text, ':');

	*ret_params = colon ? colon + 1 : NULL;
	return colon ? (size_t)(colon - text) : strlen(text);
}

static const struct report *report_find(const char *name, size_t size)
{
	for (size_t i = 0; i < nr_reports; i++) {
		if (strlen(reports[i]->name) == size && memcmp(reports[i]->name, name, size) == 0)
			return reports[i];
	}
	return NULL;
}

int stoke_profile_write(
	const struct stoke_profile *profile, const char *format, FILE *out, struct stoke_error *err)
{
	const char *text;
	size_t size = name_size(format, &text);
	const struct format *found = format_find(format, size);
	void *params;
	int r;

	if (!found)
		return fail(err, -EINVAL, "no format is called %.*s; stoke help formats lists them",
			(int)size, format);
	if (!found->write)
		return fail(err, -EOPNOTSUPP, "%s can be read but not written", found->name);
	r = params_parse(found->params, found->params_size, found->name, text, &params, err);
	if (r < 0)
		return r;
	r = found->write(profile, params, out);
	params_free(found->params, params);
	return r < 0 ? fail(err, r, "cannot make %s: %s", found->name, strerror(-r)) : 0;
}

/* The report of "name:params", with its params. */
static int report_parse(
	const char *text, const struct report **ret, void **ret_params, struct stoke_error *err)
{
	const char *params;
	size_t size = name_size(text, &params);
	const struct report *found = report_find(text, size);

	if (!found)
		return fail(err, -EINVAL, "no report is called %.*s; stoke help formats lists them",
			(int)size, text);
	*ret = found;
	return params_parse(
		found->params, found->params_size, found->name, params, ret_params, err);
}

int stoke_profile_report(
	const struct stoke_profile *profile, const char *report, FILE *out, struct stoke_error *err)
{
	const struct report *found;
	void *params;
	int r = report_parse(report, &found, &params, err);

	if (r < 0)
		return r;
	if (found->profile)
		r = found->profile(profile, params, out);
	params_free(found->params, params);
	if (!found->profile)
		return fail(err, -EOPNOTSUPP, "%s speaks of comparisons only: stoke diff, check",
			found->name);
	return r < 0 ? fail(err, r, "cannot make %s: %s", found->name, strerror(-r)) : 0;
}

int stoke_comparison_report(const struct stoke_comparison *comparison, const char *report,
	FILE *out, struct stoke_error *err)
{
	const struct report *found;
	void *params;
	int r = report_parse(report, &found, &params, err);

	if (r < 0)
		return r;
	if (comparison && found->comparison)
		r = found->comparison(comparison, params, out);
	params_free(found->params, params);
	if (!found->comparison)
		return fail(err, -EOPNOTSUPP, "%s speaks of single profiles only", found->name);
	if (r == -EOPNOTSUPP)
		return fail(err, r, "%s speaks of checks only: stoke check", found->name);
	return r < 0 ? fail(err, r, "cannot make %s: %s", found->name, strerror(-r)) : 0;
}

const char *stoke_profile_fact(const struct stoke_profile *profile, uint32_t run, const char *key)
{
	return run < profile->nr_runs ? profile_fact_find(profile, run, key) : NULL;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many different numbers a key has in the label sets (of different runs: other processes). */
static uint32_t count_numbers(const struct stoke_profile *profile, const char *key)
{
	_cleanup_free_ uint64_t *seen = calloc(profile->nr_label_sets, sizeof(*seen));
	uint32_t nr = 0, nr_distinct = 0;

	for (uint32_t set = 0; seen && set < profile->nr_label_sets; set++) {
		const struct label *label = profile_label(profile, set, key);

		if (label && !label->str)
			seen[nr++] = (uint64_t)label->num;
	}
	if (nr)
		qsort(seen, nr, sizeof(*seen), by_number);
	for (uint32_t i = 0; i < nr; i++)
		nr_distinct += !i || seen[i] != seen[i - 1];
	return nr_distinct;
}

static uint64_t count_stacks(const struct stoke_profile *profile)
{
	_cleanup_free_ uint8_t *seen = calloc(profile->stacks.nr, 1);
	uint64_t nr = 0;

	for (size_t i = 0; seen && i < profile->rows.nr; i++) {
		int counted = 0; /* a row of nothing was not seen */

		for (unsigned v = 0; v < profile->nr_values; v++)
			counted |= profile->rows.value[v][i] > 0;
		if (!counted)
			continue;
		nr += !seen[profile->rows.stack[i]];
		seen[profile->rows.stack[i]] = 1;
	}
	return nr;
}

static uint64_t total_of(const struct stoke_profile *profile, const char *type, const char *unit)
{
	const struct strings *strings = &profile->strings;

	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (strcmp(strings_text(strings, profile->values[i].type), type) == 0 &&
			strcmp(strings_text(strings, profile->values[i].unit), unit) == 0)
			return profile_total(profile, i);
	}
	return 0;
}

void stoke_profile_stats(const struct stoke_profile *profile, struct stoke_stats *ret)
{
	struct quality quality;
	const uint64_t *count = quality.count;

	quality_sum(profile, &quality);
	*ret = (struct stoke_stats){
		.samples = total_of(profile, "samples", "count"),
		.expected = count[QUALITY_EXPECTED],
		.lost = count[QUALITY_LOST_RING] + count[QUALITY_LOST_BUSY] +
			count[QUALITY_LOST_LATE],
		.cpu_ns = total_of(profile, "cpu", "nanoseconds"),
		.stacks = count_stacks(profile),
		.nr_threads = count_numbers(profile, "tid"),
		.nr_processes = count_numbers(profile, "pid"),
	};
	for (size_t i = 0; i < profile->nr_runs; i++)
		ret->duration_ns += profile->runs[i].duration_ns;
}

const char *stoke_profile_warning(const struct stoke_profile *profile, size_t i)
{
	struct quality_text *said = profile->said;

	if (!i && quality_say(profile, said) < 0)
		return NULL; /* no memory, and nobody to hear of it */
	return i < said->nr ? said->sentence[i] : NULL;
}

/* 1: path ends in one of these blank-separated suffixes; a longer match than *best, which is set.
 */
static int ends_in(const char *path, const char *suffixes, size_t *best)
{
	size_t path_size = strlen(path), size;
	int found = 0;

	for (; *suffixes; suffixes += size) {
		suffixes += strspn(suffixes, " ");
		size = strcspn(suffixes, " ");
		if (size > *best && size < path_size &&
			memcmp(path + path_size - size, suffixes, size) == 0) {
			*best = size;
			found = 1;
		}
	}
	return found;
}

static unsigned kinds_of(const struct report *report)
{
	return (report->profile ? STOKE_OUTPUT_REPORT : 0) |
	       (report->comparison ? STOKE_OUTPUT_COMPARISON : 0);
}

const char *stoke_output_for(const char *path, unsigned kind)
{
	const char *name = NULL;
	size_t best = 0;

	for (size_t i = 0; (kind & STOKE_OUTPUT_FORMAT) && i < nr_formats; i++) {
		if (formats[i]->write && ends_in(path, formats[i]->suffixes, &best))
			name = formats[i]->name;
	}
	for (size_t i = 0; i < nr_reports; i++) {
		if ((kind & kinds_of(reports[i])) && ends_in(path, reports[i]->suffixes, &best))
			name = reports[i]->name;
	}
	return name;
}

int stoke_output_suffix(const char *format, char *ret, size_t size)
{
	const char *params, *suffixes;
	size_t name = name_size(format, &params), suffix;
	const struct format *found = format_find(format, name);
	const struct report *report = report_find(format, name);

	suffixes = found ? found->suffixes : report ? report->suffixes : NULL;
	if (!suffixes)
		return -ENOENT;
	suffixes += strspn(suffixes, " ");
	suffix = strcspn(suffixes, " ");
	if (!suffix || suffix >= size)
		return suffix ? -ENOBUFS : -ENOENT;
	memcpy(ret, suffixes, suffix);
	ret[suffix] = '\0';
	return 0;
}

static int has_word(const char *text, const char *word, size_t size)
{
	for (; *text; text += strcspn(text, " ")) {
		text += strspn(text, " ");
		if (strcspn(text, " ") == size && memcmp(text, word, size) == 0)
			return 1;
	}
	return 0;
}

static void append_suffixes(char *text, size_t room, const char *suffixes)
{
	size_t used = strlen(text), size;

	for (; suffixes && *suffixes; suffixes += size) {
		suffixes += strspn(suffixes, " ");
		size = strcspn(suffixes, " ");
		if (!size || has_word(text, suffixes, size) || used + size + 2 > room)
			continue;
		used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? " " : "",
			(int)size, suffixes); /* fits */
	}
}

char *stoke_output_suffixes(unsigned kind, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; (kind & STOKE_OUTPUT_FORMAT) && i < nr_formats; i++) {
		if (formats[i]->write)
			append_suffixes(ret, size, formats[i]->suffixes);
	}
	for (size_t i = 0; i < nr_reports; i++) {
		if (kind & kinds_of(reports[i]))
			append_suffixes(ret, size, reports[i]->suffixes);
	}
	return ret;
}

int stoke_output_binary(const char *format)
{
	const char *params;
	const struct format *found = format_find(format, name_size(format, &params));

	return found && found->binary;
}

/* but: those that are explained already. */
static void help_params(const struct param *params, const struct param *but, FILE *out)
{
	static const char *const values[] = {"", "=NUMBER", "=SHARE", "=TEXT"};

	for (; params && params->name; params++) {
		const struct param *known = but;

		while (known && known->name && strcmp(known->name, params->name) != 0)
			known++;
		if (known && known->name)
			continue;
		(void)fprintf(out, "  %s%s", params->name, values[params->type]);
		if (params->initial && *params->initial)
			(void)fprintf(out, " (%s)", params->initial);
		(void)fprintf(out, "  %s\n", params->help ? params->help : "");
	}
}

static void help_plugin(const char *name, const char *summary, const char *suffixes,
	const struct param *params, FILE *out)
{
	(void)fprintf(out, "%s: %s\n", name, summary);
	if (suffixes && *suffixes)
		(void)fprintf(out, "  suffixes %s\n", suffixes);
	help_params(params, NULL, out);
}

/* A format, and what the report of the same name says of comparisons. */
static void help_format(const struct format *format, FILE *out)
{
	const struct report *report = report_find(format->name, strlen(format->name));

	help_plugin(format->name, format->summary, format->suffixes, format->params, out);
	if (!report)
		return;
	(void)fprintf(out, "  %s\n", report->summary);
	help_params(report->params, format->params, out);
}

static void help_report(const struct report *report, FILE *out)
{
	if (!format_find(report->name, strlen(report->name)))
		help_plugin(report->name, report->summary, report->suffixes, report->params, out);
}

static void help_source(const struct source *source, FILE *out)
{
	help_plugin(source->name, source->summary, NULL, source->params, out);
}

/* All of a kind. 0 when the word is not the name of a list. */
static int help_list(const char *word, FILE *out)
{
	if (strcmp(word, "formats") == 0) {
		for (size_t i = 0; i < nr_formats; i++)
			help_format(formats[i], out);
		for (size_t i = 0; i < nr_reports; i++)
			help_report(reports[i], out);
		return 1;
	}
	if (strcmp(word, "events") == 0) {
		for (size_t i = 0; i < nr_sources; i++)
			help_source(sources[i], out);
		return 1;
	}
	return 0;
}

int stoke_help(const char *word, FILE *out)
{
	const struct format *format = format_find(word, strlen(word));
	const struct report *report = report_find(word, strlen(word));
	int found = help_list(word, out);

	if (format)
		help_format(format, out);
	if (report)
		help_report(report, out);
	for (size_t i = 0; i < nr_sources; i++) {
		if (strcmp(sources[i]->name, word) == 0) {
			help_source(sources[i], out);
			found = 1;
		}
	}
	return found || format || report ? 0 : -ENOENT;
}
