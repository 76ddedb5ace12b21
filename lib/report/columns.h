/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_COLUMNS_H
#define STOKE_REPORT_COLUMNS_H

/* Text in columns of a terminal: names of any bytes, shares, parts of a whole. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COLUMNS_NAME_BYTES 1024 /* of a name that are looked at: more never fit */
#define COLUMNS_TEXT_BYTES (COLUMNS_NAME_BYTES * 6 + 8)

enum columns_cut {
	COLUMNS_CUT_END, /* "Handling GET /job/a…": what a thread does stands in front */
	COLUMNS_CUT_START /* "…channel.nio.NioEventLoop.run": what a function is stands behind */
};

/*
 * A name as it is printed: valid UTF-8, harmless, at most width columns, cut between whole
 * characters with "…". Writes to out (COLUMNS_TEXT_BYTES), NUL-terminated; returns its columns.
 */
size_t columns_fit(char *out, const char *name, size_t size, size_t width, enum columns_cut cut);

/* The same, to a stream, with blanks up to width behind it. */
void columns_name(FILE *out, const char *name, size_t size, size_t width, enum columns_cut cut);

/* "81 %", below ten "6.2 %", "0.02 %", and "99.7 %", for what is nearly all. buffer: 32 bytes. */
char *columns_share(char *buffer, uint64_t part, uint64_t whole);

/* amount / per to two places: "1.98", "<0.01"; whatever the locale. buffer: 32 bytes. */
char *columns_quotient(char *buffer, uint64_t amount, uint64_t per);

#endif
