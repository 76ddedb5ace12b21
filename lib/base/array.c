/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: the one place where arrays grow, so that the one overflow check cannot be forgotten. */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_BYTES	 ((size_t)16 << 20)
#define LARGE_PAGE_BYTES ((size_t)2 << 20)

/*
 * A fault a page of 4 KiB is what a hundred million bytes cost most, in virtual machines above all.
 * Advice only: where the kernel has no large pages nothing changes.
 */
static void use_large_pages(void *items, size_t bytes)
{
	uintptr_t start = ((uintptr_t)items + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
	uintptr_t end = ((uintptr_t)items + bytes) & ~(LARGE_PAGE_BYTES - 1);

	if (bytes >= LARGE_BYTES && start < end)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE); /* NOLINT: an address */
}

void *array_new(size_t nr, size_t size)
{
	void *items = calloc(nr ? nr : 1, size);

	if (items)
		use_large_pages(items, (nr ? nr : 1) * size); /* calloc checked the product */
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
	use_large_pages(grown, bytes);
	*items = grown;
	*capacity = room;
	return 0;
}
