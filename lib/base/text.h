/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_TEXT_H
#define STOKE_BASE_TEXT_H

/*
 * Bytes from targets on their way out: made into valid, harmless UTF-8, measured in columns of a
 * terminal, cut between whole characters. What each place does with them beyond that (XML, JSON,
 * folded text) is that format's own affair.
 */

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a printable form of in to out, at most room bytes, never half a character; returns the
 * bytes written, or SIZE_MAX when they do not fit. Invalid UTF-8 becomes U+FFFD (one for each
 * maximal part, as Unicode 15 3.9 recommends), a tab a blank; other C0, DEL, C1, U+200B-200F,
 * U+202A-202E, U+2066-2069, U+FEFF, U+FFFE and U+FFFF, which could forge a name or drive a
 * terminal, are spelled out as "\x1b" or "\u202e". Everything else stays. Room for 6 * size always
 * suffices.
 */
size_t text_printable(char *out, size_t room, const char *in, size_t size);
/* Same, to a stream. */
void text_print(FILE *out, const char *in, size_t size);

/* Columns on a terminal of valid UTF-8: 2 for East Asian wide and emoji, 0 for combining marks. */
size_t text_columns(const char *text, size_t size);
/* The most bytes from the start that take at most that many columns, whole characters only. */
size_t text_cut(const char *text, size_t size, size_t columns);

/* 1234567 -> "1,234,567"; buffers hold at least 32. Returns buffer. */
char *text_count(char *buffer, unsigned long long count);
/* Shares for people: "98.4 %", "0.02 %"; 0 of 0 is "0 %". */
char *text_share(char *buffer, unsigned long long part, unsigned long long whole);

#endif
