/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfmap.c: the text file in which runtimes say what they generated, /tmp/perf-PID.map. It is a
 * stranger's file until shown otherwise: looked for in the target's root under the target's own
 * pid, owned by the target's user or root, read in a worker part by part, whatever it holds.
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/worker.h"
#include "code/history.h"
#include "code/names.h"
#include "runtime/perfmap/job.h"
#include "runtime/perfmap/lines.h"

#define FIRST_WAIT_MS  200 /* one call of observe() blocks no longer, */
#define LAST_WAIT_MS   3000 /* but for the last */
#define HANGS_AFTER_NS 2000000000ull /* a part that takes longer never comes */
#define MAX_POSTPONED  5
#define START_SLACK_NS 3000000000ll /* ticks, and file systems with steps of 2 s */
#define STAT_MAX_BYTES 4096

struct map {
	pid_t pid;
	int root_fd;
	char path[2][64];
	uid_t owner;
	int64_t oldest_ns;

	struct code_names names;
	struct code_history history;
	struct code_history whole; /* of a map that is being read anew */
	struct perfmap_seen seen; /* of the last complete reading */

	/* A reading under way, perhaps over several calls. */
	struct worker *worker;
	struct perfmap_job *job; /* the worker's while there is one */
	uint64_t part_since_ns; /* when the worker began */
	uint64_t reading_ns; /* time of the reading; 0: none under way */
	int anew; /* lines go to `whole` */
	int skipping; /* inside a line longer than a part */
	unsigned nr_postponed;

	int ended; /* what is known is all that will be */
	int hung;
	int error; /* of the last reading, errno */
	size_t which; /* path that was read or refused */
	uid_t found_owner;
	uint64_t nr_lines, nr_bad, nr_cut, nr_unstored;
	uint64_t nr_unknown; /* asked for since the last reading, in vain */
};

static void map_close(void *state)
{
	struct map *map = state;

	if (!map)
		return;
	if (map->worker)
		worker_abandon(map->worker); /* frees the job, too */
	else if (map->job)
		perfmap_job_drop(map->job);
	code_history_done(&map->history);
	code_history_done(&map->whole);
	code_names_done(&map->names);
	cleanup_close(&map->root_fd);
	free(map);
}

/* Wall-clock time at which the process began, or 0: field 22 of stat is in ticks since boot, and
 * comm, field 2, may hold anything. (proc_pid_stat(5)) */
static int64_t start_of(const struct host *host, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	struct timespec now, up;
	const char *field, *skip;
	struct scan scan;
	uint64_t ticks;
	char path[64];
	size_t size;

	(void)snprintf(path, sizeof(path), "%d/stat", pid);
	if (file_read_text(host->proc_fd, path, STAT_MAX_BYTES, &text, &size) < 0)
		return 0;
	field = strrchr(text, ')');
	if (!field)
		return 0;
	scan = scan_of(field + 1, size - (size_t)(field + 1 - text));
	for (int i = 3; i <= 22; i++) {
		if (i > 3)
			(void)scan_field(&scan, &skip);
		(void)scan_blanks(&scan);
	}
	if (scan_decimal(&scan, &ticks) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
		clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return 0;
	return ((int64_t)now.tv_sec - (int64_t)up.tv_sec) * 1000000000 +
	       (now.tv_nsec - up.tv_nsec) +
	       (int64_t)(ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK)));
}

