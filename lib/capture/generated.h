/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_GENERATED_H
#define STOKE_CAPTURE_GENERATED_H

/*
 * Code that one process generates: which runtime knows it, when it was read last, which samples
 * wait for the next reading, which frames have found no name so far.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "runtime/runtime.h"

/* One frame of a located stack. frame 0: generated code, to be named by address. */
struct place {
	uint64_t address;
	uint64_t note; /* of kind STOKE_NOTE_METHOD (bpf/event.h): interpreted there; 0: none */
	uint32_t frame; /* of the profile */
	uint32_t unused;
};

/* A sample that waits for a reading; its places follow, root first. */
struct waiting {
	uint64_t time_ns, weight;
	uint32_t labels, slice;
	uint32_t end; /* of ends.h */
	uint32_t nr_places;
};

struct generated;

int generated_new(const struct host *host, struct generated **ret);
void generated_free(struct generated *generated);

/*
 * The frame of a place at a time. 0 and *ret, which may be a nameless frame (nobody owned it at
 * the first reading since: asked again at each later one); -EAGAIN: no reading since then yet.
 * Stale frames are counted.
 */
int generated_frame(struct generated *generated, struct stoke_profile *profile, uint64_t time_ns,
	const struct place *place, uint32_t *ret);

/* Puts a sample aside until the next reading. */
int generated_wait(
	struct generated *generated, const struct waiting *sample, const struct place *places);
/* When the oldest waiting sample came; 0: none waits. */
uint64_t generated_waiting_since(const struct generated *generated);
uint64_t generated_last_reading(const struct generated *generated);

typedef int generated_take(void *arg, const struct waiting *sample, const struct place *places);

/*
 * One reading: runtimes claim and observe, nameless frames are asked for again, samples that no
 * longer wait go to take(). process may be NULL when it has gone.
 */
int generated_read(struct generated *generated, struct process *process,
	struct stoke_profile *profile, enum observe why, uint64_t now_ns, generated_take *take,
	void *arg);

/* A profile was given away: frames known so far mean nothing any more. */
void generated_new_profile(struct generated *generated);
/* The profile's module for frames of this process's generated code. */
void generated_use_module(struct generated *generated, uint32_t module);

struct generated_findings {
	uint64_t nr_stale, nr_bad_lines, nr_entries;
	int claimed; /* some runtime knew this process */
	char text[512]; /* what is missing, and the cure; "" */
};

void generated_explain(const struct generated *generated, struct generated_findings *ret);

#endif
