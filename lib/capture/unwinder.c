/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwinder.c: which process has which tables. A slice says which address space it was read from,
 * and a walk uses it in no other, so an exec needs no hurry; what was mapped in the place of
 * something else meanwhile is found out by unwinder_agrees().
 */
#include "capture/unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/bodies.h"
#include "capture/javavm.h"
#include "capture/rewalk.h"
#include "capture/slices.h"
#include "capture/walkable.h"

#define FIRST_INTERVAL_NS 10000000ull
#define LAST_INTERVAL_NS  2000000000ull
#define SHORT_WAIT_MS	  5
#define LOOKS_A_ROUND	  64 /* for processes that ended unseen */

/* A process that was sampled, or will be. */
struct followed {
	pid_t pid; /* 0: free slot */
	uint32_t generation; /* of its slice, 0: it has none */
	uint64_t memory; /* that slice is of; 0: not known */
	uint64_t asked_memory; /* what the sample that asked ran in */
	int asked; /* for a reading */
	uint64_t next_ns; /* not before */
	uint64_t interval_ns;
};

struct unwinder {
	struct processes *processes;
	struct store *store;
	struct publisher *publisher;
	struct bodies *bodies;
	struct ground ground; /* the three above */
	struct rewalk *rewalk;
	struct javavms *javavms; /* NULL: walks know of none */
	struct slices slices;
	struct followed *slots; /* by pid, open addressing */
	size_t nr_slots, nr; /* a power of two */
	size_t look; /* next slot to look at */
	int nr_asked;
	uint64_t early, pending, readings;
};

int unwinder_new(struct processes *processes, struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int r;

	if (!unwinder)
		return -ENOMEM;
	unwinder->processes = processes;
	unwinder->nr_slots = 64;
	unwinder->slots = calloc(unwinder->nr_slots, sizeof(*unwinder->slots));
	r = unwinder->slots ? bodies_new(unwinder->processes, &unwinder->bodies) : -ENOMEM;
	if (r < 0) {
		unwinder_free(unwinder);
		return r;
	}
	*ret = unwinder;
	return 0;
}

int unwinder_attach(struct unwinder *unwinder, const struct store_memory *store,
	const struct publisher_memory *publisher)
{
	int r = store_new(store, &unwinder->store);

	if (r == 0)
		r = publisher_new(publisher, &unwinder->publisher);
	if (r < 0)
		return r;
	bodies_attach(unwinder->bodies, unwinder->store);
	unwinder->ground = (struct ground){
		unwinder->processes,
		unwinder->bodies,
		unwinder->store,
	};
	return rewalk_new(&unwinder->ground, &unwinder->rewalk);
}

int unwinder_attach_java(struct unwinder *unwinder, struct stoke_java *javas, size_t nr)
{
	return javavms_new(javas, nr, &unwinder->javavms);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	rewalk_free(unwinder->rewalk);
	bodies_free(unwinder->bodies);
	javavms_free(unwinder->javavms);
	publisher_free(unwinder->publisher);
	store_free(unwinder->store);
	slices_done(&unwinder->slices);
	free(unwinder->slots);
	free(unwinder);
}

int unwinder_fd(const struct unwinder *unwinder)
{
	return bodies_fd(unwinder->bodies);
}

static size_t place_of(const struct unwinder *unwinder, pid_t pid)
{
	return ((uint32_t)pid * 0x9e3779b1u) & (unwinder->nr_slots - 1);
}

static struct followed *slot_of(const struct unwinder *unwinder, pid_t pid)
{
	size_t i = place_of(unwinder, pid);

	while (unwinder->slots[i].pid && unwinder->slots[i].pid != pid)
		i = (i + 1) & (unwinder->nr_slots - 1);
	return &unwinder->slots[i];
}

static struct followed *find(const struct unwinder *unwinder, pid_t pid)
{
	struct followed *followed = slot_of(unwinder, pid);

	return followed->pid ? followed : NULL;
}

static int grow(struct unwinder *unwinder)
{
	struct unwinder wider = *unwinder;

	wider.nr_slots *= 2;
	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < unwinder->nr_slots; i++) {
		if (unwinder->slots[i].pid)
			*slot_of(&wider, unwinder->slots[i].pid) = unwinder->slots[i];
	}
	free(unwinder->slots);
	*unwinder = wider;
	return 0;
}

