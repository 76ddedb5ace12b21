/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: UTF-8 taken apart by the letter of Unicode 15, table 3-7, and made harmless. */
#include "base/text.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/width.h"

#define NOT_A_CHARACTER UINT32_MAX

/*
 * One character from the start of p (size > 0): its bytes, *ret its code point. What is not UTF-8
 * gives NOT_A_CHARACTER and the length of the maximal part that could have begun a character.
 */
static size_t decode(const unsigned char *p, size_t size, uint32_t *ret)
{
	unsigned char low = 0x80, high = 0xbf;
	uint32_t c = p[0];
	size_t more, i;

	*ret = c;
	if (c < 0x80)
		return 1;
	*ret = NOT_A_CHARACTER;
	if (c < 0xc2 || c > 0xf4)
		return 1;
	more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	/* Only the second byte is ever restricted: no overlong forms, no surrogates, nothing past
	 * U+10FFFF. */
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	c &= 0x3fu >> more;
	for (i = 1; i <= more; i++) {
		if (i >= size || p[i] < low || p[i] > high)
			return i;
		c = c << 6 | (p[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	*ret = c;
	return i;
}

/* Drives a terminal, hides, or turns the direction of what follows. */
static int is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

/* "\x1b" or "\u202e": 4 or 6 bytes. */
static size_t spell_out(char out[6], uint32_t c)
{
	static const char digits[] = "0123456789abcdef";
	unsigned nr_digits = c < 0x100 ? 2 : 4;

	out[0] = '\\';
	out[1] = c < 0x100 ? 'x' : 'u';
	for (unsigned i = 0; i < nr_digits; i++)
		out[2 + i] = digits[c >> (4 * (nr_digits - 1 - i)) & 15];
	return 2 + nr_digits;
}

/* The printable form of the character at p, as a pointer into p or buffer. */
static size_t printable(const unsigned char *p, size_t size, char buffer[6], const char **ret_form,
	size_t *ret_form_size)
{
	uint32_t c;
	size_t used = decode(p, size, &c);

	if (c == NOT_A_CHARACTER) {
		*ret_form = "\xef\xbf\xbd";
		*ret_form_size = 3;
	} else if (c == '\t') {
		*ret_form = " "; /* which is what it shows as everywhere */
		*ret_form_size = 1;
	} else if (is_harmful(c)) {
		*ret_form = buffer;
		*ret_form_size = spell_out(buffer, c);
	} else {
		*ret_form = (const char *)p;
		*ret_form_size = used;
	}
	return used;
}

size_t text_printable(char *out, size_t room, const char *in, size_t size)
{
	const unsigned char *p = (const unsigned char *)in;
	size_t used = 0, form_size;
	const char *form;
	char buffer[6];

	for (size_t i = 0; i < size;) {
		i += printable(p + i, size - i, buffer, &form, &form_size);
		if (form_size > room - used)
			return SIZE_MAX;
		memcpy(out + used, form, form_size);
		used += form_size;
	}
	return used;
}

void text_print(FILE *out, const char *in, size_t size)
{
	const unsigned char *p = (const unsigned char *)in;
	const char *form;
	size_t form_size;
	char buffer[6];

	for (size_t i = 0; i < size;) {
		i += printable(p + i, size - i, buffer, &form, &form_size);
		/* The stream keeps its error for whoever closes it. */
		(void)fwrite(form, 1, form_size, out);
	}
}

static int is_in(const struct range *ranges, size_t nr, uint32_t c)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr && c >= ranges[low].first;
}

static size_t columns_of(uint32_t c)
{
	if (c < 0x300 || c == NOT_A_CHARACTER)
		return 1;
	if (is_in(zero_width, ARRAY_SIZE(zero_width), c))
		return 0;
	return is_in(double_width, ARRAY_SIZE(double_width), c) ? 2 : 1;
}

size_t text_columns(const char *text, size_t size)
{
	size_t columns = 0;
	uint32_t c;

	for (size_t i = 0; i < size;) {
		i += decode((const unsigned char *)text + i, size - i, &c);
		columns += columns_of(c);
	}
	return columns;
}

size_t text_cut(const char *text, size_t size, size_t columns)
{
	size_t i = 0;
	uint32_t c;

	while (i < size) {
		size_t used = decode((const unsigned char *)text + i, size - i, &c);
		size_t width = columns_of(c);

		/* Combining marks stay with the character before them. */
		if (width > columns)
			break;
		columns -= width;
		i += used;
	}
	return i;
}

char *text_count(char *buffer, unsigned long long count)
{
	char digits[24];
	int nr = snprintf(digits, sizeof(digits), "%llu", count);
	char *to = buffer;

	for (int i = 0; i < nr; i++) {
		if (i && (nr - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buffer;
}

/*
 * In integers, since printf's doubles follow the locale. What is not all is never shown as 100 %,
 * nor what is not nothing as 0 %.
 */
char *text_share(char *buffer, unsigned long long part, unsigned long long whole)
{
	unsigned long long tenths, hundredths;

	if (!whole || !part) {
		(void)snprintf(buffer, 32, "0 %%");
		return buffer;
	}
	hundredths = (unsigned long long)(((__uint128_t)part * 10000 + whole / 2) / whole);
	tenths = (unsigned long long)(((__uint128_t)part * 1000 + whole / 2) / whole);
	if (part == whole)
		(void)snprintf(buffer, 32, "100 %%");
	else if (!hundredths)
		(void)snprintf(buffer, 32, "<0.01 %%");
	else if (hundredths < 10)
		(void)snprintf(buffer, 32, "0.%02llu %%", hundredths);
	else if (part < whole && tenths >= 1000)
		(void)snprintf(buffer, 32, "99.9 %%");
	else
		(void)snprintf(buffer, 32, "%llu.%llu %%", tenths / 10, tenths % 10);
	return buffer;
}
