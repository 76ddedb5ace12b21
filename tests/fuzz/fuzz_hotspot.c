/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_hotspot.c: a Java VM's memory, as recorded, with whatever was written over it. The first
 * byte chooses the release; then come patches: piece (2 bytes), offset in it (3), size (1), bytes.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>

#include "hotspot/image.h"
#include "runtime/hotspot/owners.h"

#define MAX_BLOBS   200000 /* more than any image has bytes for */
#define HEAD_BYTES  6
#define STEP_BYTES  24
#define MAX_LOOKUPS 2000

static const int releases[] = {8, 11, 17, 21, 25};
static struct image images[sizeof(releases) / sizeof(releases[0])];

static struct image *load(uint8_t which)
{
	const size_t i = which % (sizeof(releases) / sizeof(releases[0]));
	char path[512];

	if (!images[i].nr_pieces) {
		(void)snprintf(path, sizeof(path), TEST_DATA "/hotspot/%d.image", releases[i]);
		REQUIRE(image_load(path, &images[i]) == 0);
	}
	return &images[i];
}

static void exchange(uint8_t *a, uint8_t *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const uint8_t kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

/* Puts the bytes of patch after patch in, or, run with the same data again, back. */
static void patch(struct image *image, uint8_t *data, size_t size, int backwards)
{
	size_t starts[4096], nr = 0;

	for (size_t at = 0; at + HEAD_BYTES <= size && nr < 4096; at += HEAD_BYTES + data[at + 5])
		starts[nr++] = at;
	for (size_t i = 0; i < nr; i++) {
		uint8_t *head = data + starts[backwards ? nr - 1 - i : i];
		const struct piece *piece =
			&image->pieces[(head[0] | head[1] << 8) % image->nr_pieces];
		const size_t offset =
			(head[2] | head[3] << 8 | (size_t)head[4] << 16) % piece->size;
		const size_t there = piece->size - offset,
			     left = (size_t)(data + size - head) - HEAD_BYTES;
		size_t n = head[5] < there ? head[5] : there;

		n = n < left ? n : left;
		exchange(piece->bytes + offset, head + HEAD_BYTES, n);
	}
}

static void look_up(struct owners *owners)
{
	struct symbol symbols[CHAIN_MAX_FRAMES];
	size_t nr_lookups = 0;

	for (size_t i = 0; i < owners->now.nr_blobs; i++) {
		const struct code_blob *blob = &owners->now.blobs[i];

		for (uint64_t at = 0; at < blob->code_size && nr_lookups < MAX_LOOKUPS;
			at += STEP_BYTES, nr_lookups++) {
			int n = owners_lookup(owners, (struct span){1, 1}, blob->code + at, 0,
				symbols, CHAIN_MAX_FRAMES);

			REQUIRE(n <= CHAIN_MAX_FRAMES);
			for (int k = 0; k < n; k++)
				REQUIRE(symbols[k].name && symbols[k].name_size);
		}
		(void)owners_lookup_method(
			owners, blob->method, (uint32_t)i, 1, symbols, CHAIN_MAX_FRAMES);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image = load(size ? data[0] : 0);
	uint8_t *patches = malloc(size + 1);
	struct hotspot_structs structs;
	struct owners owners;

	REQUIRE(patches);
	size = size ? size - 1 : 0;
	memcpy(patches, size ? data + 1 : (const uint8_t *)"", size);
	patch(image, patches, size, 0);
	if (hotspot_structs_read(&image->memory, image->start, image->offset, &structs) == 0) {
		owners_init(&owners, &image->memory, &structs);
		(void)owners_read(&owners, 1);
		(void)owners_read(&owners, 2);
		REQUIRE(owners.now.nr_blobs < MAX_BLOBS);
		look_up(&owners);
		owners_done(&owners);
	}
	patch(image, patches, size, 1);
	free(patches);
	return 0;
}
