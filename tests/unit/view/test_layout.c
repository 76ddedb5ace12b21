/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/layout.h"

#include "unit/folded.h"

TestSuite(layout, .fini = check_leaks);

#define EPSILON 1e-6

struct fixture {
	struct stoke_profile *profile;
	struct tree *tree;
	struct layout *layout;
};

static struct fixture laid_out(struct stoke_profile *profile, struct layout_options options)
{
	struct fixture f = {.profile = profile};

	cr_assert(eq(int, tree_build(profile, &(struct tree_options){0}, &f.tree), 0));
	cr_assert(eq(int, layout_make(f.tree, &options, &f.layout), 0));
	return f;
}

static void done(struct fixture *f)
{
	layout_free(f->layout);
	tree_free(f->tree);
	stoke_profile_free(f->profile);
}

/* No box leaves the picture or its caller's box, none overlaps another of its row. */
static void check_inside(const struct fixture *f, double width)
{
	const struct layout *layout = f->layout;
	double end[256] = {0};
	const struct layout_box *last[256] = {NULL};

	for (size_t i = 0; i < layout->nr; i++) {
		const struct layout_box *box = &layout->boxes[i];

		cr_assert(lt(u32, box->row, layout->nr_rows));
		cr_assert(ge(dbl, box->x, -EPSILON));
		cr_assert(le(dbl, box->x + box->w, width + EPSILON));
		cr_assert(ge(dbl, box->x, end[box->row] - EPSILON));
		end[box->row] = box->x + box->w;
		if (box->row) {
			const struct layout_box *above = last[box->row - 1];

			cr_assert(above && box->x >= above->x - EPSILON);
			cr_assert(le(dbl, box->x + box->w, above->x + above->w + EPSILON));
		}
		last[box->row] = box;
	}
}

static struct stoke_profile *random_profile(unsigned seed, unsigned nr_stacks)
{
	struct stoke_profile *profile = folded_profile("m 0\n");

	for (unsigned i = 0; i < nr_stacks; i++) {
		uint32_t node = 0;
		unsigned depth = 1 + rand_r(&seed) % 90;

		for (unsigned d = 0; d < depth; d++) {
			char name[8];
			int n = snprintf(name, sizeof(name), "f%u", rand_r(&seed) % 3);

			cr_assert(eq(int,
				stacks_child(&profile->stacks, node,
					folded_frame(profile, name, (size_t)n), &node),
				0));
		}
		cr_assert(eq(int,
			profile_row(profile, 0, node, 0, 0, (uint64_t[]){1u + rand_r(&seed) % 9}),
			0));
	}
	return profile;
}

Test(layout, boxes_stay_inside_of_their_callers)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct fixture f =
			laid_out(random_profile(seed, 300), (struct layout_options){.width = 1168});

		check_inside(&f, 1168);
		done(&f);
	}
}

Test(layout, adjacent_narrow_siblings_are_one_block_of_their_sum)
{
	/* 1000 samples on 100 px: nine of 2 samples are too narrow, one of 200 parts them. */
	struct fixture f =
		laid_out(folded_profile("m 782\nm;a 2\nm;b;x 1\nm;b;y 1\nm;c 2\nm;d 200\n"
					"m;e 2\nm;f 2\nm;g 6\nm;h 2\n"),
			(struct layout_options){.width = 100});
	const struct layout_box *block = &f.layout->boxes[2];

	check_inside(&f, 100);
	cr_assert(eq(sz, f.layout->nr, 5));
	cr_assert(eq(u32, block->node, LAYOUT_NARROW));
	cr_assert(eq(u64, block->nr, 5)); /* a, b, x, y, c */
	cr_assert(epsilon_eq(dbl, block->w, 0.6, EPSILON));
	cr_assert(eq(u32, f.layout->boxes[3].row, 2));
	cr_assert(epsilon_eq(dbl, f.layout->boxes[3].w, 20, EPSILON));
	/* e and f are 0.4 px together: nothing to be drawn, but counted; h the same. */
	cr_assert(eq(u64, f.layout->nr_narrow, 8));
	done(&f);
}

Test(layout, rows_of_crumbs_are_left_out_and_counted)
{
	struct fixture f = laid_out(folded_profile("m;a;b 990\nm;c;d;e;f;g 10\n"),
		(struct layout_options){.width = 1000});

	cr_assert(eq(uint, f.layout->nr_rows, 4)); /* all, m, a, b: g is 10 px wide */
	cr_assert(eq(uint, f.layout->nr_rows_left_out, 3));
	check_inside(&f, 1000);
	done(&f);
}

