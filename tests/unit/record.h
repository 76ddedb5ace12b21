/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNIT_RECORD_H
#define STOKE_UNIT_RECORD_H

/* Records of perf rings, as tests make them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

/* A record in the making: exactly as long as what was put in, so that reading past it is seen. */
struct bytes {
	uint8_t *data;
	size_t size;
};

static inline void put(struct bytes *bytes, const void *data, size_t size)
{
	bytes->data = realloc(bytes->data, bytes->size + size);
	cr_assert(ne(ptr, bytes->data, NULL));
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static inline void put32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static inline void put64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, sizeof(value));
}

#endif
