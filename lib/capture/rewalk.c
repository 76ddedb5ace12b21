/* SPDX-License-Identifier: BSD-2-Clause */
/* rewalk.c: bpf/walk.h over a copy. What it reads is bounded by the copy, and what it looks up by
 * the store. */
#include "capture/rewalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* That a sample may be kept waiting for a table: 200 MB of a program are compiled by then. */
#define PATIENCE_NS 2000000000ull

/* What a process has mapped, as walks know it. */
struct view {
	uint64_t incarnation, version;
	uint32_t moves; /* of tables, by then */
	int settled; /* no table of it is missing */
	struct stoke_mapping *mappings;
	size_t nr, capacity;
};

struct walk;
static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from);
static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 i);
static inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 i);
static inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 i);
static inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 i);

#include "bpf/walk.h"

struct rewalk {
	struct walk walk; /* first: what readers are given is this */
	struct ground ground;
	struct view view;
	const struct stoke_copy *copy;
	struct stoke_sample record;
	uint64_t frames[STOKE_MAX_KERNEL_FRAMES + STOKE_MAX_USER_FRAMES];
	uint64_t nr_finished;
};

static const struct rewalk *rewalk_of(const struct walk *walk)
{
	return (const struct rewalk *)walk;
}

static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	const struct stoke_copy *copy = rewalk_of(walk)->copy;
	uint64_t offset = from - copy->start;

	if (offset >= copy->bytes || copy->bytes - offset < size)
		return -1;
	memcpy(to, (const uint8_t *)(copy + 1) + offset, size);
	return 0;
}

static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 i)
{
	const struct view *view = &rewalk_of(walk)->view;

	return i < view->nr ? &view->mappings[i] : NULL;
}

static inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 i)
{
	return store_page(rewalk_of(walk)->ground.store, i);
}

static inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 i)
{
	return store_shard(rewalk_of(walk)->ground.store, i);
}

static inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 i)
{
	return store_rule_at(rewalk_of(walk)->ground.store, i);
}

int rewalk_new(const struct ground *ground, struct rewalk **ret)
{
	struct rewalk *rewalk = calloc(1, sizeof(*rewalk));

	if (!rewalk)
		return -ENOMEM;
	rewalk->ground = *ground;
	*ret = rewalk;
	return 0;
}

void rewalk_free(struct rewalk *rewalk)
{
	if (!rewalk)
		return;
	free(rewalk->view.mappings);
	free(rewalk);
}

uint64_t rewalk_count(const struct rewalk *rewalk)
{
	return rewalk->nr_finished;
}

/* Many samples in a row are of one process that has not changed. */
static int look(struct rewalk *rewalk, const struct process *process)
{
	struct view *view = &rewalk->view;
	int r;

	if (view->settled && view->incarnation == process->incarnation &&
		view->version == process->version &&
		view->moves == bodies_moves(rewalk->ground.bodies))
		return 0;
	view->nr = 0;
	view->settled = 1;
	view->incarnation = process->incarnation;
	view->version = process->version;
	view->moves = bodies_moves(rewalk->ground.bodies);
	r = array_reserve(&view->mappings, &view->capacity, 0, process->nr_mappings);
	if (r < 0)
		return -ENOMEM;
	for (size_t i = 0; i < process->nr_mappings; i++) {
		struct stoke_mapping *made = &view->mappings[view->nr];

		if (process->mappings[i].kind == MAPPING_VSYSCALL)
			continue;
		*made = walkable(&rewalk->ground, process->alive, &process->mappings[i]);
		view->settled &= made->kind != STOKE_MAPPING_PENDING;
		view->nr++;
	}
	return 0;
}

static void walk_all(struct rewalk *rewalk, const struct stoke_sample *record)
{
	struct walk *walk = &rewalk->walk;
	uint64_t *frames = rewalk->frames + record->nr_kernel;

	walk_begin(walk, record->ip, record->sp, record->fp);
	memcpy(walk->registers, rewalk->copy->registers, sizeof(walk->registers));
	walk->known = 1;
	walk->nr_mappings = (uint32_t)rewalk->view.nr;
	do {
		uint64_t ip = walk->ip + (walk->interrupted && walk->nr > 1);

		/* As the kernel's part does: readers take one off all but the first. */
		frames[walk->nr - 1] = stoke_note_of(ip) ? STOKE_NO_ADDRESS : ip;
	} while (!walk_step(walk));
	/* Deeper than was copied. */
	if (walk->end == STOKE_WALK_UNREADABLE && rewalk->copy->cut)
		walk->end = STOKE_WALK_DEPTH;
}

static int is_broken(uint32_t end)
{
	return end != STOKE_WALK_FIRST && end != STOKE_WALK_ROOT && end != STOKE_WALK_DEPTH;
}

/* The walk ended in a file without a table: is that worth waiting for? */
static int await(struct rewalk *rewalk, const struct process *process)
{
	const struct walk *walk = &rewalk->walk;
	const struct mapping *mapping =
		process_mapping(process, walk->ip - (walk->interrupted ? 0 : 1));

	if (walk->end != STOKE_WALK_PENDING || !mapping ||
		!bodies_soon(rewalk->ground.bodies, mapping->module, PATIENCE_NS))
		return 0;
	bodies_hurry(rewalk->ground.bodies, mapping->module);
	return 1;
}

/* Walks; what is not mapped there, as far as is known, may be by now. */
static int walk_known(
	struct rewalk *rewalk, struct process *process, const struct stoke_sample *record)
{
	int r = look(rewalk, process);

	if (r < 0)
		return r;
	walk_all(rewalk, record);
	if (rewalk->walk.end != STOKE_WALK_NO_MAPPING ||
		processes_rescan(rewalk->ground.processes, process, record->time_ns) < 0)
		return 0;
	r = look(rewalk, process);
	if (r == 0)
		walk_all(rewalk, record);
	return r;
}

int rewalk_sample(
	struct rewalk *rewalk, struct process *process, const struct item *item, struct walked *ret)
{
	const struct stoke_sample *record = item->sample.record;
	int r;

	*ret = (struct walked){record, item->sample.frames};
	if (!item->sample.copy)
		return 0;
	rewalk->copy = item->sample.copy;
	r = walk_known(rewalk, process, record);
	if (r < 0)
		return r;
	if (await(rewalk, process))
		return -EAGAIN;
	if (is_broken(rewalk->walk.end) && rewalk->walk.nr <= record->nr_user)
		return 0;
	memcpy(rewalk->frames, item->sample.frames, record->nr_kernel * sizeof(uint64_t));
	rewalk->record = *record;
	rewalk->record.nr_user = (uint16_t)rewalk->walk.nr;
	rewalk->record.walk_end = (uint8_t)rewalk->walk.end;
	rewalk->record.generation = 0;
	rewalk->nr_finished++;
	*ret = (struct walked){&rewalk->record, rewalk->frames};
	return 0;
}
