/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: the one place where arrays grow, so that the one overflow check cannot be forgotten. */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE_BYTES ((size_t)2 << 20)
#define LARGE_BYTES	 (LARGE_PAGE_BYTES / 2)

/*
 * A fault a page of 4 KiB is what tables of millions cost most, in virtual machines above all: they
 * get whole large pages of their own. Advice only: where the kernel has none nothing changes.
 * *bytes is rounded up.
 */
static void *new_large(size_t *bytes)
{
	size_t whole = (*bytes + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
	void *items = whole < *bytes ? NULL : aligned_alloc(LARGE_PAGE_BYTES, whole);

	if (!items)
		return NULL;
	(void)madvise(items, whole, MADV_HUGEPAGE);
	*bytes = whole;
	return items;
}

void *array_new(size_t nr, size_t size)
{
	size_t bytes;
	void *items;

	if (size_multiply(nr, size, &bytes) < 0)
		return NULL;
	if (bytes < LARGE_BYTES)
		return calloc(bytes ? bytes : 1, 1);
	items = new_large(&bytes);
	/* Zeroes that come with the pages, once these are touched: anonymous memory, madvise(2). */
	if (items && madvise(items, bytes, MADV_DONTNEED) < 0)
		memset(items, 0, bytes);
	return items;
}

int size_multiply(size_t a, size_t b, size_t *ret)
{
	return __builtin_mul_overflow(a, b, ret) ? -EOVERFLOW : 0;
}

int size_add(size_t a, size_t b, size_t *ret)
{
	return __builtin_add_overflow(a, b, ret) ? -EOVERFLOW : 0;
}

/* Of a large array realloc() would move the mapping to where large pages do not fit. */
static void *grow_large(void *items, size_t old_bytes, size_t *bytes)
{
	void *grown = new_large(bytes);

	if (!grown)
		return NULL;
	if (old_bytes)
		memcpy(grown, items, old_bytes);
	free(items);
	return grown;
}

int array_grow(void **items, size_t *capacity, size_t nr, size_t extra, size_t size)
{
	size_t need, room, bytes;
	void *grown;

	if (size_add(nr, extra, &need) < 0 || need > UINT32_MAX)
		return -E2BIG;
	if (need <= *capacity)
		return 0;
	room = *capacity + *capacity / (*capacity < LARGE_BYTES / size ? 2 : 1);
	if (room < need)
		room = need;
	if (room < 16)
		room = 16;
	if (size_multiply(room, size, &bytes) < 0)
		return -E2BIG;
	if (bytes < LARGE_BYTES)
		grown = realloc(*items, bytes);
	else
		grown = grow_large(*items, *capacity * size, &bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = bytes / size;
	return 0;
}
