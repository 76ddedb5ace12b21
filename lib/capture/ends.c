/* SPDX-License-Identifier: BSD-2-Clause */
/* ends.c: the roots of a profile and the marks that stand in their place. */
#include "capture/ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define FILE_NAME_BYTES 80

void ends_done(struct ends *ends)
{
	free(ends->marks);
	free(ends->roots);
	*ends = (struct ends){0};
}

static int mark_node(struct ends *ends, const char *name, uint32_t *ret)
{
	uint32_t frame;
	int r;

	r = profile_named_frame(ends->profile, name, strlen(name), FUNCTION_MARK, &frame);
	if (r < 0)
		return r;
	return stacks_child(&ends->profile->stacks, 0, frame, ret);
}

int ends_use(struct ends *ends, struct stoke_profile *profile)
{
	int r;

	ends->profile = profile;
	ends->nr_roots = 0;
	ends->nr_marks = 0;
	memset(ends->count, 0, sizeof(ends->count));
	r = array_reserve(&ends->marks, &ends->marks_capacity, 0, NR_STACK_ENDS);
	if (r < 0)
		return r;
	ends->nr_marks = NR_STACK_ENDS;
	ends->marks[STACK_WHOLE] = 0;
	r = mark_node(ends, "[truncated]", &ends->marks[STACK_TRUNCATED]);
	if (r >= 0)
		r = mark_node(ends, "[broken]", &ends->marks[STACK_BROKEN]);
	if (r >= 0)
		r = mark_node(ends, "[exit]", &ends->marks[STACK_EXIT]);
	return r < 0 ? r : 0;
}

enum root_kind ends_root(
	struct ends *ends, uint32_t frame, const struct module *module, uint64_t return_offset)
{
	/* Reads 32 bytes of the file. */
	if (frame >= ends->nr_roots) {
		size_t nr = ends->nr_roots;

		if (array_reserve(&ends->roots, &ends->roots_capacity, nr, frame + 1 - nr) < 0)
			return ROOT_NONE;
		memset(ends->roots + nr, 0, frame + 1 - nr);
		ends->nr_roots = frame + 1;
	}
	if (!ends->roots[frame])
		ends->roots[frame] = (uint8_t)(1 + root_by_code(module, return_offset));
	return (enum root_kind)(ends->roots[frame] - 1);
}

int ends_named(struct ends *ends, const char *name, uint32_t *ret)
{
	uint32_t node;
	int r;

	r = mark_node(ends, name, &node);
	if (r < 0)
		return r;
	for (uint32_t end = NR_STACK_ENDS; end < ends->nr_marks; end++) {
		if (ends->marks[end] == node) {
			*ret = end;
			return 0;
		}
	}
	r = array_reserve(&ends->marks, &ends->marks_capacity, ends->nr_marks, 1);
	if (r < 0)
		return r;
	*ret = (uint32_t)ends->nr_marks;
	ends->marks[ends->nr_marks++] = node;
	return 0;
}

int ends_bare(struct ends *ends, const struct module *module, uint32_t *ret)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;
	char name[FILE_NAME_BYTES + 32];

	(void)snprintf(name, sizeof(name), "[no unwind info: %.*s]", FILE_NAME_BYTES,
		slash	       ? slash + 1
		: module->path ? module->path
			       : "?"); /* cut when too long */
	return ends_named(ends, name, ret);
}

uint32_t ends_node(const struct ends *ends, uint32_t end)
{
	return ends->marks[end];
}

void ends_count(struct ends *ends, uint32_t end)
{
	ends->count[end < NR_STACK_ENDS ? end : STACK_BROKEN]++;
}

void ends_mark_roots(struct ends *ends)
{
	for (size_t i = 0; i < ends->nr_roots; i++) {
		if (ends->roots[i] == 1 + ROOT_THREAD)
			ends->profile->frames[i].flags |= FRAME_THREAD_START;
		if (ends->roots[i] == 1 + ROOT_PROGRAM)
			ends->profile->frames[i].flags |= FRAME_PROGRAM_START;
	}
}

/* Is this node's frame, named by now, the first function of a thread or program? */
static int named_root(const struct stoke_profile *profile, uint32_t node)
{
	const struct frame *frame = &profile->frames[profile->stacks.frame[node]];
	uint32_t function =
		frame->nr_functions ? frame_function(profile, frame, frame->nr_functions - 1u) : 0;
	uint32_t name = profile->functions[function].name;

	return root_by_name(strings_text(&profile->strings, name),
		       strings_size(&profile->strings, name)) != ROOT_NONE;
}

static int is_broken(const struct ends *ends, uint32_t node)
{
	for (size_t end = STACK_BROKEN; end < ends->nr_marks; end++) {
		if (end != STACK_EXIT && ends->marks[end] == node)
			return 1;
	}
	return 0;
}

int ends_judge(struct ends *ends, struct quality *quality)
{
	struct stoke_profile *profile = ends->profile;
	struct stacks *stacks = &profile->stacks;
	uint64_t mended = 0;
	_cleanup_free_ uint8_t *whole = calloc(stacks->nr ? stacks->nr : 1, 1);

	if (!whole)
		return -ENOMEM;
	for (uint32_t node = 1; node < stacks->nr; node++) {
		if (is_broken(ends, stacks->parent[node]) && named_root(profile, node)) {
			stacks->parent[node] = 0;
			whole[node] = 1;
		} else {
			whole[node] = whole[stacks->parent[node]];
		}
	}
	for (size_t i = 0; i < profile->rows.nr; i++) {
		if (whole[profile->rows.stack[i]])
			mended += profile->rows.value[0][i];
	}
	quality->count[QUALITY_STACKS_WHOLE] = ends->count[STACK_WHOLE] + mended;
	quality->count[QUALITY_STACKS_BROKEN] = ends->count[STACK_BROKEN] - mended;
	quality->count[QUALITY_STACKS_TRUNCATED] = ends->count[STACK_TRUNCATED];
	quality->count[QUALITY_STACKS_EXIT] = ends->count[STACK_EXIT];
	return 0;
}
