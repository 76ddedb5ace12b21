/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_SCAN_H
#define STOKE_BASE_SCAN_H

/*
 * A bounded cursor over bytes that others wrote. Nothing here reads at or behind `end`; what is
 * read moves `at`, a failure leaves it where it was.
 */

#include <stddef.h>
#include <stdint.h>

struct scan {
	const char *at, *end;
};

static inline struct scan scan_of(const char *text, size_t size)
{
	return (struct scan){text, text + size};
}

static inline size_t scan_left(const struct scan *scan)
{
	return (size_t)(scan->end - scan->at);
}

/* Digits only. 0, -EINVAL no digit, -ERANGE does not fit in 64 bits. */
int scan_decimal(struct scan *scan, uint64_t *ret);
/* Hexadecimal of either case, no prefix. */
int scan_hex(struct scan *scan, uint64_t *ret);
/* Same, after "0x" or "0X" if that is there. */
int scan_hex_prefixed(struct scan *scan, uint64_t *ret);
/* 0 or -EINVAL. */
int scan_byte(struct scan *scan, char byte);
/* Blanks and tabs; how many. */
size_t scan_blanks(struct scan *scan);
/* Bytes up to the next blank, tab or the end; how many. */
size_t scan_field(struct scan *scan, const char **ret);
/* 1: *ret is the next line without its newline. 0: no newline is left; the rest stays. */
int scan_line(struct scan *scan, struct scan *ret);

#endif
