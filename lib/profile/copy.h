/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_COPY_H
#define STOKE_PROFILE_COPY_H

/*
 * A profile made from parts of another: ids of the old one become ids of the new one, each part
 * copied when it is first asked for. Runs with their facts, quality and value types come at once.
 */

#include "profile/profile.h"

struct copy;

/* from: borrowed until copy_free(). */
int copy_new(const struct stoke_profile *from, struct copy **ret);
void copy_free(struct copy *copy);
/* The new profile, borrowed; and for good. */
struct stoke_profile *copy_profile(struct copy *copy);
struct stoke_profile *copy_take(struct copy *copy);

int copy_string(struct copy *copy, uint32_t string, uint32_t *ret);
int copy_module(struct copy *copy, uint32_t module, uint32_t *ret);
int copy_frame(struct copy *copy, uint32_t frame, uint32_t *ret);
/* The frame with only those of its functions for which kept[i] is set; at least one is. */
int copy_frame_part(struct copy *copy, uint32_t frame, const uint8_t *kept, uint32_t *ret);
int copy_labels(struct copy *copy, uint32_t set, uint32_t *ret);

#endif
