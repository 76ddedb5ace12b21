/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_MODULES_H
#define STOKE_PROCESS_MODULES_H

/*
 * All modules, one for each identity: build id, or device and inode; never a path, which different
 * readers see differently. Numbers start at 1 and stay.
 */

#include "process/module.h"

struct modules;

/* What modules_file() gives for a file that is no ELF file and has no name: generated code. */
#define MODULES_GENERATED UINT32_MAX

int modules_new(const struct host *host, struct modules **ret);
void modules_free(struct modules *modules);

const struct module *modules_at(const struct modules *modules, uint32_t module);
size_t modules_nr(const struct modules *modules);

/* A file seen in a process, opened at first sight. temporary: it has lost its name or lies in
 * memory, so that without an ELF header it holds generated code. *hangs counts file systems that
 * did not answer; from MODULES_MAX_HANGS on nothing is opened. 0, -ENOMEM, -E2BIG. */
#define MODULES_MAX_HANGS 2
int modules_file(struct modules *modules, const struct module_sight *sight, int temporary,
	unsigned *hangs, uint32_t *ret);
int modules_vdso(struct modules *modules, pid_t pid, uint64_t start, uint64_t end, uint32_t *ret);
/* A new one each time: the caller keeps it for its process. */
int modules_jit(struct modules *modules, pid_t pid, uint64_t incarnation, uint32_t *ret);

#endif
