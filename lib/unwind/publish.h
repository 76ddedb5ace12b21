/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_PUBLISH_H
#define STOKE_UNWIND_PUBLISH_H

/*
 * What processes have mapped, in the memory that walks read: a slice of mappings each. A slice is
 * written where nobody looks, becomes its process's by one update, and its place is used again
 * only when no walk can be in it any more. Its generation makes old references to it harmless.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "unwind/store.h"

struct publisher;

struct publisher_memory {
	struct stoke_mapping *mappings;
	size_t max_mappings;
	/* space of a process, NULL: it has none. 0, -errno. */
	int (*set)(void *arg, uint32_t pid, const struct stoke_space *space);
	void *arg;
};

struct publisher_counts {
	uint64_t spaces, mappings; /* published now */
	uint64_t refused; /* processes for which there was no room */
};

int publisher_new(const struct publisher_memory *memory, struct publisher **ret);
void publisher_free(struct publisher *publisher);

/*
 * Gives a process these mappings: sorted, disjoint, kinds other than HEAD. memory: the address
 * space they were read from, 0 when not known. *ret_generation is never 0. 0, -ENOMEM, -ENOSPC
 * (counted: its walks go by frame pointers), -errno of set().
 */
int publisher_set(struct publisher *publisher, uint32_t pid, uint64_t memory,
	const struct stoke_mapping *mappings, size_t nr, uint64_t now_ns, uint32_t *ret_generation);
/* It has ended, or what it had is no longer true. */
void publisher_drop(struct publisher *publisher, uint32_t pid, uint64_t now_ns);

/* The Java VM of a process: 1 + index of its struct stoke_java, 0: none. For this slice of it and
 * those that follow. */
void publisher_java(struct publisher *publisher, uint32_t pid, uint32_t java);

/* The i-th mapping of a process, which was PENDING, has its table: rules hold from now on. */
void publisher_upgrade(struct publisher *publisher, uint32_t pid, size_t i,
	const struct stored *stored, uint64_t bias);
/* ... or there is none to be had. */
void publisher_settle(struct publisher *publisher, uint32_t pid, size_t i);

void publisher_counts(const struct publisher *publisher, struct publisher_counts *ret);

#endif
