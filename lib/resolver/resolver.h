/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RESOLVER_RESOLVER_H
#define STOKE_RESOLVER_RESOLVER_H

/*
 * A resolver knows names that do not change: of files, of the kernel. Opened once a module, for all
 * processes; one file a resolver, its word in meson.build; order there is priority.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "process/host.h"
#include "process/module.h"
#include "profile/profile.h"

/* Why an address has no name; goes to the quality counts. */
enum resolver_miss { MISS_NO_SYMBOLS, MISS_GAP, MISS_UNREADABLE, MISS_HIDDEN };

struct resolver {
	const char *name, *summary;
	/* 0, -ENOENT: not mine, ask the next; other errors: mine, but unreadable. */
	int (*open)(const struct host *host, const struct module *module, void **ret_state);
	/* Symbols at offset (file offset, image offset or kernel address, by module kind),
	 * innermost first; count, 0: unknown, and *ret_miss says why. Called with ascending
	 * offsets; what ret points to is good until the next call. */
	int (*lookup)(void *state, uint64_t offset, struct symbol *ret, size_t max,
		enum resolver_miss *ret_miss);
	/* Where other tools (objdump -d) show what lies at offset, so that a place without a name
	 * can be found again: the start of the function around it where that is known, so that one
	 * function is one frame. 0, -ENOENT, -ENOMEM. NULL: at the offset itself. */
	int (*locate)(void *state, uint64_t offset, uint64_t *ret);
	/* What the user should know of this module's names, borrowed; NULL: nothing. The slot may
	 * be NULL too. */
	const char *(*explain)(const void *state);
	void (*close)(void *state);
};

extern const struct resolver *const resolvers[];
extern const size_t nr_resolvers;

/*
 * Names every nameless frame of modules that a resolver knows, each distinct frame once, module by
 * module. What stays unknown is named "[libfoo.so+0x1a2b]", "[kernel]" or "[unknown]" and counted,
 * by sample, in the quality of its run. 0 or -ENOMEM. host may be NULL (a file was read: nothing
 * of this machine may name it): then only marks are given. ahead: names of the kernel that were
 * read before (resolver/ahead.h), or NULL.
 */
struct resolve_ahead;
int resolve_profile(
	struct stoke_profile *profile, const struct host *host, struct resolve_ahead *ahead);

#endif
