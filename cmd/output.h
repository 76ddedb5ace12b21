/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_OUTPUT_H
#define STOKE_CMD_OUTPUT_H

/*
 * Files that are written whole or not at all. Opening one proves that it can be written, before
 * hours of sampling are spent; until it is committed there is nothing under its name (and, where
 * the file system has O_TMPFILE, no file at all).
 */

#include <stdio.h>
#include <sys/types.h>

#include "stoke.h"

struct output; /* one file */

/* What "%p %n %h %t" and default names are made of. */
struct output_names {
	const char *name; /* of the target: "java"; anything unfit for a file name becomes '_' */
	pid_t pid; /* 0: there is none yet */
	time_t time; /* of the start */
};

#define OUTPUT_KEEP (1u << 0) /* a file that is there stays: another name is found */

/* text with "%p %n %h %t" filled in, to be freed. NULL: err says why. */
char *output_expand(const char *text, const struct output_names *names, struct stoke_error *err);
/* "stoke-java-248927-20261130-145501", to be freed; NULL when out of memory. */
char *output_default_stem(const struct output_names *names);

/*
 * Opens path ("-" is standard output; a device or a pipe is written in place). 0 or a negative
 * errno with the sentence "cannot write PATH: why. cure".
 */
int output_open(const char *path, unsigned flags, struct output **ret, struct stoke_error *err);
FILE *output_stream(struct output *output);
int output_is_stdout(const struct output *output);
/*
 * Everything was written: gives the file its name. On failure nothing of it is left, err says
 * "PATH not written (why)".
 */
int output_commit(struct output *output, struct stoke_error *err);
/* Absolute; after output_commit() the name it got. */
const char *output_path(const struct output *output);
/* Bytes, after output_commit(). */
unsigned long long output_size(const struct output *output);
/* Takes NULL. What was not committed leaves no trace. */
void output_close(struct output *output);

/*
 * Where files without a name go: the current directory if it can be written, else $TMPDIR, else
 * /tmp. To be freed. *ret_elsewhere: it is not the current one.
 */
char *output_default_directory(int *ret_elsewhere);

#endif
