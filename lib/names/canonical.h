/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_CANONICAL_H
#define STOKE_NAMES_CANONICAL_H

/*
 * The name of a function without what differs from build to build, run to run or (level JDK) JDK to
 * JDK. The canonical form of a canonical form is itself.
 */

#include <stddef.h>

#include "stoke.h"

struct canonical_text {
	char *bytes;
	size_t nr, capacity;
};

/* Room for names in the making, kept from call to call. All zero to begin with. */
struct canonical {
	struct canonical_text text[2];
};

void canonical_done(struct canonical *canonical);

/*
 * *ret: the name itself, a constant, or room of canonical, until the next call. Names are bytes of
 * any kind. 0 or -ENOMEM.
 */
int canonical_name(struct canonical *canonical, const char *name, size_t size,
	enum stoke_names level, const char **ret, size_t *ret_size);

#endif
