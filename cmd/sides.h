/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_SIDES_H
#define STOKE_CMD_SIDES_H

/* The files of either side of a comparison. A directory stands for the profiles in it. */

#include "cmd/command.h"
#include "stoke.h"

/* Paths of one side, in order. */
struct paths {
	char **items; /* owned */
	size_t nr, capacity;
};

struct sides {
	struct paths before, after;
	int trimmed; /* 1: by sides_trim(): operands name more than is here */
};

/*
 * Adds what an operand stands for: the file, or, of a directory, every profile in it by name,
 * numbers counted ("9" before "10"); of files that differ in their suffix alone the one that holds
 * most. An exit status; what is wrong has been said.
 */
int paths_add(struct paths *paths, const struct voice *voice, const char *operand);
/* Adds the profiles in a directory; there may be none. An exit status. */
int paths_list(struct paths *paths, const struct voice *voice, const char *directory);
/* 1: paths_list() would find a file of this name. */
int paths_is_profile(const char *name);
void paths_done(struct paths *paths);

/*
 * "BEFORE AFTER", "A... -- B...", or with baselines given all operands after. An exit status.
 */
int sides_find(const struct call *call, const struct texts *baselines, struct sides *ret);
void sides_done(struct sides *sides);
/* All of them as runs of one new profile, those before first. An exit status. */
int sides_read(const struct call *call, const struct sides *sides,
	const struct stoke_read_options *how, struct stoke_profile **ret);
/* Sides of unequal size make a test say too much: the last ones of the larger stay. 1: some went.
 */
int sides_trim(struct sides *sides);
/* How the operands were written, "base/ new/", or what is left of them, for commands to paste. To
 * be freed; NULL: no memory. */
char *sides_spelled(
	const struct call *call, const struct texts *baselines, const struct sides *sides);

#endif
