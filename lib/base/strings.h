/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_STRINGS_H
#define STOKE_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Interned byte strings: the same bytes are the same id, so that everything above compares u32s.
 * Id 0 is the empty string, always. Strings may hold any byte, NUL too; what strings_text()
 * returns is followed by a NUL for the convenience of printf.
 */
struct strings {
	char *bytes; /* all strings, each followed by NUL */
	size_t bytes_capacity, nr_bytes;
	uint64_t *start; /* id -> offset into bytes; start[nr] is the end */
	size_t start_capacity;
	uint32_t nr;
	uint32_t *slots; /* open addressing: id + 1, or 0 */
	uint32_t *hashes;
	size_t hashes_capacity;
	uint32_t nr_slots; /* a power of two */
};

int strings_init(struct strings *strings); /* 0 or -ENOMEM; strings_done() is safe either way */
void strings_done(struct strings *strings);

/* The id of these bytes, added when new. 0, -ENOMEM or -E2BIG. */
int strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret);

/* The id of these bytes if they are known, else UINT32_MAX. */
uint32_t strings_find(const struct strings *strings, const char *text, size_t size);

/* Borrowed until the next strings_add(). */
const char *strings_text(const struct strings *strings, uint32_t id);
size_t strings_size(const struct strings *strings, uint32_t id);

/* 64-bit hash of bytes for tables inside this process: seeded per run against chosen collisions. */
uint64_t bytes_hash(const void *bytes, size_t size);

#endif
