/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners.c: two snapshots are compared by address, both sorted; only who is new is named. HotSpot
 * gives each compilation a number of its own, so a method that was compiled anew at the address of
 * an older one is somebody else.
 */
#include "runtime/hotspot/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "hotspot/methods.h"

#define REPLACED     "[replaced code]"
#define CHECK_PARTS  1024
#define HEADER_BYTES 1024

void owners_init(
	struct owners *owners, const struct memory *memory, const struct hotspot_structs *structs)
{
	*owners = (struct owners){.memory = memory, .structs = structs};
	pages_init(&owners->pages, memory);
}

void owners_done(struct owners *owners)
{
	code_history_done(&owners->history);
	code_names_done(&owners->names);
	chains_done(&owners->chains);
	codecache_done(&owners->now);
	pages_done(&owners->pages);
	free(owners->now_owners);
	free(owners->items);
	*owners = (struct owners){0};
}

static int is_same(const struct code_blob *a, const struct code_blob *b)
{
	return a->start == b->start && a->code == b->code && a->code_size == b->code_size &&
	       a->name == b->name && a->method == b->method && a->compile_id == b->compile_id;
}

static int add_owner(
	struct owners *owners, const struct code_blob *blob, uint64_t now_ns, uint32_t *ret)
{
	int r;

	if (owners->nr >= OWNERS_MAX) {
		owners->nr_refused++;
		*ret = 0;
		return 0;
	}
	r = array_reserve(&owners->items, &owners->capacity, owners->nr, 2);
	if (r < 0)
		return r;
	if (!owners->nr)
		owners->items[owners->nr++] = (struct owner){0};
	*ret = (uint32_t)owners->nr;
	owners->items[owners->nr++] = (struct owner){.blob = *blob, .first_ns = now_ns};
	return 0;
}

/* Whose each blob of the new snapshot is. 1: not all as before. */
static int match(
	struct owners *owners, const struct codecache *next, uint64_t now_ns, uint32_t *ids)
{
	const struct codecache *now = &owners->now;
	int changed = next->nr_blobs != now->nr_blobs;
	size_t old = 0;

	for (size_t i = 0; i < next->nr_blobs; i++) {
		const struct code_blob *blob = &next->blobs[i];
		int r;

		while (old < now->nr_blobs && now->blobs[old].code < blob->code)
			old++;
		if (old < now->nr_blobs && owners->now_owners[old] &&
			is_same(&now->blobs[old], blob)) {
			ids[i] = owners->now_owners[old];
			continue;
		}
		changed = 1;
		r = add_owner(owners, blob, now_ns, &ids[i]);
		if (r < 0)
			return r;
	}
	return changed;
}

/* 0 with name 0 when there is none that makes sense. */
static int name_owner(struct owners *owners, struct owner *owner)
{
	char text[METHOD_NAME_MAX];
	uint32_t name = 0;
	ssize_t size;
	int r;

	if (owner->blob.method) {
		size = method_name(
			&owners->pages, owners->structs, owner->blob.method, text, sizeof(text));
	} else {
		size = pages_string(&owners->pages, owner->blob.name, text, sizeof(text));
		size = size == -E2BIG ? (ssize_t)sizeof(text) : size;
	}
	if (size == -EINVAL || size == -EFAULT || size == 0)
		return 0;
	if (size < 0)
		return (int)size;
	r = code_names_add(&owners->names, text, (size_t)size, &name);
	if (r == -E2BIG)
		owners->nr_refused++;
	else if (r < 0)
		return r;
	owner->name = name;
	return 0;
}

/* Is it still who it was? The header as it stands there now. */
static int is_still(const struct owners *owners, const struct code_blob *blob, const uint8_t *copy)
{
	const size_t size = owners->structs->nmethod.size;

	return hotspot_get(&owners->structs->nmethod.method, copy, size) == blob->method &&
	       (uint32_t)hotspot_get(&owners->structs->nmethod.compile_id, copy, size) ==
		       blob->compile_id &&
	       (int8_t)hotspot_get(&owners->structs->nmethod.state, copy, size) >= 0;
}

struct checking {
	struct memory_part parts[CHECK_PARTS];
	uint32_t ids[CHECK_PARTS];
	uint8_t copies[CHECK_PARTS][HEADER_BYTES];
	size_t nr;
};

/* A name read while its method went may be anybody's. */
static int check_batch(struct owners *owners, struct checking *checking)
{
	int r = owners->memory->read(owners->memory, checking->parts, checking->nr);

	for (size_t i = 0; r >= 0 && i < checking->nr; i++) {
		struct owner *owner = &owners->items[checking->ids[i]];

		if (checking->parts[i].missing ||
			!is_still(owners, &owner->blob, checking->copies[i]))
			owner->name = 0;
	}
	checking->nr = 0;
	return r < 0 ? r : 0;
}

static int name_new(struct owners *owners, size_t first)
{
	_cleanup_free_ struct checking *checking = malloc(sizeof(*checking));
	int r = 0;

	if (!checking)
		return -ENOMEM;
	checking->nr = 0;
	for (size_t id = first ? first : 1; r == 0 && id < owners->nr; id++) {
		struct owner *owner = &owners->items[id];

		r = name_owner(owners, owner);
		if (r < 0 || !owner->name || !owner->blob.method)
			continue;
		checking->parts[checking->nr] = (struct memory_part){
			.address = owner->blob.start,
			.to = checking->copies[checking->nr],
			.size = owners->structs->nmethod.size,
		};
		checking->ids[checking->nr++] = (uint32_t)id;
		if (checking->nr == CHECK_PARTS)
			r = check_batch(owners, checking);
	}
	return r == 0 ? check_batch(owners, checking) : r;
}

