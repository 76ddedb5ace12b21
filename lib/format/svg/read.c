/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c: the profile inside of a picture that stoke drew: three elements of metadata, of which
 * one is JSON. Everything else in the file is passed over, not understood.
 */
#include "format/svg/read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "view/payload.h"

#define MAX_BYTES	((size_t)256 << 20) /* of a picture; those that stoke draws have 2 MB */
#define MAX_META_BYTES	((size_t)4 << 20)
#define START_MAX_BYTES 4096

/* A file being read. */
struct picture {
	struct stoke_profile *profile;
	uint32_t run;
	unsigned value; /* column of the numbers */
	const char *text;
	size_t size;
	char *meta, *names, *tree; /* without XML's entities */
	size_t meta_size, names_size, tree_size;
	json_t *json;
};

static const char *find(const char *text, size_t size, const char *what)
{
	return memmem(text, size, what, strlen(what));
}

/* An SVG by its first element, whoever drew it. */
static const char *find_svg(const uint8_t *start, size_t size)
{
	const char *text = (const char *)start;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	while (size && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t')) {
		text++;
		size--;
	}
	if (size < 5 || (memcmp(text, "<?xml", 5) && memcmp(text, "<svg ", 5) &&
				memcmp(text, "<!DOC", 5) && memcmp(text, "<!--", 4)))
		return NULL;
	return find(text, size, "<svg ");
}

int svg_recognise(const uint8_t *start, size_t size)
{
	return find_svg(start, size) ? 100 : 0;
}

/* The root element says that stoke drew it. */
static int is_ours(const char *text, size_t size)
{
	size_t start_size = size < START_MAX_BYTES ? size : START_MAX_BYTES;
	const char *svg = find_svg((const uint8_t *)text, start_size), *end;

	if (!svg)
		return 0;
	end = memchr(svg, '>', (size_t)(text + start_size - svg));
	return end && find(svg, (size_t)(end - svg), "class=\"stoke\"");
}

/* Takes back what view/xml.c did. 0 or -EINVAL for entities that it does not write. */
static int unescape(char *text, size_t *size)
{
	static const struct {
		const char *entity;
		char byte;
	} entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
	size_t to = 0;

	for (size_t at = 0; at < *size;) {
		size_t i = 0, n = 0;

		if (text[at] != '&') {
			text[to++] = text[at++];
			continue;
		}
		for (; i < ARRAY_SIZE(entities); i++) {
			n = strlen(entities[i].entity);
			if (*size - at >= n && memcmp(text + at, entities[i].entity, n) == 0)
				break;
		}
		if (i == ARRAY_SIZE(entities))
			return -EINVAL;
		text[to++] = entities[i].byte;
		at += n;
	}
	*size = to;
	text[to] = '\0';
	return 0;
}

/* The text of the last element of metadata of this class: what is drawn stands before it. */
static int take_metadata(
	const struct picture *picture, const char *class, char **ret, size_t *ret_size)
{
	const char *at = picture->text, *end = picture->text + picture->size, *found = NULL, *stop;
	char tag[64];
	size_t tag_size =
		(size_t)snprintf(tag, sizeof(tag), "<metadata class=\"%s\">", class); /* fits */

	while ((at = find(at, (size_t)(end - at), tag))) {
		at += tag_size;
		found = at;
	}
	if (!found)
		return -ENOENT;
	stop = find(found, (size_t)(end - found), "</metadata>");
	if (!stop)
		return -ENOENT;
	*ret_size = (size_t)(stop - found);
	*ret = malloc(*ret_size + 1);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, found, *ret_size);
	return unescape(*ret, ret_size);
}

static int add_facts(struct picture *picture)
{
	const json_t *list = json_object_get(picture->json, "run");
	int r = 0;

	for (size_t i = 0; r >= 0 && i < json_array_size(list); i++) {
		const json_t *pair = json_array_get(list, i);
		const char *key = json_string_value(json_array_get(pair, 0));
		const char *value = json_string_value(json_array_get(pair, 1));

		if (!key || !value || !*key)
			continue;
		if (strcmp(key, "event") == 0)
			r = profile_text(picture->profile, value,
				&picture->profile->runs[picture->run].event);
		if (r >= 0)
			r = profile_fact(picture->profile, picture->run, key, value);
	}
	return r;
}

