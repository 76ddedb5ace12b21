/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_BODIES_H
#define STOKE_CAPTURE_BODIES_H

/*
 * The unwind tables of modules: each compiled by a worker when somebody first asks for it, and in
 * the store for as long as there is room, or somebody has it mapped.
 */

#include <stdint.h>

#include "process/process.h"
#include "unwind/store.h"

enum body_state {
	BODY_UNKNOWN, /* nobody has asked */
	BODY_WAITS, /* to be compiled, or being compiled */
	BODY_READY, /* in the store */
	BODY_BARE, /* the file tells nothing, cannot be read, or there was no room */
};

struct bodies;

/* processes is borrowed. */
int bodies_new(const struct processes *processes, struct bodies **ret);
void bodies_free(struct bodies *bodies);
/* Where tables go, borrowed too; from now on bodies_work() may be called. */
void bodies_attach(struct bodies *bodies, struct store *store);
/* Readable when bodies_work() has something to take. */
int bodies_fd(const struct bodies *bodies);

/* What is known of a module; asks for it when that is nothing. */
enum body_state bodies_want(struct bodies *bodies, uint32_t module);
/* Samples wait for this one: it comes next. */
void bodies_hurry(struct bodies *bodies, uint32_t module);
/* Is its table being made, since no longer than that? */
int bodies_soon(const struct bodies *bodies, uint32_t module, uint64_t patience_ns);

/* Sets a worker on what is wanted, if none is at work. Tells as bodies_work(). */
void bodies_begin(struct bodies *bodies, void (*tell)(void *arg, uint32_t module), void *arg);
/* Takes what the worker has done, waiting for it that long, gives it the next; tells which modules
 * are READY or BARE now. The number of modules that still wait. */
size_t bodies_work(struct bodies *bodies, unsigned timeout_ms,
	void (*tell)(void *arg, uint32_t module), void *arg);

/* Is there little room left, or too little for one that waits? */
int bodies_lack_room(const struct bodies *bodies);
/* Tables give way, the longest unused first, but none whose module's byte in used[nr] is not 0:
 * somebody has those mapped. They are made again when they are wanted. */
void bodies_give_way(struct bodies *bodies, const uint8_t *used, size_t nr, uint64_t now_ns);
/* Changes whenever a table has given up its place: whoever remembers one asks again. */
uint32_t bodies_moves(const struct bodies *bodies);

/* Of a READY one: where it is, and the bias of a mapping that begins at this offset of the file.
 * 0; -ENOENT: the mapping is of no code that the file speaks of. */
int bodies_place(const struct bodies *bodies, uint32_t module, const struct mapping *mapping,
	struct stored *ret, uint64_t *ret_bias);

#endif
