/* SPDX-License-Identifier: BSD-2-Clause */
/* manifest.c: a line a profile, so that a commit can be found again without a reader of JSON. */
#include "cmd/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/inputs.h"

#define MAX_BYTES  (16u << 20)
#define MAX_COMMIT 200

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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

/* {"file": "NAME" */
static void put_file(FILE *out, const char *name)
{
	fputs("{\"file\": ", out);
	put_json(out, name);
}

int manifest_open(struct manifest *manifest, const struct voice *voice, const char *directory)
{
	_cleanup_free_ char *path = NULL;
	struct stoke_error err = {0};
	size_t size;

	*manifest = (struct manifest){.voice = voice};
	if (asprintf(&path, "%s/manifest.json", directory) < 0) {
		path = NULL;
		return say_error(voice, STATUS_USAGE, "out of memory");
	}
	/* One that cannot be read is as none: it is made anew. */
	(void)file_read_text(AT_FDCWD, path, MAX_BYTES, &manifest->old, &size);
	if (output_open(path, 0, &manifest->output, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	fputs("{\"schema\": \"stoke-baseline-1\",\n\"files\": [", output_stream(manifest->output));
	return STATUS_DONE;
}

/* What the manifest before says of a file: bytes and *ret. 0: nothing. */
static size_t old_commit(const struct manifest *manifest, const char *name, const char **ret)
{
	_cleanup_free_ char *wanted = NULL;
	size_t size, n;
	FILE *out = manifest->old ? open_memstream(&wanted, &size) : NULL;
	const char *at;

	if (!out)
		return 0;
	put_file(out, name);
	fputs(", \"commit\": \"", out);
	if (fclose(out) == EOF)
		return 0;
	at = strstr(manifest->old, wanted);
	if (!at)
		return 0;
	*ret = at + size;
	n = strcspn(*ret, "\"\\\n");
	return (*ret)[n] == '"' && n <= MAX_COMMIT ? n : 0;
}

/* The commit in a name that baseline_update() gave: between the number and the next '-'. */
static size_t commit_in_name(const char *name, const char **ret)
{
	size_t digits = strspn(name, "0123456789"), size;

	if (digits != 6 || name[digits] != '-')
		return 0;
	*ret = name + digits + 1;
	size = strspn(*ret, "0123456789abcdef");
	return size >= 7 && size <= 12 && (*ret)[size] == '-' ? size : 0;
}

static void put_commit(
	const struct manifest *manifest, const char *name, const char *commit, FILE *out)
{
	size_t size = commit ? strlen(commit) : 0;
	_cleanup_free_ char *text = NULL;

	if (!size)
		size = old_commit(manifest, name, &commit);
	if (!size)
		size = commit_in_name(name, &commit);
	text = size ? strndup(commit, size < MAX_COMMIT ? size : MAX_COMMIT) : NULL;
	if (!text)
		return;
	fputs(", \"commit\": ", out);
	put_json(out, text);
}

int manifest_add(struct manifest *manifest, const char *path, const char *from, const char *commit)
{
	static const char *const keys[] = {
		"host", "cpu", "kernel", "jvm", "command", "event", "rate", "work", "target"};
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	FILE *out = output_stream(manifest->output);
	struct stoke_stats stats;
	int status;

	if (stoke_profile_new(&profile) < 0)
		return say_error(manifest->voice, STATUS_USAGE, "out of memory");
	status = input_read(manifest->voice, from, &(struct stoke_read_options){0}, profile);
	if (status)
		return status;
	fputs(manifest->nr++ ? ",\n" : "\n", out);
	put_file(out, name_of(path));
	put_commit(manifest, name_of(path), commit, out);
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

struct output *manifest_close(struct manifest *manifest)
{
	struct output *output = manifest->output;

	if (output)
		fputs("\n]}\n", output_stream(output));
	free(manifest->old);
	*manifest = (struct manifest){0};
	return output;
}
