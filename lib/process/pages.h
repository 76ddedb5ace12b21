/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_PAGES_H
#define STOKE_PROCESS_PAGES_H

/*
 * Memory of a process, kept by the page for a while: for structs that point at each other all over
 * the place. What was read once stays as it was until pages_forget().
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/memory.h"

#define PAGES_BYTES 4096
#define PAGES_MAX   4096 /* kept: 16 MiB; then all are forgotten */

struct page;

struct pages {
	const struct memory *memory; /* borrowed */
	struct page *slots; /* open addressing */
	uint8_t *bytes;
	size_t nr, nr_slots, capacity;
	uint64_t nr_read; /* pages, in all */
	int error; /* of the process: -ESRCH, -EPERM ... */
};

void pages_init(struct pages *pages, const struct memory *memory);
void pages_done(struct pages *pages);
void pages_forget(struct pages *pages);

/* All of size bytes; -EFAULT, -ENOMEM, or the process's error. */
int pages_read(struct pages *pages, uint64_t address, void *to, size_t size);
/* A pointer: 0 for what cannot be read. */
uint64_t pages_pointer(struct pages *pages, uint64_t address);
/* A string up to its NUL, which fits in room. Its length; -E2BIG: longer; -EFAULT ... */
ssize_t pages_string(struct pages *pages, uint64_t address, char *to, size_t room);

#endif
