/* SPDX-License-Identifier: BSD-2-Clause */
/* columns.c: what fits into a column, and how figures are rounded for people. */
#include "report/columns.h"

#include <string.h>

#include "base/text.h"
#include "names/whole.h"

#define ELLIPSIS      "\xe2\x80\xa6"
#define ELLIPSIS_SIZE 3

static size_t character_size(char c)
{
	unsigned char lead = (unsigned char)c;

	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

/* Bytes to leave out in front so that at most width columns stay; no mark without its letter. */
static size_t front_cut(const char *text, size_t size, size_t columns, size_t width)
{
	size_t at = 0;

	while (at < size) {
		size_t n = character_size(text[at]);
		size_t wide = text_columns(text + at, n);

		if (columns <= width && wide > 0)
			break;
		columns -= wide;
		at += n;
	}
	return at;
}

size_t columns_fit(char *out, const char *name, size_t size, size_t width, enum columns_cut cut)
{
	size_t columns, n;
	int is_cut = size > COLUMNS_NAME_BYTES;

	if (is_cut)
		size = whole_characters(name, COLUMNS_NAME_BYTES);
	n = text_printable(out, COLUMNS_TEXT_BYTES - 1, name, size);
	if (n == SIZE_MAX)
		n = 0; /* cannot be: there is room for the longest form of each byte */
	columns = text_columns(out, n);
	if (columns <= width && !is_cut) {
		out[n] = '\0';
		return columns;
	}
	if (width == 0) {
		out[0] = '\0';
		return 0;
	}
	if (cut == COLUMNS_CUT_START && !is_cut) {
		size_t at = front_cut(out, n, columns, width - 1);

		n -= at;
		memmove(out + ELLIPSIS_SIZE, out + at, n);
		memcpy(out, ELLIPSIS, ELLIPSIS_SIZE);
	} else {
		n = text_cut(out, n, width - 1);
		memcpy(out + n, ELLIPSIS, ELLIPSIS_SIZE);
	}
	n += ELLIPSIS_SIZE;
	out[n] = '\0';
	return text_columns(out, n);
}

void columns_name(FILE *out, const char *name, size_t size, size_t width, enum columns_cut cut)
{
	char text[COLUMNS_TEXT_BYTES];
	size_t columns = columns_fit(text, name, size, width, cut);

	fprintf(out, "%s%*s", text, (int)(width - columns), "");
}

char *columns_share(char *buffer, uint64_t part, uint64_t whole)
{
	__uint128_t hundred = (__uint128_t)part * 100;
	uint64_t pct = whole ? (uint64_t)((hundred + whole / 2) / whole) : 0;

	if (hundred < (__uint128_t)whole * 10 || pct >= 100)
		return text_share(buffer, part, whole);
	(void)snprintf(buffer, 32, "%llu %%", (unsigned long long)pct);
	return buffer;
}

char *columns_quotient(char *buffer, uint64_t amount, uint64_t per)
{
	__uint128_t hundredths = per ? ((__uint128_t)amount * 100 + per / 2) / per : 0;
	uint64_t all = hundredths > UINT64_MAX ? UINT64_MAX : (uint64_t)hundredths;

	if (amount && !all)
		(void)snprintf(buffer, 32, "<0.01");
	else
		(void)snprintf(buffer, 32, "%llu.%02llu", (unsigned long long)(all / 100),
			(unsigned long long)(all % 100));
	return buffer;
}
