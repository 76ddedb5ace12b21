/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_RULE_H
#define STOKE_NAMES_RULE_H

/*
 * A rule of canonical names: what is taken off a name, or stands in its place. A new one is a row
 * in the table of its kind (spelling.c, generated.c, builds.c, releases.c) and before/after lines
 * in tests/data/names/canonical.tsv. A row is asked in order, each time with what those before it
 * left. All of them run in time proportional to the name: names are the target's.
 */

#include <stddef.h>
#include <string.h>

#include "names/bytes.h"

struct part {
	const char *text;
	size_t size;
};

struct rule {
	const char *word; /* asked wherever this stands */
	/*
	 * How many bytes of the name from `at` (where the word stands) go; 0: none. *ret, empty
	 * until then, is what comes instead: of the name, or of static life.
	 */
	size_t (*match)(
		const struct rule *rule, const struct part *name, size_t at, struct part *ret);
	const char *with; /* for match() */
};

/* Tables, each ends with a row without a word. */
extern const struct rule spelling_rules[]; /* what tools and machines add to a name */
extern const struct rule generated_rules[]; /* classes that are made as a program runs */
extern const struct rule build_rules[]; /* what compilers and linkers add */
extern const struct rule release_rules[]; /* what moved between releases of the JDK */

/* A match(): the word is the whole name, and another one stands for it. */
size_t rule_renames(const struct rule *rule, const struct part *name, size_t at, struct part *ret);
/* The size of a name without what compilers and linkers put at its end. */
size_t build_stem(const char *text, size_t size);
/* 1: a bridge of reflection or method handles, which each release builds of other classes. */
int release_is_bridge(const char *name, size_t size);
#define RELEASE_BRIDGE "[reflection]"

static inline struct part part_of(const char *text)
{
	return (struct part){text, strlen(text)};
}

/* What stands behind the rule's word. */
static inline size_t behind_word(const struct rule *rule, size_t at)
{
	return at + strlen(rule->word);
}

static inline int ends_at(const struct part *name, size_t at)
{
	return at == name->size;
}

static inline int byte_at(const struct part *name, size_t at, char c)
{
	return at < name->size && name->text[at] == c;
}

static inline int text_at(const struct part *name, size_t at, const char *text)
{
	size_t size = strlen(text);

	return at <= name->size && size <= name->size - at &&
	       memcmp(name->text + at, text, size) == 0;
}

/* The place behind all bytes of a kind that begin at `at`. */
static inline size_t skip_bytes(const struct part *name, size_t at, int (*is)(char))
{
	while (at < name->size && is(name->text[at]))
		at++;
	return at;
}

/* Behind "0x" and hexadecimal digits, or just digits; `at` when there are none. */
static inline size_t skip_number(const struct part *name, size_t at)
{
	size_t end;

	if (text_at(name, at, "0x")) {
		end = skip_bytes(name, at + 2, is_hex);
		if (end > at + 2)
			return end;
	}
	return skip_bytes(name, at, is_digit);
}

/* Behind all of "/0x7f12", "+0x7f12/578866604", ".0x7f12", "/1283928880" that follow. */
size_t skip_addresses(const struct part *name, size_t at);

#endif
