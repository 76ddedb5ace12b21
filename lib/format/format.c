/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.c: the table of formats, made from the list in meson.build; which of them a file is, by
 * its content; and what to say of files that people mistake for profiles.
 */
#include "format/format.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lists.h"

#define START_BYTES 4096
/* A format that is this sure needs no other opinion. */
#define SURE	       50
#define STANDARD_INPUT "standard input" /* what commands call it */

#define DECLARE(name) extern const struct format format_##name;
STOKE_FORMATS(DECLARE)

#define ENTRY(name) &format_##name,
const struct format *const formats[] = {STOKE_FORMATS(ENTRY)};
const size_t nr_formats = ARRAY_SIZE(formats);

struct foreign {
	const char *magic;
	size_t size;
	const char *is; /* what it is, then the cure; %s in the cure is the file's name */
	const char *cure;
};

#define UTF_16	    2 /* place in the list */
#define MAGIC(text) text, sizeof(text) - 1
static const struct foreign foreign_files[] = {
	{MAGIC("PERFILE2"), "perf's binary format",
		"perf script -i %s | stoke flamegraph - -o x.svg"},
	{MAGIC("FLR\0"), "a recording of Java Flight Recorder", "jfrconv -o collapsed %s x.folded"},
	[UTF_16] = {MAGIC("\xff\xfe"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8 %s >x.folded"},
	{MAGIC("\xfe\xff"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8 %s >x.folded"},
	{MAGIC("\x7f"
	       "ELF"),
		"a program, not a profile", "stoke record -- %s records one"},
	{MAGIC("BZh"), "packed by bzip2", "bzip2 -dc %s | stoke flamegraph - -o x.svg"},
	{MAGIC("\xfd"
	       "7zXZ"),
		"packed by xz", "xz -dc %s | stoke flamegraph - -o x.svg"},
	{MAGIC("\x28\xb5\x2f\xfd"), "packed by zstd", "zstd -dc %s | stoke flamegraph - -o x.svg"},
	{MAGIC("PK\x03\x04"), "a zip archive", "unpack %s first"},
	{MAGIC("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"), "a CPU profile in gperftools' old format",
		"pprof -proto %s >x.pb.gz"},
	{MAGIC("--- "), "a profile in gperftools' old format", "pprof -proto %s >x.pb.gz"},
	{MAGIC("heap profile: "), "a profile in gperftools' old format",
		"pprof -proto %s >x.pb.gz"},
	{MAGIC("\x89PNG"), "a picture", "what %s was made from, .folded or .pb.gz, can be read"},
};

/* Text, looked for behind white space and in any case of letters. */
static const struct foreign foreign_texts[] = {
	{MAGIC("<!doctype html"), "a web page, not a profile",
		"was the download of %s refused by a login page?"},
	{MAGIC("<html"), "a web page, not a profile",
		"was the download of %s refused by a login page?"},
	{MAGIC("<?xml"), "XML, perhaps a drawn flame graph",
		"what %s was made from, .folded or .pb.gz, can be read"},
	{MAGIC("<svg"), "a picture, not a profile",
		"what %s was made from, .folded or .pb.gz, can be read"},
	{MAGIC("{"), "JSON, which this version does not read",
		"the tool that wrote %s can write folded text or pprof instead"},
};

const struct format *format_find(const char *name, size_t size)
{
	for (size_t i = 0; i < nr_formats; i++) {
		if (strlen(formats[i]->name) == size && memcmp(formats[i]->name, name, size) == 0)
			return formats[i];
	}
	return NULL;
}

static int starts_like(const uint8_t *start, size_t size, const struct foreign *foreign)
{
	if (size < foreign->size)
		return 0;
	for (size_t i = 0; i < foreign->size; i++) {
		if (tolower(start[i]) != tolower((unsigned char)foreign->magic[i]))
			return 0;
	}
	return 1;
}

static int refuse(const char *name, const struct foreign *foreign, struct stoke_error *err)
{
	const char *hole = strstr(foreign->cure, "%s");
	int before = (int)(hole - foreign->cure);

	/* A stream has no name that a command could take: the command reads it, too. */
	if (!strcmp(name, STANDARD_INPUT))
		return fail(err, -EINVAL, "%s is %s: %.*s%s", name, foreign->is,
			before && foreign->cure[before - 1] == ' ' ? before - 1 : before,
			foreign->cure, hole + 2);
	return fail(err, -EINVAL, "%s is %s: %.*s%s%s", name, foreign->is, before, foreign->cure,
		name, hole + 2);
}

/* Bytes that no text of ours begins with: so sure that no format is asked. */
static int is_binary(const struct foreign *foreign)
{
	for (size_t i = 0; i < foreign->size; i++) {
		unsigned char byte = (unsigned char)foreign->magic[i];

		if (byte < ' ' || byte > '~')
			return 1;
	}
	return memcmp(foreign->magic, "--- ", 4) == 0; /* gperftools' headings */
}

static const struct foreign *find_foreign(const uint8_t *start, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_files); i++) {
		const struct foreign *foreign = &foreign_files[i];

		if (size >= foreign->size && memcmp(start, foreign->magic, foreign->size) == 0)
			return foreign;
	}
	return NULL;
}

/* Four letters and four zeros. */
static int is_every_other(const uint8_t *start, size_t first)
{
	for (size_t i = 0; i < 8; i += 2)
		if (!start[i + first] || start[i + 1 - first])
			return 0;
	return 1;
}

static int refuse_foreign(
	const char *name, const uint8_t *start, size_t size, struct stoke_error *err)
{
	const struct foreign *foreign = find_foreign(start, size);

	if (foreign)
		return refuse(name, foreign, err);
	/* UTF-16 without its mark: every other byte of plain letters is 0. */
	if (size >= 8 && (is_every_other(start, 0) || is_every_other(start, 1)))
		return refuse(name, &foreign_files[UTF_16], err);
	while (size && isspace(*start)) {
		start++;
		size--;
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreign_texts); i++) {
		if (starts_like(start, size, &foreign_texts[i]))
			return refuse(name, &foreign_texts[i], err);
	}
	return 0;
}

int format_recognise(struct input *input, const struct format **ret, struct stoke_error *err)
{
	const struct format *best = NULL;
	const struct foreign *foreign;
	const uint8_t *start;
	int best_score = 0, r;
	ssize_t n = input_fill(input, START_BYTES, &start, err);
	size_t size;

	if (n < 0)
		return (int)n;
	size = (size_t)n < START_BYTES ? (size_t)n : START_BYTES;
	foreign = find_foreign(start, size);
	if (foreign && is_binary(foreign))
		return refuse(input_name(input), foreign, err);
	for (size_t i = 0; i < nr_formats; i++) {
		int score = formats[i]->read ? formats[i]->recognise(start, size) : 0;

		if (score > best_score) {
			best_score = score;
			best = formats[i];
		}
	}
	if (best_score < SURE) {
		r = refuse_foreign(input_name(input), start, size, err);
		if (r < 0)
			return r;
	}
	if (!best)
		return fail(err, -EINVAL,
			"%s is no profile that stoke knows: it reads folded text, the text of "
			"perf script, pprof and pictures that it drew",
			input_name(input));
	*ret = best;
	return 0;
}
