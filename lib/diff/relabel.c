/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relabel.c: combinations in revolving-door order (Knuth 7.2.1.3, algorithm R), pairs in the order
 * of the reflected Gray code, draws by Fisher and Yates from splitmix64.
 */
#include "diff/relabel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED 0x73746f6b65ull

/* Ways to choose `chosen` of nr, or more than max. */
static uint64_t combinations(uint64_t nr, uint64_t chosen, uint64_t max)
{
	unsigned __int128 ways = 1;

	if (chosen > nr - chosen)
		chosen = nr - chosen;
	for (uint64_t i = 1; i <= chosen; i++) {
		/* In this order the division leaves no rest. */
		ways = ways * (nr - chosen + i) / i;
		if (ways > max)
			return max + 1;
	}
	return (uint64_t)ways;
}

static uint64_t count_ways(const struct relabel *relabel, uint64_t max)
{
	if (!(relabel->flags & RELABEL_PAIRED))
		return combinations(relabel->nr, relabel->nr_before, max);
	return relabel->nr_before < 63 && 1ull << relabel->nr_before <= max
		       ? 1ull << relabel->nr_before
		       : max + 1;
}

int relabel_init(struct relabel *relabel, unsigned nr, unsigned nr_before, unsigned flags,
	uint64_t max_exact, uint64_t drawn, uint64_t seed)
{
	struct relabel new = {.nr = nr, .nr_before = nr_before, .flags = flags};

	if (nr_before == 0 || nr_before >= nr)
		return -EINVAL;
	if ((flags & RELABEL_PAIRED) && nr != (uint64_t)nr_before * 2)
		return -EINVAL;
	new.total = count_ways(&new, max_exact);
	if (new.total > max_exact) {
		new.total = drawn + 1;
		new.seed = seed ? seed : DEFAULT_SEED;
		new.state = new.seed;
	}
	new.after = calloc(nr, sizeof(*new.after));
	new.choice = calloc((size_t)nr + 1, sizeof(*new.choice));
	if (!new.after || !new.choice) {
		relabel_done(&new);
		return -ENOMEM;
	}
	*relabel = new;
	return 0;
}

void relabel_done(struct relabel *relabel)
{
	free(relabel->after);
	free(relabel->choice);
	*relabel = (struct relabel){0};
}

/* Steele, Lea, Flood 2014: "Fast splittable pseudorandom number generators". */
static uint64_t draw(struct relabel *relabel)
{
	uint64_t z = relabel->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static unsigned draw_below(struct relabel *relabel, unsigned limit)
{
	return (unsigned)(((unsigned __int128)draw(relabel) * limit) >> 64);
}

static void observe(struct relabel *relabel)
{
	memset(relabel->after, 0, relabel->nr_before);
	memset(relabel->after + relabel->nr_before, 1, relabel->nr - relabel->nr_before);
}

static void next_drawn(struct relabel *relabel)
{
	unsigned nr = relabel->nr, nr_after = nr - relabel->nr_before;

	if (relabel->flags & RELABEL_PAIRED) {
		uint64_t bits = 0;

		for (unsigned i = 0; i < nr_after; i++) {
			bits = i % 64 ? bits >> 1 : draw(relabel);
			relabel->after[i] = bits & 1;
			relabel->after[nr_after + i] = !(bits & 1);
		}
		return;
	}
	for (unsigned i = 0; i < nr; i++)
		relabel->choice[i] = i;
	memset(relabel->after, 0, nr);
	for (unsigned i = 0; i < nr_after; i++) {
		unsigned j = i + draw_below(relabel, nr - i);
		unsigned unit = relabel->choice[j];

		relabel->choice[j] = relabel->choice[i];
		relabel->after[unit] = 1;
	}
}

static void next_pairs(struct relabel *relabel)
{
	unsigned pair = (unsigned)__builtin_ctzll(relabel->nr_given);

	relabel->after[pair] ^= 1;
	relabel->after[relabel->nr_before + pair] ^= 1;
}

static void exchange(struct relabel *relabel, unsigned leaves, unsigned joins)
{
	relabel->after[leaves] = 0;
	relabel->after[joins] = 1;
}

/* Knuth counts from 1: c[j] there is choice[j - 1] here, and c[t + 1] = n the sentinel. */
static void next_combination(struct relabel *relabel)
{
	unsigned t = relabel->nr - relabel->nr_before, j = 2;
	unsigned *c = relabel->choice;
	int decrease = t & 1; /* R4 before R5 */

	if (decrease && c[0] + 1 < c[1]) {
		exchange(relabel, c[0], c[0] + 1);
		c[0]++;
		return;
	}
	if (!decrease && c[0] > 0) {
		exchange(relabel, c[0], c[0] - 1);
		c[0]--;
		return;
	}
	for (; j <= t; j++, decrease = !decrease) {
		if (decrease && c[j - 1] >= j) {
			exchange(relabel, c[j - 1], j - 2);
			c[j - 1] = c[j - 2];
			c[j - 2] = j - 2;
			return;
		}
		if (!decrease && c[j - 1] + 1 < c[j]) {
			exchange(relabel, c[j - 2], c[j - 1] + 1);
			c[j - 2] = c[j - 1];
			c[j - 1]++;
			return;
		}
	}
}

static void first_combination(struct relabel *relabel)
{
	unsigned t = relabel->nr - relabel->nr_before;

	for (unsigned i = 0; i < t; i++) {
		relabel->choice[i] = i;
		relabel->after[i] = 1;
	}
	relabel->choice[t] = relabel->nr;
}

int relabel_next(struct relabel *relabel)
{
	int first = relabel->nr_given == 0;

	if (relabel->nr_given == relabel->total)
		return 0;
	if (first && (relabel->seed || (relabel->flags & RELABEL_PAIRED)))
		observe(relabel);
	else if (first)
		first_combination(relabel);
	else if (relabel->seed)
		next_drawn(relabel);
	else if (relabel->flags & RELABEL_PAIRED)
		next_pairs(relabel);
	else
		next_combination(relabel);
	relabel->nr_given++;
	return 1;
}
