/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RESOLVER_AHEAD_H
#define STOKE_RESOLVER_AHEAD_H

/*
 * The kernel's names, read by a worker while a recording goes on: at its end that would take longer
 * than all else. They are only good while nothing is loaded into the kernel or taken out of it:
 * modules are compared when the names are taken; whoever learns of other code drops the whole.
 */

#include "process/host.h"

struct resolve_ahead;

/* host is copied. 0 or -errno: then the names are read when they are needed. */
int resolve_ahead_start(const struct host *host, struct resolve_ahead **ret);
/* Takes NULL. Does not wait. */
void resolve_ahead_free(struct resolve_ahead *ahead);
/* The opened state of resolver_kernel, the caller's from now on; waits for it. NULL: there is none,
 * or it is not true any more. Once. */
void *resolve_ahead_take(struct resolve_ahead *ahead);

#endif
