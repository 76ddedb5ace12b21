/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c: what processes have mapped. Keyed by incarnation, since pids are reused. Fed in order
 * of time by the side band; readings of /proc run ahead of it by what is still in the rings, so a
 * record that is older than a reading must not undo what that saw. */
#include "process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "process/maps.h"
#include "process/space.h"
#include "process/table.h"

#define RESCAN_INTERVAL_NS 100000000u
#define NAME_MAX_BYTES	   255

int processes_new(const struct host *host, struct processes **ret)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->host = host;
	processes->nr_slots = 256;
	processes->slots = calloc(processes->nr_slots, sizeof(*processes->slots));
	if (!processes->slots || strings_init(&processes->strings) < 0 ||
		modules_new(host, &processes->modules) < 0)
		goto fail;
	*ret = processes;
	return 0;

fail:
	processes_free(processes);
	return -ENOMEM;
}

static void entry_free(struct entry *entry)
{
	if (entry->process.root_fd >= 0)
		(void)close(entry->process.root_fd); /* O_PATH: nothing to lose */
	free(entry->process.mappings);
	free(entry->process.threads);
	free(entry);
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	for (size_t i = 0; i < processes->nr; i++)
		entry_free(processes->entries[i]);
	free(processes->entries);
	free(processes->slots);
	strings_done(&processes->strings);
	modules_free(processes->modules);
	free(processes);
}

static uint32_t *slot_of(const struct processes *processes, pid_t pid)
{
	size_t mask = processes->nr_slots - 1;

	/* Pids are numbers in a row: a multiplication spreads them well enough. */
	for (size_t i = ((uint32_t)pid * 0x9e3779b1u) & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &processes->slots[i];

		if (!*slot || processes->entries[*slot - 1]->process.pid == pid)
			return slot;
	}
}

/* Anew from the entries, with room for one more; later incarnations win. */
static int index_entries(struct processes *processes)
{
	size_t nr_slots = processes->nr_slots;
	uint32_t *slots;

	while (processes->nr >= nr_slots / 2)
		nr_slots *= 2;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(processes->slots);
	processes->slots = slots;
	processes->nr_slots = nr_slots;
	for (size_t i = 0; i < processes->nr; i++)
		*slot_of(processes, processes->entries[i]->process.pid) = (uint32_t)i + 1;
	return 0;
}

struct entry *table_find(const struct processes *processes, pid_t pid)
{
	uint32_t index = *slot_of(processes, pid);

	return index ? processes->entries[index - 1] : NULL;
}

