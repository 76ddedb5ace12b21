/* SPDX-License-Identifier: BSD-2-Clause */
/* results.c: which format each file gets, and what happens when one of several cannot be written.
 */
#include "cmd/results.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "stoke.h"

struct result {
	struct output *output;
	char *format; /* with its options */
	unsigned kind; /* STOKE_OUTPUT_FORMAT, _REPORT or _COMPARISON */
	int binary, written;
};

struct results {
	const char *cure; /* when a file cannot be opened */
	struct result *items;
	size_t nr, capacity;
};

int results_new(const char *cure, struct results **ret)
{
	struct results *results = calloc(1, sizeof(*results));

	if (!results)
		return -ENOMEM;
	results->cure = cure;
	*ret = results;
	return 0;
}

void results_free(struct results *results)
{
	if (!results)
		return;
	for (size_t i = 0; i < results->nr; i++) {
		output_close(results->items[i].output);
		free(results->items[i].format);
	}
	free(results->items);
	free(results);
}

static int write_as(unsigned kind, const struct stoke_profile *profile, const char *format,
	FILE *out, struct stoke_error *err)
{
	if (kind == STOKE_OUTPUT_REPORT)
		return stoke_profile_report(profile, format, out, err);
	return stoke_profile_write(profile, format, out, err);
}

/*
 * The kind of a format, found by writing nothing in it: so an unknown name, and an unknown option
 * behind it, is heard of before the work and not after.
 */
static int try_format(const char *format, unsigned *ret_kind, struct stoke_error *err)
{
	_cleanup_free_ char *name = strndup(format, strcspn(format, ":"));
	struct stoke_profile *empty = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned kind = STOKE_OUTPUT_FORMAT;
	int r = -ENOMEM;

	if (name && out && stoke_profile_new(&empty) == 0) {
		r = write_as(kind, empty, name, out, err);
		if (r == -EINVAL) {
			struct stoke_error second = {0};

			kind = STOKE_OUTPUT_REPORT;
			r = write_as(kind, empty, name, out, &second);
		}
		if (r >= 0)
			r = write_as(kind, empty, format, out, err);
	}
	stoke_profile_free(empty);
	if (out)
		(void)fclose(out); /* in memory */
	free(text);
	if (r >= 0)
		*ret_kind = kind;
	return r;
}

/* The format that -f names, or the suffix; NULL when it was said that there is none. */
static const char *format_of(
	const struct voice *voice, const char *path, const char *format, unsigned kinds)
{
	const char *found;
	char known[256];

	if (format) {
		size_t size = strcspn(format, ":");

		if (memchr(format, '.', size) || memchr(format, '/', size)) {
			(void)say_error(voice, STATUS_USAGE,
				"-f %s: -f is the format; did you mean -o %s?", format, format);
			return NULL;
		}
		return format;
	}
	if (!strcmp(path, "-")) {
		(void)say_error(voice, STATUS_USAGE,
			"-o -: standard output has no suffix; say the format: -f svg, -f folded");
		return NULL;
	}
	found = stoke_output_for(path, kinds);
	if (!found)
		(void)say_error(voice, STATUS_USAGE, "%s: no %s has this suffix; known are %s",
			path, kinds == STOKE_OUTPUT_COMPARISON ? "report of two sides" : "format",
			stoke_output_suffixes(kinds, known, sizeof(known)));
	return found;
}

/* Do two paths name the same place? What is no file yet has only its folder and its name. */
static int same_place(const char *a, const char *b)
{
	const char *a_name = strrchr(a, '/'),
		   *b_name = strrchr(b, '/'); /* absolute: there is one */
	_cleanup_free_ char *a_folder = strndup(a, (size_t)(a_name + 1 - a));
	_cleanup_free_ char *b_folder = strndup(b, (size_t)(b_name + 1 - b));
	struct stat a_stat, b_stat;

	if (strcmp(a_name, b_name) != 0 || !a_folder || !b_folder)
		return 0;
	return stat(a_folder, &a_stat) == 0 && stat(b_folder, &b_stat) == 0 &&
	       a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino;
}

