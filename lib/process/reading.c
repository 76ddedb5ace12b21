/* SPDX-License-Identifier: BSD-2-Clause */
/* reading.c: what /proc/PID says now, which is later than the timeline. A whole reading replaces
 * what is known; a reading for gaps only adds, as the code that stands there now need not be what
 * stood there when the sample was taken, and its record is on the way. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/scan.h"
#include "process/maps.h"
#include "process/space.h"
#include "process/table.h"
#include "process/thread.h"

#define MAPS_MAX_BYTES (64 * 1024 * 1024) /* vm.max_map_count lines of usual length: 8 MiB */

struct threads {
	struct processes *processes;
	pid_t pid;
	struct thread *items;
	size_t nr, capacity;
};

static int add_thread(void *arg, pid_t tid)
{
	struct threads *threads = arg;
	struct thread thread = {.tid = tid};
	char comm[16];
	int r;

	r = thread_read_comm(threads->processes->host, threads->pid, tid, comm);
	if (r < 0)
		return 0; /* has just ended */
	r = table_add_name(threads->processes, comm, &thread.name);
	if (r < 0)
		return r;
	r = array_reserve(&threads->items, &threads->capacity, threads->nr, 1);
	if (r < 0)
		return r;
	threads->items[threads->nr++] = thread;
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Those that are gone keep their names: samples of theirs may be on the way. */
static int keep_ended(struct threads *threads, const struct process *process, uint64_t now_ns)
{
	const size_t nr = threads->nr;
	size_t place = 0;

	for (size_t i = 0; i < process->nr_threads; i++) {
		struct thread ended = process->threads[i];
		int r;

		while (place < nr && threads->items[place].tid < ended.tid)
			place++;
		if (place < nr && threads->items[place].tid == ended.tid)
			continue;
		if (!ended.exit_ns)
			ended.exit_ns = now_ns;
		r = array_reserve(&threads->items, &threads->capacity, threads->nr, 1);
		if (r < 0)
			return r;
		threads->items[threads->nr++] = ended;
	}
	return 0;
}

static int read_threads(struct processes *processes, struct entry *entry, uint64_t now_ns)
{
	struct process *process = &entry->process;
	struct threads threads = {.processes = processes, .pid = process->pid};
	size_t nr_live;
	int r;

	r = thread_for_each(processes->host, process->pid, add_thread, &threads);
	if (r < 0 || !threads.nr) {
		free(threads.items);
		return r == -ENOMEM || r == -E2BIG ? r : 0; /* has just ended */
	}
	nr_live = threads.nr;
	qsort(threads.items, threads.nr, sizeof(*threads.items), by_tid);
	r = keep_ended(&threads, process, now_ns);
	if (r < 0) {
		free(threads.items);
		return r;
	}
	if (threads.nr > nr_live)
		qsort(threads.items, threads.nr, sizeof(*threads.items), by_tid);
	free(process->threads);
	process->threads = threads.items;
	process->nr_threads = threads.nr;
	process->threads_capacity = threads.capacity;
	entry->nr_live = nr_live;
	return 0;
}

int reading_program(struct processes *processes, struct entry *entry)
{
	_cleanup_free_ char *name = NULL;
	const char *comm = processes_text(processes, entry->process.name);
	int r;

	/* Also those whose main thread renamed itself ("node-MainThread", "MainThread"). */
	if (entry->hangs >= MODULES_MAX_HANGS)
		return 0;
	if (entry->read_ns == 0 && !thread_runs_programs(comm))
		return 0;
	r = thread_read_program_name(processes->host, entry->process.alive, &name);
	if (r == -ETIMEDOUT)
		entry->hangs++;
	if (r < 0 || !*name)
		return r == -ENOMEM ? r : 0; /* comm will do */
	r = table_add_name(processes, name, &entry->process.name);
	if (r == 0)
		entry->named = 1;
	return r;
}

static void open_root(struct processes *processes, struct process *process)
{
	char path[64];
	int fd;

	if (process->root_fd >= 0)
		return;
	(void)snprintf(path, sizeof(path), "%d/root", process->alive);
	fd = openat(processes->host->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = module_keep_fd(fd);
	process->root_fd = fd < 0 ? -1 : fd;
}

void reading_context(struct processes *processes, struct entry *entry)
{
	struct process *process = &entry->process;
	struct thread_status status;

	open_root(processes, process);
	if (process->ns_pid || thread_read_status(processes->host, process->pid, &status) < 0)
		return;
	process->ns_pid = status.ns_pid;
	process->euid = status.euid;
	process->alive = status.alive;
}

/* The target's root as the reader of maps sees it: "/" but for a chroot, "" when not known. */
static size_t read_root_prefix(const struct processes *processes, pid_t pid, char *ret, size_t max)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/root", pid);
	n = readlinkat(processes->host->proc_fd, path, ret, max);
	return n <= 1 || (size_t)n == max ? 0 : (size_t)n;
}

struct reading {
	struct processes *processes;
	struct entry *entry;
	uint64_t now_ns;
	char root[PATH_MAX];
	size_t root_size;
	int gaps_only;
	struct mapping *mappings; /* of a whole reading */
	size_t nr, capacity;
};

/* A path as the target has it, like those of records; how it is opened does not depend on it. */
static void strip_root(const struct reading *reading, struct module_sight *sight)
{
	if (reading->root_size && sight->path_size > reading->root_size &&
		memcmp(sight->path, reading->root, reading->root_size) == 0 &&
		sight->path[reading->root_size] == '/') {
		sight->path += reading->root_size;
		sight->path_size -= reading->root_size;
	}
}

static int covered(const struct process *process, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct mapping *mapping = process_mapping(process, start);

		if (!mapping)
			return 0;
		start = mapping->end;
	}
	return 1;
}

