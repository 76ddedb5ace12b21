/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c: from what the user named to a target set that is true when the first sample comes. */
#include "capture/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "capture/command.h"

struct watched {
	pid_t pid;
	int pidfd; /* -1: ended */
	uint64_t cpu_start_ns, cpu_now_ns;
};

struct targets {
	const struct stoke_record_options *options;
	const struct host *host;
	const struct cgroup *cgroup; /* NULL: none */
	struct watched *watched;
	size_t nr_watched, watched_capacity;
	struct command *command; /* NULL: none */
	int had_children;
	pid_t *scan; /* processes still to be read for -a */
	size_t nr_scan, scan_capacity;
	char text[256], label[64];
};

static int read_proc(
	const struct host *host, pid_t pid, const char *file, char *buffer, size_t room)
{
	char path[64];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/%s", (int)pid, file);
	fd = openat(host->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buffer, room - 1);
	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return 0;
}

struct stat_line {
	char state, comm[32];
	pid_t parent;
	unsigned long nr_threads;
};

/* /proc/PID/stat, proc_pid_stat(5): the name is in brackets and may hold brackets. */
static int read_stat(const struct host *host, pid_t pid, struct stat_line *ret)
{
	char text[1024], *open, *close;
	int r;

	r = read_proc(host, pid, "stat", text, sizeof(text));
	if (r < 0)
		return r;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -EINVAL;
	*close = '\0';
	(void)snprintf(ret->comm, sizeof(ret->comm), "%s", open + 1);
	if (sscanf(close + 1,
		    " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %lu",
		    &ret->state, &ret->parent, &ret->nr_threads) != 3)
		return -EINVAL;
	return 0;
}

