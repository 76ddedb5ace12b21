/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/input.h"

TestSuite(input, .fini = check_leaks);

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(sz, (size_t)write(fd, bytes, size), size));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* One gzip member of these bytes; freed by the caller. */
static uint8_t *gzip_of(const void *bytes, size_t size, size_t *ret_size)
{
	z_stream zlib = {0};
	size_t room = size + size / 100 + 100;
	uint8_t *out = malloc(room);

	cr_assert(eq(int, deflateInit2(&zlib, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK));
	zlib.next_in = (uint8_t *)bytes;
	zlib.avail_in = (unsigned)size;
	zlib.next_out = out;
	zlib.avail_out = (unsigned)room;
	cr_assert(eq(int, deflate(&zlib, Z_FINISH), Z_STREAM_END));
	*ret_size = zlib.total_out;
	deflateEnd(&zlib);
	return out;
}

/* Reads all in pieces of `want`, skipping `step`; the bytes, or the error. */
static ssize_t read_all(int fd, size_t want, char **ret, struct stoke_error *err)
{
	struct input *input;
	const uint8_t *p;
	size_t used = 0, room = 0;
	ssize_t n;

	*ret = NULL;
	cr_assert(zero(int, input_open(fd, "x.gz", &input, err)));
	while ((n = input_fill(input, want, &p, err)) > 0) {
		size_t take = (size_t)n < want ? (size_t)n : want;

		if (used + take + 1 > room) {
			room = 2 * (used + take) + 1;
			*ret = realloc(*ret, room);
		}
		memcpy(*ret + used, p, take);
		used += take;
		(*ret)[used] = '\0';
		input_skip(input, take);
	}
	input_close(input);
	return n < 0 ? n : (ssize_t)used;
}

Test(input, plain_bytes_come_as_they_are)
{
	struct stoke_error err = {0};
	char *text;
	int fd = file_of("hello\0world", 11);

	cr_assert(eq(long, read_all(fd, 4, &text, &err), 11));
	cr_assert(zero(int, memcmp(text, "hello\0world", 11)));
	free(text);
	close(fd);
}

Test(input, an_empty_file_is_an_end)
{
	char *text;
	int fd = file_of("", 0);

	cr_assert(eq(long, read_all(fd, 1, &text, NULL), 0));
	close(fd);
}

Test(input, two_bytes_that_could_begin_gzip_are_bytes)
{
	char *text;
	int fd = file_of("\x1f\x8b", 2);

	cr_assert(eq(long, read_all(fd, 1, &text, NULL), 2));
	free(text);
	close(fd);
}

Test(input, what_was_not_skipped_stays_in_front)
{
	size_t size = 3 << 20;
	uint8_t *bytes = malloc(size);
	const uint8_t *p;
	struct input *input;
	int fd;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	fd = file_of(bytes, size);
	cr_assert(zero(int, input_open(fd, "x", &input, NULL)));
	cr_assert(ge(long, input_fill(input, 1000, &p, NULL), 1000));
	input_skip(input, 100);
	cr_assert(ge(long, input_fill(input, 2 << 20, &p, NULL), 2 << 20));
	cr_assert(zero(int, memcmp(p, bytes + 100, 2 << 20)));
	input_skip(input, (2 << 20) - 5);
	cr_assert(eq(long, input_fill(input, size, &p, NULL), (1 << 20) - 95));
	cr_assert(zero(int, memcmp(p, bytes + (2 << 20) + 95, (1 << 20) - 95)));
	input_close(input);
	free(bytes);
	close(fd);
}

Test(input, gzip_members_are_one_stream_and_zero_padding_is_allowed)
{
	char *both, *text;
	size_t a, b;
	uint8_t *first = gzip_of("hello ", 6, &a), *second = gzip_of("world", 5, &b);
	int fd;

	both = calloc(1, a + b + 20);
	memcpy(both, first, a);
	memcpy(both + a, second, b);
	fd = file_of(both, a + b + 20);
	cr_assert(eq(long, read_all(fd, 3, &text, NULL), 11));
	cr_assert(eq(str, text, "hello world"));
	free(text);
	free(both);
	free(first);
	free(second);
	close(fd);
}

Test(input, gzip_larger_than_the_windows_unpacks_exactly)
{
	size_t size = 5 << 20, packed;
	uint8_t *bytes = malloc(size), *gzip;
	uint32_t x = 1;
	char *text;
	int fd;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 28);
	gzip = gzip_of(bytes, size, &packed);
	fd = file_of(gzip, packed);
	cr_assert(eq(long, read_all(fd, 77777, &text, NULL), (long)size));
	cr_assert(zero(int, memcmp(text, bytes, size)));
	free(text);
	free(gzip);
	free(bytes);
	close(fd);
}

static void refuse(const uint8_t *bytes, size_t size, int code, const char *sentence)
{
	struct stoke_error err = {0};
	char *text;
	int fd = file_of(bytes, size);

	cr_assert(eq(long, read_all(fd, 1 << 16, &text, &err), code));
	cr_assert(eq(str, err.text, (char *)sentence));
	free(text);
	close(fd);
}

Test(input, cut_damaged_and_followed_by_rubbish_are_sentences)
{
	static const char text[] = "a text that is long enough to be cut somewhere in the middle";
	size_t size;
	uint8_t *gzip = gzip_of(text, sizeof(text), &size);
	uint8_t *more = malloc(size + 3);

	for (size_t cut = 3; cut < size; cut++)
		refuse(gzip, cut, -EINVAL, "x.gz: gzip data ends early: the file was cut short");
	memcpy(more, gzip, size);
	memcpy(more + size, "abc", 3);
	refuse(more, size + 3, -EINVAL, "x.gz: bytes that are not gzip follow the gzip data");
	gzip[size - 6] ^= 0x55; /* in the CRC, RFC 1952 2.3 */
	refuse(gzip, size, -EINVAL, "x.gz: damaged gzip data: incorrect data check");
	free(more);
	free(gzip);
}

Test(input, a_gzip_bomb_is_refused_by_its_ratio)
{
	size_t size = 200u << 20, packed;
	uint8_t *zeros = calloc(1, size), *gzip = gzip_of(zeros, size, &packed);

	free(zeros);
	refuse(gzip, packed, -E2BIG,
		"x.gz unpacks to more than 1000 times its size: refused as a gzip bomb");
	free(gzip);
}

Test(input, a_directory_is_said_to_be_one)
{
	struct stoke_error err = {0};
	char *text;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert(eq(long, read_all(fd, 1, &text, &err), -EISDIR));
	cr_assert(eq(str, err.text, "x.gz is a directory, not a profile"));
	close(fd);
}

Test(input, a_pipe_gives_what_it_has_until_it_ends)
{
	int fds[2];
	char *text;

	cr_assert(zero(int, pipe2(fds, O_NONBLOCK | O_CLOEXEC)));
	cr_assert(eq(long, write(fds[1], "abc", 3), 3));
	close(fds[1]);
	cr_assert(eq(long, read_all(fds[0], 2, &text, NULL), 3));
	cr_assert(eq(str, text, "abc"));
	free(text);
	close(fds[0]);
}
