/* SPDX-License-Identifier: BSD-2-Clause */
/* sides.c: which files are before, which after, and in which order. */
#include "cmd/sides.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "cmd/inputs.h"
#include "cmd/spelling.h"

#define MAX_FILES 10000 /* of a directory */

/* What a directory's profiles are called; the first of those that differ in it alone counts. */
static const char *const suffixes[] = {
	".pb.gz", ".pprof", ".pb", ".folded", ".collapsed", ".folded.gz", ".collapsed.gz", ".svg"};

static int add_path(struct paths *paths, char *path)
{
	if (!path || array_reserve(&paths->items, &paths->capacity, paths->nr, 1) < 0) {
		free(path);
		return -ENOMEM;
	}
	paths->items[paths->nr++] = path;
	return 0;
}

void paths_done(struct paths *paths)
{
	for (size_t i = 0; i < paths->nr; i++)
		free(paths->items[i]);
	free(paths->items);
	*paths = (struct paths){0};
}

/* Position of a name's suffix in suffixes, and how long the name is without it; ARRAY_SIZE: none.
 */
static size_t suffix_of(const char *name, size_t *ret_stem)
{
	size_t size = strlen(name), best = ARRAY_SIZE(suffixes), longest = 0;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (n > longest && size > n && !strcmp(name + size - n, suffixes[i])) {
			best = i;
			longest = n;
		}
	}
	*ret_stem = size - longest;
	return best;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int paths_is_profile(const char *name)
{
	size_t stem;

	return *name != '.' && suffix_of(name, &stem) < ARRAY_SIZE(suffixes);
}

static int is_profile(const struct dirent *entry)
{
	return paths_is_profile(entry->d_name);
}

/* The same recording in another file that holds more of it. */
static int has_better(struct dirent *const *entries, int nr, int which)
{
	size_t stem, other;
	size_t suffix = suffix_of(entries[which]->d_name, &stem);

	for (int i = 0; i < nr; i++) {
		if (suffix_of(entries[i]->d_name, &other) < suffix && other == stem &&
			!memcmp(entries[i]->d_name, entries[which]->d_name, stem))
			return 1;
	}
	return 0;
}

/* The picture of a comparison is often kept beside what was compared. */
static int shows_difference(const char *path)
{
	size_t size = strlen(path);
	_cleanup_close_ int fd = -1;
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	struct stoke_error err = {0};

	if (size < 4 || strcmp(path + size - 4, ".svg") != 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd >= 0 && stoke_profile_new(&profile) == 0 &&
	       stoke_profile_read(profile, fd, &(struct stoke_read_options){.name = path}, &err) ==
		       -EMEDIUMTYPE;
}

static int add_entries(struct paths *paths, const struct voice *voice, const char *directory,
	struct dirent *const *entries, int nr)
{
	size_t size = strlen(directory);

	while (size > 1 && directory[size - 1] == '/')
		size--;
	for (int i = 0; i < nr; i++) {
		struct stat st;
		char *path = NULL;

		if (has_better(entries, nr, i))
			continue;
		if (asprintf(&path, "%.*s/%s", (int)size, directory, entries[i]->d_name) < 0)
			return -ENOMEM;
		if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
			free(path);
			continue;
		}
		if (shows_difference(path)) {
			say(voice, "%s shows a difference: left out", path);
			free(path);
			continue;
		}
		if (add_path(paths, path) < 0)
			return -ENOMEM;
	}
	return 0;
}