static uint64_t number(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static int add_quality(struct picture *picture, const json_t *capture)
{
	struct quality *quality = &picture->profile->runs[picture->run].quality;
	const json_t *counts = json_object_get(capture, "quality");
	const json_t *warnings = json_object_get(capture, "warnings");
	uint64_t hidden = quality->count[QUALITY_HIDDEN_NODES]; /* counted in the tree */
	const char *text;
	int r = 0;

	for (unsigned c = 0; c < NR_QUALITY_COUNTS; c++)
		quality->count[c] = number(counts, quality_name((enum quality_count)c));
	quality->count[QUALITY_HIDDEN_NODES] += hidden;
	for (size_t i = 0; r >= 0 && i < json_array_size(warnings); i++) {
		text = json_string_value(json_array_get(warnings, i));
		if (text)
			r = profile_fact(picture->profile, picture->run, "warning", text);
	}
	return r;
}

/*
 * A picture shows one value. Of CPU time the number of samples is made, by what one stood for on
 * average: a share needs no more, and evidence is counted in samples.
 */
static int add_samples(struct picture *picture, uint64_t nr_samples)
{
	struct stoke_profile *profile = picture->profile;
	uint64_t total = 0;
	unsigned samples;
	double each;
	int r = profile_value(profile, "samples", "count", &samples);

	if (r < 0 || samples == picture->value)
		return r;
	for (size_t i = 0; i < profile->rows.nr; i++)
		if (profile->rows.run[i] == picture->run &&
			__builtin_add_overflow(
				total, profile->rows.value[picture->value][i], &total))
			total = UINT64_MAX;
	if (!nr_samples || !total)
		return 0;
	each = (double)total / (double)nr_samples;
	for (size_t i = 0; i < profile->rows.nr; i++) {
		double nr = (double)profile->rows.value[picture->value][i] / each + 0.5;

		if (profile->rows.run[i] == picture->run)
			profile->rows.value[samples][i] = nr < 1	? 1
							  : nr < 0x1p63 ? (uint64_t)nr
									: UINT64_MAX;
	}
	return 0;
}

/* What the numbers are: the words that pictures use for them. */
static int add_value(struct picture *picture)
{
	struct stoke_profile *profile = picture->profile;
	const char *unit = json_string_value(json_object_get(picture->json, "unit"));
	int is_time = unit && strcmp(unit, "ns") == 0, r;

	if (!unit || !*unit)
		return -EINVAL;
	r = profile_value(profile, is_time ? "cpu" : unit, is_time ? "nanoseconds" : "count",
		&picture->value);
	if (r >= 0 && profile->nr_runs == 1)
		profile->default_value = picture->value;
	return r;
}

/* Kinds that were guessed for the picture are not said of the profile. */
static void forget_guesses(struct picture *picture, const char *guessed)
{
	char *entry = picture->names, *end = picture->names + picture->names_size;

	while (guessed && entry < end) {
		if (*entry && strchr(guessed, *entry))
			*entry = 'u';
		entry = memchr(entry, '\n', (size_t)(end - entry));
		entry = entry ? entry + 1 : end;
	}
}

static int add_run(struct picture *picture, const char *name)
{
	const json_t *capture = json_object_get(picture->json, "capture");
	struct run *run;
	int r = profile_run(picture->profile, name, &picture->run);

	forget_guesses(picture, json_string_value(json_object_get(capture, "guessed")));
	if (r >= 0)
		r = add_value(picture);
	if (r >= 0)
		r = add_facts(picture);
	if (r >= 0)
		r = payload_read(picture->profile, picture->run, picture->value, picture->names,
			picture->names_size, picture->tree, picture->tree_size);
	if (r >= 0)
		r = add_quality(picture, capture);
	if (r < 0)
		return r;
	run = &picture->profile->runs[picture->run];
	run->start_ns = number(capture, "start_ns");
	run->duration_ns = number(capture, "duration_ns");
	run->period = number(capture, "period");
	if (run->period)
		run->period_type = picture->profile->values[picture->value];
	return add_samples(picture, number(capture, "samples"));
}

static int refuse(const struct input *input, int what, struct stoke_error *err)
{
	const char *name = input_name(input);

	if (what == -ENOENT)
		return fail(err, -EINVAL,
			"%s is a picture that has lost its profile: something took out the "
			"metadata; what it was drawn from can be read",
			name);
	if (what == -EINVAL)
		return fail(
			err, -EINVAL, "%s is a damaged picture: its profile cannot be read", name);
	return fail(err, what, "out of memory while reading %s", name);
}

static int read_picture(struct picture *picture, const char *name, const struct input *input,
	struct stoke_error *err)
{
	const char *type;
	int r = take_metadata(picture, "sk-meta", &picture->meta, &picture->meta_size);

	if (r >= 0)
		r = take_metadata(picture, "sk-names", &picture->names, &picture->names_size);
	if (r >= 0)
		r = take_metadata(picture, "sk-tree", &picture->tree, &picture->tree_size);
	if (r < 0)
		return refuse(input, r, err);
	if (picture->meta_size <= MAX_META_BYTES)
		picture->json = json_loadb(picture->meta, picture->meta_size, 0, NULL);
	type = json_string_value(json_object_get(picture->json, "type"));
	if (type && strcmp(type, "flame") != 0)
		return fail(err, -EMEDIUMTYPE,
			"%s shows a difference, which is no profile; the two files that it was "
			"drawn from can be read",
			input_name(input));
	if (json_integer_value(json_object_get(picture->json, "v")) > 1)
		return fail(err, -EINVAL, "%s was drawn by a newer stoke, which can read it",
			input_name(input));
	r = type ? add_run(picture, name) : -EINVAL;
	return r < 0 ? refuse(input, r, err) : 0;
}

/* The whole file, as far as pictures are large. */
static ssize_t load(struct input *input, const uint8_t **ret, struct stoke_error *err)
{
	size_t want = 64 << 10;
	ssize_t n;

	for (;; want *= 2) {
		n = input_fill(input, want, ret, err);
		if (n < 0 || (size_t)n < want)
			return n;
		if (want >= MAX_BYTES)
			return fail(err, -E2BIG, "%s is a picture of more than %zu MiB: refused",
				input_name(input), MAX_BYTES >> 20);
	}
}

int svg_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	struct picture picture = {.profile = into};
	const char *name = options && options->name ? options->name : input_name(input);
	const uint8_t *text;
	ssize_t n = load(input, &text, err);
	int r;

	if (n < 0)
		return (int)n;
	picture.text = (const char *)text;
	picture.size = (size_t)n;
	if (!is_ours(picture.text, picture.size))
		return fail(err, -EINVAL,
			"%s is a picture that stoke did not draw: there is no profile in it; what "
			"it was drawn from, .folded or .pb.gz, can be read",
			input_name(input));
	r = read_picture(&picture, name, input, err);
	free(picture.meta);
	free(picture.names);
	free(picture.tree);
	json_decref(picture.json);
	return r;
}
