/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_RELABEL_H
#define STOKE_DIFF_RELABEL_H

/*
 * The ways in which units could have been called before and after, if calling them so meant
 * nothing: all of them where they are few, else a drawn part. One step to the next differs by one
 * exchange where all are looked at, so that sums can follow.
 */

#include <stddef.h>
#include <stdint.h>

#define RELABEL_PAIRED (1u << 0) /* unit i and unit nr / 2 + i change places, or don't */

struct relabel {
	unsigned nr, nr_before;
	uint8_t *after; /* [unit] 1: called after */
	uint64_t total; /* that relabel_next() gives; the observed one is among them, once or
			   more where they are drawn */
	uint64_t seed; /* of drawn ones; 0: all are looked at */
	uint64_t nr_given, state;
	unsigned *choice; /* the nr - nr_before units called after, then sentinels; or scratch */
	unsigned flags;
};

/* max_exact: ways that are all looked at; drawn: how many else, beside the observed. -EINVAL: an
 * empty side, or pairs of unequal sides. -ENOMEM. */
int relabel_init(struct relabel *relabel, unsigned nr, unsigned nr_before, unsigned flags,
	uint64_t max_exact, uint64_t drawn, uint64_t seed);
void relabel_done(struct relabel *relabel);
/* 1: relabel->after holds the next one. 0: there are no more. */
int relabel_next(struct relabel *relabel);

#endif
