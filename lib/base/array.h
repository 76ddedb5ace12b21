/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_ARRAY_H
#define STOKE_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `extra` more elements of `size` bytes behind `nr` in *items, which has room for
 * *capacity: grows by half, large tables to twice, at least to 16. 0, -ENOMEM, or -E2BIG when the
 * count would pass UINT32_MAX (ids are u32). On failure nothing is changed. *items is freed with
 * free().
 *
 *	r = array_reserve(&list->items, &list->capacity, list->nr, 1);
 */
int array_grow(void **items, size_t *capacity, size_t nr, size_t extra, size_t size);

#define array_reserve(items, capacity, nr, extra)                                                  \
	array_grow((void **)(items), (capacity), (nr), (extra), sizeof(**(items)))

/* calloc() for tables that may be large: then of large pages, which come with far fewer faults. */
void *array_new(size_t nr, size_t size);

/* a * b and a + b, or -EOVERFLOW. */
int size_multiply(size_t a, size_t b, size_t *ret);
int size_add(size_t a, size_t b, size_t *ret);

#endif
