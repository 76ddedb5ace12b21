/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.c: one window that slides over a stream, packed or not. Members of a gzip file follow each
 * other as one stream (RFC 1952 2.2), zero padding after the last is allowed, anything else is not.
 */
#include "base/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

/* Small enough for the cache next to the core, large enough that read(2) is no matter. */
#define WINDOW_BYTES	 (256u << 10)
#define PACKED_BYTES	 (64u << 10)
#define RATIO_FREE_BYTES (64ull << 20)

struct input {
	int fd;
	char *name;
	uint8_t *window;
	size_t capacity, start, end; /* visible: [start, end) */
	uint8_t *packed; /* gzip: what was read and not yet inflated */
	size_t packed_start, packed_end;
	z_stream zlib;
	uint64_t nr_packed, nr_unpacked;
	int known; /* whether gzip or not */
	int gzip, in_member, ended;
};

int input_open(int fd, const char *name, struct input **ret, struct stoke_error *err)
{
	struct input *input = calloc(1, sizeof(*input));

	if (!input)
		return fail(err, -ENOMEM, "out of memory");
	input->fd = fd;
	input->name = strdup(name ? name : "input");
	input->window = malloc(WINDOW_BYTES);
	if (!input->name || !input->window)
		goto fail;
	input->capacity = WINDOW_BYTES;
	*ret = input;
	return 0;

fail:
	input_close(input);
	return fail(err, -ENOMEM, "out of memory");
}

void input_close(struct input *input)
{
	if (!input)
		return;
	if (input->gzip)
		(void)inflateEnd(&input->zlib); /* only frees */
	free(input->packed);
	free(input->window);
	free(input->name);
	free(input);
}

const char *input_name(const struct input *input)
{
	return input->name;
}

void input_skip(struct input *input, size_t n)
{
	input->start += n < input->end - input->start ? n : input->end - input->start;
}

/* read(2) that goes on after signals and waits where the descriptor does not. */
static ssize_t read_some(struct input *input, void *to, size_t room, struct stoke_error *err)
{
	for (;;) {
		ssize_t n = read(input->fd, to, room);

		if (n >= 0)
			return n;
		if (errno == EAGAIN) {
			struct pollfd ready = {.fd = input->fd, .events = POLLIN};

			(void)poll(&ready, 1, -1); /* an error shows in the next read */
			continue;
		}
		if (errno == EISDIR)
			return fail(err, -EISDIR, "%s is a directory, not a profile", input->name);
		if (errno != EINTR)
			return fail(err, -errno, "cannot read %s: %m", input->name);
	}
}

/* A gzip stream begins 1f 8b 08 (RFC 1952): then its bytes move from the window to packed. */
static int look_at_start(struct input *input, struct stoke_error *err)
{
	while (input->end < 3 && !input->ended) {
		ssize_t n = read_some(
			input, input->window + input->end, input->capacity - input->end, err);

		if (n < 0)
			return (int)n;
		input->ended = n == 0;
		input->end += (size_t)n;
	}
	input->known = 1;
	if (input->end < 3 || memcmp(input->window, "\x1f\x8b\x08", 3) != 0)
		return 0;
	input->packed = malloc(input->capacity > PACKED_BYTES ? input->capacity : PACKED_BYTES);
	/* 15: the largest window; 16: gzip and nothing else, zlib.h inflateInit2(). */
	if (!input->packed || inflateInit2(&input->zlib, 15 + 16) != Z_OK)
		return fail(err, -ENOMEM, "out of memory");
	input->gzip = 1;
	input->in_member = 1;
	memcpy(input->packed, input->window, input->end);
	input->packed_end = input->end;
	input->nr_packed = input->end;
	input->start = input->end = 0;
	return 0;
}

/* Between members. 1: another begins, 0: the end, -errno. */
static int next_member(struct input *input, struct stoke_error *err)
{
	for (;;) {
		size_t n = input->packed_end - input->packed_start;
		const uint8_t *p = input->packed + input->packed_start;

		if (n && !*p) {
			input->packed_start++;
			continue;
		}
		if (n >= 2 || (n && input->ended))
			break;
		if (input->ended)
			return 0;
		memmove(input->packed, p, n);
		input->packed_start = 0;
		input->packed_end = n;
		ssize_t got = read_some(input, input->packed + n, PACKED_BYTES - n, err);

		if (got < 0)
			return (int)got;
		input->ended = got == 0;
		input->packed_end += (size_t)got;
		input->nr_packed += (uint64_t)got;
	}
	if (input->packed_end - input->packed_start < 2 ||
		memcmp(input->packed + input->packed_start, "\x1f\x8b", 2) != 0)
		return fail(err, -EINVAL, "%s: bytes that are not gzip follow the gzip data",
			input->name);
	(void)inflateReset(&input->zlib); /* of a stream that was set up: cannot fail */
	input->in_member = 1;
	return 1;
}

