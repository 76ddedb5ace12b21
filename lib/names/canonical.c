/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canonical.c: the order of the rules. A round asks each once; rounds go on until one changes
 * nothing, so that what is canonical stays as it is.
 */
#include "names/canonical.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "names/java.h"
#include "names/rule.h"

/* One round does for what tools write. A name that was made to need more than this many is not
 * worth more work. */
#define MAX_ROUNDS 32

/* A name on its way: the text, and the buffer that the next step writes into. */
struct work {
	struct canonical *canonical;
	struct part name;
	unsigned next;
	unsigned nr_changes;
	uint64_t has[4]; /* which bytes the name has */
};

void canonical_done(struct canonical *canonical)
{
	for (size_t i = 0; i < ARRAY_SIZE(canonical->text); i++)
		free(canonical->text[i].bytes);
	*canonical = (struct canonical){0};
}

static int text_add(struct canonical_text *text, const char *bytes, size_t size)
{
	int r = array_reserve(&text->bytes, &text->capacity, text->nr, size + 1);

	if (r < 0)
		return r;
	memcpy(text->bytes + text->nr, bytes, size);
	text->nr += size;
	return 0;
}

static void note_bytes(struct work *work)
{
	memset(work->has, 0, sizeof(work->has));
	for (size_t i = 0; i < work->name.size; i++) {
		unsigned char c = (unsigned char)work->name.text[i];

		work->has[c / 64] |= 1ull << (c % 64);
	}
}

static int has_byte(const struct work *work, char byte)
{
	unsigned char c = (unsigned char)byte;

	return (work->has[c / 64] >> (c % 64)) & 1;
}

/* What was written is the name now. */
static void take_text(struct work *work)
{
	const struct canonical_text *text = &work->canonical->text[work->next];

	work->name = (struct part){text->bytes, text->nr};
	work->next = !work->next;
	work->nr_changes++;
	note_bytes(work);
}

static const char *find_word(const struct part *name, size_t from, const struct rule *rule)
{
	return from < name->size ? memmem(name->text + from, name->size - from, rule->word,
					   strlen(rule->word))
				 : NULL;
}

static int apply_rule(struct work *work, const struct rule *rule)
{
	struct canonical_text *text = &work->canonical->text[work->next];
	struct part name = work->name;
	size_t done = 0, from = 0;
	const char *found;
	int r = 0;

	text->nr = 0;
	while (r >= 0 && (found = find_word(&name, from, rule))) {
		size_t at = (size_t)(found - name.text);
		struct part with = {"", 0};
		size_t n = rule->match(rule, &name, at, &with);

		from = at + (n ? n : 1);
		if (!n)
			continue;
		r = text_add(text, name.text + done, at - done);
		if (r >= 0)
			r = text_add(text, with.text, with.size);
		done = from;
	}
	if (r < 0 || !done)
		return r;
	r = text_add(text, name.text + done, name.size - done);
	if (r < 0)
		return r;
	take_text(work);
	return 0;
}

static int apply_rules(struct work *work, const struct rule *rules)
{
	int r = 0;

	for (; r >= 0 && rules->word; rules++) {
		if (has_byte(work, rules->word[0]))
			r = apply_rule(work, rules);
	}
	return r;
}

/* Java as each tool spells it: "com.foo.Bar.baz". */
static int apply_java(struct work *work)
{
	struct canonical_text *text = &work->canonical->text[work->next];
	int r;

	if (!has_byte(work, '.') && !has_byte(work, ':'))
		return 0;
	text->nr = 0;
	/* No spelling of Java is longer than what it was read from. */
	r = array_reserve(&text->bytes, &text->capacity, 0, work->name.size + 1);
	if (r < 0)
		return r;
	text->nr = java_spelling(work->name.text, work->name.size, text->bytes);
	if (text->nr)
		take_text(work);
	return 0;
}

/* "libfoo.so", "libfoo.so.1.2" */
static int is_library(const char *name, size_t size)
{
	while (size && (is_digit(name[size - 1]) || name[size - 1] == '.'))
		size--;
	return size > 3 && memcmp(name + size - 3, ".so", 3) == 0;
}

/* "libfoo.so.1+0x12", "[node+0x1a2b]": a place without a name is its library. */
static int apply_place(struct work *work)
{
	struct canonical_text *text = &work->canonical->text[work->next];
	struct part name = work->name;
	const char *plus = memmem(name.text, name.size, "+0x", 3);
	size_t start = byte_at(&name, 0, '['), end, digits;
	int r;

	if (!plus || plus == name.text + start)
		return 0;
	end = (size_t)(plus - name.text);
	digits = skip_bytes(&name, end + 3, is_hex);
	if (digits == end + 3 || !ends_at(&name, digits + start) ||
		(start && !byte_at(&name, digits, ']')))
		return 0;
	for (size_t i = start; i < end; i++) {
		if (!is_word(name.text[i]) && !strchr("./+-", name.text[i]))
			return 0;
	}
	/* Without brackets it may be a function: "tcp_ack+0x12". */
	if (!start && !is_library(name.text, end))
		return 0;
	text->nr = 0;
	r = text_add(text, "[", 1);
	if (r >= 0)
		r = text_add(text, name.text + start, end - start);
	if (r >= 0)
		r = text_add(text, "]", 1);
	if (r >= 0)
		take_text(work);
	return r;
}

static int is_unknown(const struct part *name)
{
	size_t open = byte_at(name, 0, '['), close = byte_at(name, name->size - 1, ']');

	if (text_at(name, open, "unknown") && name->size == open + 7 + close)
		return 1;
	return text_at(name, 0, "0x") && name->size > 2 &&
	       skip_bytes(name, 2, is_hex) == name->size;
}

static void cut_end(struct work *work)
{
	size_t size = build_stem(work->name.text, work->name.size);

	work->nr_changes += size != work->name.size;
	work->name.size = size;
}

static int one_round(struct work *work, enum stoke_names level)
{
	int r = apply_java(work);

	if (r >= 0)
		r = apply_place(work);
	if (r >= 0)
		r = apply_rules(work, spelling_rules);
	if (r >= 0)
		r = apply_rules(work, generated_rules);
	if (r >= 0)
		r = apply_rules(work, build_rules);
	if (r >= 0)
		cut_end(work);
	if (r >= 0 && level == STOKE_NAMES_JDK)
		r = apply_rules(work, release_rules);
	return r;
}

int canonical_name(struct canonical *canonical, const char *name, size_t size,
	enum stoke_names level, const char **ret, size_t *ret_size)
{
	struct work work = {.canonical = canonical, .name = {name, size}};
	int r = 0;

	if (level != STOKE_NAMES_NONE && size) {
		note_bytes(&work);
		for (int i = 0; i < MAX_ROUNDS && r >= 0; i++) {
			unsigned before = work.nr_changes;

			r = one_round(&work, level);
			if (work.nr_changes == before)
				break;
		}
		if (r < 0)
			return r;
		if (is_unknown(&work.name))
			work.name = part_of("[unknown]");
		else if (level == STOKE_NAMES_JDK &&
			 release_is_bridge(work.name.text, work.name.size))
			work.name = part_of(RELEASE_BRIDGE);
	}
	*ret = work.name.text;
	*ret_size = work.name.size;
	return 0;
}
