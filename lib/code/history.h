/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CODE_HISTORY_H
#define STOKE_CODE_HISTORY_H

/*
 * Who owned an address of generated code, as of each reading of it. Readings have numbers, from 0
 * on, given by code_history_commit(); what is added belongs to the next one. Names are ids of the
 * caller's, from 1 on; 0 is nobody. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#define CODE_MAX_ENTRIES 2000000

struct code_range {
	uint64_t start, end;
	uint32_t name;
	uint32_t order; /* in the file: later wins */
};

struct code_history {
	struct code_piece *pieces; /* sorted, disjoint; each with its chain of owners */
	size_t nr_pieces, pieces_capacity;
	struct code_version *versions; /* versions[0] is nobody, always */
	size_t nr_versions, versions_capacity;
	uint64_t *readings_ns; /* when, by number */
	size_t nr_readings, readings_capacity;
	struct code_range *batch; /* added, not merged yet */
	size_t nr_batch, batch_capacity;
	uint64_t nr_changes, nr_refused; /* owners that changed; no room (CODE_MAX_ENTRIES) */
};

void code_history_done(struct code_history *history);

/* A line; of overlapping ones the later wins. size 0: one address. 0, -ENOMEM. */
int code_history_add(struct code_history *history, uint64_t start, uint32_t size, uint32_t name);
/* Merges what was added so far. 0, -ENOMEM. */
int code_history_merge(struct code_history *history);
/* What `whole` has is all that holds from now on: who is not in it owns nothing any more. */
int code_history_replace(struct code_history *history, const struct code_history *whole);
/* The reading of that time is complete. 0, -ENOMEM. */
int code_history_commit(struct code_history *history, uint64_t time_ns);

/*
 * 1: *ret_name owned address all through [from, to], by the first reading since, or by a later one
 * if that knew nobody. -ESTALE: owners changed around it, *ret_name is the later. 0: nobody so
 * far. -EAGAIN: no reading since; with `last` what is known counts.
 */
int code_history_lookup(const struct code_history *history, uint64_t from_ns, uint64_t to_ns,
	uint64_t address, int last, uint32_t *ret_name);
/* Names that hold now. */
size_t code_history_nr_owned(const struct code_history *history);

#endif
