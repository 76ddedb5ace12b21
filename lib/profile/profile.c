/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c: THE WAIST in memory. Keys are compared as bytes, so every key struct is padding-free.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/index.h"

static uint64_t hash_function(const struct stoke_profile *profile, uint32_t id)
{
	const struct function *f = &profile->functions[id];
	const uint32_t key[3] = {f->name, f->file, f->kind};

	return bytes_hash(key, sizeof(key));
}

static uint64_t hash_frame(const struct stoke_profile *profile, uint32_t id)
{
	return bytes_hash(&profile->frames[id], sizeof(profile->frames[id]));
}

static size_t set_size(const struct stoke_profile *profile, uint32_t set)
{
	return profile->label_sets[set + 1] - profile->label_sets[set];
}

static uint64_t hash_label_set(const struct stoke_profile *profile, uint32_t set)
{
	return bytes_hash(profile->labels + profile->label_sets[set],
		set_size(profile, set) * sizeof(struct label));
}

int stoke_profile_new(struct stoke_profile **ret)
{
	struct stoke_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return -ENOMEM;
	r = -ENOMEM;
	profile->index = calloc(1, sizeof(*profile->index));
	profile->said = calloc(1, sizeof(*profile->said));
	if (!profile->index || !profile->said)
		goto fail;
	r = strings_init(&profile->strings);
	if (r < 0)
		goto fail;
	r = stacks_init(&profile->stacks);
	if (r < 0)
		goto fail;
	/* Id 0 of each array is "none". */
	r = array_reserve(&profile->modules, &profile->modules_capacity, 0, 1);
	if (r < 0)
		goto fail;
	profile->modules[profile->nr_modules++] = (struct module){.fd = -1, .root_fd = -1};
	r = array_reserve(&profile->functions, &profile->functions_capacity, 0, 1);
	if (r < 0)
		goto fail;
	profile->functions[profile->nr_functions++] = (struct function){0};
	r = array_reserve(&profile->frames, &profile->frames_capacity, 0, 1);
	if (r < 0)
		goto fail;
	profile->frames[profile->nr_frames++] = (struct frame){0};
	r = array_reserve(&profile->inlined, &profile->inlined_capacity, 0, 1);
	if (r < 0)
		goto fail;
	profile->inlined[profile->nr_inlined++] = (struct inlined){0};
	r = array_reserve(&profile->label_sets, &profile->label_sets_capacity, 0, 2);
	if (r < 0)
		goto fail;
	profile->label_sets[0] = profile->label_sets[1] = 0;
	profile->nr_label_sets = 1;
	*ret = profile;
	return 0;

fail:
	stoke_profile_free(profile);
	return r;
}

void stoke_profile_free(struct stoke_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->nr_modules; i++)
		module_done(&profile->modules[i]);
	for (size_t i = 0; i < profile->nr_runs; i++)
		free(profile->runs[i].facts);
	for (size_t i = 0; i < PROFILE_MAX_VALUES; i++)
		free(profile->rows.value[i]);
	if (profile->index) {
		free(profile->index->functions.slot);
		free(profile->index->frames.slot);
		free(profile->index->label_sets.slot);
		free(profile->index->rows.slot);
	}
	free(profile->index);
	free(profile->said);
	strings_done(&profile->strings);
	stacks_done(&profile->stacks);
	free(profile->modules);
	free(profile->functions);
	free(profile->frames);
	free(profile->inlined);
	free(profile->labels);
	free(profile->label_sets);
	free(profile->runs);
	free(profile->rows.run);
	free(profile->rows.stack);
	free(profile->rows.labels);
	free(profile->rows.slice);
	free(profile);
}

int profile_string(struct stoke_profile *profile, const char *text, size_t size, uint32_t *ret)
{
	return strings_add(&profile->strings, text, size, ret);
}

int profile_text(struct stoke_profile *profile, const char *text, uint32_t *ret)
{
	return strings_add(&profile->strings, text, strlen(text), ret);
}

int profile_run(struct stoke_profile *profile, const char *name, uint32_t *ret)
{
	uint32_t id;
	int r;

	if (profile->nr_runs >= UINT16_MAX)
		return -E2BIG;
	r = profile_text(profile, name, &id);
	if (r < 0)
		return r;
	r = array_reserve(&profile->runs, &profile->runs_capacity, profile->nr_runs, 1);
	if (r < 0)
		return r;
	profile->runs[profile->nr_runs] = (struct run){.name = id};
	*ret = (uint32_t)profile->nr_runs++;
	return 0;
}

