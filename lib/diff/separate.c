/* SPDX-License-Identifier: BSD-2-Clause */
/* separate.c: the JVM's own threads, parted from the application's. */
#include "diff/separate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "names/classes.h"

#define ROOTS 3 /* outermost frames that may be a process, a pool and a thread */

struct parting {
	const struct stoke_profile *profile;
	uint8_t *of_node; /* enum thread_class of the stack */
	uint8_t *of_set; /* of the label set */
};

static enum thread_class class_of_string(const struct stoke_profile *profile, uint32_t string)
{
	return thread_class_of(
		strings_text(&profile->strings, string), strings_size(&profile->strings, string));
}

static enum thread_class class_of_frame(const struct stoke_profile *profile, uint32_t frame)
{
	uint32_t function = frame_function(profile, &profile->frames[frame], 0);

	return class_of_string(profile, profile->functions[function].name);
}

/* Parents come before children: the class of the outermost frames is handed on. */
static void look_at_nodes(struct parting *parting)
{
	const struct stoke_profile *profile = parting->profile;
	const struct stacks *stacks = &profile->stacks;

	for (size_t node = 1; node < stacks->nr; node++) {
		uint32_t parent = stacks->parent[node], depth = 0;

		parting->of_node[node] = parting->of_node[parent];
		for (uint32_t i = (uint32_t)node; i && depth <= ROOTS; i = stacks->parent[i])
			depth++;
		if (depth <= ROOTS && !parting->of_node[node])
			parting->of_node[node] =
				(uint8_t)class_of_frame(profile, stacks->frame[node]);
	}
}

static void look_at_labels(struct parting *parting)
{
	const struct stoke_profile *profile = parting->profile;

	for (uint32_t set = 0; set < profile->nr_label_sets; set++) {
		const struct label *label = profile_label(profile, set, "thread");

		if (label && label->str)
			parting->of_set[set] = (uint8_t)class_of_string(profile, label->str);
	}
}

static int collects(const struct stoke_profile *profile, uint32_t node)
{
	for (; node; node = profile->stacks.parent[node]) {
		const struct frame *frame = &profile->frames[profile->stacks.frame[node]];
		uint32_t name = profile->functions[frame_function(profile, frame, 0)].name;

		if (thread_collects(strings_text(&profile->strings, name),
			    strings_size(&profile->strings, name)))
			return 1;
	}
	return 0;
}

static enum thread_class class_of_row(const struct parting *parting, size_t row)
{
	const struct rows *rows = &parting->profile->rows;
	uint8_t by_label = parting->of_set[rows->labels[row]];
	uint8_t class = by_label ? by_label : parting->of_node[rows->stack[row]];

	/* The serial collector has no thread of its own. */
	if (class == THREAD_VM)
		class = collects(parting->profile, rows->stack[row]) ? THREAD_GC
								     : THREAD_APPLICATION;
	return (enum thread_class) class;
}

/* 1 when both sides have a compiler's or collector's sample to part, or either, and both keep
 * something. */
static int worth_it(const struct parting *parting, uint32_t nr_before)
{
	const struct stoke_profile *profile = parting->profile;
	int kept[2] = {0}, parted = 0;

	for (size_t i = 0; i < profile->rows.nr; i++) {
		if (!profile->rows.value[profile->default_value][i])
			continue;
		if (class_of_row(parting, i) == THREAD_APPLICATION)
			kept[profile->rows.run[i] >= nr_before] = 1;
		else
			parted = 1;
	}
	return parted && kept[0] && kept[1];
}

static int make_marks(struct stoke_profile *profile, uint32_t marks[THREAD_GC + 1])
{
	static const char *const names[] = {
		[THREAD_JIT] = SEPARATE_JIT,
		[THREAD_GC] = SEPARATE_GC,
	};
	uint32_t frame;
	int r = 0;

	for (int class = THREAD_JIT; r >= 0 && class <= THREAD_GC; class ++) {
		r = profile_named_frame(
			profile, names[class], strlen(names[class]), FUNCTION_MARK, &frame);
		if (r >= 0)
			r = stacks_append(&profile->stacks, 0, frame, &marks[class]);
	}
	return r;
}

static int part_rows(const struct parting *parting, struct stoke_profile *profile)
{
	uint32_t marks[THREAD_GC + 1];
	struct rows *rows = &profile->rows;
	int r = make_marks(profile, marks);

	for (size_t i = 0; r >= 0 && i < rows->nr; i++) {
		enum thread_class class = class_of_row(parting, i);

		if (class != THREAD_APPLICATION)
			rows->stack[i] = marks[class];
	}
	if (r >= 0)
		profile_renumbered(profile);
	return r;
}

static void parting_done(struct parting *parting)
{
	free(parting->of_node);
	free(parting->of_set);
}

static int parting_init(struct parting *parting, const struct stoke_profile *profile)
{
	parting->profile = profile;
	parting->of_node = array_new(profile->stacks.nr, 1);
	parting->of_set = calloc(profile->nr_label_sets, 1);
	if (!parting->of_node || !parting->of_set)
		return -ENOMEM;
	look_at_nodes(parting);
	look_at_labels(parting);
	return 0;
}

int separate_runtimes(struct stoke_profile *profile, uint32_t nr_before)
{
	_cleanup_(parting_done) struct parting parting = {0};
	int r = parting_init(&parting, profile);

	return r >= 0 && worth_it(&parting, nr_before) ? part_rows(&parting, profile) : r;
}

int separate_shares(const struct stoke_profile *profile, uint32_t nr_before,
	const struct tally *tally, double ret_jit[2], double ret_gc[2])
{
	_cleanup_(parting_done) struct parting parting = {0};
	uint64_t sums[2][THREAD_GC + 1] = {0};
	int r = parting_init(&parting, profile);

	if (r < 0)
		return r;
	for (size_t i = 0; i < profile->rows.nr; i++)
		sums[profile->rows.run[i] >= nr_before][class_of_row(&parting, i)] +=
			tally_of(tally, i);
	for (int side = 0; side < 2; side++) {
		double all = (double)sums[side][THREAD_APPLICATION] +
			     (double)sums[side][THREAD_JIT] + (double)sums[side][THREAD_GC];

		ret_jit[side] = all > 0 ? (double)sums[side][THREAD_JIT] / all : 0;
		ret_gc[side] = all > 0 ? (double)sums[side][THREAD_GC] / all : 0;
	}
	return 0;
}

int separate_is_mark(const struct stoke_profile *profile, uint32_t function)
{
	const struct function *it = &profile->functions[function];
	const char *name = strings_text(&profile->strings, it->name);

	return it->kind == FUNCTION_MARK &&
	       (strcmp(name, SEPARATE_JIT) == 0 || strcmp(name, SEPARATE_GC) == 0);
}