static int check_limits(struct input *input, struct stoke_error *err)
{
	if (input->nr_unpacked > INPUT_MAX_UNPACKED)
		return fail(err, -E2BIG, "%s unpacks to more than %llu GiB: refused", input->name,
			INPUT_MAX_UNPACKED >> 30);
	if (input->nr_unpacked > RATIO_FREE_BYTES &&
		input->nr_unpacked / INPUT_MAX_RATIO > input->nr_packed)
		return fail(err, -E2BIG,
			"%s unpacks to more than %d times its size: refused as a gzip bomb",
			input->name, INPUT_MAX_RATIO);
	return 0;
}

/* Unpacks some bytes behind end. Their number, 0 at the end, -errno. */
static ssize_t unpack_some(struct input *input, struct stoke_error *err)
{
	z_stream *zlib = &input->zlib;
	ssize_t n;
	int r;

	for (;;) {
		if (!input->in_member) {
			r = next_member(input, err);
			if (r <= 0)
				return r;
		}
		if (input->packed_start == input->packed_end) {
			n = input->ended ? 0 : read_some(input, input->packed, PACKED_BYTES, err);
			if (n < 0)
				return n;
			if (n == 0)
				return fail(err, -EINVAL,
					"%s: gzip data ends early: the file was cut short",
					input->name);
			input->packed_start = 0;
			input->packed_end = (size_t)n;
			input->nr_packed += (uint64_t)n;
		}
		zlib->next_in = input->packed + input->packed_start;
		zlib->avail_in = (unsigned)(input->packed_end - input->packed_start);
		zlib->next_out = input->window + input->end;
		zlib->avail_out = (unsigned)(input->capacity - input->end);
		r = inflate(zlib, Z_NO_FLUSH);
		input->packed_start = input->packed_end - zlib->avail_in;
		n = (ssize_t)(input->capacity - input->end) - zlib->avail_out;
		if (r == Z_MEM_ERROR)
			return fail(err, -ENOMEM, "out of memory");
		if (r == Z_STREAM_END)
			input->in_member = 0;
		else if (r != Z_OK && r != Z_BUF_ERROR)
			return fail(err, -EINVAL, "%s: damaged gzip data: %s", input->name,
				zlib->msg ? zlib->msg : "unknown fault");
		input->nr_unpacked += (uint64_t)n;
		r = check_limits(input, err);
		if (r < 0)
			return r;
		if (n)
			return n;
	}
}

/* Makes room behind end for at least one byte, and for want in all from start. */
static int make_room(struct input *input, size_t want, struct stoke_error *err)
{
	size_t left = input->end - input->start, capacity = input->capacity;
	uint8_t *grown;

	if (input->start) {
		memmove(input->window, input->window + input->start, left);
		input->start = 0;
		input->end = left;
	}
	while (capacity < want || capacity == left) {
		if (capacity > SIZE_MAX / 4 || capacity > UINT32_MAX / 4)
			return fail(err, -E2BIG, "%s: one piece is too large", input->name);
		capacity *= 2;
	}
	if (capacity == input->capacity)
		return 0;
	grown = realloc(input->window, capacity);
	if (!grown)
		return fail(err, -ENOMEM, "out of memory");
	input->window = grown;
	input->capacity = capacity;
	return 0;
}

ssize_t input_fill(struct input *input, size_t want, const uint8_t **ret, struct stoke_error *err)
{
	ssize_t n = input->known ? 0 : look_at_start(input, err);

	if (n < 0)
		return n;
	while (input->end - input->start < want) {
		if (input->ended && !input->gzip)
			break;
		n = input->end < input->capacity && input->start + want <= input->capacity
			    ? 0
			    : make_room(input, want, err);
		if (n < 0)
			return n;
		if (input->gzip) {
			n = unpack_some(input, err);
		} else {
			n = read_some(input, input->window + input->end,
				input->capacity - input->end, err);
			input->ended = n == 0;
		}
		if (n < 0)
			return n;
		if (n == 0)
			break;
		input->end += (size_t)n;
	}
	*ret = input->window + input->start;
	return (ssize_t)(input->end - input->start);
}
