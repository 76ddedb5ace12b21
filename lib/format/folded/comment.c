/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * comment.c: lines that FlameGraph's tools skip, in which a capture keeps its time. They end in
 * ';', since flamegraph.pl takes a line that ends in a blank and digits for a stack.
 */
#include "format/folded.h"

#include <string.h>

#define MAX_TEXT 64

/* The rest behind a word, without blanks and the ';' around it. 0: it is another word. */
static int has_word(const char *line, size_t size, const char *word, struct folded_comment *ret)
{
	size_t word_size = strlen(word);

	if (size < word_size || memcmp(line, word, word_size) != 0)
		return 0;
	line += word_size;
	size -= word_size;
	while (size && (line[size - 1] == ';' || line[size - 1] == ' ' || line[size - 1] == '\r'))
		size--;
	for (; size && *line == ' '; size--)
		line++;
	ret->text = line;
	ret->size = size;
	return 1;
}

/* "12.5s", "20ms": to nanoseconds. */
static const char *parse_time(const char *text, size_t size, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	uint64_t whole = 0, part = 0, unit = 0;
	size_t at = 0;

	for (; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
			__builtin_add_overflow(whole, (uint64_t)(text[at] - '0'), &whole))
			return "the time of the slice is too large";
	}
	if (!at)
		return "no time in a #slice line";
	if (at < size && text[at] == '.') {
		uint64_t digit_ns = 100000000;

		for (at++; at < size && text[at] >= '0' && text[at] <= '9'; at++, digit_ns /= 10)
			part += digit_ns * (uint64_t)(text[at] - '0');
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strlen(units[i].unit) == size - at &&
			memcmp(units[i].unit, text + at, size - at) == 0)
			unit = units[i].ns;
	}
	if (!unit)
		return "the time of the slice has no unit: s, ms, us or ns";
	if (__builtin_mul_overflow(whole, unit, &whole) ||
		__builtin_add_overflow(whole, part / (1000000000 / unit), &whole))
		return "the time of the slice is too large";
	*ret = whole;
	return NULL;
}

const char *folded_comment(const char *line, size_t size, struct folded_comment *ret)
{
	ret->kind = FOLDED_NOTHING;
	if (has_word(line, size, "#slice t=", ret)) {
		ret->kind = FOLDED_SLICE;
		return parse_time(ret->text, ret->size, &ret->time_ns);
	}
	if (has_word(line, size, "#work ", ret))
		ret->kind = FOLDED_WORK;
	else if (has_word(line, size, "#event ", ret))
		ret->kind = FOLDED_EVENT;
	else if (has_word(line, size, "#freq ", ret))
		ret->kind = FOLDED_RATE;
	if (ret->kind && (!ret->size || ret->size > MAX_TEXT))
		ret->kind = FOLDED_NOTHING;
	return NULL;
}