static int take_line(struct reading *reading, const struct map_line *map)
{
	struct process *process = &reading->entry->process;
	struct module_sight sight = {
		.pid = process->alive,
		.start = map->start,
		.end = map->end,
		.path = map->path,
		.path_size = map->path_size,
		.dev = map->dev,
		.ino = map->ino,
	};
	struct mapping mapping;
	int r;

	if (!(map->prot & PROT_EXEC) ||
		(reading->gaps_only && covered(process, map->start, map->end)))
		return 0;
	strip_root(reading, &sight);
	r = table_locate(reading->processes, reading->entry, &sight, map->offset, map->deleted,
		reading->now_ns, &mapping);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (reading->gaps_only)
		return space_fill(process, &mapping);
	return space_append(&reading->mappings, &reading->nr, &reading->capacity, &mapping);
}

static int same_mappings(const struct reading *reading)
{
	const struct process *process = &reading->entry->process;

	if (reading->nr != process->nr_mappings)
		return 0;
	for (size_t i = 0; i < reading->nr; i++) {
		const struct mapping *a = &reading->mappings[i], *b = &process->mappings[i];

		if (a->start != b->start || a->end != b->end || a->offset != b->offset ||
			a->module != b->module || a->kind != b->kind)
			return 0;
	}
	return 1;
}

static void replace_mappings(struct reading *reading)
{
	struct process *process = &reading->entry->process;

	if (!same_mappings(reading))
		process->version++;
	free(process->mappings);
	process->mappings = take_pointer(reading->mappings);
	process->nr_mappings = reading->nr;
	process->mappings_capacity = reading->capacity;
}

