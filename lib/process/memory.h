/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_MEMORY_H
#define STOKE_PROCESS_MEMORY_H

/*
 * Memory of a process, as a parameter: the live one's, or an image in tests. What is read changes
 * while it is read and may be made to hurt: nothing in it is to be believed.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_part {
	uint64_t address;
	void *to;
	uint32_t size;
	int missing; /* out: it could not be read, all of it; `to` holds nothing */
};

struct memory {
	/* Reads each part or marks it. 0, or -ESRCH, -EPERM, -ENOSYS: no part can be. */
	int (*read)(const struct memory *memory, struct memory_part *parts, size_t nr);
	pid_t pid;
	const void *image; /* of whoever gives another read() */
};

/* That of a living process: by process_vm_readv(), some 1,000 parts a call. */
struct memory memory_of(pid_t pid);

/* All of size bytes, or -EFAULT, or as above. */
int memory_read(const struct memory *memory, uint64_t address, void *to, size_t size);
/* A pointer: 0 for what cannot be read. */
uint64_t memory_pointer(const struct memory *memory, uint64_t address);

#endif