Test(layout, deep_stacks_are_cut_at_the_last_row_that_fits_a_page)
{
	struct stoke_profile *profile = folded_profile("m 0\n");
	uint32_t node = 0;
	struct fixture f;

	for (int i = 0; i < 3000; i++)
		cr_assert(eq(int,
			stacks_child(&profile->stacks, node, profile->stacks.frame[1], &node), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){5}), 0));
	f = laid_out(profile, (struct layout_options){.width = 1000});

	cr_assert(eq(uint, f.layout->nr_rows, 70));
	cr_assert(eq(uint, f.layout->nr_rows_left_out, 3001 - 70));
	done(&f);
}

Test(layout, a_limit_of_boxes_is_kept_by_wider_blocks)
{
	struct fixture f = laid_out(
		random_profile(7, 2000), (struct layout_options){.width = 1168, .max_boxes = 300});

	cr_assert(le(sz, f.layout->nr, 300));
	cr_assert(gt(dbl, f.layout->min_px, 0.5));
	check_inside(&f, 1168);
	done(&f);
}

Test(layout, an_empty_profile_has_a_root_to_show)
{
	struct fixture f =
		laid_out(folded_profile("m 0\n"), (struct layout_options){.width = 1168});

	cr_assert(eq(sz, f.layout->nr, 1));
	cr_assert(epsilon_eq(dbl, f.layout->boxes[0].w, 1168, EPSILON));
	cr_assert(eq(uint, f.layout->nr_rows, 1));
	done(&f);
}

/* Worked case 04 of the difference: boxes as shares of the whole, to 1e-9. */
Test(layout, of_two_sides_every_frame_has_room)
{
	static const struct {
		double x, w;
	} wanted[] = {
		{0, 1}, /* all */
		{0, 1}, /* main */
		{0, 0.48148148148148145}, /* a */
		{0.22222222222222221, 0.25925925925925924}, /* a;x */
		{0.48148148148148145, 0.18518518518518517}, /* b */
		{0.66666666666666663, 0.14814814814814814}, /* fresh: new */
		{0.81481481481481477, 0.18518518518518517}, /* old: gone */
	};
	struct fixture f = {
		.profile = folded_profile("main;a 30\nmain;a;x 20\nmain;old 25\nmain;b 25\n")};
	const double exposure[2] = {100, 100};
	const struct layout_options options = {
		.width = 1, .min_px = 1e-6, .exposure = exposure, .widths = LAYOUT_UNION};

	folded_add(f.profile, "main;a 20\nmain;a;x 35\nmain;b 25\nmain;fresh 20\n");
	cr_assert(
		eq(int, tree_build(f.profile, &(struct tree_options){.nr_before = 1}, &f.tree), 0));
	cr_assert(eq(int, layout_make(f.tree, &options, &f.layout), 0));
	cr_assert(epsilon_eq(dbl, f.layout->whole, 1.35, 1e-9));
	cr_assert(eq(sz, f.layout->nr, ARRAY_SIZE(wanted)));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		cr_assert(epsilon_eq(dbl, f.layout->boxes[i].x, wanted[i].x, 1e-9));
		cr_assert(epsilon_eq(dbl, f.layout->boxes[i].w, wanted[i].w, 1e-9));
	}
	check_inside(&f, 1);
	done(&f);
}

Test(layout, one_side_of_two_is_as_wide_as_its_own_share)
{
	struct fixture f = {.profile = folded_profile("main;a 30\nmain;old 10\n")};
	const double exposure[2] = {40, 80};
	struct layout_options options = {.width = 100, .exposure = exposure};

	folded_add(f.profile, "main;a 20\nmain;new 60\n");
	cr_assert(
		eq(int, tree_build(f.profile, &(struct tree_options){.nr_before = 1}, &f.tree), 0));
	cr_assert(eq(int, layout_make(f.tree, &options, &f.layout), 0));
	cr_assert(eq(sz, f.layout->nr, 4)); /* all, main, a, old */
	cr_assert(epsilon_eq(dbl, f.layout->boxes[2].w, 75, EPSILON));
	layout_free(f.layout);
	options.widths = LAYOUT_SECOND;
	cr_assert(eq(int, layout_make(f.tree, &options, &f.layout), 0));
	cr_assert(eq(sz, f.layout->nr, 4)); /* all, main, a, new */
	cr_assert(epsilon_eq(dbl, f.layout->boxes[2].w, 25, EPSILON));
	cr_assert(epsilon_eq(dbl, f.layout->boxes[3].x, 25, EPSILON));
	cr_assert(epsilon_eq(dbl, f.layout->boxes[3].w, 75, EPSILON));
	done(&f);
}
