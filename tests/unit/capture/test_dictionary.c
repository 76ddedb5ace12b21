/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/dictionary.h"

#include "unit/test.h"

TestSuite(dictionary, .fini = check_leaks);

static struct stack_hash hash_of(uint64_t version, uint64_t leaf)
{
	const uint64_t frames[3] = {leaf, 0x1000, 0x2000};

	return stack_hash(&version, 1, frames, 3);
}

Test(dictionary, knows_a_stack_in_its_version_only)
{
	struct dictionary *dictionary = NULL;
	const struct assembled assembled = {.stack = 42, .end = 1};
	struct stack_hash one = hash_of(1, 7), two = hash_of(2, 7);

	cr_assert(eq(int, dictionary_new(100, &dictionary), 0));
	dictionary_add(dictionary, &one, &assembled);
	cr_assert(eq(u32, dictionary_find(dictionary, &one)->stack, 42));
	cr_assert(zero(ptr, (void *)dictionary_find(dictionary, &two)));
	dictionary_free(dictionary);
}

Test(dictionary, tells_stacks_of_the_same_frames_in_other_order_apart)
{
	const uint64_t ab[2] = {1, 2}, ba[2] = {2, 1}, aba[3] = {1, 2, 1};
	struct stack_hash x = stack_hash(NULL, 0, ab, 2), y = stack_hash(NULL, 0, ba, 2);
	struct stack_hash z = stack_hash(NULL, 0, aba, 3);

	cr_assert(x.low != y.low && x.high != y.high);
	cr_assert(x.low != z.low && x.high != z.high);
}

Test(dictionary, stays_within_its_bound)
{
	struct dictionary *dictionary = NULL;
	unsigned found = 0;

	cr_assert(eq(int, dictionary_new(100, &dictionary), 0));
	for (uint64_t i = 0; i < 1050; i++) {
		const struct assembled assembled = {.stack = (uint32_t)i};
		struct stack_hash hash = hash_of(0, i);

		dictionary_add(dictionary, &hash, &assembled);
	}
	for (uint64_t i = 0; i < 1050; i++) {
		struct stack_hash hash = hash_of(0, i);
		const struct assembled *known = dictionary_find(dictionary, &hash);

		if (known) {
			cr_assert(eq(u32, known->stack, (uint32_t)i));
			found++;
		}
	}
	cr_assert(eq(u32, found, 50), "after each 100 it begins anew");
	dictionary_free(dictionary);
}
