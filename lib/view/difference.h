/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_DIFFERENCE_H
#define STOKE_VIEW_DIFFERENCE_H

/*
 * What a picture of two sides says of a frame. Colour is evidence: only what grew or shrank by more
 * than chance has any, on a fixed scale, so that noise is never painted. Signs and hatches are
 * facts: new, gone, moved, inserted.
 */

#include "view/layout.h"
#include "view/payload.h"

struct difference {
	const struct tree *tree; /* two sides */
	/* What the sides' counts are divided by: rates, of which 1 is all of side 0. */
	double exposure[2];
	struct payload_evidence evidence; /* by name and node of the tree */
	double alpha; /* chance up to which a change is evidence */
	double full; /* change that has the full colour: 0.05 */
	int all; /* 1: every change has a colour, evidence or not */
	double least; /* changes below are not worth a number where nothing could be tested */
	int untested; /* 1: nothing could be */
	const char *word[2]; /* what the sides are called: "before", "after" */
};

/* A function over all of its places, each sample counted once. */
struct difference_function {
	uint32_t name; /* of the tree */
	double total[2], self[2]; /* rates */
};

double difference_rate(const struct difference *difference, unsigned side, uint64_t count);
/* Of a node's total: side 1 less side 0. */
double difference_of(const struct difference *difference, uint32_t node);
/* Chance in millionths that a function changed so, in the direction of the change;
 * PAYLOAD_UNTESTED. */
uint32_t difference_chance(const struct difference *difference, uint32_t name, double change);
/* 1: the change is more than chance. */
int difference_is_sure(const struct difference *difference, uint32_t name, double change);
/* 1: the frame's label tells its change: it is more than chance, or nothing could be tested. */
int difference_is_told(const struct difference *difference, uint32_t node);
/* Class of palette_changes. */
const char *difference_class(const struct difference *difference, uint32_t node);
/* A sign and a blank, or "": moved, inserted, new, gone. */
const char *difference_sign(const struct difference *difference, uint32_t node);
/* 1: side 1 has nothing of it. */
int difference_is_gone(const struct difference *difference, uint32_t node);
/* Functions but the root, largest change of total first, those with evidence before the others.
 * 0 or -ENOMEM; *ret is freed with free(). */
int difference_functions(
	const struct difference *difference, struct difference_function **ret, size_t *ret_nr);

#endif