static int is_given(const struct results *results, const struct output *output)
{
	const char *path = output_path(output);

	for (size_t i = 0; i < results->nr; i++) {
		const char *other = output_path(results->items[i].output);

		if (path[0] == '/' && other[0] == '/' && strncmp(path, "/dev/", 5) != 0 &&
			same_place(path, other))
			return 1;
	}
	return 0;
}

/* kind: of a format that was tried already. */
static int add(struct results *results, const struct voice *voice, const char *path,
	const char *format, unsigned kind, unsigned flags)
{
	struct result result = {.kind = kind};
	struct stoke_error err = {0};

	result.binary = result.kind == STOKE_OUTPUT_FORMAT && stoke_output_binary(format);
	if (!strcmp(path, "-") && results_use_stdout(results))
		return say_error(voice, STATUS_USAGE, "only one output can be standard output");
	if (!strcmp(path, "-") && result.binary && isatty(STDOUT_FILENO))
		return say_error(voice, STATUS_USAGE,
			"%s is binary and standard output is a terminal; -o FILE, or a pipe",
			format);
	result.format = strdup(format);
	if (!result.format ||
		array_reserve(&results->items, &results->capacity, results->nr, 1) < 0) {
		free(result.format);
		return say_error(voice, STATUS_USAGE, "out of memory");
	}
	if (output_open(path, flags, &result.output, &err) < 0) {
		free(result.format);
		return say_error(voice, STATUS_USAGE, "%s%s%s", err.text, results->cure ? ". " : "",
			results->cure ? results->cure : "");
	}
	if (is_given(results, result.output)) {
		output_close(result.output);
		free(result.format);
		return say_error(voice, STATUS_USAGE, "-o %s: given twice", path);
	}
	results->items[results->nr++] = result;
	return STATUS_DONE;
}

