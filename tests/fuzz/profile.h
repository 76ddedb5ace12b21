/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_FUZZ_PROFILE_H
#define STOKE_TESTS_FUZZ_PROFILE_H

/* Bytes to profile and back, for the targets that are formats. */

#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/input.h"
#include "format/format.h"

static inline int fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, data, size) == (ssize_t)size);
	REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* NULL: refused, which comes with a sentence. */
static inline struct stoke_profile *fuzz_read(
	const struct format *format, const uint8_t *data, size_t size)
{
	int fd = fuzz_file(data, size), r;
	struct stoke_error err = {0};
	struct stoke_profile *profile;
	struct input *input;

	REQUIRE(stoke_profile_new(&profile) == 0);
	REQUIRE(input_open(fd, "fuzz", &input, &err) == 0);
	(void)format->recognise(data, size < 4096 ? size : 4096);
	r = format->read(profile, input, NULL, &err);
	REQUIRE(r == 0 || (err.code == r && err.text[0]));
	input_close(input);
	(void)close(fd); /* memory */
	if (r < 0) {
		stoke_profile_free(profile);
		return NULL;
	}
	return profile;
}

static inline char *fuzz_write(
	const struct stoke_profile *profile, const struct format *format, size_t *ret_size)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	REQUIRE(out);
	REQUIRE(format->write(profile, NULL, out) == 0);
	REQUIRE(fclose(out) == 0);
	return bytes;
}

#endif