static pid_t thread_group(const struct host *host, pid_t tid)
{
	char text[4096];
	const char *line;

	if (read_proc(host, tid, "status", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nTgid:");
	return line ? (pid_t)strtol(line + 6, NULL, 10) : 0;
}

/* The innermost number of a line "NSpid: 19608 7" of /proc/PID/status; 0 when there is but one. */
static pid_t innermost_pid(const struct host *host, pid_t pid)
{
	char text[4096], *line, *last;

	if (read_proc(host, pid, "status", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return 0;
	line += strlen("\nNSpid:");
	line += strspn(line, " \t");
	line[strcspn(line, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

/* Somebody read this number inside a container: which it is here, 0 when none or several are. */
static pid_t pid_seen_here(const struct host *host, pid_t inner)
{
	DIR *dir = opendir(host->proc);
	struct dirent *entry;
	pid_t found = 0;
	int nr = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && innermost_pid(host, pid) == inner) {
			found = pid;
			nr++;
		}
	}
	(void)closedir(dir); /* only read */
	return nr == 1 ? found : 0;
}

int target_check(const struct host *host, pid_t pid, struct stoke_error *err)
{
	struct stat_line line, owner = {.comm = "?"};
	pid_t group, outer;

	if (pid <= 0 || read_stat(host, pid, &line) < 0) {
		outer = pid_seen_here(host, pid);
		if (outer)
			return fail(err, -ESRCH,
				"no process %d here: it exists only in another PID namespace; on "
				"this host it is %d",
				(int)pid, (int)outer);
		return fail(
			err, -ESRCH, "no process %d here: it has ended, or never was", (int)pid);
	}
	group = thread_group(host, pid);
	if (group && group != pid) {
		(void)read_stat(host, group, &owner);
		return fail(err, -ESRCH,
			"no process %d here. It is a thread of %d (%s): use -t %d or "
			"-p %d",
			(int)pid, (int)group, owner.comm, (int)pid, (int)group);
	}
	/* With threads left it is no zombie: its first one has called pthread_exit(). */
	if ((line.state == 'Z' || line.state == 'X') && line.nr_threads < 2)
		return fail(err, -ESRCH,
			"process %d (%s) has ended already: it is a zombie that waits "
			"for its parent %d",
			(int)pid, line.comm, (int)line.parent);
	return 0;
}

static uint64_t cpu_time(pid_t pid)
{
	struct timespec spent;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &spent) < 0)
		return 0;
	return (uint64_t)spent.tv_sec * 1000000000ull + (uint64_t)spent.tv_nsec;
}

static int watch_process(struct targets *targets, pid_t pid, struct stoke_error *err)
{
	struct watched new = {.pid = pid};
	int r;

	for (size_t i = 0; i < targets->nr_watched; i++) {
		if (targets->watched[i].pid == pid)
			return 0;
	}
	r = array_reserve(&targets->watched, &targets->watched_capacity, targets->nr_watched, 1);
	if (r < 0)
		return r;
	new.pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3 */
	if (new.pidfd < 0)
		return fail(err, -ESRCH, "process %d has just ended", (int)pid);
	new.cpu_start_ns = new.cpu_now_ns = cpu_time(pid);
	targets->watched[targets->nr_watched++] = new;
	return 0;
}

static void describe(struct targets *targets)
{
	const struct stoke_record_options *options = targets->options;
	size_t nr = options->nr_pids + options->nr_tids;
	struct stat_line line = {.comm = "?"};
	pid_t pid = options->nr_pids ? options->pids[0] : options->nr_tids ? options->tids[0] : 0;

	if (targets->cgroup) {
		(void)snprintf(targets->text, sizeof(targets->text), "cgroup %s", options->cgroup);
		(void)snprintf(targets->label, sizeof(targets->label), "cgroup");
	} else if (options->flags & STOKE_ALL_CPUS) {
		(void)snprintf(targets->text, sizeof(targets->text), "all processes");
		(void)snprintf(targets->label, sizeof(targets->label), "all");
	} else if (options->command_is_target) {
		const char *base = strrchr(options->command[0], '/');

		base = base ? base + 1 : options->command[0];
		(void)snprintf(targets->text, sizeof(targets->text), "%d %s",
			(int)command_pid(targets->command), base);
		(void)snprintf(targets->label, sizeof(targets->label), "%.32s-%d", base,
			(int)command_pid(targets->command));
	} else if (nr == 1) {
		(void)read_stat(targets->host, pid, &line);
		(void)snprintf(targets->text, sizeof(targets->text), "%d %s, %lu thread%s",
			(int)pid, line.comm, line.nr_threads, line.nr_threads == 1 ? "" : "s");
		(void)snprintf(
			targets->label, sizeof(targets->label), "%.32s-%d", line.comm, (int)pid);
	} else {
		(void)snprintf(targets->text, sizeof(targets->text), "%zu %s", nr,
			options->nr_tids ? "threads" : "processes");
		(void)snprintf(targets->label, sizeof(targets->label), "%zu-%s", nr,
			options->nr_tids ? "threads" : "processes");
	}
}

int targets_open(const struct stoke_record_options *options, const struct host *host,
	const struct cgroup *cgroup, struct targets **ret, struct stoke_error *err)
{
	struct targets *targets = calloc(1, sizeof(*targets));
	int r = 0;

	if (!targets)
		return -ENOMEM;
	targets->options = options;
	targets->host = host;
	targets->cgroup = cgroup;
	for (size_t i = 0; r >= 0 && i < options->nr_pids; i++) {
		r = target_check(host, options->pids[i], err);
		if (r >= 0)
			r = watch_process(targets, options->pids[i], err);
	}
	for (size_t i = 0; r >= 0 && i < options->nr_tids; i++) {
		pid_t group = thread_group(host, options->tids[i]);

		if (!group)
			r = fail(err, -ESRCH, "no thread %d here", (int)options->tids[i]);
		else
			r = watch_process(targets, group, err);
	}
	if (r >= 0 && options->command)
		r = command_start(options->command, &targets->command, err);
	if (r < 0) {
		targets_close(targets);
		return r;
	}
	describe(targets);
	*ret = targets;
	return 0;
}

void targets_close(struct targets *targets)
{
	if (!targets)
		return;
	for (size_t i = 0; i < targets->nr_watched; i++) {
		if (targets->watched[i].pidfd >= 0)
			(void)close(targets->watched[i].pidfd);
	}
	command_close(targets->command);
	free(targets->watched);
	free(targets->scan);
	free(targets);
}

struct family {
	pid_t pid, parent;
};

/* All processes with their parents: one pass over /proc, since /proc/PID/task/x/children costs a
 * file a thread and is missing from some kernels. */
static int read_families(
	const struct host *host, struct family **ret, size_t *ret_nr, struct stoke_error *err)
{
	_cleanup_free_ struct family *families = NULL;
	size_t nr = 0, capacity = 0;
	struct dirent *entry;
	DIR *dir = opendir(host->proc);
	int r = 0;

	if (!dir)
		return fail(err, -errno, "cannot read %s: %s", host->proc, strerror(errno));
	while (r >= 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct stat_line line;

		if (pid <= 0 || read_stat(host, pid, &line) < 0)
			continue;
		r = array_reserve(&families, &capacity, nr, 1);
		if (r >= 0)
			families[nr++] = (struct family){pid, line.parent};
	}
	(void)closedir(dir); /* only read */
	if (r < 0)
		return r;
	*ret = take_pointer(families);
	*ret_nr = nr;
	return 0;
}

/* Adds living children of targets that were forked before the hook was there. */
static int add_descendants(struct targets *targets, struct objects *objects,
	struct processes *processes, struct stoke_error *err)
{
	int added = 1;

	while (added) {
		_cleanup_free_ struct family *families = NULL;
		size_t nr = 0;
		int r = read_families(targets->host, &families, &nr, err);

		if (r < 0)
			return r;
		added = 0;
		for (size_t i = 0; i < nr; i++) {
			if (!objects_has_process(objects, families[i].parent) ||
				objects_has_process(objects, families[i].pid))
				continue;
			r = objects_add_process(objects, families[i].pid, NULL);
			if (r == -ENOMEM || r == -E2BIG)
				return fail(err, r, "too many processes below the target");
			if (r < 0)
				continue; /* it ended meanwhile */
			added = 1;
			targets->had_children = 1;
			(void)processes_scan(
				processes, families[i].pid); /* gone: nothing to read */
		}
	}
	return 0;
}

static int collect_one(void *arg, pid_t pid)
{
	struct targets *targets = arg;
	int r = array_reserve(&targets->scan, &targets->scan_capacity, targets->nr_scan, 1);

	if (r == 0)
		targets->scan[targets->nr_scan++] = pid;
	return r;
}

static int collect_all(struct targets *targets, struct stoke_error *err)
{
	_cleanup_free_ struct family *families = NULL;
	size_t nr = 0;
	int r = read_families(targets->host, &families, &nr, err);

	if (r >= 0)
		r = array_reserve(&targets->scan, &targets->scan_capacity, 0, nr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr; i++)
		targets->scan[targets->nr_scan++] = families[i].pid;
	return 0;
}

int targets_watch(struct targets *targets, struct objects *objects, struct processes *processes,
	struct stoke_error *err)
{
	const struct stoke_record_options *options = targets->options;
	int r = 0;

	if (targets->cgroup)
		return cgroup_for_each(targets->cgroup, collect_one, targets);
	if (options->flags & STOKE_ALL_CPUS)
		return collect_all(targets, err);
	for (size_t i = 0; r >= 0 && i < options->nr_pids; i++) {
		r = objects_add_process(objects, options->pids[i], err);
		if (r >= 0)
			(void)processes_scan(
				processes, options->pids[i]); /* samples count anyway */
	}
	for (size_t i = 0; r >= 0 && i < options->nr_tids; i++) {
		r = objects_add_thread(objects, options->tids[i], err);
		if (r >= 0)
			(void)processes_scan(
				processes, thread_group(targets->host, options->tids[i]));
	}
	if (r >= 0 && options->command_is_target) {
		r = objects_add_pending(objects, command_pid(targets->command), err);
		(void)processes_scan(
			processes, command_pid(targets->command)); /* it is known now */
	}
	if (r < 0)
		return r;
	if (!(options->flags & STOKE_NO_CHILDREN) && options->nr_pids)
		return add_descendants(targets, objects, processes, err);
	return 0;
}

int targets_scan_some(struct targets *targets, struct processes *processes, size_t max)
{
	for (; max && targets->nr_scan; max--)
		(void)processes_scan(processes, targets->scan[--targets->nr_scan]); /* or gone */
	return targets->nr_scan > 0;
}

int targets_release(struct targets *targets, struct stoke_error *err)
{
	return targets->command ? command_release(targets->command, err) : 0;
}

int targets_ended(struct targets *targets)
{
	const struct stoke_record_options *options = targets->options;
	int all = 1, status;

	if (targets->command)
		command_reap(targets->command);
	for (size_t i = 0; i < targets->nr_watched; i++) {
		struct watched *watched = &targets->watched[i];
		struct pollfd poll_fd = {.fd = watched->pidfd, .events = POLLIN};

		if (watched->pidfd < 0)
			continue;
		if (poll(&poll_fd, 1, 0) == 1) {
			(void)close(take_fd(watched->pidfd));
			continue;
		}
		all = 0;
	}
	if (options->command)
		return command_status(targets->command, &status) == 0;
	if (options->flags & STOKE_ALL_CPUS)
		return 0;
	return all;
}

int64_t targets_cpu_ns(struct targets *targets)
{
	uint64_t sum = 0;

	if (targets->options->flags & STOKE_ALL_CPUS || targets->options->nr_tids)
		return -1;
	if (targets->options->command_is_target)
		return command_cpu_ns(targets->command);
	if (targets->had_children)
		return -1;
	for (size_t i = 0; i < targets->nr_watched; i++) {
		struct watched *watched = &targets->watched[i];
		uint64_t now = watched->pidfd >= 0 ? cpu_time(watched->pid) : 0;

		if (now > watched->cpu_now_ns)
			watched->cpu_now_ns = now; /* an ended one keeps its last */
		sum += watched->cpu_now_ns - watched->cpu_start_ns;
	}
	return (int64_t)sum;
}

void targets_begin(struct targets *targets)
{
	for (size_t i = 0; i < targets->nr_watched; i++) {
		struct watched *watched = &targets->watched[i];

		watched->cpu_start_ns = watched->cpu_now_ns = cpu_time(watched->pid);
	}
}

void targets_note_child(struct targets *targets)
{
	targets->had_children = 1;
}

pid_t targets_command_pid(const struct targets *targets)
{
	return targets->command ? command_pid(targets->command) : 0;
}

int targets_command_status(const struct targets *targets, int *ret)
{
	if (!targets->command)
		return -ENOENT;
	command_reap(targets->command); /* it may outlive the recording, whose rounds do this */
	return command_status(targets->command, ret);
}

void targets_command_kill(struct targets *targets, int signal_number)
{
	if (targets->command)
		command_kill(targets->command, signal_number);
}

const char *targets_text(const struct targets *targets)
{
	return targets->text;
}

const char *targets_label(const struct targets *targets)
{
	return targets->label;
}