/* 0, -ESRCH without an address space, -errno. */
static int read_maps(struct reading *reading)
{
	const pid_t pid = reading->entry->process.alive;
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	struct map_line map;
	char path[64];
	size_t size;
	int r;

	(void)snprintf(path, sizeof(path), "%d/maps", pid);
	r = file_read_text(reading->processes->host->proc_fd, path, MAPS_MAX_BYTES, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	reading->root_size =
		read_root_prefix(reading->processes, pid, reading->root, sizeof(reading->root));
	scan = scan_of(text, size);
	while (scan_line(&scan, &line)) {
		if (maps_parse_line(line.at, scan_left(&line), &map) < 0)
			continue; /* not of this kernel's making: a test's, or of a later kernel */
		r = take_line(reading, &map);
		if (r < 0)
			break;
	}
	return r < 0 ? r : size ? 0 : -ESRCH;
}

/* Status first: it is what tells a zombie from a process. */
static int read_who(struct processes *processes, pid_t pid, uint64_t now_ns, struct entry **ret)
{
	struct entry *entry = table_find(processes, pid);
	struct thread_status status;
	int r;

	r = thread_read_status(processes->host, pid, &status);
	if (r < 0)
		return r;
	if (!entry || entry->process.exit_ns) {
		r = table_add(processes, pid, now_ns, &entry);
		if (r < 0)
			return r;
	}
	entry->process.ns_pid = status.ns_pid;
	entry->process.euid = status.euid;
	entry->process.alive = status.alive;
	open_root(processes, &entry->process);
	*ret = entry;
	return 0;
}

static int read_names(struct processes *processes, struct entry *entry, uint64_t now_ns)
{
	uint32_t name;
	int r;

	r = read_threads(processes, entry, now_ns);
	if (r < 0)
		return r;
	name = process_thread_name(&entry->process, entry->process.pid);
	if (name && !entry->named)
		entry->process.name = name;
	entry->read_ns = now_ns;
	return entry->named ? 0 : reading_program(processes, entry);
}

int reading_whole(struct processes *processes, pid_t pid)
{
	struct reading reading = {.processes = processes, .now_ns = host_now_ns()};
	int r;

	r = read_who(processes, pid, reading.now_ns, &reading.entry);
	if (r < 0)
		return r;
	r = read_names(processes, reading.entry, reading.now_ns);
	if (r < 0)
		return r;
	r = read_maps(&reading);
	if (r == 0)
		replace_mappings(&reading);
	free(reading.mappings);
	if (r == -ESRCH && !reading.entry->process.nr_mappings)
		return 0; /* a kernel thread: it lives, without an address space */
	return r == -EPERM ? -EACCES : r;
}

int reading_gaps(struct processes *processes, struct entry *entry)
{
	struct reading reading = {
		.processes = processes,
		.entry = entry,
		.now_ns = host_now_ns(),
		.gaps_only = 1,
	};
	int r = read_maps(&reading);

	return r == -EPERM ? -EACCES : r;
}

int processes_mapped(struct processes *processes, pid_t pid, struct mapping **ret, size_t *ret_nr)
{
	struct entry *known = table_find(processes, pid);
	/* A process of its own, so that the one that is known stays as far as the timeline has
	 * come. Its generated code is in no module. */
	struct entry now = {.process = {.pid = pid, .jit_module = UINT32_MAX, .root_fd = -1},
		.hangs = known ? known->hangs : 0};
	struct reading reading = {.processes = processes, .entry = &now, .now_ns = host_now_ns()};
	struct thread_status status;
	int r = thread_read_status(processes->host, pid, &status);

	if (r < 0)
		return r;
	now.process.alive = status.alive;
	r = read_maps(&reading);
	if (known)
		known->hangs = now.hangs;
	if (r < 0) {
		free(reading.mappings);
		return r == -EPERM ? -EACCES : r;
	}
	for (size_t i = 0; i < reading.nr; i++) {
		if (reading.mappings[i].kind == MAPPING_ANONYMOUS)
			reading.mappings[i].module = 0;
	}
	*ret = reading.mappings;
	*ret_nr = reading.nr;
	return 0;
}

int processes_gone(const struct processes *processes, pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "%d", pid);
	return faccessat(processes->host->proc_fd, path, F_OK, 0) < 0 && errno == ENOENT;
}

int processes_read(
	const struct processes *processes, pid_t pid, uint64_t address, void *ret, size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/mem", pid);
	fd = openat(processes->host->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, ret, size, (off_t)address);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}
