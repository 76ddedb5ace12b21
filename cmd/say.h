/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_SAY_H
#define STOKE_CMD_SAY_H

/*
 * What stoke says to people goes to standard error, one line a message; standard output is for
 * data. Bytes that could drive a terminal are spelled out.
 */

#include <stdio.h>

struct voice {
	unsigned quiet; /* warnings and errors only */
	unsigned verbose;
	unsigned color; /* standard error takes colours */
};

/* "stoke: ...", unless quiet. */
void say(const struct voice *voice, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "stoke: ...", only with -v. */
void say_more(const struct voice *voice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "stoke: warning: ...". */
void say_warning(const struct voice *voice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "stoke: ..."; returns status, so that it can be the last line of a command. */
int say_error(const struct voice *voice, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
