/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_SVG_READ_H
#define STOKE_FORMAT_SVG_READ_H

/* What stoke draws holds the profile that it was drawn from; no other tool's picture does. */

#include "format/format.h"

int svg_recognise(const uint8_t *start, size_t size);
int svg_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err);

#endif
