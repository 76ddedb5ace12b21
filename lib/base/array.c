/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: the one place where arrays grow, so that the one overflow check cannot be forgotten. */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int size_multiply(size_t a, size_t b, size_t *ret)
{
	return __builtin_mul_overflow(a, b, ret) ? -EOVERFLOW : 0;
}

int size_add(size_t a, size_t b, size_t *ret)
{
	return __builtin_add_overflow(a, b, ret) ? -EOVERFLOW : 0;
}

int array_grow(void **items, size_t *capacity, size_t nr, size_t extra, size_t size)
{
	size_t need, room, bytes;
	void *grown;

	if (size_add(nr, extra, &need) < 0 || need > UINT32_MAX)
		return -E2BIG;
	if (need <= *capacity)
		return 0;
	room = *capacity + *capacity / 2;
	if (room < need)
		room = need;
	if (room < 16)
		room = 16;
	if (size_multiply(room, size, &bytes) < 0)
		return -E2BIG;
	grown = realloc(*items, bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = room;
	return 0;
}
