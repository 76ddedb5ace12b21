/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_TIMELINE_H
#define STOKE_CAPTURE_TIMELINE_H

/*
 * One order of time for records from many rings. A record is handed on once every ring has been
 * drained after it was written: each round hands on what is older than the previous round's start.
 */

#include <stdint.h>

#include "capture/item.h"

struct timeline;

int timeline_new(struct timeline **ret);
void timeline_free(struct timeline *timeline);

/* Copies the item with all it points to. 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, const struct item *item);

typedef int timeline_take(void *arg, const struct item *item);

/*
 * Ends a round that began (before its draining) at start_ns: hands on, in order of time, all items
 * older than the start of the round before. Items of equal time keep the order of their coming.
 * The first negative result of take() ends it and is returned; the items stay.
 */
int timeline_round(struct timeline *timeline, uint64_t start_ns, timeline_take *take, void *arg);
/* Goes on where a round ended early. */
int timeline_resume(struct timeline *timeline, timeline_take *take, void *arg);
/* Hands on everything: nothing can come any more. */
int timeline_flush(struct timeline *timeline, timeline_take *take, void *arg);

/* Items that came after newer ones had been handed on: used all the same, but counted. */
uint64_t timeline_late(const struct timeline *timeline);

#endif
