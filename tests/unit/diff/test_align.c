/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/align.h"

#include <errno.h>
#include <stdio.h>

#include "unit/folded.h"

TestSuite(align, .fini = check_leaks);

struct fixture {
	struct stoke_profile *profile;
	struct aligned *aligned;
};

/* Sums, ends and depths are those of the parents; siblings stand in order of their names. */
static void check_tree(const struct tree *tree)
{
	for (unsigned side = 0; side < 2; side++) {
		uint64_t *sum = calloc(tree->nr, sizeof(*sum));

		for (size_t n = tree->nr; n-- > 0;) {
			sum[n] += tree->self[side][n];
			cr_assert(eq(u64, tree->total[side][n], sum[n]));
			if (n)
				sum[tree->parent[n]] += sum[n];
		}
		free(sum);
	}
	for (size_t n = 0; n < tree->nr; n++) {
		uint32_t last = 0;

		for (uint32_t c = (uint32_t)n + 1; c < tree->end[n]; c = tree->end[c]) {
			cr_assert(eq(u32, tree->parent[c], (uint32_t)n));
			cr_assert(eq(u16, tree->depth[c], tree->depth[n] + 1));
			cr_assert(gt(u32, tree->name[c], last));
			last = tree->name[c];
		}
	}
}

static struct fixture aligned(const char *before, const char *after)
{
	struct fixture f = {0};

	f.profile = folded_profile(before);
	folded_add(f.profile, after);
	cr_assert(eq(int,
		align_build(f.profile, &(struct tree_options){.nr_before = 1}, &f.aligned), 0));
	check_tree(f.aligned->tree);
	return f;
}

static void done(struct fixture *f)
{
	aligned_free(f->aligned);
	stoke_profile_free(f->profile);
}

/* "main 10/12", indented; "^" behind what only before had inserted, "v" what only after had. */
static char *drawn(const struct fixture *f)
{
	static char text[4096];
	const struct tree *tree = f->aligned->tree;
	size_t at = 0;

	for (size_t n = 0; n < tree->nr; n++) {
		size_t size;
		const char *name = tree_text(tree, tree->name[n], &size);

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%*s%.*s %llu/%llu%s%s\n",
			tree->depth[n], "", (int)size, name, (unsigned long long)tree->total[0][n],
			(unsigned long long)tree->total[1][n],
			f->aligned->flags[n] & ALIGN_INSERTED_BEFORE ? " ^" : "",
			f->aligned->flags[n] & ALIGN_INSERTED_AFTER ? " v" : "");
	}
	return text;
}

Test(align, frame_that_only_after_has_is_spliced_into_before)
{
	struct fixture f = aligned("main;jni;work;a 60\nmain;jni;work;b 40\n",
		"main;invoke;jni;work;a 55\nmain;invoke;jni;work;c 40\nmain;invoke;x 5\n");

	cr_assert(eq(str, drawn(&f),
		"all 100/100\n main 100/100\n  invoke 100/100 v\n   jni 100/95\n    work 100/95\n"
		"     a 60/55\n     b 40/0\n     c 0/40\n   x 0/5\n"));
	cr_assert(eq(sz, f.aligned->nr_inserted, 1));
	done(&f);
}

Test(align, frames_in_a_row_and_on_either_side_are_found)
{
	struct fixture f =
		aligned("main;a;b;c;work 90\nmain;other 10\n", "main;work 80\nmain;d;other 20\n");

	cr_assert(eq(str, drawn(&f),
		"all 100/100\n main 100/100\n  a 90/80 ^\n   b 90/80 ^\n    c 90/80 ^\n"
		"     work 90/80\n  d 10/20 v\n   other 10/20\n"));
	cr_assert(eq(sz, f.aligned->nr_inserted, 4));
	done(&f);
}

Test(align, frame_put_before_several_children_takes_them_all)
{
	struct fixture f = aligned("main;a;x 50\nmain;b 30\nmain;c 20\n",
		"main;dispatch;a;x 50\nmain;dispatch;b 30\nmain;dispatch;n 5\nmain;c 15\n");

	cr_assert(eq(str, drawn(&f),
		"all 100/100\n main 100/100\n  c 20/15\n  dispatch 80/85 v\n   a 50/50\n    x "
		"50/50\n"
		"   b 30/30\n   n 0/5\n"));
	done(&f);
}

Test(align, insertions_below_insertions_are_found)
{
	struct fixture f = aligned("m;w;x;y 100\n", "m;p;w;q;x;r;y 100\n");

	cr_assert(eq(str, drawn(&f),
		"all 100/100\n m 100/100\n  p 100/100 v\n   w 100/100\n    q 100/100 v\n"
		"     x 100/100\n      r 100/100 v\n       y 100/100\n"));
	done(&f);
}

