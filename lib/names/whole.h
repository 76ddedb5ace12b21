/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_WHOLE_H
#define STOKE_NAMES_WHOLE_H

#include <stddef.h>

/* The size without the first bytes of a character that the end of text cuts in two. Names may be
 * any bytes, so this looks no further back than a character can reach. */
static inline size_t whole_characters(const char *text, size_t size)
{
	for (size_t tail = 0; tail < 4 && tail < size; tail++) {
		unsigned char c = (unsigned char)text[size - 1 - tail];
		size_t want = c >= 0xf8 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		if ((c & 0xc0) != 0x80)
			return want > tail ? size - 1 - tail : size;
	}
	return size;
}

#endif
