/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_HOTSPOT_FIXTURE_H
#define STOKE_TESTS_UNIT_HOTSPOT_FIXTURE_H

/* The recorded JVMs: tests/hotspot/record.py makes them. */

#include "hotspot/image.h"
#include "hotspot/structs.h"
#include "unit/test.h"

static const int fixture_releases[] = {8, 11, 17, 21, 25};

struct fixture {
	struct image image;
	struct hotspot_structs structs;
};

static inline void fixture_load(struct fixture *fixture, int release)
{
	char path[256];

	(void)snprintf(path, sizeof(path), TEST_DATA "/hotspot/%d.image", release);
	cr_assert(eq(int, image_load(path, &fixture->image), 0), "%s", path);
	cr_assert(eq(int,
		hotspot_structs_read(&fixture->image.memory, fixture->image.start,
			fixture->image.offset, &fixture->structs),
		0));
}

static inline void fixture_done(struct fixture *fixture)
{
	image_done(&fixture->image);
}

/* Where that much of the image's memory can be written to. */
static inline uint8_t *fixture_at(struct fixture *fixture, uint64_t address, size_t size)
{
	const struct piece *piece = image_piece(&fixture->image, address);

	cr_assert(piece && address + size <= piece->address + piece->size);
	return piece->bytes + (address - piece->address);
}

#endif
