/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_DICTIONARY_H
#define STOKE_CAPTURE_DICTIONARY_H

/*
 * Raw stacks seen before -> what they were assembled to, so that a stack is assembled once for each
 * version of its address space. Bounded: when full it is emptied and fills again.
 */

#include <stddef.h>
#include <stdint.h>

struct dictionary;

/* What assembling a raw stack came to. */
struct assembled {
	uint32_t stack; /* node of the profile */
	uint32_t end; /* of ends.h */
};

/* max: entries held before it is emptied. */
int dictionary_new(size_t max, struct dictionary **ret);
void dictionary_free(struct dictionary *dictionary);

/* 128 bits over key and bytes, seeded by this process's run: no two stacks are expected to share
 * it. */
struct stack_hash {
	uint64_t low, high;
};

struct stack_hash stack_hash(const uint64_t *key, size_t nr_key, const uint64_t *frames, size_t nr);

/* NULL: not seen, or forgotten. Borrowed until the next dictionary_add(). */
const struct assembled *dictionary_find(
	const struct dictionary *dictionary, const struct stack_hash *hash);
void dictionary_add(struct dictionary *dictionary, const struct stack_hash *hash,
	const struct assembled *assembled);
void dictionary_clear(struct dictionary *dictionary);

#endif
