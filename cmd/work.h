/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_WORK_H
#define STOKE_CMD_WORK_H

#include "stoke.h"

/*
 * How many operations were done: "20", "1.5e6", or "@FILE" whose first word is the number. *ret is
 * above zero and finite. -EINVAL or the file's error, with a sentence.
 */
int work_parse(const char *text, double *ret, struct stoke_error *err);

#endif