static int map_claim(
	const struct host *host, struct process *process, void **ret_state, struct stoke_error *err)
{
	const pid_t inner = process->ns_pid ? process->ns_pid : process->pid;
	struct map *map;

	if (process->euid == (uid_t)-1)
		return -ENOENT; /* gone before anything could be asked */
	if (process->root_fd < 0)
		return fail(err, -EACCES,
			"cannot look for /tmp/perf-%d.map: the root of process %d cannot be "
			"opened; "
			"run as root",
			inner, process->pid);
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->pid = process->pid;
	map->owner = process->euid;
	map->root_fd = fcntl(process->root_fd, F_DUPFD_CLOEXEC, 3);
	if (map->root_fd < 0) {
		int r = -errno;

		map_close(map);
		return fail(err, r, "cannot look for /tmp/perf-%d.map: %s", inner, strerror(-r));
	}
	map->oldest_ns = start_of(host, process->pid);
	if (map->oldest_ns)
		map->oldest_ns -= START_SLACK_NS;
	map->error = ENOENT;
	(void)snprintf(map->path[0], sizeof(map->path[0]), "/tmp/perf-%d.map", inner);
	if (inner != process->pid)
		(void)snprintf(
			map->path[1], sizeof(map->path[1]), "/tmp/perf-%d.map", process->pid);
	*ret_state = map;
	return 0;
}

static int take_line(struct map *map, const struct scan *text)
{
	struct code_history *into = map->anew ? &map->whole : &map->history;
	struct perfmap_line line;
	uint32_t name;
	int r;

	map->nr_lines++;
	if (perfmap_parse_line(text->at, scan_left(text), &line) < 0) {
		map->nr_bad++;
		return 0;
	}
	map->nr_cut += (uint64_t)line.cut;
	r = code_names_add(&map->names, line.name, line.name_size, &name);
	if (r == -E2BIG) {
		map->nr_unstored++;
		return 0;
	}
	return r < 0 ? r : code_history_add(into, line.start, line.size, name);
}

/* Keeps what stands before the offset, to tell growth from another content later. */
static void remember_check(struct perfmap_seen *seen, const char *text, size_t size)
{
	size_t keep = size < PERFMAP_CHECK_BYTES ? PERFMAP_CHECK_BYTES - size : 0;

	if (keep > seen->check_size)
		keep = seen->check_size;
	memmove(seen->check, seen->check + seen->check_size - keep, keep);
	if (size > PERFMAP_CHECK_BYTES) {
		text += size - PERFMAP_CHECK_BYTES;
		size = PERFMAP_CHECK_BYTES;
	}
	memcpy(seen->check + keep, text, size);
	seen->check_size = keep + size;
}

/* The lines of a part. What follows its last newline is read again with the next. */
static int take_part(struct map *map, struct perfmap_job *job)
{
	struct scan scan = scan_of(job->text, job->size), line;
	size_t taken;

	while (scan_line(&scan, &line)) {
		int r = map->skipping ? 0 : take_line(map, &line);

		if (r < 0)
			return r;
		map->skipping = 0;
	}
	taken = (size_t)(scan.at - job->text);
	if (!taken && job->size == PERFMAP_PART_BYTES) { /* a line without an end */
		map->nr_bad += !map->skipping;
		map->skipping = 1;
		taken = job->size;
	}
	remember_check(&job->seen, job->text, taken);
	job->offset += taken;
	job->seen.offset = job->offset;
	return 0;
}

static struct perfmap_job *new_job(const struct map *map)
{
	struct perfmap_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->fd = -1;
	job->owner = map->owner;
	job->oldest_ns = map->oldest_ns;
	job->seen = map->seen;
	memcpy(job->path, map->path, sizeof(job->path));
	job->root_fd = fcntl(map->root_fd, F_DUPFD_CLOEXEC, 3);
	if (job->root_fd < 0) {
		perfmap_job_drop(job);
		return NULL;
	}
	return job;
}

static int start_part(struct map *map)
{
	int r;

	map->job->size = 0;
	r = worker_start(perfmap_job_run, perfmap_job_drop, map->job, &map->worker);
	map->part_since_ns = host_now_ns();
	return r;
}

static void end_reading(struct map *map)
{
	if (map->job)
		perfmap_job_drop(map->job);
	map->job = NULL;
	map->reading_ns = 0;
	map->anew = 0;
	code_history_done(&map->whole);
}

