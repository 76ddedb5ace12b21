/* SPDX-License-Identifier: BSD-2-Clause */
/* baseline.c: how a directory of profiles grows and forgets. */
#include "cmd/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/inputs.h"
#include "cmd/manifest.h"
#include "cmd/output.h"

#define MAX_NUMBER     999999
#define COMMIT_LETTERS 12
#define COPY_BYTES     (128 << 10)

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The number in front of a file's name; 0: it has none. */
static unsigned long number_of(const char *path)
{
	char *end;
	unsigned long number = strtoul(name_of(path), &end, 10);

	return *end == '-' && number <= MAX_NUMBER ? number : 0;
}

/* As given, or as the CI host's environment says; NULL: nobody does. */
static const char *commit_id(const char *commit)
{
	static const char *const variables[] = {
		"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILD_VCS_NUMBER"};

	for (size_t i = 0; (!commit || !*commit) && i < ARRAY_SIZE(variables); i++)
		commit = getenv(variables[i]);
	return commit;
}

/* Letters and digits of a commit's id; what else it may be has no place in a file's name. */
static void clean_commit(const char *commit, char ret[COMMIT_LETTERS + 1])
{
	size_t n = 0;

	for (; commit && *commit && n < COMMIT_LETTERS; commit++) {
		if ((*commit >= '0' && *commit <= '9') || (*commit >= 'a' && *commit <= 'z') ||
			(*commit >= 'A' && *commit <= 'Z'))
			ret[n++] = *commit;
	}
	ret[n] = '\0';
}

