/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_PERFMAP_HISTORY_H
#define STOKE_RUNTIME_PERFMAP_HISTORY_H

/*
 * Who owned an address, as of each reading of a map. Readings have numbers, from 0 on, given by
 * perfmap_history_commit(); what is added belongs to the next one. Names are ids of the caller's,
 * from 1 on; 0 is nobody. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#define PERFMAP_MAX_ENTRIES 2000000

struct perfmap_range {
	uint64_t start, end;
	uint32_t name;
	uint32_t order; /* in the file: later wins */
};

struct perfmap_history {
	struct perfmap_piece *pieces; /* sorted, disjoint; each with its chain of owners */
	size_t nr_pieces, pieces_capacity;
	struct perfmap_version *versions; /* versions[0] is nobody, always */
	size_t nr_versions, versions_capacity;
	uint64_t *readings_ns; /* when, by number */
	size_t nr_readings, readings_capacity;
	struct perfmap_range *batch; /* added, not merged yet */
	size_t nr_batch, batch_capacity;
	uint64_t nr_changes, nr_refused; /* owners that changed; no room (PERFMAP_MAX_ENTRIES) */
};

void perfmap_history_done(struct perfmap_history *history);

/* A line; of overlapping ones the later wins. size 0: one address. 0, -ENOMEM. */
int perfmap_history_add(
	struct perfmap_history *history, uint64_t start, uint32_t size, uint32_t name);
/* Merges what was added so far. 0, -ENOMEM. */
int perfmap_history_merge(struct perfmap_history *history);
/* What `whole` has is all that holds from now on: who is not in it owns nothing any more. */
int perfmap_history_replace(struct perfmap_history *history, const struct perfmap_history *whole);
/* The reading of that time is complete. 0, -ENOMEM. */
int perfmap_history_commit(struct perfmap_history *history, uint64_t time_ns);

/*
 * 1: *ret_name owned address all through [from, to], by the first reading since, or by a later one
 * if that knew nobody. -ESTALE: owners changed around it, *ret_name is the later. 0: nobody so
 * far. -EAGAIN: no reading since; with `last` what is known counts.
 */
int perfmap_history_lookup(const struct perfmap_history *history, uint64_t from_ns, uint64_t to_ns,
	uint64_t address, int last, uint32_t *ret_name);
/* Names that hold now. */
size_t perfmap_history_nr_owned(const struct perfmap_history *history);

#endif