static int follow(struct unwinder *unwinder, pid_t pid, struct followed **ret)
{
	struct followed *followed;

	if (unwinder->nr >= unwinder->nr_slots / 2) {
		int r = grow(unwinder);

		if (r < 0)
			return r;
	}
	followed = slot_of(unwinder, pid);
	if (!followed->pid) {
		*followed = (struct followed){.pid = pid, .interval_ns = FIRST_INTERVAL_NS};
		unwinder->nr++;
	}
	*ret = followed;
	return 0;
}

static void ask(struct unwinder *unwinder, struct followed *followed, uint64_t memory)
{
	followed->asked_memory = memory;
	unwinder->nr_asked += !followed->asked;
	followed->asked = 1;
}

/* It has no tables any more. */
static void unpublish(struct unwinder *unwinder, struct followed *followed, uint64_t now_ns)
{
	if (!followed->generation)
		return;
	publisher_drop(unwinder->publisher, (uint32_t)followed->pid, now_ns);
	if (unwinder->javavms)
		javavms_forget(unwinder->javavms, followed->pid, now_ns);
	slices_leave(&unwinder->slices, followed->generation, now_ns);
	followed->generation = 0;
	followed->memory = 0;
}

/* Takes it out, and closes the gap in its chain. */
static void forget(struct unwinder *unwinder, struct followed *followed, uint64_t now_ns)
{
	size_t mask = unwinder->nr_slots - 1, hole = (size_t)(followed - unwinder->slots);

	unpublish(unwinder, followed, now_ns);
	unwinder->nr_asked -= followed->asked;
	for (size_t i = (hole + 1) & mask; unwinder->slots[i].pid; i = (i + 1) & mask) {
		size_t home = place_of(unwinder, unwinder->slots[i].pid);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		unwinder->slots[hole] = unwinder->slots[i];
		hole = i;
	}
	unwinder->slots[hole].pid = 0;
	unwinder->nr--;
}

static void nobody_waits(void *arg, uint32_t module)
{
}

int unwinder_prepare(struct unwinder *unwinder, pid_t pid)
{
	_cleanup_free_ struct mapping *mappings = NULL;
	size_t nr = 0;

	/* Whatever hinders it now is asked again once it counts. */
	if (processes_mapped(unwinder->processes, pid, &mappings, &nr) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (mappings[i].kind == MAPPING_FILE || mappings[i].kind == MAPPING_VDSO)
			(void)bodies_want(unwinder->bodies, mappings[i].module);
	}
	bodies_begin(unwinder->bodies, nobody_waits, NULL);
	return 0;
}

int unwinder_expect(struct unwinder *unwinder, pid_t pid)
{
	struct followed *followed;
	int r = follow(unwinder, pid, &followed);

	if (r == 0 && !followed->generation)
		ask(unwinder, followed, 0);
	return r;
}

static int note_sample(
	struct unwinder *unwinder, const struct stoke_sample *record, const uint64_t *frames)
{
	struct followed *followed;
	int r;

	if (!record->memory || !record->nr_user)
		return 0;
	r = follow(unwinder, (pid_t)record->pid, &followed);
	if (r < 0)
		return r;
	if (!record->generation) {
		unwinder->early++;
		/* Taken before the slice of its address space was there: nothing to ask. */
		if (!followed->generation || followed->memory != record->memory)
			ask(unwinder, followed, record->memory);
		return 0;
	}
	if (!followed->memory)
		followed->memory = record->memory;
	if (record->walk_end == STOKE_WALK_NO_MAPPING) {
		ask(unwinder, followed, record->memory);
	} else if (record->walk_end == STOKE_WALK_PENDING) {
		uint64_t last = frames[record->nr_kernel + record->nr_user - 1];

		unwinder->pending++;
		bodies_hurry(unwinder->bodies,
			slices_module(&unwinder->slices, record->generation, last));
	}
	return 0;
}

/* Generated code comes and goes where there was some all the time; that is no news. */
static int is_news(const struct unwinder *unwinder, const struct followed *followed,
	const struct mmap_event *event)
{
	if (!(event->prot & PROT_EXEC) || !followed->generation)
		return 0;
	return event->ino || event->build_id_size ||
	       !slices_generated(&unwinder->slices, followed->generation, event->start,
		       event->start + event->size);
}

