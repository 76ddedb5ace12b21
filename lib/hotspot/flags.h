/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_FLAGS_H
#define STOKE_HOTSPOT_FLAGS_H

/* The flags of a Java VM, as they are in force: from its command line, its files, or by default. */

#include "hotspot/structs.h"

/* A flag that is on or off. */
struct hotspot_flag {
	const char *name; /* "UseG1GC" */
	int value; /* out: 1, 0; -1: this VM has no such flag */
};

/* 0; -ENOENT: the VM tells nothing of flags; -EINVAL: nonsense; -ESRCH, -EPERM, -ENOMEM. */
int hotspot_flags_read(const struct memory *memory, const struct hotspot_structs *structs,
	struct hotspot_flag *flags, size_t nr);

#endif
