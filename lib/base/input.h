/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_INPUT_H
#define STOKE_BASE_INPUT_H

/*
 * A stream read in windows, gunzipped when it begins like gzip. Bounded: a gzip bomb ends in
 * -E2BIG, not in memory. Never mmap: mapped pages of a file count as memory.
 */

#include <stddef.h>
#include <stdint.h>

#include "stoke.h"

#define INPUT_MAX_UNPACKED (16ull << 30) /* of one compressed stream */
#define INPUT_MAX_RATIO	   1000 /* unpacked : packed, once past 64 MiB */

struct input;

/* Takes no ownership of fd. 0 or -ENOMEM. name: for messages, copied. */
int input_open(int fd, const char *name, struct input **ret, struct stoke_error *err);
void input_close(struct input *input);
const char *input_name(const struct input *input);

/*
 * Makes at least `want` bytes visible unless the stream ends first; *ret points at them, the result
 * is how many are there (more than asked for is possible, 0 is the end), or -errno with a sentence.
 * The pointer is good until the next input_fill(). What was visible and not skipped stays in front.
 */
ssize_t input_fill(struct input *input, size_t want, const uint8_t **ret, struct stoke_error *err);
/* Moves on by n visible bytes. */
void input_skip(struct input *input, size_t n);

#endif
