/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_FORMAT_READ_WRITE_H
#define STOKE_TESTS_UNIT_FORMAT_READ_WRITE_H

/* Text to profile and back, for tests of formats. */

#include "unit/test.h"

#include <string.h>
#include <sys/mman.h>

#include "base/input.h"
#include "format/format.h"

static inline int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(sz, (size_t)write(fd, bytes, size), size));
	cr_assert(zero(long, lseek(fd, 0, SEEK_SET)));
	return fd;
}

/* Adds a run; the format's answer. */
static inline int read_bytes(struct stoke_profile *profile, const struct format *format,
	const void *bytes, size_t size, const struct stoke_read_options *options,
	struct stoke_error *err)
{
	int fd = file_of(bytes, size), r;
	struct input *input;

	cr_assert(zero(int, input_open(fd, "in", &input, err)));
	r = format->read(profile, input, options, err);
	input_close(input);
	close(fd);
	return r;
}

/* What the format writes; freed by the caller, NUL behind. */
static inline char *write_bytes(
	const struct stoke_profile *profile, const struct format *format, size_t *ret_size)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	cr_assert(zero(int, format->write(profile, NULL, out)));
	cr_assert(zero(int, fclose(out)));
	if (ret_size)
		*ret_size = size;
	return bytes;
}

#endif