int results_add(struct results *results, const struct voice *voice, const char *path,
	const char *format, unsigned flags)
{
	struct stoke_error err = {0};
	unsigned kind;

	format = format_of(voice, path, format, STOKE_OUTPUT_FORMAT | STOKE_OUTPUT_REPORT);
	if (!format)
		return STATUS_USAGE;
	if (try_format(format, &kind, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	return add(results, voice, path, format, kind, flags);
}

int results_add_comparison(struct results *results, const struct voice *voice, const char *path,
	const char *format, unsigned flags)
{
	struct stoke_error err = {0};

	format = format_of(voice, path, format, STOKE_OUTPUT_COMPARISON);
	if (!format)
		return STATUS_USAGE;
	if (stoke_comparison_report(NULL, format, NULL, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	return add(results, voice, path, format, STOKE_OUTPUT_COMPARISON, flags);
}

const char *results_replacing(const struct results *results, const char *input)
{
	struct stat in, out;

	if (stat(input, &in) < 0 || !S_ISREG(in.st_mode))
		return NULL;
	for (size_t i = 0; i < results->nr; i++) {
		const char *path = output_path(results->items[i].output);

		if (!output_is_stdout(results->items[i].output) && stat(path, &out) == 0 &&
			in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return path;
	}
	return NULL;
}

int results_use_stdout(const struct results *results)
{
	for (size_t i = 0; i < results->nr; i++) {
		if (output_is_stdout(results->items[i].output))
			return 1;
	}
	return 0;
}

size_t results_nr(const struct results *results)
{
	return results->nr;
}

static int write_one(
	struct result *result, const struct stoke_profile *profile, struct stoke_error *err)
{
	int r = write_as(result->kind, profile, result->format, output_stream(result->output), err);

	if (r >= 0)
		r = output_commit(result->output, err);
	result->written = r >= 0;
	return r;
}

/* "a.pb.gz and b.folded are whole", of the files that were written in spite of a failure. */
static int say_survivors(
	const struct results *results, const struct voice *voice, const char *failure)
{
	char text[1024] = "";
	size_t nr = 0, used = 0;

	for (size_t i = 0; i < results->nr; i++) {
		const char *path = output_path(results->items[i].output);
		const char *slash = strrchr(path, '/');

		if (!results->items[i].written)
			continue;
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
				nr ? ", " : "", slash ? slash + 1 : path);
		nr++;
	}
	if (!nr)
		return say_error(voice, STATUS_USAGE, "%s", failure);
	return say_error(
		voice, STATUS_USAGE, "%s; %s %s whole", failure, text, nr > 1 ? "are" : "is");
}

int results_write_comparison(struct results *results, const struct voice *voice,
	const struct stoke_comparison *comparison)
{
	struct stoke_error err = {0}, first = {0};

	for (size_t i = 0; i < results->nr; i++) {
		struct result *result = &results->items[i];
		int r = stoke_comparison_report(
			comparison, result->format, output_stream(result->output), &err);

		if (r >= 0)
			r = output_commit(result->output, &err);
		result->written = r >= 0;
		if (r < 0 && !first.code)
			first = err;
	}
	return first.code ? say_survivors(results, voice, first.text) : STATUS_DONE;
}

int results_write(struct results *results, const struct voice *voice,
	const struct stoke_profile *rooted, const struct stoke_profile *whole)
{
	struct stoke_error err = {0}, first = {0};

	for (size_t i = 0; i < results->nr; i++) {
		struct result *result = &results->items[i];
		int picture = result->kind == STOKE_OUTPUT_FORMAT && !result->binary;

		if (write_one(result, picture || !whole ? rooted : whole, &err) < 0 && !first.code)
			first = err;
	}
	return first.code ? say_survivors(results, voice, first.text) : STATUS_DONE;
}

static char *size_format(char *buffer, unsigned long long bytes)
{
	if (bytes < 1000)
		(void)snprintf(buffer, 32, "%llu B", bytes);
	else if (bytes < 1000000)
		(void)snprintf(buffer, 32, "%llu kB", (bytes + 500) / 1000);
	else
		(void)snprintf(buffer, 32, "%llu.%llu MB", bytes / 1000000, bytes / 100000 % 10);
	return buffer;
}

/* What to do with a file, for those who meet its format for the first time. */
static const char *hint_of(const struct result *result)
{
	static const struct {
		const char *format, *hint;
	} hints[] = {
		{"svg", "open in a browser"},
		{"pprof", "stoke report; go tool pprof"},
	};
	size_t size = strcspn(result->format, ":");

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (strlen(hints[i].format) == size &&
			!memcmp(hints[i].format, result->format, size))
			return hints[i].hint;
	}
	return "";
}

void results_list(const struct results *results, FILE *out)
{
	const char *title = "wrote";
	size_t widest = 0;

	for (size_t i = 0; i < results->nr; i++) {
		const char *path = output_path(results->items[i].output);
		size_t columns = text_columns(path, strlen(path));

		if (results->items[i].written && columns > widest)
			widest = columns;
	}
	for (size_t i = 0; i < results->nr; i++) {
		struct output *output = results->items[i].output;
		const char *path = output_path(output);
		const char *hint = hint_of(&results->items[i]);
		char size[32];

		if (!results->items[i].written || output_is_stdout(output))
			continue;
		fprintf(out, "%-10s", title);
		text_print(out, path, strlen(path));
		fprintf(out, "%*s%8s%s%s\n", (int)(widest - text_columns(path, strlen(path)) + 2),
			"", size_format(size, output_size(output)), *hint ? "    " : "", hint);
		title = "";
	}
}

void results_fetch(const struct results *results, FILE *out)
{
	char host[256] = "";

	(void)gethostname(host, sizeof(host) - 1); /* an empty name is one, too */
	for (size_t i = 0; i < results->nr; i++) {
		const char *path = output_path(results->items[i].output);

		if (!results->items[i].written || output_is_stdout(results->items[i].output))
			continue;
		fprintf(out, "fetch     scp %s:", host);
		text_print(out, path, strlen(path));
		fputs(" .\n", out);
		return; /* one line: the others are called alike */
	}
}