int profile_fact(struct stoke_profile *profile, uint32_t run, const char *key, const char *value)
{
	struct fact fact;
	struct run *of;
	int r;

	r = profile_text(profile, key, &fact.key);
	if (r < 0)
		return r;
	r = profile_text(profile, value, &fact.value);
	if (r < 0)
		return r;
	of = &profile->runs[run];
	r = array_reserve(&of->facts, &of->facts_capacity, of->nr_facts, 1);
	if (r < 0)
		return r;
	of->facts[of->nr_facts++] = fact;
	return 0;
}

const char *profile_fact_find(const struct stoke_profile *profile, uint32_t run, const char *key)
{
	uint32_t id = strings_find(&profile->strings, key, strlen(key));
	const struct run *of = &profile->runs[run];

	for (size_t i = 0; i < of->nr_facts; i++) {
		if (of->facts[i].key == id)
			return strings_text(&profile->strings, of->facts[i].value);
	}
	return NULL;
}

int profile_value(struct stoke_profile *profile, const char *type, const char *unit, unsigned *ret)
{
	struct rows *rows = &profile->rows;
	struct value_type value;
	unsigned v = profile->nr_values;
	int r;

	r = profile_text(profile, type, &value.type);
	if (r < 0)
		return r;
	r = profile_text(profile, unit, &value.unit);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (profile->values[i].type == value.type &&
			profile->values[i].unit == value.unit) {
			*ret = i;
			return 0;
		}
	}
	if (v == PROFILE_MAX_VALUES)
		return -E2BIG;
	r = array_reserve(&rows->value[v], &rows->value_capacity[v], 0, rows->nr + 1);
	if (r < 0)
		return r;
	memset(rows->value[v], 0, rows->nr * sizeof(uint64_t));
	profile->values[v] = value;
	*ret = profile->nr_values++;
	return 0;
}

int profile_module(struct stoke_profile *profile, const struct module *module, uint32_t *ret)
{
	struct module copy;
	int r;

	for (size_t i = 1; i < profile->nr_modules; i++) {
		if (module_same(&profile->modules[i], module)) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	r = array_reserve(&profile->modules, &profile->modules_capacity, profile->nr_modules, 1);
	if (r < 0)
		return r;
	r = module_copy(module, &copy);
	if (r < 0)
		return r;
	profile->modules[profile->nr_modules] = copy;
	*ret = (uint32_t)profile->nr_modules++;
	return 0;
}

int profile_function(struct stoke_profile *profile, const char *name, size_t size,
	enum function_kind kind, uint32_t file, uint32_t line, uint32_t *ret)
{
	struct function new = {.file = file, .line = line, .kind = (uint32_t)kind};
	struct slots *slots = &profile->index->functions;
	uint32_t *slot;
	int r;

	r = profile_string(profile, name, size, &new.name);
	if (r < 0)
		return r;
	r = array_reserve(
		&profile->functions, &profile->functions_capacity, profile->nr_functions, 1);
	if (r < 0)
		return r;
	r = slots_grow(slots, profile->nr_functions, profile, hash_function);
	if (r < 0)
		return r;
	profile->functions[profile->nr_functions] = new;
	slot = FIND_SLOT(slots, hash_function(profile, (uint32_t)profile->nr_functions), id,
		id && profile->functions[id].name == new.name &&
			profile->functions[id].file == file &&
			profile->functions[id].kind == new.kind);
	if (!*slot)
		*slot = (uint32_t)++profile->nr_functions;
	*ret = *slot - 1;
	return 0;
}

int profile_frame(struct stoke_profile *profile, const struct frame *key, uint32_t *ret)
{
	struct slots *slots = &profile->index->frames;
	uint32_t *slot;
	int r;

	r = array_reserve(&profile->frames, &profile->frames_capacity, profile->nr_frames, 1);
	if (r < 0)
		return r;
	/* Named frames keep the place in the table that their nameless key gave them, so the table
	 * is rebuilt from what they are now: two frames may then be equal, which is allowed. */
	r = slots_grow(slots, profile->nr_frames, profile, hash_frame);
	if (r < 0)
		return r;
	profile->frames[profile->nr_frames] = *key;
	slot = FIND_SLOT(slots, hash_frame(profile, (uint32_t)profile->nr_frames), id,
		id && memcmp(&profile->frames[id], key, sizeof(*key)) == 0);
	if (!*slot)
		*slot = (uint32_t)++profile->nr_frames;
	*ret = *slot - 1;
	return 0;
}

int profile_named_frame(struct stoke_profile *profile, const char *name, size_t size,
	enum function_kind kind, uint32_t *ret)
{
	struct frame frame = {
		.nr_functions = 1, .flags = kind == FUNCTION_KERNEL ? FRAME_KERNEL : 0};
	int r;

	r = profile_function(profile, name, size, kind, 0, 0, &frame.function);
	if (r < 0)
		return r;
	return profile_frame(profile, &frame, ret);
}

static int symbol_function(
	struct stoke_profile *profile, const struct symbol *symbol, uint32_t *ret)
{
	uint32_t file = 0;
	int r;

	if (symbol->file) {
		r = profile_string(profile, symbol->file, symbol->file_size, &file);
		if (r < 0)
			return r;
	}
	return profile_function(
		profile, symbol->name, symbol->name_size, symbol->kind, file, 0, ret);
}

int profile_symbols(struct stoke_profile *profile, const struct symbol *symbols, size_t nr_symbols,
	struct frame *ret)
{
	struct frame named = *ret;
	int r;

	if (!nr_symbols || nr_symbols > UINT16_MAX)
		return -EINVAL;
	named.nr_functions = (uint16_t)nr_symbols;
	named.line = symbols[0].line;
	if (nr_symbols == 1) {
		r = symbol_function(profile, symbols, &named.function);
		if (r < 0)
			return r;
	} else {
		r = array_reserve(&profile->inlined, &profile->inlined_capacity,
			profile->nr_inlined, nr_symbols);
		if (r < 0)
			return r;
		for (size_t i = 0; i < nr_symbols; i++) {
			struct inlined *entry = &profile->inlined[profile->nr_inlined + i];

			entry->line = symbols[i].line;
			r = symbol_function(profile, &symbols[i], &entry->function);
			if (r < 0)
				return r;
		}
		named.function = (uint32_t)profile->nr_inlined;
		profile->nr_inlined += nr_symbols;
	}
	*ret = named;
	return 0;
}

int profile_name_frame(struct stoke_profile *profile, uint32_t frame, const struct symbol *symbols,
	size_t nr_symbols)
{
	struct frame named = profile->frames[frame];
	int r = profile_symbols(profile, symbols, nr_symbols, &named);

	if (r == 0)
		profile->frames[frame] = named;
	return r;
}

uint32_t frame_function(const struct stoke_profile *profile, const struct frame *frame, unsigned i)
{
	if (i >= frame->nr_functions)
		return 0;
	return frame->nr_functions == 1 ? frame->function
					: profile->inlined[frame->function + i].function;
}

static int by_key(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->str != y->str)
		return x->str < y->str ? -1 : 1;
	return x->num < y->num ? -1 : x->num > y->num;
}

