/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_ALIAS_H
#define STOKE_NAMES_ALIAS_H

/*
 * What people call functions that no rule knows to be the same: "GLOB => NAME" a line, first match
 * wins, applied last. '*' is any bytes, '?' one byte, '\' takes the next byte as it is; nothing
 * else is special. Empty lines and those that begin with '#' say nothing.
 */

#include <stddef.h>
#include <stdint.h>

#include "stoke.h"

struct aliases;

#define ALIASES_MAX_BYTES (1u << 20) /* of the whole text */
#define ALIASES_MAX_GLOBS 4096

/* path names the text in errors ("stoke.alias:3: ..."). 0, -EINVAL with the line, -E2BIG, -ENOMEM.
 */
int aliases_parse(const char *text, size_t size, const char *path, struct aliases **ret,
	struct stoke_error *err);
/* 1: *ret is the name that the first matching glob gives (borrowed). 0: none matches. */
int aliases_find(const struct aliases *aliases, const char *name, size_t size, const char **ret,
	size_t *ret_size);

void aliases_free(struct aliases *aliases);

#endif
