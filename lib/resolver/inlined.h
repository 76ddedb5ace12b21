/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RESOLVER_INLINED_H
#define STOKE_RESOLVER_INLINED_H

#include "profile/profile.h"

/*
 * Gives named frames of files what was inlined there, and their source lines, where the file or its
 * debug file says so. After resolve_profile(): the function that was not inlined keeps the name it
 * has. Files that say nothing stay as they are; when none says anything, or one could not be read,
 * that is a warning of the first run. 0 or -ENOMEM.
 */
int resolve_inlined(struct stoke_profile *profile);

#endif
