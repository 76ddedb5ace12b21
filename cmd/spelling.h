/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_SPELLING_H
#define STOKE_CMD_SPELLING_H

/* A command line as somebody would type it again: for lines that are to be pasted into a shell. */

#include <stdio.h>

#include "cmd/options.h"

/* One word, quoted where the shell would read more into it. */
void spell_word(FILE *out, const char *word);
/* An operand: as above, and no option though it begins with '-'. "-" is standard input. */
void spell_operand(FILE *out, const char *operand);
/* What was given of a table's options, each with a blank before it; but: names of some that are
 * left out, NULL behind the last. stored: the struct that the table fills. */
void spell_options(
	FILE *out, const struct option *options, const void *stored, const char *const *but);

#endif
