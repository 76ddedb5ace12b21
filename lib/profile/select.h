/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_SELECT_H
#define STOKE_PROFILE_SELECT_H

#include "profile/profile.h"

/* Names the pool of a thread as names/pools.h does: the bytes written to out, at most room. */
typedef size_t select_pool(const char *name, size_t size, char *out, size_t room);

/* stoke_profile_select(), with the way to name pools. */
int profile_select(const struct stoke_profile *profile, const struct stoke_select_options *options,
	select_pool *pool, struct stoke_profile **ret, struct stoke_error *err);

/* By string: 1 for the name of a thread whose pool no other name shares. It is what such a pool is
 * called. *ret is for free(). 0 or -ENOMEM. */
int profile_lone_threads(const struct stoke_profile *profile, select_pool *pool, uint8_t **ret);

#endif