int table_add(struct processes *processes, pid_t pid, uint64_t born_ns, struct entry **ret)
{
	struct entry *entry;
	int r;

	r = array_reserve(&processes->entries, &processes->capacity, processes->nr, 1);
	if (r < 0)
		return r;
	if (processes->nr >= processes->nr_slots / 2) {
		r = index_entries(processes);
		if (r < 0)
			return r;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->born_ns = born_ns;
	entry->process.pid = entry->process.alive = pid;
	entry->process.incarnation = ++processes->last_incarnation;
	entry->process.euid = (uid_t)-1;
	entry->process.root_fd = -1;
	*slot_of(processes, pid) = (uint32_t)processes->nr + 1;
	processes->entries[processes->nr++] = entry;
	*ret = entry;
	return 0;
}

int table_add_name(struct processes *processes, const char *name, uint32_t *ret)
{
	return strings_add(&processes->strings, name, strnlen(name, NAME_MAX_BYTES), ret);
}

static struct thread *thread_of(const struct process *process, pid_t tid, size_t *ret_place)
{
	size_t low = 0, high = process->nr_threads;

	/* New threads mostly have the highest number. */
	if (high && process->threads[high - 1].tid < tid)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->threads[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_place = low;
	if (low == process->nr_threads || process->threads[low].tid != tid)
		return NULL;
	return &process->threads[low];
}

int table_set_thread(struct entry *entry, pid_t tid, uint32_t name)
{
	struct process *process = &entry->process;
	struct thread *thread;
	size_t place;
	int r;

	thread = thread_of(process, tid, &place);
	if (thread) {
		if (thread->exit_ns)
			entry->nr_live++;
		*thread = (struct thread){.tid = tid, .name = name};
		return 0;
	}
	r = array_reserve(&process->threads, &process->threads_capacity, process->nr_threads, 1);
	if (r < 0)
		return r;
	thread = process->threads + place;
	memmove(thread + 1, thread, (process->nr_threads - place) * sizeof(*thread));
	*thread = (struct thread){.tid = tid, .name = name};
	process->nr_threads++;
	entry->nr_live++;
	return 0;
}

uint32_t process_thread_name(const struct process *process, pid_t tid)
{
	size_t place;
	const struct thread *thread = thread_of(process, tid, &place);

	return thread ? thread->name : 0;
}

static int is(const struct module_sight *sight, const char *name)
{
	return sight->path_size == strlen(name) && memcmp(sight->path, name, sight->path_size) == 0;
}

static int begins(const struct module_sight *sight, const char *start)
{
	return sight->path_size >= strlen(start) && memcmp(sight->path, start, strlen(start)) == 0;
}

static int jit_module(struct processes *processes, struct entry *entry, uint32_t *ret)
{
	struct process *process = &entry->process;

	if (!process->jit_module) {
		int r = modules_jit(processes->modules, process->pid, process->incarnation,
			&process->jit_module);

		if (r < 0)
			return r;
		reading_context(processes, entry);
	}
	*ret = process->jit_module;
	return 0;
}

int table_locate(struct processes *processes, struct entry *entry, const struct module_sight *sight,
	uint64_t offset, int deleted, uint64_t time_ns, struct mapping *ret)
{
	int anonymous = maps_anonymous(sight->path, sight->path_size);
	int may_be_file = !anonymous || begins(sight, "/memfd:");
	struct mapping mapping = {
		.start = sight->start,
		.end = sight->end,
		.offset = offset,
		.since_ns = time_ns,
		.kind = MAPPING_FILE,
	};
	int r = 0;

	if (is(sight, "[vvar]") || is(sight, "[vvar_vclock]"))
		return -ENOENT;
	if (is(sight, "[vsyscall]")) {
		mapping.kind = MAPPING_VSYSCALL;
	} else if (is(sight, "[vdso]")) {
		mapping.kind = MAPPING_VDSO;
		mapping.offset = 0; /* of the image; a file offset would be of no file */
		r = modules_vdso(
			processes->modules, sight->pid, sight->start, sight->end, &mapping.module);
	} else if (may_be_file && (sight->ino || sight->build_id_size)) {
		int temporary = anonymous || deleted || begins(sight, "/dev/shm/");

		r = modules_file(
			processes->modules, sight, temporary, &entry->hangs, &mapping.module);
	} else {
		mapping.module = MODULES_GENERATED;
	}
	if (r == 0 && mapping.module == MODULES_GENERATED) {
		mapping.kind = MAPPING_ANONYMOUS;
		mapping.offset = 0;
		r = jit_module(processes, entry, &mapping.module);
	}
	if (r < 0)
		return r;
	*ret = mapping;
	return 0;
}

/* The incarnation that a record of that time speaks of; made when nobody told of it. */
static int entry_at(struct processes *processes, pid_t pid, uint64_t time_ns, struct entry **ret)
{
	struct entry *entry = table_find(processes, pid);

	/* A record after its end: the fork of the next one was lost. Records of the end itself
	 * may have the same time. */
	if (entry && (!entry->process.exit_ns || entry->process.exit_ns >= time_ns)) {
		*ret = entry;
		return 0;
	}
	return table_add(processes, pid, time_ns, ret);
}

int processes_mmap(struct processes *processes, const struct mmap_event *event)
{
	struct module_sight sight = {
		.pid = event->pid,
		.start = event->start,
		.end = event->start + event->size,
		.path = event->path,
		.path_size = event->path_size,
		.build_id = event->build_id,
		.build_id_size = event->build_id_size,
		.dev = event->dev,
		.ino = event->ino,
	};
	struct mapping mapping;
	struct entry *entry;
	int deleted, r;

	if (!(event->prot & PROT_EXEC) || sight.end <= sight.start)
		return 0;
	if (sight.build_id_size > MODULE_BUILD_ID_MAX)
		sight.build_id_size = 0;
	r = entry_at(processes, event->pid, event->time_ns, &entry);
	if (r < 0)
		return r;
	sight.pid = entry->process.alive;
	deleted = maps_strip_deleted(sight.path, &sight.path_size);
	r = table_locate(
		processes, entry, &sight, event->offset, deleted, event->time_ns, &mapping);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = space_put(&entry->process, &mapping);
	return r < 0 ? r : 0;
}

static int copy_mappings(const struct entry *parent, struct entry *child)
{
	const struct process *from = &parent->process;
	struct process *to = &child->process;
	int r;

	r = array_reserve(&to->mappings, &to->mappings_capacity, 0, from->nr_mappings);
	if (r < 0)
		return r;
	if (from->nr_mappings)
		memcpy(to->mappings, from->mappings, from->nr_mappings * sizeof(*to->mappings));
	to->nr_mappings = from->nr_mappings;
	to->version++;
	return 0;
}

/* Generated code that was inherited is named by the child's own map, but lies in the parent's
 * module: it becomes the child's. */
static int own_generated_code(struct processes *processes, struct entry *entry)
{
	struct process *process = &entry->process;

	for (size_t i = 0; i < process->nr_mappings; i++) {
		struct mapping *mapping = &process->mappings[i];
		int r = 0;

		if (mapping->kind == MAPPING_ANONYMOUS)
			r = jit_module(processes, entry, &mapping->module);
		if (r < 0)
			return r;
	}
	return 0;
}

static int inherit(struct processes *processes, const struct entry *parent, struct entry *child)
{
	int r;

	r = copy_mappings(parent, child);
	if (r < 0)
		return r;
	child->hangs = parent->hangs;
	child->named = parent->named;
	child->process.name = parent->process.name;
	child->process.euid = parent->process.euid;
	return own_generated_code(processes, child);
}

int processes_fork(
	struct processes *processes, pid_t pid, pid_t tid, pid_t parent_pid, uint64_t time_ns)
{
	const struct entry *parent = table_find(processes, parent_pid);
	struct entry *entry = table_find(processes, pid);
	uint32_t name = 0;
	int r;

	if (parent) {
		name = process_thread_name(&parent->process, parent_pid);
		if (!name)
			name = parent->process.name;
	}
	if (pid == parent_pid) { /* a thread; until it names itself, as its process */
		r = entry_at(processes, pid, time_ns, &entry);
		if (r < 0)
			return r;
		if (time_ns <= entry->read_ns && process_thread_name(&entry->process, tid))
			return 0; /* read already, perhaps with a later name */
		return table_set_thread(entry, tid, name);
	}
	if (entry && !entry->process.exit_ns && time_ns <= entry->born_ns)
		return 0; /* read from /proc before its record came */
	r = table_add(processes, pid, time_ns, &entry);
	if (r < 0)
		return r;
	r = table_set_thread(entry, tid, name);
	if (r < 0 || !parent)
		return r;
	return inherit(processes, parent, entry);
}

/* What an exec leaves of a process. */
static void reset(struct entry *entry, uint64_t time_ns)
{
	struct process *process = &entry->process;

	space_exec(process, time_ns);
	if (time_ns <= entry->read_ns)
		return; /* threads and names were read after it */
	process->nr_threads = 0;
	process->jit_module = 0;
	process->name = 0;
	entry->nr_live = 0;
	entry->named = 0;
	if (process->root_fd >= 0)
		(void)close(process->root_fd); /* O_PATH: nothing to lose */
	process->root_fd = -1;
	process->ns_pid = 0;
	process->euid = (uid_t)-1;
}

int processes_comm(struct processes *processes, pid_t pid, pid_t tid, const char *comm, int exec,
	uint64_t time_ns)
{
	struct entry *entry;
	uint32_t name;
	int r;

	r = entry_at(processes, pid, time_ns, &entry);
	if (r < 0)
		return r;
	r = table_add_name(processes, comm, &name);
	if (r < 0)
		return r;
	if (exec)
		reset(entry, time_ns);
	if (time_ns > entry->read_ns || !process_thread_name(&entry->process, tid)) {
		r = table_set_thread(entry, tid, name);
		if (r < 0)
			return r;
	}
	if (tid != pid || entry->named || time_ns <= entry->read_ns)
		return 0;
	entry->process.name = name;
	return exec ? reading_program(processes, entry) : 0;
}

int processes_exit(struct processes *processes, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct entry *entry = table_find(processes, pid);
	struct thread *thread;
	size_t place;

	/* Alive in a reading after that time: an earlier life of that number. */
	if (!entry || entry->process.exit_ns || entry->born_ns > time_ns)
		return 0;
	thread = thread_of(&entry->process, tid, &place);
	if (thread && !thread->exit_ns) {
		thread->exit_ns = time_ns;
		entry->nr_live--;
	}
	/* The leader may go first; its process lives on with the other threads. */
	if (entry->nr_live == 0 && (thread || tid == pid))
		entry->process.exit_ns = time_ns;
	return 0;
}

int processes_scan(struct processes *processes, pid_t pid)
{
	return reading_whole(processes, pid);
}

int processes_rescan(struct processes *processes, struct process *process, uint64_t now_ns)
{
	struct entry *entry = (struct entry *)process;

	if (entry->rescan_ns && now_ns < entry->rescan_ns + RESCAN_INTERVAL_NS)
		return -EAGAIN;
	entry->rescan_ns = now_ns;
	if (process->exit_ns)
		return -ESRCH; /* /proc has nobody of that number, or somebody else */
	return reading_gaps(processes, entry);
}

struct process *processes_find(struct processes *processes, pid_t pid)
{
	struct entry *entry = table_find(processes, pid);

	return entry ? &entry->process : NULL;
}

int processes_get(struct processes *processes, pid_t pid, struct process **ret)
{
	struct entry *entry = table_find(processes, pid);
	int r;

	if (!entry) {
		r = reading_whole(processes, pid);
		if (r == -ENOMEM)
			return r;
		entry = table_find(processes, pid);
	}
	if (!entry) {
		r = table_add(processes, pid, host_now_ns(), &entry);
		if (r < 0)
			return r;
	}
	*ret = &entry->process;
	return 0;
}

const struct module *processes_module(const struct processes *processes, uint32_t module)
{
	return modules_at(processes->modules, module);
}

size_t processes_nr_modules(const struct processes *processes)
{
	return modules_nr(processes->modules);
}

const char *processes_text(const struct processes *processes, uint32_t string)
{
	return strings_text(&processes->strings, string);
}

size_t processes_nr(const struct processes *processes)
{
	return processes->nr;
}

struct process *processes_at(struct processes *processes, size_t i)
{
	return &processes->entries[i]->process;
}

static void forget_threads(struct process *process, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->nr_threads; i++) {
		const struct thread *thread = &process->threads[i];

		if (!thread->exit_ns || thread->exit_ns >= before_ns || thread->tid == process->pid)
			process->threads[kept++] = *thread;
	}
	process->nr_threads = kept;
}

void processes_forget(struct processes *processes, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < processes->nr; i++) {
		struct entry *entry = processes->entries[i];

		if (entry->process.exit_ns && entry->process.exit_ns < before_ns) {
			entry_free(entry);
			continue;
		}
		forget_threads(&entry->process, before_ns);
		processes->entries[kept++] = entry;
	}
	if (kept == processes->nr)
		return;
	processes->nr = kept;
	memset(processes->slots, 0, processes->nr_slots * sizeof(*processes->slots));
	for (size_t i = 0; i < kept; i++)
		*slot_of(processes, processes->entries[i]->process.pid) = (uint32_t)i + 1;
}