int paths_list(struct paths *paths, const struct voice *voice, const char *directory)
{
	struct dirent **entries = NULL;
	int nr = scandir(directory, &entries, is_profile, by_number), r;

	if (nr < 0)
		return say_error(
			voice, STATUS_USAGE, "cannot read %s: %s", directory, strerror(errno));
	r = nr > MAX_FILES ? -E2BIG : add_entries(paths, voice, directory, entries, nr);
	for (int i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
	if (r == -E2BIG)
		return say_error(voice, STATUS_USAGE, "%s holds more than %d profiles", directory,
			MAX_FILES);
	if (r < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	return STATUS_DONE;
}

static int add_directory(struct paths *paths, const struct voice *voice, const char *directory)
{
	size_t nr_before = paths->nr;
	int status = paths_list(paths, voice, directory);

	if (!status && paths->nr == nr_before)
		return say_error(voice, STATUS_USAGE,
			"%s holds no profiles: no file there ends in .pb.gz, .folded or .svg",
			directory);
	return status;
}

int paths_add(struct paths *paths, const struct voice *voice, const char *operand)
{
	struct stat st;

	if (strcmp(operand, "-") && stat(operand, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(paths, voice, operand);
	if (add_path(paths, strdup(operand)) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	return STATUS_DONE;
}

void sides_done(struct sides *sides)
{
	paths_done(&sides->before);
	paths_done(&sides->after);
}

static int wrong_operands(const struct call *call)
{
	if (call->nr_operands < 2)
		return say_error(&call->voice, STATUS_USAGE,
			"two sides are wanted: BEFORE AFTER, or BEFORE... -- AFTER...");
	return say_error(&call->voice, STATUS_USAGE,
		"%zu files: which are before? BEFORE... -- AFTER..., or two directories",
		call->nr_operands);
}

int sides_find(const struct call *call, const struct texts *baselines, struct sides *ret)
{
	size_t first = call->is_parted ? call->nr_first : 1;
	int status = STATUS_DONE;

	if (baselines && baselines->nr) {
		if (call->is_parted || !call->nr_operands)
			return say_error(&call->voice, STATUS_USAGE,
				call->is_parted ? "--baseline is before, all files are after: no --"
						: "--baseline is before; what is after?");
		for (size_t i = 0; i < baselines->nr && !status; i++)
			status = paths_add(&ret->before, &call->voice, baselines->items[i]);
		first = 0;
	} else if (call->is_parted ? !first || first == call->nr_operands
				   : call->nr_operands != 2) {
		return wrong_operands(call);
	}
	for (size_t i = 0; i < call->nr_operands && !status; i++)
		status = paths_add(
			i < first ? &ret->before : &ret->after, &call->voice, call->operands[i]);
	return status;
}

int sides_read(const struct call *call, const struct sides *sides,
	const struct stoke_read_options *how, struct stoke_profile **ret)
{
	const struct paths *both[] = {&sides->before, &sides->after};
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	size_t nr_stdin = 0;

	if (stoke_profile_new(&profile) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < both[side]->nr; i++)
			nr_stdin += !strcmp(both[side]->items[i], "-");
	}
	if (nr_stdin > 1)
		return say_error(&call->voice, STATUS_USAGE,
			"standard input (-) can be read once, not %zu times", nr_stdin);
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < both[side]->nr; i++) {
			int status = input_read(&call->voice, both[side]->items[i], how, profile);

			if (status)
				return status;
		}
	}
	stats_say(&call->voice, profile);
	*ret = take_pointer(profile);
	return STATUS_DONE;
}

static void keep_last(struct paths *paths, size_t nr)
{
	size_t gone = paths->nr > nr ? paths->nr - nr : 0;

	for (size_t i = 0; i < gone; i++)
		free(paths->items[i]);
	memmove(paths->items, paths->items + gone, (paths->nr - gone) * sizeof(*paths->items));
	paths->nr -= gone;
}

static void put_paths(FILE *out, const struct paths *paths)
{
	for (size_t i = 0; i < paths->nr; i++) {
		fputs(i ? " " : "", out);
		spell_operand(out, paths->items[i]);
	}
}

int sides_trim(struct sides *sides)
{
	size_t before = sides->before.nr, after = sides->after.nr;

	if (before == after)
		return 0;
	keep_last(&sides->before, after);
	keep_last(&sides->after, before);
	sides->trimmed = 1;
	return 1;
}

char *sides_spelled(
	const struct call *call, const struct texts *baselines, const struct sides *sides)
{
	char *text = NULL;
	size_t size, nr = baselines ? baselines->nr : 0;
	FILE *out = open_memstream(&text, &size);
	int is_parted = call->is_parted || (nr && (nr > 1 || call->nr_operands > 1));

	if (!out)
		return NULL;
	if (sides->trimmed) { /* not all of what the operands name was looked at */
		put_paths(out, &sides->before);
		fputs(" -- ", out);
		put_paths(out, &sides->after);
	}
	for (size_t i = 0; i < nr && !sides->trimmed; i++) {
		fputs(i ? " " : "", out);
		spell_operand(out, baselines->items[i]);
	}
	for (size_t i = 0; i < call->nr_operands && !sides->trimmed; i++) {
		if (is_parted && i == (nr ? 0 : call->nr_first))
			fputs(" --", out);
		fputs(i || nr ? " " : "", out);
		spell_operand(out, call->operands[i]);
	}
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}
