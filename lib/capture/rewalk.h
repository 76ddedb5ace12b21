/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_REWALK_H
#define STOKE_CAPTURE_REWALK_H

/*
 * Walks that the kernel could not finish, over the copy that it took: the same walk, by what was
 * mapped at the sample's time, as far as the timeline has come. So a process that is gone before it
 * could be read has whole stacks too.
 */

#include <stdint.h>

#include "bpf/event.h"
#include "capture/item.h"
#include "capture/walkable.h"

struct rewalk;

/* ground is copied. 0, -ENOMEM. */
int rewalk_new(const struct ground *ground, struct rewalk **ret);
void rewalk_free(struct rewalk *rewalk);

struct walked {
	const struct stoke_sample *record;
	const uint64_t *frames; /* nr_kernel, then nr_user */
};

/*
 * The sample, with its user part walked anew if it has a copy and that leads further; borrowed
 * until the next call. 0, -ENOMEM; -EAGAIN: the table of a file in its way is being made, and
 * shall be waited for.
 */
int rewalk_sample(struct rewalk *rewalk, struct process *process, const struct item *item,
	struct walked *ret);

/* Samples whose stacks were finished here. */
uint64_t rewalk_count(const struct rewalk *rewalk);

#endif
