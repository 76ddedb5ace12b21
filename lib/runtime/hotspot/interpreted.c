/* SPDX-License-Identifier: BSD-2-Clause */
/* interpreted.c: a name a method, read once. What could not be read is tried again. */
#include "runtime/hotspot/interpreted.h"

#include <errno.h>
#include <stdlib.h>

#include "hotspot/methods.h"

#define FIRST_SLOTS 256

struct interpreted_method {
	uint64_t method; /* 0: free */
	uint32_t name; /* of names */
};

void interpreted_init(struct interpreted *interpreted, const struct memory *memory,
	const struct hotspot_structs *structs)
{
	*interpreted = (struct interpreted){.structs = structs};
	pages_init(&interpreted->pages, memory);
}

void interpreted_done(struct interpreted *interpreted)
{
	pages_done(&interpreted->pages);
	code_names_done(&interpreted->names);
	free(interpreted->slots);
}

static struct interpreted_method *slot_of(const struct interpreted *interpreted, uint64_t method)
{
	size_t mask = interpreted->nr_slots - 1;
	size_t i = (size_t)((method >> 3) * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (interpreted->slots[i].method && interpreted->slots[i].method != method)
		i = (i + 1) & mask;
	return &interpreted->slots[i];
}

static int grow(struct interpreted *interpreted)
{
	struct interpreted wider = *interpreted;

	wider.nr_slots = interpreted->nr_slots ? interpreted->nr_slots * 2 : FIRST_SLOTS;
	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < interpreted->nr_slots; i++) {
		if (interpreted->slots[i].method)
			*slot_of(&wider, interpreted->slots[i].method) = interpreted->slots[i];
	}
	free(interpreted->slots);
	interpreted->slots = wider.slots;
	interpreted->nr_slots = wider.nr_slots;
	return 0;
}

static int read_name(struct interpreted *interpreted, uint64_t method, uint32_t *ret)
{
	char text[METHOD_NAME_MAX];
	ssize_t size;
	int r;

	/* Pages that were read for others may have changed since. */
	pages_forget(&interpreted->pages);
	size = method_name(&interpreted->pages, interpreted->structs, method, text, sizeof(text));
	if (size <= 0)
		return size == -ENOMEM ? -ENOMEM : 0;
	r = code_names_add(&interpreted->names, text, (size_t)size, ret);
	return r == -ENOMEM ? r : 0;
}

int interpreted_lookup(
	struct interpreted *interpreted, uint64_t method, int is_live, struct symbol *ret)
{
	struct interpreted_method *slot;
	const struct code_name *name;
	uint32_t id = 0;

	if (interpreted->nr >= interpreted->nr_slots / 2 && grow(interpreted) < 0)
		return -ENOMEM;
	slot = slot_of(interpreted, method);
	if (!slot->method) {
		int r = is_live && interpreted->nr < INTERPRETED_MAX
				? read_name(interpreted, method, &id)
				: 0;

		if (r < 0 || !id)
			return r;
		*slot = (struct interpreted_method){.method = method, .name = id};
		interpreted->nr++;
	}
	name = &interpreted->names.items[slot->name];
	*ret = (struct symbol){
		.name = name->text,
		.name_size = name->size,
		.kind = FUNCTION_INTERPRETED,
	};
	return 1;
}
