/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.c: numbers, fields and lines of text that others wrote, each step bounded and checked. */
#include "base/scan.h"

#include <errno.h>
#include <string.h>

/* The digit's value + 1; 0: no digit. A table, as perf maps have a hundred thousand numbers. */
static const uint8_t digits[256] = {
	['0'] = 1,
	['1'] = 2,
	['2'] = 3,
	['3'] = 4,
	['4'] = 5,
	['5'] = 6,
	['6'] = 7,
	['7'] = 8,
	['8'] = 9,
	['9'] = 10,
	['a'] = 11,
	['b'] = 12,
	['c'] = 13,
	['d'] = 14,
	['e'] = 15,
	['f'] = 16,
	['A'] = 11,
	['B'] = 12,
	['C'] = 13,
	['D'] = 14,
	['E'] = 15,
	['F'] = 16,
};

int scan_decimal(struct scan *scan, uint64_t *ret)
{
	const char *at = scan->at;
	uint64_t value = 0;

	for (; at < scan->end && *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return -ERANGE;
	}
	if (at == scan->at)
		return -EINVAL;
	scan->at = at;
	*ret = value;
	return 0;
}

int scan_hex(struct scan *scan, uint64_t *ret)
{
	const char *at = scan->at;
	uint64_t value = 0;

	for (; at < scan->end; at++) {
		uint8_t digit = digits[(uint8_t)*at];

		if (!digit)
			break;
		if (value >> 60)
			return -ERANGE;
		value = value << 4 | (digit - 1u);
	}
	if (at == scan->at)
		return -EINVAL;
	scan->at = at;
	*ret = value;
	return 0;
}

int scan_hex_prefixed(struct scan *scan, uint64_t *ret)
{
	struct scan after = *scan;
	int r;

	if (scan_left(scan) >= 2 && scan->at[0] == '0' && (scan->at[1] | 0x20) == 'x')
		after.at += 2;
	r = scan_hex(&after, ret);
	if (r < 0)
		return r;
	scan->at = after.at;
	return 0;
}

int scan_byte(struct scan *scan, char byte)
{
	if (scan->at == scan->end || *scan->at != byte)
		return -EINVAL;
	scan->at++;
	return 0;
}

static int blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

size_t scan_blanks(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && blank(*scan->at))
		scan->at++;
	return (size_t)(scan->at - start);
}

size_t scan_field(struct scan *scan, const char **ret)
{
	*ret = scan->at;
	while (scan->at < scan->end && !blank(*scan->at))
		scan->at++;
	return (size_t)(scan->at - *ret);
}

int scan_line(struct scan *scan, struct scan *ret)
{
	const char *newline = NULL;

	if (scan->at < scan->end)
		newline = memchr(scan->at, '\n', scan_left(scan));
	if (!newline)
		return 0;
	*ret = (struct scan){scan->at, newline};
	scan->at = newline + 1;
	return 1;
}
