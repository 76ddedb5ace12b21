/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_MODULE_H
#define STOKE_PROCESS_MODULE_H

/*
 * A module is a body of code with one set of symbols: an ELF file (shared by all processes that map
 * it), the kernel, a vDSO, or the generated code of one process. It knows how to be opened again
 * after its process has gone: by the fd taken while that lived.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/host.h"

enum module_kind {
	MODULE_NONE,
	MODULE_FILE, /* addresses are file offsets */
	MODULE_KERNEL, /* addresses are absolute; kernel modules and BPF programs too */
	MODULE_VDSO, /* addresses are offsets into the image, which memory holds */
	MODULE_JIT, /* generated code of one process: addresses are absolute */
	MODULE_FOREIGN /* read from a file: addresses mean what that file says; never opened */
};

#define MODULE_BUILD_ID_MAX 20

struct module {
	enum module_kind kind;
	char *path; /* as the target names it, without " (deleted)"; owned */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: not known */
	uint64_t dev, ino; /* of the file (dev as makedev()), 0 when only the build id is known */
	pid_t pid; /* MODULE_JIT and MODULE_VDSO: whose */
	uint64_t pid_start; /* process incarnation: a number given by process.c */
	int fd; /* O_RDONLY, owned; -1: could not be opened (see open_error) */
	int open_error; /* errno of that */
	uint8_t *image; /* MODULE_VDSO: the ELF image, owned */
	size_t image_size;
	uint64_t start, limit, offset; /* MODULE_FOREIGN: mapping as the file had it */
	int root_fd; /* O_PATH of the target's root, for debug files, owned; -1: same root as ours
		      */
};

/* A copy with its own memory and dups of the fds. 0, -ENOMEM, or -EMFILE with ret->fd = -1 is not
 * an error: the copy then has open_error set. */
int module_copy(const struct module *module, struct module *ret);
void module_done(struct module *module);

/* A file that a process has mapped, as a record or a line of its maps tells. */
struct module_sight {
	pid_t pid;
	uint64_t start, end; /* where, for /proc/PID/map_files */
	const char *path; /* without " (deleted)" */
	size_t path_size;
	const uint8_t *build_id; /* what it must have, when size is not 0 */
	uint8_t build_id_size;
	uint64_t dev, ino; /* else what it must be, when ino is not 0 */
};

#define MODULE_OPEN_TIMEOUT_MS 1000

/*
 * Opens what is mapped there, never what else lies at that path by now: map_files first, then the
 * path below the target's root, then as it stands; each checked against build id or inode. Fills
 * in fd, dev, ino, build_id of *ret (and path) or open_error: EMFILE near the limit of fds,
 * ETIMEDOUT when the file system does not answer, ESTALE when only another file was found.
 * *ret_elf: 1, 0, or -1 when it could not be opened. 0 or -ENOMEM.
 */
int module_open(const struct host *host, const struct module_sight *sight, struct module *ret,
	int *ret_elf);
/* Reads a vDSO from the memory of a process, else takes this process's own of the same size. 0,
 * or -errno with image NULL. */
int module_read_vdso(
	const struct host *host, pid_t pid, uint64_t start, uint64_t end, struct module *ret);
/* Takes care that fds are left for others: closes fd and gives EMFILE near the limit. */
int module_keep_fd(int fd);

/* Same module? FILE: by build id when both have one, else by (dev, ino) and path. */
int module_same(const struct module *a, const struct module *b);

#endif
