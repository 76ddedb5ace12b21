/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_CURSOR_H
#define STOKE_UNWIND_CURSOR_H

/*
 * A bounded cursor over DWARF's numbers. Nothing reads at or behind `end`. What does not fit, or is
 * not all there, is 0, sets `bad` and moves to the end: so a loop over a cursor ends, and it is
 * enough to look at `bad` once.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	int bad;
};

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_fail(struct cursor *c)
{
	c->bad = 1;
	c->at = c->end;
}

/* 0 where there are fewer than size bytes. */
static inline const uint8_t *cursor_skip(struct cursor *c, uint64_t size)
{
	const uint8_t *at = c->at;

	if (size > cursor_left(c)) {
		cursor_fail(c);
		return NULL;
	}
	c->at += size;
	return at;
}

#define CURSOR_NUMBER(name, type)                                                                  \
	static inline type name(struct cursor *c)                                                  \
	{                                                                                          \
		const uint8_t *at = cursor_skip(c, sizeof(type));                                  \
		type value = 0;                                                                    \
		if (at)                                                                            \
			memcpy(&value, at, sizeof(value));                                         \
		return value;                                                                      \
	}

CURSOR_NUMBER(cursor_u8, uint8_t)
CURSOR_NUMBER(cursor_u16, uint16_t)
CURSOR_NUMBER(cursor_u32, uint32_t)
CURSOR_NUMBER(cursor_u64, uint64_t)

/* Zeros behind the 64th bit are padding, anything else there is bad. */
static inline uint64_t cursor_uleb_long(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (c->at < c->end) {
		uint8_t byte = *c->at++, bits = byte & 0x7f;

		if (shift >= 64 ? bits != 0 : (shift == 63 && bits > 1)) {
			cursor_fail(c);
			return 0;
		}
		if (shift < 64)
			value |= (uint64_t)bits << shift;
		if (!(byte & 0x80))
			return value;
		shift = shift < 64 ? shift + 7 : shift;
	}
	cursor_fail(c);
	return 0;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return cursor_uleb_long(c);
}

/* Bits behind the 64th are taken for copies of the sign. */
static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (c->at < c->end) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~0ull << shift;
		return (int64_t)value;
	}
	cursor_fail(c);
	return 0;
}

#endif
