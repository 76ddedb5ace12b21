/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_FOLDED_APPEND_H
#define STOKE_FORMAT_FOLDED_APPEND_H

/*
 * Stacks of text that come in order, appended to a profile that has none: what one shares with the
 * one before keeps its nodes, the rest is appended, nothing is looked up. What is closed and too
 * narrow is cut off at once, so memory follows what is seen and not what is read.
 */

#include "profile/profile.h"

#define APPEND_PRUNE_NODES (1u << 18) /* a profile of fewer is kept whole */

struct append_level;
struct append_held;
struct append_memo;

struct append {
	struct stoke_profile *profile;
	uint32_t run;
	unsigned samples, cpu; /* columns */
	uint64_t period_ns; /* 0: not known, no cpu column */
	uint32_t slice; /* of the stacks to come */
	double min_share; /* 0: nothing is cut */
	int as_bytes; /* "a.x" may come before "a;b": set by the caller, who saw the order */
	uint64_t total, nr_cut;
	/* private */
	struct append_level *levels; /* [0] is the empty stack */
	size_t nr_levels, levels_capacity;
	struct append_held *held;
	size_t nr_held, held_capacity;
	const char *last; /* stack of the line before */
	size_t last_size;
	char *copy;
	size_t copy_capacity;
	struct append_memo *memo;
	size_t prune_at; /* nodes */
	int cutting;
	uint32_t left_out; /* frame */
};

/* append holds the caller's part, else zeroes. 0 or -ENOMEM. */
int append_init(struct append *append);
void append_done(struct append *append);

/* How many bytes a stack has in common with the one before. */
size_t append_shared(const struct append *append, const char *stack, size_t size);
/*
 * Adds a stack that was seen `count` times, and of which `shared` bytes are those of the one
 * before. It is borrowed until the next or append_keep(). -EOVERFLOW: too many frames, not added.
 */
int append_stack(
	struct append *append, const char *stack, size_t size, size_t shared, uint64_t count);
/* The text of the last stack is about to go: keeps a copy. */
int append_keep(struct append *append);
/* No more in this order: what follows may begin anew, in another part. */
int append_close(struct append *append);
/* Cuts, once for all, what is narrower than min_share of the total, if anything was cut before. */
int append_trim(struct append *append);

#endif