/* The reading failed, or there is no map: that is a reading, too, in which nothing was new. */
static int commit(struct map *map)
{
	int r = 0;

	if (map->anew)
		r = code_history_merge(&map->whole);
	if (r == 0 && map->anew)
		r = code_history_replace(&map->history, &map->whole);
	return r < 0 ? r : code_history_commit(&map->history, map->reading_ns);
}

static int finish_reading(struct map *map, enum observe why)
{
	uint64_t before = map->history.nr_changes;
	int r;

	/* A map that is being written anew would look as if all its owners had gone. */
	if (map->anew && !map->error && !map->job->settled && why != OBSERVE_END &&
		map->nr_postponed < MAX_POSTPONED) {
		map->nr_postponed++;
		end_reading(map);
		return -EAGAIN;
	}
	map->nr_postponed = 0;
	if (map->error)
		map->anew = 0;
	r = commit(map);
	if (r == 0 && !map->error && map->job)
		map->seen = map->job->seen;
	end_reading(map);
	return r < 0 ? r : map->history.nr_changes != before;
}

static int begin_reading(struct map *map, uint64_t now_ns)
{
	map->job = new_job(map);
	if (!map->job)
		return -ENOMEM;
	map->reading_ns = now_ns;
	return start_part(map);
}

/* The first part of another file than the one before. */
static void begin_anew(struct map *map)
{
	/* What was known is replaced when all of it is read; the first map replaces nothing. */
	map->anew = map->history.nr_pieces > 0;
	map->skipping = 0;
	map->nr_lines = map->nr_bad = map->nr_cut = map->nr_unstored = 0;
}

/* A job has come back. 1: it was the last part; 0: go on. */
static int take_job(struct map *map)
{
	struct perfmap_job *job = map->job;
	const uint64_t part_end = job->offset + job->size;
	int r;

	map->error = job->error;
	map->which = job->which;
	map->found_owner = job->found_owner;
	if (job->error || job->change == PERFMAP_SAME)
		return 1;
	if (job->change == PERFMAP_OTHER && job->offset == 0)
		begin_anew(map);
	r = take_part(map, job);
	return r < 0 ? r : part_end >= job->end;
}

static int map_observe(void *state, enum observe why, uint64_t now_ns)
{
	struct map *map = state;
	const unsigned wait_ms = why == OBSERVE_END ? LAST_WAIT_MS : FIRST_WAIT_MS;
	const uint64_t until_ns = host_now_ns() + wait_ms * 1000000ull;
	int r = 0;

	map->ended = why == OBSERVE_END;
	map->nr_unknown = 0; /* whoever got no name asks again */
	if (map->hung)
		return code_history_commit(&map->history, now_ns);
	if (!map->reading_ns)
		r = begin_reading(map, now_ns);
	while (r == 0) {
		uint64_t now = host_now_ns();

		r = worker_wait(map->worker,
			now < until_ns ? (unsigned)((until_ns - now) / 1000000) + 1 : 0);
		if (r < 0 && host_now_ns() - map->part_since_ns > HANGS_AFTER_NS) {
			worker_abandon(map->worker);
			map->worker = NULL;
			map->job = NULL;
			map->hung = 1;
			map->error = ETIMEDOUT;
			return finish_reading(map, why);
		}
		if (r < 0)
			return r; /* goes on; asked again at the next call */
		map->worker = NULL;
		r = take_job(map);
		if (r == 1)
			return finish_reading(map, why);
		if (r == 0)
			r = start_part(map);
		if (r == 0 && host_now_ns() > until_ns)
			return -EAGAIN;
	}
	end_reading(map);
	return r;
}

