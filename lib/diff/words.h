/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_WORDS_H
#define STOKE_DIFF_WORDS_H

/*
 * A line of a file of rules as words: parted by blanks; "in quotes" a word may hold blanks, \" is
 * a quote and \\ a backslash in it; '#' where a word could begin ends the line.
 */

#include "base/scan.h"

#define WORDS_MAX 64 /* of a line */
/* Bytes of a word. Reports write up to 64 KiB of a name, each byte as two where it means something
 * else in a glob: what they print can be pasted. */
#define WORDS_MAX_SIZE (129 << 10)

/* Fills ret_words (WORDS_MAX), to be freed by words_done(). -EINVAL: *ret_complaint says why.
 * -ENOMEM. */
int words_split(struct scan line, char **ret_words, size_t *ret_nr, const char **ret_complaint);
/* "5%" with the unit "%" is 5, "0.05" with "" 0.05; no sign, no exponent, whatever the locale.
 * NAN: it is no such number. */
double words_amount(const char *word, const char *unit);
/* 1: "2027-03-31" is a day: there is no 2027-02-31. */
int words_is_date(const char *word);
void words_done(char **words, size_t *nr);

#endif
