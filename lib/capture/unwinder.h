/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_UNWINDER_H
#define STOKE_CAPTURE_UNWINDER_H

/*
 * Gives walks in the kernel the unwind tables that they need. Runs ahead of the timeline: it looks
 * at records as they come out of the rings, and at what processes have mapped now. Who was sampled
 * gets tables, nobody else; a walk that met what it did not know asks for a reading.
 */

#include <stdint.h>

#include "bpf/event.h"
#include "bpf/javavm.h"
#include "capture/item.h"
#include "capture/rewalk.h"
#include "process/process.h"
#include "unwind/publish.h"
#include "unwind/store.h"

struct unwinder;

/* processes is borrowed. */
int unwinder_new(struct processes *processes, struct unwinder **ret);
void unwinder_free(struct unwinder *unwinder);
/* What this process has mapped will be needed: a worker begins, while there is no memory of walks
 * yet. 0, -ENOMEM. */
int unwinder_prepare(struct unwinder *unwinder, pid_t pid);
/* Where walks read; before anything below. */
int unwinder_attach(struct unwinder *unwinder, const struct store_memory *store,
	const struct publisher_memory *publisher);
/* ... and where those in Java VMs do. 0, -ENOMEM. */
int unwinder_attach_java(struct unwinder *unwinder, struct stoke_java *javas, size_t nr);
/* Readable when unwinder_work() has something to do. */
int unwinder_fd(const struct unwinder *unwinder);

/* This process will be sampled: its tables may be made already. */
int unwinder_expect(struct unwinder *unwinder, pid_t pid);
/* A record as it came, in no order. 0, -ENOMEM. */
int unwinder_note(struct unwinder *unwinder, const struct item *item);
/* Reads what was asked for, publishes, compiles. To be called after each draining of the rings. */
int unwinder_work(struct unwinder *unwinder, uint64_t now_ns);
/* The same until no table is missing, or that time is over. */
int unwinder_settle(struct unwinder *unwinder, unsigned timeout_ms);

/* A sample in order of time, with its walk finished if the kernel could not. As rewalk_sample(). */
int unwinder_finish(struct unwinder *unwinder, const struct item *item, struct walked *ret);

/* Did the walk that used this generation of mappings know of this one at that address? 0: it took
 * it for another, so where it went from there is no caller. Later than some seconds after: 1. */
int unwinder_agrees(const struct unwinder *unwinder, uint32_t generation, uint64_t address,
	const struct mapping *mapping);

struct unwinder_counts {
	struct store_counts store;
	struct publisher_counts publisher;
	uint64_t early; /* samples that were taken before their process had tables */
	uint64_t pending; /* samples that ended in a file whose table was being made */
	uint64_t finished; /* samples whose walks were finished in user space */
	uint64_t readings;
};

void unwinder_counts(const struct unwinder *unwinder, struct unwinder_counts *ret);

#endif
