/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_UTF8_H
#define STOKE_VIEW_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The character at text[*at] of valid UTF-8 (as text_printable() makes it), and on to the next. */
static inline uint32_t utf8_next(const char *text, size_t size, size_t *at)
{
	unsigned char first = (unsigned char)text[*at];
	unsigned more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	uint32_t c = more ? first & (0x3fu >> more) : first;

	for (++*at; more && *at < size; more--, ++*at)
		c = c << 6 | ((unsigned char)text[*at] & 0x3f);
	return c;
}

#endif