static int copy_bytes(int from, FILE *to)
{
	_cleanup_free_ char *buffer = malloc(COPY_BYTES);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	while ((n = read(from, buffer, COPY_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		(void)fwrite(buffer, 1, (size_t)n, to); /* the stream keeps its error */
	}
	return 0;
}

/* Reads each file on its own: one that is no profile, holds nothing or would not be found again is
 * refused before anything changes. */
static int try_files(const struct voice *voice, const struct paths *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		const char *path = files->items[i];
		_cleanup_profile_ struct stoke_profile *profile = NULL;
		struct stoke_stats stats;
		int status;

		if (!strcmp(path, "-"))
			return say_error(voice, STATUS_USAGE,
				"--update keeps files; standard input is none");
		if (stoke_profile_new(&profile) < 0)
			return say_error(voice, STATUS_USAGE, "out of memory");
		status = input_read(voice, path, &(struct stoke_read_options){0}, profile);
		if (status)
			return status;
		stoke_profile_stats(profile, &stats);
		if (!paths_is_profile(name_of(path)))
			return say_error(voice, STATUS_USAGE,
				"%s: a directory's profiles are found by their suffix, as .pb.gz "
				"or "
				".folded",
				path);
		if (!stats.stacks)
			return say_error(voice, STATUS_USAGE,
				"%s holds no samples: nothing could be compared with it", path);
	}
	return STATUS_DONE;
}

/* What is there; nothing when the directory is new. */
static int list(const struct voice *voice, const char *directory, struct paths *ret, int *ret_made)
{
	struct stat st;

	if (mkdir(directory, 0777) == 0) {
		*ret_made = 1;
		return STATUS_DONE;
	}
	if (errno != EEXIST || stat(directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return say_error(voice, STATUS_USAGE, "cannot make the directory %s: %s", directory,
			errno == EEXIST ? "a file is called so" : strerror(errno));
	return paths_list(ret, voice, directory);
}

/* A directory as it is to become. Until commit() nothing in it has changed. */
struct updating {
	const struct voice *voice;
	const char *directory;
	struct output **outputs; /* owned; of files, in their order */
	struct paths names; /* what they will be called */
	size_t nr, nr_committed;
	struct output *manifest; /* owned */
};

static void updating_done(struct updating *updating)
{
	for (size_t i = 0; i < updating->nr; i++)
		output_close(updating->outputs[i]);
	free(updating->outputs);
	output_close(updating->manifest);
	paths_done(&updating->names);
}

/* One file more, written but not yet named. */
static int copy_file(struct updating *updating, const char *from, const char *to)
{
	_cleanup_close_ int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stoke_error err = {0};
	struct output **output = &updating->outputs[updating->nr];
	int r;

	if (fd < 0)
		return say_error(
			updating->voice, STATUS_USAGE, "cannot read %s: %s", from, strerror(errno));
	if (output_open(to, 0, output, &err) < 0)
		return say_error(updating->voice, STATUS_USAGE, "%s", err.text);
	updating->nr++;
	r = copy_bytes(fd, output_stream(*output));
	if (r < 0)
		return say_error(
			updating->voice, STATUS_USAGE, "cannot read %s: %s", from, strerror(-r));
	return paths_add(&updating->names, updating->voice, to);
}

/* Gives every file its name, the manifest last; when one fails, none has it. */
static int commit(struct updating *updating)
{
	struct stoke_error err = {0};
	int r = 0;

	while (r >= 0 && updating->nr_committed < updating->nr) {
		r = output_commit(updating->outputs[updating->nr_committed], &err);
		updating->nr_committed += r >= 0;
	}
	if (r >= 0)
		r = output_commit(updating->manifest, &err);
	if (r >= 0)
		return STATUS_DONE;
	for (size_t i = 0; i < updating->nr_committed; i++)
		(void)unlink(updating->names.items[i]); /* as if it had never been */
	return say_error(updating->voice, STATUS_USAGE, "%s; %s is as it was", err.text,
		updating->directory);
}

static int copy_all(struct updating *updating, const struct paths *files, size_t first,
	unsigned long number, const char *commit)
{
	int status = STATUS_DONE;

	updating->outputs = calloc(files->nr + 1, sizeof(*updating->outputs));
	if (!updating->outputs)
		return say_error(updating->voice, STATUS_USAGE, "out of memory");
	for (size_t i = first; i < files->nr && !status; i++) {
		_cleanup_free_ char *path = NULL;

		if (number >= MAX_NUMBER)
			return say_error(updating->voice, STATUS_USAGE,
				"%s: no number is left behind %lu; begin a new directory",
				updating->directory, number);
		if (asprintf(&path, "%s/%06lu-%s%s%s", updating->directory, ++number, commit,
			    *commit ? "-" : "", name_of(files->items[i])) < 0)
			return say_error(updating->voice, STATUS_USAGE, "out of memory");
		status = copy_file(updating, files->items[i], path);
	}
	return status;
}

/* The manifest of what stays and what comes. */
static int describe_all(struct updating *updating, const struct paths *there, size_t first_there,
	const struct paths *files, const struct baseline_options *options)
{
	struct manifest manifest;
	int status = manifest_open(&manifest, updating->voice, updating->directory);

	for (size_t i = first_there; i < there->nr && !status; i++)
		status = manifest_add(&manifest, there->items[i], there->items[i], NULL);
	for (size_t i = 0; i < updating->nr && !status; i++)
		status = manifest_add(&manifest, updating->names.items[i],
			files->items[files->nr - updating->nr + i], commit_id(options->commit));
	updating->manifest = manifest_close(&manifest);
	return status;
}

int baseline_update(const struct voice *voice, const char *directory, const struct paths *files,
	const struct baseline_options *options)
{
	_cleanup_(updating_done) struct updating updating = {
		.voice = voice, .directory = directory};
	_cleanup_(paths_done) struct paths there = {0};
	size_t first = files->nr > options->keep ? files->nr - options->keep : 0, stay, gone;
	char commit_name[COMMIT_LETTERS + 1];
	unsigned long number = 0;
	int status = try_files(voice, files), made = 0;

	if (!status)
		status = list(voice, directory, &there, &made);
	for (size_t i = 0; i < there.nr && !status; i++)
		number = number_of(there.items[i]) > number ? number_of(there.items[i]) : number;
	clean_commit(commit_id(options->commit), commit_name);
	stay = options->keep - (files->nr - first);
	gone = there.nr > stay ? there.nr - stay : 0;
	if (!status)
		status = copy_all(&updating, files, first, number, commit_name);
	if (!status)
		status = describe_all(&updating, &there, gone, files, options);
	if (!status)
		status = commit(&updating);
	if (status && made)
		(void)rmdir(directory); /* it is empty */
	if (status)
		return status;
	if (first)
		say(voice, "%zu files, of which --keep takes the last %zu", files->nr,
			options->keep);
	for (size_t i = 0; i < gone; i++) {
		if (unlink(there.items[i]) < 0)
			say_warning(voice, "cannot remove %s: %s", there.items[i], strerror(errno));
	}
	say(voice, "%s holds %zu profile%s", directory, there.nr - gone + updating.nr,
		there.nr - gone + updating.nr == 1 ? "" : "s");
	return STATUS_DONE;
}

int baseline_describe(const struct voice *voice, const char *directory)
{
	_cleanup_(paths_done) struct paths files = {0};
	struct manifest manifest;
	struct output *output;
	struct stoke_error err = {0};
	int status = paths_list(&files, voice, directory);

	if (status)
		return status;
	status = manifest_open(&manifest, voice, directory);
	for (size_t i = 0; i < files.nr && !status; i++)
		status = manifest_add(&manifest, files.items[i], files.items[i], NULL);
	output = manifest_close(&manifest);
	if (!status && output_commit(output, &err) < 0)
		status = say_error(voice, STATUS_USAGE, "%s", err.text);
	output_close(output);
	return status;
}