static int put_history(struct owners *owners, const struct codecache *next, uint32_t *ids)
{
	struct code_history whole = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < next->nr_blobs; i++) {
		const struct code_blob *blob = &next->blobs[i];

		if (!owners->items[ids[i]].name)
			ids[i] = 0; /* asked again at the next reading */
		if (ids[i])
			r = code_history_add(&whole, blob->code, blob->code_size, ids[i]);
	}
	if (r == 0)
		r = code_history_merge(&whole);
	if (r == 0)
		r = code_history_replace(&owners->history, &whole);
	code_history_done(&whole);
	return r;
}

int owners_read(struct owners *owners, uint64_t now_ns)
{
	_cleanup_free_ uint32_t *ids = NULL;
	struct codecache next;
	const size_t first = owners->nr;
	int r, changed;

	if (owners->structs->nmethod.size > HEADER_BYTES)
		return -EINVAL;
	pages_done(&owners->pages);
	pages_init(&owners->pages, owners->memory);
	r = codecache_read(owners->memory, owners->structs, &next);
	if (r < 0)
		return r;
	ids = calloc(next.nr_blobs + 1, sizeof(*ids));
	changed = ids ? match(owners, &next, now_ns, ids) : -ENOMEM;
	r = changed < 0 ? changed : 0;
	if (changed > 0 && owners->nr > first)
		r = name_new(owners, first);
	if (r == 0 && changed > 0 && owners->nr)
		r = put_history(owners, &next, ids);
	if (r == 0)
		r = code_history_commit(&owners->history, now_ns);
	if (r < 0) {
		codecache_done(&next);
		return r;
	}
	codecache_done(&owners->now);
	free(owners->now_owners);
	owners->now = next;
	owners->now_owners = take_pointer(ids);
	return changed;
}

static struct symbol plain_symbol(const char *name, enum function_kind kind)
{
	return (struct symbol){.name = name, .name_size = strlen(name), .kind = kind};
}

/* What stands at an address of a method, callers last. 0: no more is known than whose it is. */
static int look_inside(
	struct owners *owners, uint32_t id, uint64_t address, struct symbol *ret, size_t max)
{
	const struct code_blob *blob = &owners->items[id].blob;
	const struct chain_key key = {address, id};
	struct scope scopes[CHAIN_MAX_FRAMES];
	uint8_t header[HEADER_BYTES];
	int n;

	n = chains_find(&owners->chains, &owners->names, &key, ret, max);
	if (n)
		return n;
	n = scopes_read(&owners->pages, owners->structs, blob, address, scopes, CHAIN_MAX_FRAMES);
	if (n <= 0) { /* the method itself, without a line */
		scopes[0] = (struct scope){blob->method, -1};
		n = 1;
	}
	/* Of code that has gone meanwhile, what was read may be anything. */
	if (memory_read(owners->memory, blob->start, header, owners->structs->nmethod.size) < 0 ||
		!is_still(owners, blob, header))
		return 0;
	n = chains_add(&owners->chains, &owners->names, &owners->pages, owners->structs, &key,
		scopes, (size_t)n, FUNCTION_JIT);
	return n > 0 ? chains_find(&owners->chains, &owners->names, &key, ret, max) : 0;
}

int owners_lookup(struct owners *owners, struct span when, uint64_t address, int last,
	struct symbol *ret, size_t max)
{
	const struct code_name *name;
	const struct owner *owner;
	uint32_t id = 0;
	int r, n;

	r = code_history_lookup(&owners->history, when.from_ns, when.to_ns, address, last, &id);
	if (r == -EAGAIN || r == 0 || !id || !max)
		return r;
	owner = &owners->items[id];
	if (r == 1 && owner->blob.kind == BLOB_METHOD) {
		n = look_inside(owners, id, address, ret, max);
		if (n > 0)
			return n;
	}
	name = &owners->names.items[owner->name];
	*ret = (struct symbol){
		.name = name->text,
		.name_size = name->size,
		.kind = FUNCTION_JIT,
	};
	/* Of two owners the later: was it the earlier's still, or its already? */
	if (r == -ESTALE && owner->first_ns > when.from_ns)
		*ret = plain_symbol(REPLACED, FUNCTION_MARK);
	return r;
}

int owners_lookup_method(struct owners *owners, uint64_t method, uint32_t index, int is_live,
	struct symbol *ret, size_t max)
{
	const struct chain_key key = {method + ((uint64_t)index << 48), UINT64_MAX};
	const struct scope scope = {method, index < UINT16_MAX ? (int32_t)index : -1};
	int n;

	if (!method || !max)
		return 0;
	n = chains_find(&owners->chains, &owners->names, &key, ret, max);
	if (n || !is_live)
		return n;
	/* Pages that were read for others may have changed since. */
	pages_forget(&owners->pages);
	n = chains_add(&owners->chains, &owners->names, &owners->pages, owners->structs, &key,
		&scope, 1, FUNCTION_INTERPRETED);
	if (n > 0)
		return chains_find(&owners->chains, &owners->names, &key, ret, max);
	return n == -ENOMEM ? n : 0;
}
