/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.c: tables from old ids to new ones, filled as they are asked for. */
#include "profile/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

struct copy {
	const struct stoke_profile *from;
	struct stoke_profile *to;
	uint32_t *function_of, *module_of, *set_of; /* 0: not copied yet */
};

static int copy_values(struct copy *copy)
{
	const struct stoke_profile *from = copy->from;
	const struct strings *strings = &from->strings;
	unsigned value;
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < from->nr_values; i++)
		r = profile_value(copy->to, strings_text(strings, from->values[i].type),
			strings_text(strings, from->values[i].unit), &value);
	copy->to->default_value = from->default_value;
	return r;
}

static int copy_run(struct copy *copy, const struct run *run)
{
	const struct strings *strings = &copy->from->strings;
	struct run *new;
	uint32_t id, event, type, unit;
	int r = profile_run(copy->to, strings_text(strings, run->name), &id);

	if (r >= 0)
		r = copy_string(copy, run->event, &event);
	if (r >= 0)
		r = copy_string(copy, run->period_type.type, &type);
	if (r >= 0)
		r = copy_string(copy, run->period_type.unit, &unit);
	for (size_t i = 0; r >= 0 && i < run->nr_facts; i++)
		r = profile_fact(copy->to, id, strings_text(strings, run->facts[i].key),
			strings_text(strings, run->facts[i].value));
	if (r < 0)
		return r;
	new = &copy->to->runs[id];
	new->event = event;
	new->start_ns = run->start_ns;
	new->duration_ns = run->duration_ns;
	new->period = run->period;
	new->period_type = (struct value_type){type, unit};
	new->slice_ns = run->slice_ns;
	new->quality = run->quality;
	return 0;
}

int copy_new(const struct stoke_profile *from, struct copy **ret)
{
	struct copy *copy = calloc(1, sizeof(*copy));
	int r;

	if (!copy)
		return -ENOMEM;
	copy->from = from;
	r = stoke_profile_new(&copy->to);
	if (r < 0)
		goto fail;
	copy->function_of = calloc(from->nr_functions, sizeof(*copy->function_of));
	copy->module_of = calloc(from->nr_modules, sizeof(*copy->module_of));
	copy->set_of = calloc(from->nr_label_sets, sizeof(*copy->set_of));
	r = -ENOMEM;
	if (!copy->function_of || !copy->module_of || !copy->set_of)
		goto fail;
	r = copy_values(copy);
	for (size_t i = 0; r >= 0 && i < from->nr_runs; i++)
		r = copy_run(copy, &from->runs[i]);
	if (r < 0)
		goto fail;
	*ret = copy;
	return 0;

fail:
	copy_free(copy);
	return r;
}

void copy_free(struct copy *copy)
{
	if (!copy)
		return;
	stoke_profile_free(copy->to);
	free(copy->function_of);
	free(copy->module_of);
	free(copy->set_of);
	free(copy);
}

struct stoke_profile *copy_profile(struct copy *copy)
{
	return copy->to;
}

struct stoke_profile *copy_take(struct copy *copy)
{
	return take_pointer(copy->to);
}

int copy_string(struct copy *copy, uint32_t string, uint32_t *ret)
{
	return profile_string(copy->to, strings_text(&copy->from->strings, string),
		strings_size(&copy->from->strings, string), ret);
}

static int copy_function(struct copy *copy, uint32_t id, uint32_t *ret)
{
	const struct function *function = &copy->from->functions[id];
	const struct strings *strings = &copy->from->strings;
	uint32_t file;
	int r;

	if (id && !copy->function_of[id]) {
		r = copy_string(copy, function->file, &file);
		if (r >= 0)
			r = profile_function(copy->to, strings_text(strings, function->name),
				strings_size(strings, function->name),
				(enum function_kind)function->kind, file, function->line,
				&copy->function_of[id]);
		if (r < 0)
			return r;
	}
	*ret = copy->function_of[id];
	return 0;
}

int copy_module(struct copy *copy, uint32_t id, uint32_t *ret)
{
	int r;

	if (id && !copy->module_of[id]) {
		r = profile_module(copy->to, &copy->from->modules[id], &copy->module_of[id]);
		if (r < 0)
			return r;
	}
	*ret = copy->module_of[id];
	return 0;
}

int copy_frame(struct copy *copy, uint32_t frame, uint32_t *ret)
{
	return copy_frame_part(copy, frame, NULL, ret);
}

/* Puts the functions of old that stay behind the new profile's inlined ones. */
static int copy_inlined(
	struct copy *copy, const struct frame *old, const uint8_t *kept, struct frame *new)
{
	struct stoke_profile *to = copy->to;
	size_t nr = 0;
	int r = array_reserve(
		&to->inlined, &to->inlined_capacity, to->nr_inlined, old->nr_functions);

	for (unsigned i = 0; r >= 0 && i < old->nr_functions; i++) {
		const struct inlined *entry = &copy->from->inlined[old->function + i];
		struct inlined *copied = &to->inlined[to->nr_inlined + nr];

		if (kept && !kept[i])
			continue;
		copied->line = entry->line;
		r = copy_function(copy, entry->function, &copied->function);
		nr++;
	}
	if (r < 0)
		return r;
	new->nr_functions = (uint16_t)nr;
	new->line = to->inlined[to->nr_inlined].line;
	if (nr == 1) { /* no slice then, but the function itself */
		new->function = to->inlined[to->nr_inlined].function;
		return 0;
	}
	new->function = (uint32_t)to->nr_inlined;
	to->nr_inlined += nr;
	return 0;
}

int copy_frame_part(struct copy *copy, uint32_t frame, const uint8_t *kept, uint32_t *ret)
{
	const struct frame *old = &copy->from->frames[frame];
	struct frame new = *old;
	int r = copy_module(copy, old->module, &new.module);

	if (r >= 0 && old->nr_functions > 1)
		r = copy_inlined(copy, old, kept, &new);
	else if (r >= 0)
		r = copy_function(copy, old->function, &new.function);
	return r < 0 ? r : profile_frame(copy->to, &new, ret);
}

int copy_labels(struct copy *copy, uint32_t set, uint32_t *ret)
{
	const struct stoke_profile *from = copy->from;
	uint32_t first = from->label_sets[set], nr = from->label_sets[set + 1] - first;
	_cleanup_free_ struct label *labels = NULL;
	int r = 0;

	if (set && !copy->set_of[set]) {
		labels = calloc(nr, sizeof(*labels));
		if (!labels)
			return -ENOMEM;
		for (uint32_t i = 0; r >= 0 && i < nr; i++) {
			const struct label *label = &from->labels[first + i];

			labels[i].num = label->num;
			r = copy_string(copy, label->key, &labels[i].key);
			if (r >= 0)
				r = copy_string(copy, label->str, &labels[i].str);
			if (r >= 0)
				r = copy_string(copy, label->unit, &labels[i].unit);
		}
		if (r >= 0)
			r = profile_labels(copy->to, labels, nr, &copy->set_of[set]);
		if (r < 0)
			return r;
	}
	*ret = copy->set_of[set];
	return 0;
}
