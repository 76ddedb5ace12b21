/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_FORMAT_H
#define STOKE_FORMAT_FORMAT_H

/*
 * A format is a file that *is* a profile. One file a format (format/x.c exports format_x), its
 * word in meson.build, its test, its goldens. Suffix, help and options come from the struct.
 */

#include <stdio.h>

#include "base/input.h"
#include "base/param.h"
#include "profile/profile.h"

struct format {
	const char *name, *summary;
	const char *suffixes; /* ".pb.gz .pprof": blank-separated, first is the one written by
				 default */
	int binary; /* has no place on a terminal */
	const struct param *params;
	size_t params_size; /* of the struct that params fill */
	/* How surely this is mine, 0..100. start: the first bytes (up to 4096) after gunzip. */
	int (*recognise)(const uint8_t *start, size_t size);
	/* Adds one run. NULL: cannot read. */
	int (*read)(struct stoke_profile *into, struct input *input,
		const struct stoke_read_options *options, struct stoke_error *err);
	/* NULL: cannot write. Stream errors stick and are the caller's to look at; -ENOMEM else. */
	int (*write)(const struct stoke_profile *profile, const void *params, FILE *out);
};

extern const struct format *const formats[];
extern const size_t nr_formats;

/* The format of this name, or NULL. */
const struct format *format_find(const char *name, size_t size);
/*
 * The format that is surest of what stands at the start of input, which stays unread. -EINVAL for
 * what none of them reads, with a sentence that says what it is and how it becomes readable.
 */
int format_recognise(struct input *input, const struct format **ret, struct stoke_error *err);

#endif