int profile_labels(
	struct stoke_profile *profile, struct label *labels, size_t nr_labels, uint32_t *ret)
{
	struct slots *slots = &profile->index->label_sets;
	uint32_t *slot;
	int r;

	if (!nr_labels) {
		*ret = 0;
		return 0;
	}
	qsort(labels, nr_labels, sizeof(*labels), by_key);
	r = array_reserve(
		&profile->labels, &profile->labels_capacity, profile->nr_labels, nr_labels);
	if (r < 0)
		return r;
	r = array_reserve(
		&profile->label_sets, &profile->label_sets_capacity, profile->nr_label_sets, 2);
	if (r < 0)
		return r;
	r = slots_grow(slots, profile->nr_label_sets, profile, hash_label_set);
	if (r < 0)
		return r;
	/* memcpy field by field is not needed: struct label has no padding but its tail. */
	for (size_t i = 0; i < nr_labels; i++) {
		struct label *to = &profile->labels[profile->nr_labels + i];

		memset(to, 0, sizeof(*to));
		to->key = labels[i].key;
		to->str = labels[i].str;
		to->num = labels[i].num;
		to->unit = labels[i].unit;
	}
	profile->label_sets[profile->nr_label_sets + 1] =
		(uint32_t)(profile->nr_labels + nr_labels);
	slot = FIND_SLOT(slots, hash_label_set(profile, (uint32_t)profile->nr_label_sets), set,
		set && set_size(profile, set) == nr_labels &&
			memcmp(profile->labels + profile->label_sets[set],
				profile->labels + profile->nr_labels,
				nr_labels * sizeof(*labels)) == 0);
	if (!*slot) {
		profile->nr_labels += nr_labels;
		*slot = (uint32_t)++profile->nr_label_sets;
	}
	*ret = *slot - 1;
	return 0;
}

const struct label *profile_label(
	const struct stoke_profile *profile, uint32_t set, const char *key)
{
	uint32_t id = strings_find(&profile->strings, key, strlen(key));

	for (uint32_t i = profile->label_sets[set]; i < profile->label_sets[set + 1]; i++) {
		if (profile->labels[i].key == id)
			return &profile->labels[i];
	}
	return NULL;
}
