/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * glob.c: which names a rule means. No fnmatch(3): it reads bytes by the locale, and may take
 * exponential time where names come from others. Here it is the two lengths multiplied at worst.
 */
#include <string.h>

#include "diff/budget.h"

/* Behind a "[...]" that has this byte in it; NULL: not in it. *ret_end: behind it in any case. */
static int in_class(const char *at, const char *end, char c, const char **ret_end)
{
	unsigned char byte = (unsigned char)c;
	int negated = at < end && (*at == '!' || *at == '^'), found = 0, first = 1;

	for (at += negated; at < end && (first || *at != ']'); first = 0) {
		unsigned char low = (unsigned char)*at++, high = low;

		if (end - at >= 2 && at[0] == '-' && at[1] != ']') {
			high = (unsigned char)at[1];
			at += 2;
		}
		found |= byte >= low && byte <= high;
	}
	if (at == end)
		return -1; /* not closed: a bracket as it stands */
	*ret_end = at + 1;
	return found != negated;
}

/* Does one element at *at take the byte c? Moves *at behind it if so. '*' is not for this. */
static int takes(const char **at, const char *end, char c)
{
	const char *p = *at, *behind = p + 1;
	int r;

	if (p == end)
		return 0;
	if (*p == '[' && (r = in_class(p + 1, end, c, &behind)) >= 0) {
		if (!r)
			return 0;
		*at = behind;
		return 1;
	}
	if (*p == '\\' && end - p > 1)
		p++;
	else if (*p == '?')
		c = *p;
	if (*p != c)
		return 0;
	*at = p + 1;
	return 1;
}

static const char *end_of_alternative(const char *glob)
{
	while (*glob && *glob != '|')
		glob += *glob == '\\' && glob[1] ? 2 : 1;
	return glob;
}

const char *budget_glob_complaint(const char *glob)
{
	if (!*glob)
		return "an empty glob means nothing";
	for (;; glob++) {
		const char *end = end_of_alternative(glob);

		while (glob < end) {
			if (*glob == '[' && in_class(glob + 1, end, '\0', &glob) < 0)
				return "a [ is not closed; \\[ is one as it stands";
			else if (*glob != '[')
				glob += *glob == '\\' && glob[1] ? 2 : 1;
		}
		if (!*end)
			return NULL;
	}
}

/* The last '*' takes one byte more at each failure; those before it never need to. */
static int matches_one(const char *glob, const char *end, const char *text, size_t size)
{
	const char *text_end = text + size, *star = NULL, *retry = text;

	if ((size_t)(end - glob) == size && memcmp(glob, text, size) == 0)
		return 1;
	for (;;) {
		if (glob < end && *glob == '*') {
			star = ++glob;
			retry = text;
		} else if (text == text_end) {
			return glob == end;
		} else if (takes(&glob, end, *text)) {
			text++;
		} else if (star) {
			glob = star;
			text = ++retry;
		} else {
			return 0;
		}
	}
}

int budget_matches(const char *glob, const char *text, size_t size)
{
	for (;;) {
		const char *end = end_of_alternative(glob);

		if (matches_one(glob, end, text, size))
			return 1;
		if (!*end)
			return 0;
		glob = end + 1;
	}
}
