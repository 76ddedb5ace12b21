/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/folded/sort.h"

#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

TestSuite(sort, .fini = check_leaks);

/* Numbers without a pattern, the same in every run (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static unsigned char weight(unsigned char byte)
{
	return byte == ';' ? 0 : byte == 0 ? 1 : byte == 1 ? ';' : byte;
}

/* What the header says, byte by byte. */
static int compare(const struct folded_line *a, const struct folded_line *b)
{
	for (uint32_t i = 0; i < a->size && i < b->size; i++) {
		int x = weight((unsigned char)a->stack[i]), y = weight((unsigned char)b->stack[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static void assert_sorted(struct folded_line *lines, size_t nr)
{
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < nr; i++)
		before += lines[i].count * (lines[i].size + 1);
	cr_assert(zero(int, folded_sort(lines, nr)));
	for (size_t i = 0; i < nr; i++)
		after += lines[i].count * (lines[i].size + 1);
	cr_assert(eq(u64, before, after)); /* none lost, none twice */
	for (size_t i = 1; i < nr; i++)
		cr_assert(le(int, compare(&lines[i - 1], &lines[i]), 0), "line %zu", i);
}

/* Lines of bytes of an alphabet, many of which begin alike. */
static void sort_random(const char *alphabet, size_t nr_letters, size_t max_size, size_t nr)
{
	char *text = malloc(nr * max_size);
	struct folded_line *lines = calloc(nr, sizeof(*lines));
	uint64_t state = 1;

	for (size_t i = 0; i < nr; i++) {
		char *stack = text + i * max_size;
		size_t size = 1 + next_random(&state) % (max_size - 1), from = 0;

		if (i && next_random(&state) % 4) {
			const struct folded_line *other = &lines[next_random(&state) % i];

			from = other->size < size ? other->size : size;
			memcpy(stack, other->stack, from);
		}
		for (; from < size; from++)
			stack[from] = alphabet[next_random(&state) % nr_letters];
		lines[i] = (struct folded_line){.stack = stack,
			.size = (uint32_t)size,
			.count = next_random(&state) % 1000,
			.slice = (uint32_t)(next_random(&state) % 3)};
	}
	assert_sorted(lines, nr);
	free(lines);
	free(text);
}

Test(sort, a_stack_comes_right_before_those_that_go_on_from_it)
{
	const char *texts[] = {"a.x", "a;b", "a", "a;b;c", "a(int)", "a;", "b", "a;b.c", "a;b c"};
	const char *want[] = {"a", "a;", "a;b", "a;b;c", "a;b c", "a;b.c", "a(int)", "a.x", "b"};
	struct folded_line lines[9];

	for (size_t i = 0; i < 9; i++)
		lines[i] =
			(struct folded_line){.stack = texts[i], .size = (uint32_t)strlen(texts[i])};
	cr_assert(zero(int, folded_sort(lines, 9)));
	for (size_t i = 0; i < 9; i++)
		cr_assert(eq(str, (char *)lines[i].stack, (char *)want[i]));
}

Test(sort, any_bytes)
{
	sort_random("a;", 2, 12, 5000);
	sort_random("a;\0\1.", 5, 20, 5000);
	sort_random("abc;", 4, 200, 3000);
	sort_random("\xff\x80z;\x7f\x3a\x3c", 7, 40, 3000);
}

Test(sort, few_many_and_equal_lines)
{
	struct folded_line *lines = calloc(100000, sizeof(*lines));

	cr_assert(zero(int, folded_sort(NULL, 0)));
	for (size_t i = 0; i < 100000; i++)
		lines[i] = (struct folded_line){.stack = "main;work;leaf",
			.size = 14,
			.count = i,
			.slice = (uint32_t)(i % 7)};
	assert_sorted(lines, 1);
	assert_sorted(lines, 100000);
	free(lines);
}

Test(sort, lines_that_were_made_to_defeat_pivots)
{
	size_t nr = 200000;
	char(*text)[16] = calloc(nr, sizeof(*text));
	struct folded_line *lines = calloc(nr, sizeof(*lines));

	/* an organ pipe, and a key that all but one have */
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "f%07zu", i < nr / 2 ? i : nr - i);
		lines[i] = (struct folded_line){.stack = text[i], .size = 8, .count = 1};
	}
	assert_sorted(lines, nr);
	for (size_t i = 0; i < nr; i++)
		lines[i] = (struct folded_line){.stack = text[i == nr / 3], .size = 8, .count = 1};
	assert_sorted(lines, nr);
	free(lines);
	free(text);
}