Test(align, what_is_too_small_too_far_or_matched_already_stays)
{
	/* Under 1 %; four in a row; less than 80 % go on; the name is there on both sides. */
	static const char *const pairs[][2] = {
		{"main;w 9\nmain;z 991\n", "main;i;w 9\nmain;z 991\n"},
		{"main;w 100\n", "main;a;b;c;d;w 100\n"},
		{"main;w 100\n", "main;i;w 79\nmain;i;v 21\n"},
		{"main;w 100\n", "main;w 20\nmain;i;w 80\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct fixture f = aligned(pairs[i][0], pairs[i][1]);

		cr_assert(eq(sz, f.aligned->nr_inserted, 0));
		for (size_t n = 0; n < f.aligned->tree->nr; n++)
			cr_assert(eq(u8, f.aligned->flags[n], 0));
		done(&f);
	}
}

Test(align, exactly_one_and_eighty_per_cent_suffice)
{
	struct fixture f =
		aligned("main;w 10\nmain;z 990\n", "main;i;w 8\nmain;i;v 2\nmain;z 990\n");

	cr_assert(eq(str, drawn(&f),
		"all 1000/1000\n main 1000/1000\n  i 10/10 v\n   v 0/2\n   w 10/8\n  z 990/990\n"));
	done(&f);
}

Test(align, what_was_left_out_is_no_frame)
{
	struct stoke_profile *profile = folded_profile("main;a 50\nmain;big 50\n");
	struct aligned *aligned = NULL;

	folded_add(profile, "main;i;b 50\nmain;big 50\n");
	cr_assert(eq(int,
		align_build(
			profile, &(struct tree_options){.nr_before = 1, .min_share = .6}, &aligned),
		0));
	check_tree(aligned->tree);
	cr_assert(eq(sz, aligned->nr_inserted, 0));
	aligned_free(aligned);
	cr_assert(eq(int, align_build(profile, &(struct tree_options){0}, &aligned), -EINVAL));
	stoke_profile_free(profile);
}

/* A stack of one frame over and over, `depth` deep, under "main". */
static void add_deep(struct stoke_profile *profile, unsigned depth, const char *const cycle[3])
{
	uint32_t run = 0, node = 0;

	cr_assert(eq(int, profile_run(profile, "deep", &run), 0));
	for (unsigned i = 0; i < depth; i++) {
		const char *name = i ? cycle[i % 3] : "main";

		cr_assert(eq(int,
			stacks_child(&profile->stacks, node,
				folded_frame(profile, name, strlen(name)), &node),
			0));
	}
	cr_assert(eq(int, profile_row(profile, run, node, 0, 0, (uint64_t[]){10}), 0));
}

Test(align, the_deepest_stacks_never_pass_what_a_depth_holds)
{
	struct stoke_profile *profile = NULL;
	struct aligned *aligned = NULL;
	unsigned value;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	/* after has c behind each b: every splice makes before's way longer */
	add_deep(profile, 65000, (const char *const[]){"a", "b", "a"});
	add_deep(profile, 65000, (const char *const[]){"a", "b", "c"});
	cr_assert(
		eq(int, align_build(profile, &(struct tree_options){.nr_before = 1}, &aligned), 0));
	check_tree(aligned->tree);
	cr_assert(gt(sz, aligned->nr_inserted, 400));
	aligned_free(aligned);
	stoke_profile_free(profile);
}

static char *random_lines(unsigned *seed, unsigned nr)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (unsigned i = 0; i < nr; i++) {
		unsigned depth = 1 + rand_r(seed) % 8;

		fputs("m", out);
		for (unsigned d = 0; d < depth; d++)
			fprintf(out, ";%c", 'a' + rand_r(seed) % 4);
		fprintf(out, " %d\n", 1 + rand_r(seed) % 20);
	}
	(void)fclose(out); /* memory: checked by what follows */
	return text;
}

Test(align, random_pairs_keep_their_sums)
{
	unsigned seed = 7, inserted = 0;

	for (unsigned i = 0; i < 400; i++) {
		char *before = random_lines(&seed, 1 + i % 12),
		     *after = random_lines(&seed, 1 + i % 9);
		struct fixture f = aligned(before, after);

		inserted += f.aligned->nr_inserted > 0;
		done(&f);
		free(before);
		free(after);
	}
	cr_assert(gt(uint, inserted, 20));
}