int unwinder_note(struct unwinder *unwinder, const struct item *item)
{
	struct followed *followed;

	switch (item->kind) {
	case ITEM_SAMPLE:
		return note_sample(unwinder, item->sample.record, item->sample.frames);
	case ITEM_MMAP:
		followed = find(unwinder, item->mmap.pid);
		if (followed && is_news(unwinder, followed, &item->mmap)) {
			followed->interval_ns = FIRST_INTERVAL_NS;
			ask(unwinder, followed, followed->memory);
		}
		return 0;
	case ITEM_COMM:
		followed = item->comm.exec ? find(unwinder, item->comm.pid) : NULL;
		if (followed) {
			unpublish(unwinder, followed, host_now_ns());
			followed->interval_ns = FIRST_INTERVAL_NS;
			followed->next_ns = 0;
			/* Which address space its samples ran in, they say themselves. */
		}
		return 0;
	case ITEM_EXIT:
		followed = find(unwinder, item->task.pid);
		if (followed && item->task.pid == item->task.tid)
			ask(unwinder, followed, followed->memory); /* gone, or its leader only */
		return 0;
	case ITEM_FORK:
	case ITEM_KERNEL_CODE:
		return 0;
	}
	return 0;
}

/* Code that a Java VM makes is walked by what the VM itself knows of it. */
static int publish_java(
	struct unwinder *unwinder, pid_t pid, const struct slice_copy *slice, uint64_t now_ns)
{
	uint32_t java = 0;
	int r;

	if (!unwinder->javavms)
		return 0;
	r = javavms_read(unwinder->javavms, unwinder->processes, pid, slice->mappings, slice->nr,
		now_ns, &java);
	if (r == 0)
		publisher_java(unwinder->publisher, (uint32_t)pid, java);
	return r;
}

/* VMs that were only just starting. */
static void ask_javavms(struct unwinder *unwinder, uint64_t now_ns)
{
	uint32_t java;
	pid_t pid;

	while (unwinder->javavms && (pid = javavms_next(unwinder->javavms, now_ns, &java)))
		publisher_java(unwinder->publisher, (uint32_t)pid, java);
}

static int publish(struct unwinder *unwinder, struct followed *followed, struct slice_copy *slice,
	uint64_t now_ns)
{
	_cleanup_free_ struct stoke_mapping *mappings = calloc(slice->nr + 1, sizeof(*mappings));
	uint32_t generation;
	int r;

	if (!mappings)
		return -ENOMEM;
	for (size_t i = 0; i < slice->nr; i++)
		mappings[i] = walkable(&unwinder->ground, followed->pid, &slice->mappings[i]);
	r = publisher_set(unwinder->publisher, (uint32_t)followed->pid, followed->asked_memory,
		mappings, slice->nr, now_ns, &generation);
	if (r < 0) {
		/* What it had is not true any more; better none. */
		unpublish(unwinder, followed, now_ns);
		return r == -ENOMEM ? r : 0;
	}
	if (followed->generation)
		slices_leave(&unwinder->slices, followed->generation, now_ns);
	followed->generation = generation;
	followed->memory = followed->asked_memory;
	slice->generation = generation;
	slice->pid = followed->pid;
	r = publish_java(unwinder, followed->pid, slice, now_ns);
	return r < 0 ? r : slices_add(&unwinder->slices, slice);
}

/* One reading. The process may be gone. */
static int read_now(struct unwinder *unwinder, struct followed *followed, uint64_t now_ns)
{
	_cleanup_(slice_copy_done) struct slice_copy slice = {0};
	int r, news, same;

	unwinder->readings++;
	r = processes_mapped(unwinder->processes, followed->pid, &slice.mappings, &slice.nr);
	if (r == -ESRCH || (r == 0 && !slice.nr)) {
		forget(unwinder, followed, now_ns);
		return 0;
	}
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* Of another address space nothing is kept. */
	same = !followed->memory || followed->memory == followed->asked_memory;
	r = slices_merge(&unwinder->slices, same ? followed->generation : 0, &slice);
	if (r < 0)
		return r;
	news = r || followed->memory != followed->asked_memory;
	followed->interval_ns = news ? FIRST_INTERVAL_NS : followed->interval_ns * 2;
	if (followed->interval_ns > LAST_INTERVAL_NS)
		followed->interval_ns = LAST_INTERVAL_NS;
	followed->next_ns = now_ns + followed->interval_ns;
	return news ? publish(unwinder, followed, &slice, now_ns) : 0;
}

