/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_CAUSE_H
#define STOKE_DIFF_CAUSE_H

/*
 * Where did the growth begin, and of what kind is it? Sites are the deepest places whose growth
 * no place below explains; an owner is where the way down from the root splits. Shares only: the
 * tree's sides are divided by their own sums (or by exposures, when given).
 */

#include <stddef.h>
#include <stdint.h>

#include "diff/align.h"

enum cause_kind {
	CAUSE_NEW, /* was not there before */
	CAUSE_SELF, /* its own code: at least half of the growth */
	CAUSE_VOLUME, /* the same work, more of it: look at callers, counts, configuration */
	CAUSE_MIX, /* different work: what it is made of changed */
};

#define CAUSE_OWN UINT32_MAX /* struct part.name: the frame's own code */

struct part { /* of an owner: child's share of the frame, before and after */
	uint32_t name; /* index of tree->names, or CAUSE_OWN */
	double before, after;
};

struct owner {
	uint32_t node; /* of the aligned tree; its path are the parents */
	double before, after; /* rates */
	double growth; /* of the sites below: what this owner explains */
	int crossroads; /* 1: it grew by less than half of that itself: it only stands above several
			   causes, whose owners are in the list too */
	double variation; /* total variation distance of the parts, 0 to 1 */
	double cost_ratio; /* shares: own cost if the rest did not change; else after / before.
			      NAN: no meaning */
	enum cause_kind kind;
	struct part *parts; /* sorted by |after - before|, largest first */
	size_t nr_parts;
};

struct site {
	uint32_t node;
	double growth; /* not explained below */
	double self; /* growth of its own code */
};

enum moved_kind { MOVED_INLINED, MOVED_OUTLINED, MOVED_RENAMED, MOVED_INSERTED };

struct moved {
	enum moved_kind kind;
	uint32_t node; /* the frame that took the cost, or was inserted */
	uint32_t from; /* the frame whose cost it was; 0 for MOVED_INSERTED */
	double size; /* rate that moved */
};

struct cause {
	struct owner *owners; /* of growth, largest first */
	size_t nr_owners; /* 100 at most */
	struct site *sites; /* largest first */
	size_t nr_sites;
	struct moved *moved; /* largest first */
	size_t nr_moved;
	double difference; /* 1/2 sum |change of self| over paths: 0 same, 1 disjoint */
};

/* What a side's counts are divided by (its samples for shares), and the least growth that is a
 * site or an owner, in units of the rate. -ENOMEM. */
int cause_find(
	const struct aligned *aligned, const double exposure[2], double least, struct cause **ret);
void cause_free(struct cause *cause);

#endif
