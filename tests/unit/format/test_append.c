/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/folded/append.h"

#include "format/read_write.h"
#include "view/tree.h"

extern const struct format format_folded;

TestSuite(append, .fini = check_leaks);

#define SHARE 0.0005
#define LINES 400000

/* Numbers without a pattern, the same in every run (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static int as_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Stacks whose names go on from each other in every way, narrow ones and wide ones. */
static char **make_lines(void)
{
	static const char *const tails[] = {"", ".x", "(int)", ".x.y", "$1", "b", " c", "0"};
	char **lines = calloc(LINES, sizeof(*lines));
	uint64_t state = 1;

	for (size_t i = 0; i < LINES; i++) {
		char text[256];
		int n = 0;
		uint64_t depth = 1 + next_random(&state) % 6;

		for (uint64_t d = 0; d < depth; d++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%c%s", d ? ";" : "",
				(int)('a' + next_random(&state) % (3 + 7 * (d > 2))),
				tails[next_random(&state) % ARRAY_SIZE(tails)]);
		(void)snprintf(text + n, sizeof(text) - (size_t)n, " %u\n",
			(unsigned)(next_random(&state) % 80 ? 1 : 100));
		lines[i] = strdup(text);
	}
	return lines;
}

static struct stoke_profile *read_lines(char **lines, double min_share)
{
	const struct stoke_read_options options = {.min_share = min_share};
	struct stoke_profile *profile;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < LINES; i++)
		fputs(lines[i], out);
	cr_assert(zero(int, fclose(out)));
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, size, &options, NULL)));
	free(text);
	return profile;
}

/* The next node from n on that is wide enough and no mark. */
static size_t next_wide(const struct tree *tree, size_t n)
{
	for (; n < tree->nr; n++) {
		size_t size;
		const char *text = tree_text(tree, tree->name[n], &size);

		if (tree->names[tree->name[n]].class != TREE_MARK &&
			(double)tree->total[0][n] >= SHARE * (double)tree->total[0][0] &&
			!(size == 10 && memcmp(text, "[left out]", 10) == 0))
			break;
	}
	return n;
}

static void assert_wide_parts_equal(
	const struct stoke_profile *whole, const struct stoke_profile *cut)
{
	struct tree *a, *b;
	size_t nr = 0;

	cr_assert(zero(int, tree_build(whole, &(struct tree_options){0}, &a)));
	cr_assert(zero(int, tree_build(cut, &(struct tree_options){0}, &b)));
	cr_assert(eq(u64, a->total[0][0], b->total[0][0]));
	for (size_t i = 1, j = 1;; i++, j++) {
		size_t i_size, j_size;
		const char *i_text, *j_text;

		i = next_wide(a, i);
		j = next_wide(b, j);
		cr_assert(eq(int, i < a->nr, j < b->nr));
		if (i >= a->nr)
			break;
		i_text = tree_text(a, a->name[i], &i_size);
		j_text = tree_text(b, b->name[j], &j_size);
		cr_assert(eq(sz, i_size, j_size));
		cr_assert(zero(int, memcmp(i_text, j_text, i_size)));
		cr_assert(eq(int, a->depth[i], b->depth[j]));
		cr_assert(eq(u64, a->total[0][i], b->total[0][j]));
		nr++;
	}
	cr_assert(gt(sz, nr, 300));
	tree_free(a);
	tree_free(b);
}

Test(append, what_is_wide_is_exact_whatever_was_cut_and_in_whatever_order)
{
	char **lines = make_lines();
	struct stoke_profile *shuffled = read_lines(lines, 0), *whole, *cut;

	cut = read_lines(lines, SHARE);
	cr_assert(gt(sz, shuffled->stacks.nr, APPEND_PRUNE_NODES));
	cr_assert(lt(sz, cut->stacks.nr, 20000));
	assert_wide_parts_equal(shuffled, cut);
	stoke_profile_free(cut);

	qsort(lines, LINES, sizeof(*lines), as_bytes);
	whole = read_lines(lines, 0);
	cr_assert(eq(sz, whole->stacks.nr, shuffled->stacks.nr));
	cr_assert(eq(sz, whole->rows.nr, shuffled->rows.nr));
	cut = read_lines(lines, SHARE);
	cr_assert(lt(sz, cut->stacks.nr, 20000));
	cr_assert(gt(u64, cut->runs[0].quality.count[QUALITY_HIDDEN_NODES], 100000));
	assert_wide_parts_equal(whole, cut);
	for (size_t i = 1; i < cut->stacks.nr; i++)
		cr_assert(lt(u32, cut->stacks.parent[i], (uint32_t)i));
	stoke_profile_free(whole);
	stoke_profile_free(shuffled);
	stoke_profile_free(cut);
	for (size_t i = 0; i < LINES; i++)
		free(lines[i]);
	free(lines);
}

Test(append, more_lines_than_a_window_holds_add_up)
{
	size_t nr = 4500000, size = 0, room = nr * 12;
	char *text = malloc(room);
	struct stoke_profile *profile;

	for (size_t i = 0; i < nr; i++)
		size += (size_t)snprintf(
			text + size, room - size, "a;f%04u 1\n", (unsigned)(i * 7919 % 4500));
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, size, NULL, NULL)));
	cr_assert(eq(sz, profile->stacks.nr, 4502));
	cr_assert(eq(sz, profile->rows.nr, 4500));
	for (size_t i = 0; i < 4500; i++)
		cr_assert(eq(u64, profile->rows.value[0][i], 1000));
	stoke_profile_free(profile);
	free(text);
}