static int read_asked(struct unwinder *unwinder, uint64_t now_ns)
{
	for (size_t i = 0; i < unwinder->nr_slots && unwinder->nr_asked; i++) {
		struct followed *followed = &unwinder->slots[i];
		int r;

		if (!followed->pid || !followed->asked || followed->next_ns > now_ns)
			continue;
		followed->asked = 0;
		unwinder->nr_asked--;
		r = read_now(unwinder, followed, now_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Records of exits may be lost. */
static void look_around(struct unwinder *unwinder)
{
	for (size_t i = 0; i < LOOKS_A_ROUND && i < unwinder->nr_slots; i++) {
		struct followed *followed = &unwinder->slots[unwinder->look];

		unwinder->look = (unwinder->look + 1) & (unwinder->nr_slots - 1);
		if (followed->pid && processes_gone(unwinder->processes, followed->pid))
			ask(unwinder, followed, followed->memory);
	}
}

/* A module has its table, or will never have one: wherever it is pending, that is over. */
static void module_settled(void *arg, uint32_t module)
{
	struct unwinder *unwinder = arg;

	for (size_t i = 0; i < unwinder->slices.nr; i++) {
		const struct slice_copy *slice = &unwinder->slices.items[i];

		for (size_t j = 0; j < slice->nr && !slice->left_ns; j++) {
			struct stored stored;
			uint64_t bias;

			if (slice->mappings[j].module != module)
				continue;
			if (bodies_want(unwinder->bodies, module) == BODY_READY &&
				bodies_place(unwinder->bodies, module, &slice->mappings[j], &stored,
					&bias) == 0)
				publisher_upgrade(unwinder->publisher, (uint32_t)slice->pid, j,
					&stored, bias);
			else
				publisher_settle(unwinder->publisher, (uint32_t)slice->pid, j);
		}
	}
}

/* Tables of files that no process has mapped any more. */
static int give_way(struct unwinder *unwinder, uint64_t now_ns)
{
	_cleanup_free_ uint8_t *used = NULL;
	uint32_t nr = slices_modules(&unwinder->slices);

	if (!bodies_lack_room(unwinder->bodies))
		return 0;
	used = calloc(nr + 1u, 1);
	if (!used)
		return -ENOMEM;
	slices_mark(&unwinder->slices, used, nr);
	bodies_give_way(unwinder->bodies, used, nr, now_ns);
	return 0;
}

int unwinder_work(struct unwinder *unwinder, uint64_t now_ns)
{
	int r = read_asked(unwinder, now_ns);

	(void)bodies_work(unwinder->bodies, 0, module_settled, unwinder);
	look_around(unwinder);
	ask_javavms(unwinder, now_ns);
	slices_expire(&unwinder->slices, now_ns);
	return r < 0 ? r : give_way(unwinder, now_ns);
}

int unwinder_settle(struct unwinder *unwinder, unsigned timeout_ms)
{
	uint64_t end_ns = host_now_ns() + timeout_ms * 1000000ull, now_ns;
	int r = read_asked(unwinder, host_now_ns());

	while (r == 0) {
		now_ns = host_now_ns();
		if (!bodies_work(unwinder->bodies,
			    now_ns < end_ns ? (unsigned)((end_ns - now_ns) / 1000000) : 0,
			    module_settled, unwinder) ||
			now_ns >= end_ns)
			break;
	}
	return r;
}

int unwinder_finish(struct unwinder *unwinder, const struct item *item, struct walked *ret)
{
	struct process *process;
	int r;

	*ret = (struct walked){item->sample.record, item->sample.frames};
	if (!item->sample.copy)
		return 0;
	r = processes_get(unwinder->processes, (pid_t)item->sample.record->pid, &process);
	if (r < 0)
		return r;
	r = rewalk_sample(unwinder->rewalk, process, item, ret);
	if (r != -EAGAIN)
		return r;
	/* Most files are small: they are soon done, and what comes behind is spared the waiting. */
	(void)bodies_work(unwinder->bodies, SHORT_WAIT_MS, module_settled, unwinder);
	return rewalk_sample(unwinder->rewalk, process, item, ret);
}

int unwinder_agrees(const struct unwinder *unwinder, uint32_t generation, uint64_t address,
	const struct mapping *mapping)
{
	const struct mapping *used = slices_mapping(&unwinder->slices, generation, address);

	if (!used)
		return 1;
	if (used->kind == MAPPING_ANONYMOUS || mapping->kind == MAPPING_ANONYMOUS)
		return used->kind == mapping->kind;
	return used->module == mapping->module &&
	       used->start - used->offset == mapping->start - mapping->offset;
}

void unwinder_counts(const struct unwinder *unwinder, struct unwinder_counts *ret)
{
	*ret = (struct unwinder_counts){.early = unwinder->early,
		.pending = unwinder->pending,
		.readings = unwinder->readings};
	if (!unwinder->rewalk)
		return;
	ret->finished = rewalk_count(unwinder->rewalk);
	store_counts(unwinder->store, &ret->store);
	publisher_counts(unwinder->publisher, &ret->publisher);
}