static int map_lookup(
	void *state, struct span when, uint64_t address, struct symbol *ret, size_t max)
{
	struct map *map = state;
	const struct code_name *name;
	uint32_t id = 0;
	int r;

	r = code_history_lookup(&map->history, when.from_ns, when.to_ns, address, map->ended, &id);
	map->nr_unknown += r == 0;
	if (!id || !max)
		return r;
	name = &map->names.items[id];
	*ret = (struct symbol){
		.name = name->text,
		.name_size = name->size,
		.kind = FUNCTION_JIT,
	};
	return r;
}

static void explain_error(const struct map *map, const char *path, char *text, size_t size)
{
	switch (map->error) {
	case ENOENT:
	case EISDIR:
		(void)snprintf(text, size,
			"%s: not there; java: jcmd %d Compiler.perfmap, node: --perf-basic-prof, "
			"python: -X perf",
			map->path[0], map->pid);
		return;
	case EPERM:
		(void)snprintf(text, size,
			"%s belongs to uid %u, the process to %u: ignored (it could be anybody's). "
			"chown %u, or delete it",
			path, map->found_owner, map->owner, map->owner);
		return;
	case ELOOP:
		(void)snprintf(text, size, "%s is a symbolic link: ignored; delete it", path);
		return;
	case EINVAL:
		(void)snprintf(text, size, "%s is not a regular file: ignored; delete it", path);
		return;
	case EFBIG:
		(void)snprintf(text, size, "%s is larger than %llu MiB: not read%s", path,
			PERFMAP_MAX_BYTES >> 20, map->nr_lines ? " any further" : "");
		return;
	case ESTALE:
		(void)snprintf(text, size,
			"%s was last written before process %d began: ignored (it is of an earlier "
			"process of that pid); delete it",
			path, map->pid);
		return;
	case ETIMEDOUT:
		(void)snprintf(text, size,
			"%s does not answer (a file system that hangs): not read%s", path,
			map->nr_lines ? " any further" : "");
		return;
	default:
		(void)snprintf(text, size, "cannot read %s: %s", path, strerror(map->error));
	}
}

static void map_explain(void *state, struct runtime_findings *ret)
{
	const struct map *map = state;
	const char *path = map->path[map->which];
	const uint64_t nr_refused = map->nr_unstored + map->history.nr_refused;

	*ret = (struct runtime_findings){
		.nr_entries = code_history_nr_owned(&map->history),
		.nr_bad_lines = map->nr_bad,
	};
	if (map->error && !(map->error == ENOENT && map->nr_lines))
		explain_error(map, path, ret->text, sizeof(ret->text));
	else if (map->nr_lines && map->nr_bad == map->nr_lines)
		(void)snprintf(ret->text, sizeof(ret->text),
			"%s: none of its %llu lines is START SIZE NAME: not used", path,
			(unsigned long long)map->nr_lines);
	else if (nr_refused)
		(void)snprintf(ret->text, sizeof(ret->text),
			"%s: more than can be kept; %llu entries were left out", path,
			(unsigned long long)nr_refused);
	else if (map->nr_unknown && !map->error)
		(void)snprintf(ret->text, sizeof(ret->text),
			"%s is there, but has no entry for some of the generated code (%llu "
			"addresses); it may have been written before that code was made",
			path, (unsigned long long)map->nr_unknown);
	else if (map->nr_bad)
		(void)snprintf(ret->text, sizeof(ret->text),
			"%s: %llu of %llu lines are not START SIZE NAME and were left out", path,
			(unsigned long long)map->nr_bad, (unsigned long long)map->nr_lines);
	else if (map->nr_cut)
		(void)snprintf(ret->text, sizeof(ret->text),
			"%s: %llu names are longer than %d bytes and were cut", path,
			(unsigned long long)map->nr_cut, PERFMAP_NAME_MAX_BYTES);
}

const struct runtime runtime_perfmap = {
	.name = "perfmap",
	.summary = "names that runtimes write to /tmp/perf-PID.map (java, node, python, .net)",
	.claim = map_claim,
	.observe = map_observe,
	.lookup = map_lookup,
	.explain = map_explain,
	.close = map_close,
};
