/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_JSON_WRITER_H
#define STOKE_REPORT_JSON_WRITER_H

/* One JSON object, written member by member: lists an element a line, each made, written, freed. */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "diff/comparison.h"
#include "profile/profile.h"

/* A report in the making. Errors stick, as those of the stream do. */
struct writer {
	const struct stoke_profile *profile;
	FILE *out;
	int error; /* 0 or -ENOMEM */
	int nr_members, nr_elements;
};

/* Writes a value and lets go of it. NULL: there was no memory for it. */
void writer_put(struct writer *writer, json_t *value);
void writer_put_member(struct writer *writer, const char *name, json_t *value);
void writer_begin_member(struct writer *writer, const char *name);
void writer_begin_list(struct writer *writer, const char *name);
void writer_begin_element(struct writer *writer);
void writer_end_list(struct writer *writer);

/* JSON's readers hold numbers in 64 bits with a sign at best. */
json_t *writer_number(uint64_t value);
/* null for what is no number. */
json_t *writer_double(double value);
/* Bytes of a target, printable. */
json_t *writer_text(const char *bytes, size_t size);
/* A C string, or null. */
json_t *writer_text_or_null(const char *text);
/* A string of the profile. */
json_t *writer_string_of(const struct stoke_profile *profile, uint32_t id);
/* What a run says of itself, in pairs: a key may come more than once. */
json_t *writer_facts(struct writer *writer, const struct run *run);
/* Takes over value. */
void writer_set(struct writer *writer, json_t *object, const char *key, json_t *value);
/* Takes over value. */
void writer_append(struct writer *writer, json_t *list, json_t *value);

/* The members of a comparison; 0 or -ENOMEM. */
int json_comparison(const struct stoke_comparison *comparison, const void *params, FILE *out);

#endif
