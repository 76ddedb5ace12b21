/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_ERROR_H
#define STOKE_BASE_ERROR_H

#include "stoke.h"

/*
 * Writes the sentence for the user (what failed, cause, cure; lower case, one line, no full stop)
 * into err, which may be NULL, and returns code, a negative errno. Bytes below 0x20 and 0x7f that
 * came in through arguments are spelled out, so that a hostile name cannot drive a terminal.
 *
 *	return fail(err, -EPERM, "cannot open perf event: permission denied; run as root");
 */
int fail(struct stoke_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
