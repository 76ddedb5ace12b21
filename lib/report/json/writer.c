/* SPDX-License-Identifier: BSD-2-Clause */
/* writer.c: how values become JSON: printable text, numbers that readers can hold. */
#include "report/json/writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}

#define _cleanup_json_ _cleanup_(cleanup_json)

static int put_bytes(const char *buffer, size_t size, void *out)
{
	/* The stream keeps its error for whoever closes it. */
	(void)fwrite(buffer, 1, size, out);
	return 0;
}

void writer_put(struct writer *writer, json_t *value)
{
	_cleanup_json_ json_t *owned = value;

	if (!owned || json_dump_callback(
			      owned, put_bytes, writer->out, JSON_COMPACT | JSON_ENCODE_ANY) < 0)
		writer->error = -ENOMEM;
}

void writer_begin_member(struct writer *writer, const char *name)
{
	fprintf(writer->out, "%s\n\"%s\": ", writer->nr_members++ ? "," : "", name);
}

void writer_put_member(struct writer *writer, const char *name, json_t *value)
{
	writer_begin_member(writer, name);
	writer_put(writer, value);
}

void writer_begin_list(struct writer *writer, const char *name)
{
	writer_begin_member(writer, name);
	fputs("[", writer->out);
	writer->nr_elements = 0;
}

void writer_begin_element(struct writer *writer)
{
	fputs(writer->nr_elements++ ? ",\n" : "\n", writer->out);
}

void writer_end_list(struct writer *writer)
{
	fputs(writer->nr_elements ? "\n]" : "]", writer->out);
}

json_t *writer_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *writer_text(const char *bytes, size_t size)
{
	_cleanup_free_ char *printable = NULL;
	size_t room, n;

	if (size_multiply(size, 6, &room) < 0)
		return NULL;
	printable = malloc(room + 1);
	if (!printable)
		return NULL;
	n = text_printable(printable, room, bytes, size);
	return n == SIZE_MAX ? NULL : json_stringn_nocheck(printable, n);
}

json_t *writer_string_of(const struct stoke_profile *profile, uint32_t id)
{
	return writer_text(
		strings_text(&profile->strings, id), strings_size(&profile->strings, id));
}

void writer_set(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, value) < 0)
		writer->error = -ENOMEM;
}

json_t *writer_facts(struct writer *writer, const struct run *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->nr_facts; i++) {
		json_t *fact = json_array();

		/* Pairs: a key may come more than once. */
		if (json_array_append_new(
			    fact, writer_string_of(writer->profile, run->facts[i].key)) < 0 ||
			json_array_append_new(
				fact, writer_string_of(writer->profile, run->facts[i].value)) < 0)
			writer->error = -ENOMEM;
		if (json_array_append_new(list, fact) < 0)
			writer->error = -ENOMEM;
	}
	return list;
}

json_t *writer_double(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *writer_text_or_null(const char *text)
{
	return text ? writer_text(text, strlen(text)) : json_null();
}

void writer_append(struct writer *writer, json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) < 0)
		writer->error = -ENOMEM;
}
