/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_NAMING_H
#define STOKE_CMD_NAMING_H

/* --names, --alias and --no-fold, for the commands that look at profiles. */

#include "cmd/command.h"
#include "stoke.h"

struct naming {
	struct numbers level; /* position in none, build, jdk; the last one counts */
	const char *alias; /* a file */
	unsigned flags; /* STOKE_NO_FOLD */
};

/* A row {.type = OPTION_TABLE, .table = naming_options} takes them. */
extern const struct option naming_options[];

/* What was asked for; AUTO: nothing was. */
enum stoke_names naming_level(const struct naming *naming);
/* The text of --alias (to be freed; *ret NULL: none was given). An exit status; what is wrong has
 * been said. */
int naming_aliases(
	const struct voice *voice, const struct naming *naming, char **ret, size_t *ret_size);
/* 1: names stay as they are. */
int naming_is_empty(const struct naming *naming);
/* *profile with the names that were asked for, in its place. An exit status. */
int naming_apply(
	const struct voice *voice, const struct naming *naming, struct stoke_profile **profile);

#endif
