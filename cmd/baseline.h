/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_BASELINE_H
#define STOKE_CMD_BASELINE_H

/*
 * A directory of profiles to compare with: NUMBER-COMMIT-NAME, oldest number first, and
 * manifest.json, which says of each what it is. The files are the truth: the manifest is made anew
 * from them.
 */

#include "cmd/command.h"
#include "cmd/sides.h"

struct baseline_options {
	const char *commit; /* NULL: as the CI host's environment says */
	size_t keep; /* files; the oldest go */
};

/* Copies files into the directory, made when it is not there. An exit status. */
int baseline_update(const struct voice *voice, const char *directory, const struct paths *files,
	const struct baseline_options *options);
/* Writes the directory's manifest.json. An exit status. */
int baseline_describe(const struct voice *voice, const char *directory);

#endif
