/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_RESULTS_H
#define STOKE_CMD_RESULTS_H

/*
 * The files that a command leaves: each -o with the format its suffix (or -f) says. All are opened,
 * and their formats and options tried, before any work is done.
 */

#include "cmd/command.h"
#include "cmd/output.h"

struct results; /* some outputs */

/* cure: what stands behind "cannot write FILE: why"; borrowed, may be NULL. 0 or -ENOMEM. */
int results_new(const char *cure, struct results **ret);
void results_free(struct results *results);

/*
 * Adds one. format: as stoke_profile_write() and stoke_profile_report() take it, "svg:width=800";
 * NULL: by the suffix of path. flags: OUTPUT_KEEP. An exit status; what is wrong has been said.
 */
int results_add(struct results *results, const struct voice *voice, const char *path,
	const char *format, unsigned flags);
/* Is one of them standard output? */
int results_use_stdout(const struct results *results);
/* The output that would replace this file, NULL: none would. */
const char *results_replacing(const struct results *results, const char *input);
size_t results_nr(const struct results *results);

/*
 * Writes each. One that fails does not keep the others from being written. rooted: what pictures
 * and folded text show; whole: what goes into pprof, NULL: the same. An exit status.
 */
int results_write(struct results *results, const struct voice *voice,
	const struct stoke_profile *rooted, const struct stoke_profile *whole);
/* The same for what speaks of a comparison: all outputs of these results do, then. */
int results_add_comparison(struct results *results, const struct voice *voice, const char *path,
	const char *format, unsigned flags);
int results_write_comparison(struct results *results, const struct voice *voice,
	const struct stoke_comparison *comparison);
/* "wrote     /tmp/x.svg    412 kB", a line a file that was written. */
void results_list(const struct results *results, FILE *out);

/* "fetch     scp HOST:FILE .", for somebody who is logged in from elsewhere. */
void results_fetch(const struct results *results, FILE *out);

static inline void cleanup_results(struct results **results)
{
	results_free(*results);
}
#define _cleanup_results_ _cleanup_(cleanup_results)

#endif
