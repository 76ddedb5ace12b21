/* SPDX-License-Identifier: BSD-2-Clause */
/* separate.c: the JVM's own threads, parted from the application's. */
#include "diff/separate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "names/classes.h"

#define ROOTS 3 /* outermost frames that may be a process, a pool and a thread */

struct parting {
	struct stoke_profile *profile;
	uint8_t *of_node; /* enum thread_class of the stack */
	uint8_t *of_set; /* of the label set */
	uint32_t mark[THREAD_GC + 1]; /* node */
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

static enum thread_class class_of_row(const struct parting *parting, size_t row)
{
	const struct rows *rows = &parting->profile->rows;
	uint8_t by_label = parting->of_set[rows->labels[row]];

	return (enum thread_class)(by_label ? by_label : parting->of_node[rows->stack[row]]);
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

static int make_marks(struct parting *parting)
{
	static const char *const names[] = {
		[THREAD_JIT] = SEPARATE_JIT,
		[THREAD_GC] = SEPARATE_GC,
	};
	struct stoke_profile *profile = parting->profile;
	uint32_t frame;
	int r = 0;

	for (int class = THREAD_JIT; r >= 0 && class <= THREAD_GC; class ++) {
		r = profile_named_frame(
			profile, names[class], strlen(names[class]), FUNCTION_MARK, &frame);
		if (r >= 0)
			r = stacks_append(&profile->stacks, 0, frame, &parting->mark[class]);
	}
	return r;
}

static int part_rows(struct parting *parting)
{
	struct rows *rows = &parting->profile->rows;
	int r = make_marks(parting);

	for (size_t i = 0; r >= 0 && i < rows->nr; i++) {
		enum thread_class class = class_of_row(parting, i);

		if (class != THREAD_APPLICATION)
			rows->stack[i] = parting->mark[class];
	}
	if (r >= 0)
		profile_renumbered(parting->profile);
	return r;
}

int separate_runtimes(struct stoke_profile *profile, uint32_t nr_before)
{
	_cleanup_free_ uint8_t *of_node = calloc(profile->stacks.nr, 1);
	_cleanup_free_ uint8_t *of_set = calloc(profile->nr_label_sets, 1);
	struct parting parting = {.profile = profile, .of_node = of_node, .of_set = of_set};

	if (!of_node || !of_set)
		return -ENOMEM;
	look_at_nodes(&parting);
	look_at_labels(&parting);
	return worth_it(&parting, nr_before) ? part_rows(&parting) : 0;
}

int separate_is_mark(const struct stoke_profile *profile, uint32_t function)
{
	const struct function *it = &profile->functions[function];
	const char *name = strings_text(&profile->strings, it->name);

	return it->kind == FUNCTION_MARK &&
	       (strcmp(name, SEPARATE_JIT) == 0 || strcmp(name, SEPARATE_GC) == 0);
}
