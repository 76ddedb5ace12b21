/* SPDX-License-Identifier: BSD-2-Clause */
/* baseline.c: how a directory of profiles grows and forgets. */
#include "cmd/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/inputs.h"
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

/* Letters and digits of a commit's id; what else it may be has no place in a file's name. */
static void clean_commit(const char *commit, char ret[COMMIT_LETTERS + 1])
{
	static const char *const variables[] = {
		"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILD_VCS_NUMBER"};
	size_t n = 0;

	for (size_t i = 0; (!commit || !*commit) && i < ARRAY_SIZE(variables); i++)
		commit = getenv(variables[i]);
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

static int copy_file(const struct voice *voice, const char *from, const char *to)
{
	_cleanup_close_ int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stoke_error err = {0};
	struct output *output;
	int r;

	if (fd < 0)
		return say_error(voice, STATUS_USAGE, "cannot read %s: %s", from, strerror(errno));
	if (output_open(to, 0, &output, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	r = copy_bytes(fd, output_stream(output));
	if (r < 0)
		(void)say_error(voice, STATUS_USAGE, "cannot read %s: %s", from, strerror(-r));
	else if ((r = output_commit(output, &err)) < 0)
		(void)say_error(voice, STATUS_USAGE, "%s", err.text);
	output_close(output);
	return r < 0 ? STATUS_USAGE : STATUS_DONE;
}

/* Reads each file on its own, so that one that is no profile is refused before anything changes. */
static int try_files(const struct voice *voice, const struct paths *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		_cleanup_profile_ struct stoke_profile *profile = NULL;
		int status;

		if (!strcmp(files->items[i], "-"))
			return say_error(voice, STATUS_USAGE,
				"--update keeps files; standard input is none");
		if (stoke_profile_new(&profile) < 0)
			return say_error(voice, STATUS_USAGE, "out of memory");
		status = input_read(
			voice, files->items[i], &(struct stoke_read_options){0}, profile);
		if (status)
			return status;
	}
	return STATUS_DONE;
}

/* What is there; nothing when the directory is new. */
static int list(const struct voice *voice, const char *directory, struct paths *ret)
{
	struct stat st;

	if (mkdir(directory, 0777) == 0)
		return STATUS_DONE;
	if (errno != EEXIST || stat(directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return say_error(voice, STATUS_USAGE, "cannot make the directory %s: %s", directory,
			errno == EEXIST ? "a file is called so" : strerror(errno));
	return paths_list(ret, voice, directory);
}

static void remove_oldest(
	const struct voice *voice, const struct paths *there, size_t nr_new, size_t keep)
{
	for (size_t i = 0; i < there->nr && there->nr - i + nr_new > keep; i++) {
		if (unlink(there->items[i]) < 0)
			say_warning(
				voice, "cannot remove %s: %s", there->items[i], strerror(errno));
	}
}

int baseline_update(const struct voice *voice, const char *directory, const struct paths *files,
	const struct baseline_options *options)
{
	_cleanup_(paths_done) struct paths there = {0};
	char commit[COMMIT_LETTERS + 1];
	unsigned long number = 0;
	int status = try_files(voice, files);

	if (!status)
		status = list(voice, directory, &there);
	for (size_t i = 0; i < there.nr && !status; i++)
		number = number_of(there.items[i]) > number ? number_of(there.items[i]) : number;
	clean_commit(options->commit, commit);
	for (size_t i = 0; i < files->nr && !status; i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%06lu-%s%s%s", directory, ++number, commit,
			    *commit ? "-" : "", name_of(files->items[i])) < 0)
			return say_error(voice, STATUS_USAGE, "out of memory");
		status = copy_file(voice, files->items[i], path);
	}
	if (status)
		return status;
	remove_oldest(voice, &there, files->nr, options->keep);
	return baseline_describe(voice, directory);
}

static void put_json(FILE *out, const char *text)
{
	size_t size = strlen(text), n;
	_cleanup_free_ char *printable = malloc(size * 6 + 1);

	n = printable ? text_printable(printable, size * 6, text, size) : SIZE_MAX;
	fputc('"', out);
	for (size_t i = 0; n != SIZE_MAX && i < n; i++)
		fprintf(out, "%s%c", printable[i] == '"' || printable[i] == '\\' ? "\\" : "",
			printable[i]);
	fputc('"', out);
}

/* The commit in a name that baseline_update() gave: between the number and the next '-'. */
static size_t commit_of(const char *name, const char **ret)
{
	size_t digits = strspn(name, "0123456789"), size;

	if (digits != 6 || name[digits] != '-')
		return 0;
	*ret = name + digits + 1;
	size = strspn(*ret, "0123456789abcdef");
	return size >= 7 && size <= COMMIT_LETTERS && (*ret)[size] == '-' ? size : 0;
}

static int describe_one(const struct voice *voice, const char *path, FILE *out)
{
	static const char *const keys[] = {
		"host", "cpu", "kernel", "jvm", "command", "event", "rate", "work", "target"};
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	struct stoke_stats stats;
	const char *commit;
	char text[64];
	size_t size = commit_of(name_of(path), &commit);
	int status;

	if (stoke_profile_new(&profile) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	status = input_read(voice, path, &(struct stoke_read_options){0}, profile);
	if (status)
		return status;
	fputs("{\"file\": ", out);
	put_json(out, name_of(path));
	if (size) {
		(void)snprintf(text, sizeof(text), "%.*s", (int)size, commit); /* fits */
		fputs(", \"commit\": ", out);
		put_json(out, text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = stoke_profile_fact(profile, 0, keys[i]);

		if (!value)
			continue;
		fprintf(out, ", \"%s\": ", keys[i]);
		put_json(out, value);
	}
	stoke_profile_stats(profile, &stats);
	fprintf(out, ", \"samples\": %" PRIu64 ", \"duration_ns\": %" PRIu64 "}", stats.samples,
		stats.duration_ns);
	return STATUS_DONE;
}

int baseline_describe(const struct voice *voice, const char *directory)
{
	_cleanup_(paths_done) struct paths files = {0};
	_cleanup_free_ char *path = NULL;
	struct output *output = NULL;
	struct stoke_error err = {0};
	int status = paths_list(&files, voice, directory);
	FILE *out;

	if (status)
		return status;
	if (asprintf(&path, "%s/manifest.json", directory) < 0) {
		path = NULL;
		return say_error(voice, STATUS_USAGE, "out of memory");
	}
	if (output_open(path, 0, &output, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	out = output_stream(output);
	fputs("{\"schema\": \"stoke-baseline-1\",\n\"files\": [\n", out);
	for (size_t i = 0; i < files.nr && !status; i++) {
		status = describe_one(voice, files.items[i], out);
		fputs(i + 1 < files.nr ? ",\n" : "\n", out);
	}
	fputs("]}\n", out);
	if (!status && output_commit(output, &err) < 0)
		status = say_error(voice, STATUS_USAGE, "%s", err.text);
	output_close(output);
	if (!status)
		say(voice, "%s holds %zu profiles", directory, files.nr);
	return status;
}
