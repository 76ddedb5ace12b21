/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_BYTES_H
#define STOKE_NAMES_BYTES_H

/* What bytes of names are. Never by locale; bytes behind 0x7f are letters of some script. */

static inline int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline int is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline int is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline int is_lower_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static inline int is_word(char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || (c & 0x80) || c == '_';
}

#endif
