/* SPDX-License-Identifier: BSD-2-Clause */
/* chains.c: a hot loop asks for the same few addresses a thousand times a second, and reading one
 * from the VM costs some 50 of its structs. */
#include "runtime/hotspot/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "hotspot/methods.h"

#define FIRST_SLOTS 1024

struct chain {
	struct chain_key key;
	uint32_t first, nr; /* of frames */
};

struct chain_frame {
	uint32_t name, file; /* of names; file 0: not known */
	uint32_t line;
	uint32_t kind;
};

void chains_done(struct chains *chains)
{
	free(chains->items);
	free(chains->frames);
	free(chains->slots);
	*chains = (struct chains){0};
}

static size_t slot_of(const struct chains *chains, const struct chain_key *key)
{
	const size_t mask = chains->nr_slots - 1;
	size_t i = (size_t)bytes_hash(key, sizeof(*key)) & mask;

	while (chains->slots[i]) {
		const struct chain_key *there = &chains->items[chains->slots[i] - 1].key;

		if (there->address == key->address && there->owner == key->owner)
			break;
		i = (i + 1) & mask;
	}
	return i;
}

static int widen(struct chains *chains)
{
	const size_t nr_slots = chains->nr_slots ? 2 * chains->nr_slots : FIRST_SLOTS;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(chains->slots);
	chains->slots = slots;
	chains->nr_slots = nr_slots;
	for (size_t i = 0; i < chains->nr; i++)
		slots[slot_of(chains, &chains->items[i].key)] = (uint32_t)i + 1;
	return 0;
}

int chains_find(const struct chains *chains, const struct code_names *names,
	const struct chain_key *key, struct symbol *ret, size_t max)
{
	const struct chain *chain;
	size_t first;

	if (!chains->nr)
		return 0;
	first = chains->slots[slot_of(chains, key)];
	if (!first)
		return 0;
	chain = &chains->items[first - 1];
	first = chain->nr <= max ? 0 : chain->nr - 1;
	for (size_t i = first; i < chain->nr && i - first < max; i++) {
		const struct chain_frame *frame = &chains->frames[chain->first + i];
		const struct code_name *name = &names->items[frame->name];
		const struct code_name *file = &names->items[frame->file];

		ret[i - first] = (struct symbol){
			.name = name->text,
			.name_size = name->size,
			.file = frame->file ? file->text : NULL,
			.file_size = frame->file ? file->size : 0,
			.line = frame->line,
			.kind = (enum function_kind)frame->kind,
		};
	}
	return (int)(chain->nr - first);
}

/* 1; 0: no name, or no room for one. */
static int read_frame(struct code_names *names, struct pages *pages,
	const struct hotspot_structs *structs, const struct scope *scope, struct chain_frame *ret)
{
	char text[METHOD_NAME_MAX];
	ssize_t size = method_name(pages, structs, scope->method, text, sizeof(text));
	int r;

	if (size <= 0)
		return size == -EINVAL ? 0 : (int)size;
	r = code_names_add(names, text, (size_t)size, &ret->name);
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	size = method_file(pages, structs, scope->method, text, METHOD_FILE_MAX);
	if (size > 0) {
		r = code_names_add(names, text, (size_t)size, &ret->file);
		if (r < 0 && r != -E2BIG)
			return r;
	}
	ret->line = method_line(pages, structs, scope->method, scope->bci < 0 ? 0 : scope->bci);
	return 1;
}

int chains_add(struct chains *chains, struct code_names *names, struct pages *pages,
	const struct hotspot_structs *structs, const struct chain_key *key,
	const struct scope *scopes, size_t nr, enum function_kind kind)
{
	int r;

	if (!nr || nr > CHAIN_MAX_FRAMES)
		return 0;
	if (chains->nr >= CHAINS_MAX)
		chains_done(chains);
	r = array_reserve(&chains->items, &chains->capacity, chains->nr, 1);
	if (r == 0)
		r = array_reserve(&chains->frames, &chains->frames_capacity, chains->nr_frames, nr);
	if (r == 0 && chains->nr >= chains->nr_slots / 2)
		r = widen(chains);
	for (size_t i = 0; r >= 0 && i < nr; i++) {
		struct chain_frame frame = {
			.kind = i + 1 < nr ? FUNCTION_INLINED : (uint32_t)kind,
		};

		r = read_frame(names, pages, structs, &scopes[i], &frame);
		if (r == 0)
			return 0;
		chains->frames[chains->nr_frames + i] = frame;
	}
	if (r < 0)
		return r;
	chains->items[chains->nr] = (struct chain){*key, (uint32_t)chains->nr_frames, (uint32_t)nr};
	chains->nr_frames += nr;
	chains->slots[slot_of(chains, key)] = (uint32_t)++chains->nr;
	return (int)nr;
}
