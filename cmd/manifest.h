/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_MANIFEST_H
#define STOKE_CMD_MANIFEST_H

/*
 * manifest.json of a directory of profiles: what each was made of, on which machine. The files are
 * the truth and it is made anew from them; only the commits, which no file holds, are taken over
 * from the one before.
 */

#include "cmd/output.h"
#include "cmd/say.h"

struct manifest { /* in the writing */
	const struct voice *voice;
	struct output *output; /* owned */
	char *old; /* text of the one before, owned; NULL: there was none */
	size_t nr; /* profiles in it */
};

/* An exit status, as all here; what is wrong has been said. */
int manifest_open(struct manifest *manifest, const struct voice *voice, const char *directory);
/* One profile more: the file that is or will be called `path`, to be read from `from`. commit: NULL
 * or "", then the one of the manifest before, or of its name. */
int manifest_add(struct manifest *manifest, const char *path, const char *from, const char *commit);
/* Ends it: the output to be committed (NULL: it was never opened), the caller's. */
struct output *manifest_close(struct manifest *manifest);

#endif
