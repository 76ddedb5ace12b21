/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_HOTSPOT_IMAGE_H
#define STOKE_TESTS_HOTSPOT_IMAGE_H

/*
 * Memory of a Java VM in a file: what record.c saw stoke read, gzipped. "stokeVM1", where libjvm's
 * code was mapped from which offset, then address, size and bytes of each piece, sorted.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "process/memory.h"

#define IMAGE_MAGIC	 "stokeVM1"
#define IMAGE_MAX_PIECES 65536

struct piece {
	uint64_t address;
	uint64_t size;
	uint8_t *bytes;
};

struct image {
	uint64_t start, offset; /* of libjvm's code */
	struct piece *pieces;
	size_t nr_pieces;
	struct memory memory; /* reads from the image that `image` points at */
};

static inline const struct piece *image_piece(const struct image *image, uint64_t address)
{
	for (size_t low = 0, high = image->nr_pieces; low < high;) {
		const size_t middle = low + (high - low) / 2;
		const struct piece *piece = &image->pieces[middle];

		if (address < piece->address)
			high = middle;
		else if (address - piece->address >= piece->size)
			low = middle + 1;
		else
			return piece;
	}
	return NULL;
}

static inline int image_read_part(const struct image *image, struct memory_part *part)
{
	uint64_t address = part->address;
	uint32_t left = part->size;
	uint8_t *to = part->to;

	while (left) {
		const struct piece *piece = image_piece(image, address);
		uint64_t n;

		if (!piece)
			return 1;
		n = piece->size - (address - piece->address);
		n = n < left ? n : left;
		memcpy(to, piece->bytes + (address - piece->address), n);
		to += n;
		address += n;
		left -= (uint32_t)n;
	}
	return 0;
}

static inline int image_read(const struct memory *memory, struct memory_part *parts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		parts[i].missing = image_read_part(memory->image, &parts[i]);
	return 0;
}

static inline void image_done(struct image *image)
{
	for (size_t i = 0; i < image->nr_pieces; i++)
		free(image->pieces[i].bytes);
	free(image->pieces);
	*image = (struct image){0};
}

/* 0, or -1. The image must not move afterwards. */
static inline int image_load(const char *path, struct image *ret)
{
	gzFile file = gzopen(path, "rb");
	uint64_t head[4], piece[2];
	size_t i = 0;

	*ret = (struct image){.memory = {.read = image_read, .image = ret}};
	if (!file || gzread(file, head, sizeof(head)) != sizeof(head) ||
		memcmp(head, IMAGE_MAGIC, 8) != 0 || head[3] > IMAGE_MAX_PIECES) {
		if (file)
			gzclose(file);
		return -1;
	}
	ret->start = head[1];
	ret->offset = head[2];
	ret->pieces = calloc(head[3] + 1, sizeof(*ret->pieces));
	for (; ret->pieces && i < head[3]; i++) {
		if (gzread(file, piece, sizeof(piece)) != sizeof(piece) || piece[1] > 1u << 28)
			break;
		ret->pieces[i] = (struct piece){piece[0], piece[1], malloc(piece[1] + 1)};
		ret->nr_pieces++;
		if (!ret->pieces[i].bytes ||
			gzread(file, ret->pieces[i].bytes, (unsigned)piece[1]) != (int)piece[1])
			break;
	}
	gzclose(file);
	if (ret->pieces && i == head[3])
		return 0;
	image_done(ret);
	return -1;
}

static inline int image_save(const struct image *image, const char *path)
{
	uint64_t head[4] = {0, image->start, image->offset, image->nr_pieces};
	gzFile file = gzopen(path, "wb9");
	int ok = file != NULL;

	memcpy(head, IMAGE_MAGIC, 8);
	ok = ok && gzwrite(file, head, sizeof(head)) == sizeof(head);
	for (size_t i = 0; ok && i < image->nr_pieces; i++) {
		const struct piece *piece = &image->pieces[i];
		const uint64_t words[2] = {piece->address, piece->size};

		ok = gzwrite(file, words, sizeof(words)) == sizeof(words) &&
		     gzwrite(file, piece->bytes, (unsigned)piece->size) == (int)piece->size;
	}
	if (file && gzclose(file) != Z_OK)
		ok = 0;
	return ok ? 0 : -1;
}

#endif
