/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_NUMBER_H
#define STOKE_VIEW_NUMBER_H

/*
 * Numbers as pictures write them: thin space before %, U+202F between thousands, never by the
 * locale. Buffers hold at least NUMBER_ROOM; the result is the buffer.
 */

#include <stdint.h>

#define NUMBER_ROOM 64

/* "8.07 %"; "100 %" for all and nothing less, "0 %" for nothing and nothing more. */
char *number_share(char *buffer, uint64_t part, uint64_t whole);
/* A share that may be more than all, as a double: "8.07 %", "120.0 %"; "100 %" is all. */
char *number_rate(char *buffer, double rate);
/* A change of such a share: "+22.8 pts", "−0.50 pts", "±0 pts". */
char *number_points(char *buffer, double change);
/* A run-wide chance in millionths: "<0.001", "0.042". */
char *number_chance(char *buffer, uint32_t millionths);
/* "1 234 567" */
char *number_count(char *buffer, uint64_t count);
/* "285 samples", or a time when the unit is "ns": "1.23 s". */
char *number_value(char *buffer, uint64_t value, const char *unit);
/* "12.3 s", "450 ms" */
char *number_time(char *buffer, uint64_t ns);

#endif
