/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup.c: /proc/PID/cgroup, and the files of the cgroup it names. */
#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"

#define CGROUP_MAX_BYTES    (64 * 1024)
#define MOUNTINFO_MAX_BYTES (4 << 20)
#define FILE_MAX_BYTES	    4096
#define PROCS_MAX_BYTES	    (4 << 20)
#define MAX_LEVELS	    32
#define MAGIC_OF_1	    0x27e0ebl /* linux/magic.h, CGROUP_SUPER_MAGIC */
#define MAGIC_OF_2	    0x63677270l /* CGROUP2_SUPER_MAGIC */

int container_id_find(const char *text, size_t size, char ret[CONTAINER_ID_MAX])
{
	size_t run = 0;
	int r = -ENOENT;

	for (size_t i = 0; i <= size; i++) {
		if (i < size && ((text[i] >= '0' && text[i] <= '9') ||
					(text[i] >= 'a' && text[i] <= 'f'))) {
			run++;
			continue;
		}
		if (run == CONTAINER_ID_MAX - 1) {
			memcpy(ret, text + i - run, run);
			ret[run] = '\0';
			r = 0;
		}
		run = 0;
	}
	return r;
}

static int find_id_in(
	const struct host *host, const char *path, size_t max, char ret[CONTAINER_ID_MAX])
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = file_read_text(host->proc_fd, path, max, &text, &size);

	return r < 0 ? r : container_id_find(text, size, ret);
}

int container_id_of(const struct host *host, pid_t pid, char ret[CONTAINER_ID_MAX])
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/cgroup", (int)pid);
	return find_id_in(host, path, CGROUP_MAX_BYTES, ret);
}

int container_id_own(const struct host *host, char ret[CONTAINER_ID_MAX])
{
	if (find_id_in(host, "self/cgroup", CGROUP_MAX_BYTES, ret) == 0)
		return 0;
	return find_id_in(host, "self/mountinfo", MOUNTINFO_MAX_BYTES, ret);
}

/* A hierarchy that can limit CPU, and the process's place in it. */
struct place {
	int version;
	char path[PATH_MAX];
};

static int has_controller(struct scan list, const char *controller)
{
	const size_t size = strlen(controller);

	while (scan_left(&list)) {
		const char *comma = memchr(list.at, ',', scan_left(&list));
		const char *end = comma ? comma : list.end;

		if ((size_t)(end - list.at) == size && memcmp(list.at, controller, size) == 0)
			return 1;
		list.at = comma ? comma + 1 : list.end;
	}
	return 0;
}

/* "4:cpu,cpuacct:/docker/3f9c" or "0::/user.slice". 1 when it is one of ours. */
static int parse_line(const struct scan *line, struct place *ret)
{
	const char *first = memchr(line->at, ':', scan_left(line)), *second;
	size_t size;

	if (!first)
		return 0;
	second = memchr(first + 1, ':', (size_t)(line->end - first - 1));
	if (!second)
		return 0;
	ret->version = second == first + 1 ? 2 : 1;
	size = (size_t)(line->end - second - 1);
	if (ret->version == 1 && !has_controller((struct scan){first + 1, second}, "cpu"))
		return 0;
	if (size >= sizeof(ret->path) || memmem(second + 1, size, "/..", 3))
		return 0; /* outside of our cgroup namespace */
	memcpy(ret->path, second + 1, size);
	ret->path[size] = '\0';
	return 1;
}

/* The file of a cgroup, NUL-terminated; the level above is asked for by cutting path. */
static int read_file(int top, const char *path, const char *name, char *buffer, size_t room)
{
	char whole[PATH_MAX];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	while (*path == '/')
		path++;
	if ((size_t)snprintf(whole, sizeof(whole), "%s%s%s", path, *path ? "/" : "", name) >=
		sizeof(whole))
		return -ENAMETOOLONG;
	fd = openat(top, whole, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	n = file_read(fd, buffer, room - 1, 0);
	if (n < 0)
		return (int)n;
	buffer[n] = '\0';
	return 0;
}

static uint64_t value_of(const char *text, const char *key)
{
	const size_t size = strlen(key);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, size) == 0 && at[size] == ' ')
			return strtoull(at + size + 1, NULL, 10);
	}
	return 0;
}

/* Cores that one level allows; 0: any number of them. -errno when there is no such level. */
static int read_level(int top, const struct place *place, double *ret)
{
	char quota[FILE_MAX_BYTES], period[FILE_MAX_BYTES];
	double of = 100000;
	char *end;
	int r;

	*ret = 0;
	if (place->version == 2) { /* "max 100000", "200000 100000" */
		r = read_file(top, place->path, "cpu.max", quota, sizeof(quota));
		if (r < 0)
			return r;
		*ret = strtod(quota, &end);
		if (end == quota)
			return 0;
		of = strtod(end, NULL);
	} else {
		r = read_file(top, place->path, "cpu.cfs_quota_us", quota, sizeof(quota));
		if (r == 0)
			r = read_file(
				top, place->path, "cpu.cfs_period_us", period, sizeof(period));
		if (r < 0)
			return r;
		*ret = strtod(quota, NULL);
		of = strtod(period, NULL);
	}
	*ret = *ret > 0 && of > 0 ? *ret / of : 0;
	return 0;
}

static void read_throttling(int top, const struct place *place, struct cgroup_limit *ret)
{
	char text[FILE_MAX_BYTES];

	if (read_file(top, place->path, "cpu.stat", text, sizeof(text)) < 0)
		return;
	ret->nr_periods = value_of(text, "nr_periods");
	ret->nr_throttled = value_of(text, "nr_throttled");
	ret->throttled_ns = place->version == 2 ? value_of(text, "throttled_usec") * 1000
						: value_of(text, "throttled_time");
}

/* From the process's own level up. Inside a container the upper ones are not to be seen, and the
 * top is the container's own. */
static void read_levels(int top, struct place *place, struct cgroup_limit *ret)
{
	for (unsigned i = 0; i < MAX_LEVELS; i++) {
		char *slash = strrchr(place->path, '/');
		double cores;

		if (read_level(top, place, &cores) == 0 && cores > 0 &&
			(ret->cores == 0 || cores < ret->cores)) {
			ret->cores = cores;
			read_throttling(top, place, ret);
		}
		if (!slash)
			break;
		*slash = '\0';
	}
}

static int open_top(const struct host *host, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/fs/cgroup%s", host->sys, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int read_place(const struct host *host, struct place *place, struct cgroup_limit *ret)
{
	static const char *const tops[3][3] = {
		{NULL}, {"/cpu", "/cpu,cpuacct", NULL}, {"/unified", "", NULL}};

	for (const char *const *name = tops[place->version]; *name; name++) {
		_cleanup_close_ int top = open_top(host, *name);

		if (top < 0)
			continue;
		read_levels(top, place, ret);
		return 0;
	}
	return -ENOENT;
}

int cgroup_read_limit(const struct host *host, pid_t pid, struct cgroup_limit *ret)
{
	_cleanup_free_ char *text = NULL;
	struct cgroup_limit limit = {0};
	struct scan scan, line;
	struct place place;
	int r, found = -ENOENT;
	char path[64];
	size_t size;

	(void)snprintf(path, sizeof(path), "%d/cgroup", (int)pid);
	r = file_read_text(host->proc_fd, path, CGROUP_MAX_BYTES, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	scan = scan_of(text, size);
	while (scan_line(&scan, &line)) {
		struct cgroup_limit one = {0};

		if (!parse_line(&line, &place) || read_place(host, &place, &one) < 0)
			continue;
		found = 0;
		if (one.cores > 0 && (limit.cores == 0 || one.cores < limit.cores))
			limit = one;
	}
	if (found == 0)
		*ret = limit;
	return found;
}

/* The first controller of a version 1 hierarchy, by the options it was mounted with: the last field
 * of its line in mountinfo. */
static int find_controller(const struct host *host, dev_t device, char *ret, size_t size)
{
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	char number[32];
	size_t length;

	if (file_read_text(host->proc_fd, "self/mountinfo", MOUNTINFO_MAX_BYTES, &text, &length) <
		0)
		return -ENOENT;
	(void)snprintf(number, sizeof(number), " %u:%u ", major(device), minor(device));
	scan = scan_of(text, length);
	while (scan_line(&scan, &line)) {
		const char *options = memrchr(line.at, ' ', scan_left(&line));

		if (!options || !memmem(line.at, scan_left(&line), number, strlen(number)))
			continue;
		while (options < line.end) {
			const char *word = options + 1;
			const char *comma = memchr(word, ',', (size_t)(line.end - word));
			const size_t word_size = (size_t)((comma ? comma : line.end) - word);

			options = comma ? comma : line.end;
			/* Not how it is mounted, nor a name. */
			if (word_size == 2 || memchr(word, '=', word_size) ||
				(word_size == 8 && memcmp(word, "noprefix", 8) == 0) ||
				(word_size == 5 && memcmp(word, "xattr", 5) == 0) ||
				word_size >= size)
				continue;
			memcpy(ret, word, word_size);
			ret[word_size] = '\0';
			return 0;
		}
	}
	return -ENOENT;
}

static int open_directory(const struct host *host, const char *text, struct cgroup *ret)
{
	static const char *const tops[] = {"", "/unified/", "/cpu/", "/cpu,cpuacct/"};
	struct statfs found;

	ret->fd = -1;
	for (size_t i = 0; i <= ARRAY_SIZE(tops); i++) {
		_cleanup_close_ int fd = -1;

		if (i == 0)
			(void)snprintf(ret->path, sizeof(ret->path), "%s", text);
		else
			(void)snprintf(ret->path, sizeof(ret->path), "%s/fs/cgroup%s/%s", host->sys,
				tops[i - 1], text);
		fd = open(ret->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fstatfs(fd, &found) < 0)
			continue;
		if (found.f_type != MAGIC_OF_1 && found.f_type != MAGIC_OF_2)
			continue;
		ret->version = found.f_type == MAGIC_OF_2 ? 2 : 1;
		ret->fd = take_fd(fd);
		return 0;
	}
	return -ENOENT;
}

int cgroup_open(
	const struct host *host, const char *text, struct cgroup *ret, struct stoke_error *err)
{
	struct cgroup cgroup = {.fd = -1};
	struct stat status;

	if (strlen(text) >= sizeof(cgroup.path) - strlen(host->sys) - 64 ||
		open_directory(host, text, &cgroup) < 0)
		return fail(err, -ENOENT,
			"no cgroup %s here; /proc/PID/cgroup tells those of a process, and "
			"--container ID finds a container's",
			text);
	if (cgroup.version == 1 && (fstat(cgroup.fd, &status) < 0 ||
					   find_controller(host, status.st_dev, cgroup.controller,
						   sizeof(cgroup.controller)) < 0)) {
		cgroup_close(&cgroup);
		return fail(err, -EOPNOTSUPP,
			"%s is of a hierarchy that has a name and no controller: the kernel does "
			"not tell it apart; cgroups below cpu, cpuacct, memory or pids work, and "
			"those of version 2",
			text);
	}
	*ret = cgroup;
	return 0;
}

void cgroup_close(struct cgroup *cgroup)
{
	if (cgroup->fd >= 0)
		(void)close(cgroup->fd); /* O_PATH: nothing to lose */
	cgroup->fd = -1;
}

static int each_process(int directory, int (*each)(void *arg, pid_t pid), void *arg)
{
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	uint64_t pid;
	size_t size;
	int r;

	r = file_read_text(directory, "cgroup.procs", PROCS_MAX_BYTES, &text, &size);
	if (r < 0)
		return r == -EOPNOTSUPP || r == -ENOENT ? 0 : r; /* threaded, or just removed */
	scan = scan_of(text, size);
	while (r >= 0 && scan_line(&scan, &line)) {
		if (scan_decimal(&line, &pid) == 0 && pid &&
			pid <= INT32_MAX) /* 0: not seen here */
			r = each(arg, (pid_t)pid);
	}
	return r;
}

static int each_below(int directory, unsigned depth, int (*each)(void *arg, pid_t pid), void *arg)
{
	const struct dirent *entry;
	DIR *dir;
	int fd, r = each_process(directory, each, arg);

	if (r < 0 || depth == 0)
		return r;
	fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		r = -errno;
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	while (r >= 0 && (entry = readdir(dir))) {
		_cleanup_close_ int below = -1;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(
			directory, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			r = each_below(below, depth - 1, each, arg);
	}
	(void)closedir(dir); /* only read */
	return r;
}

int cgroup_for_each(const struct cgroup *cgroup, int (*each)(void *arg, pid_t pid), void *arg)
{
	return each_below(cgroup->fd, MAX_LEVELS, each, arg);
}

int cgroup_of_container(const struct host *host, pid_t pid, const char *id, char *ret, size_t size)
{
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	size_t length;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "%d/cgroup", (int)pid);
	r = file_read_text(host->proc_fd, path, CGROUP_MAX_BYTES, &text, &length);
	if (r < 0)
		return r;
	scan = scan_of(text, length);
	r = -ENOENT;
	while (scan_line(&scan, &line)) {
		const char *at = memmem(line.at, scan_left(&line), id, strlen(id)), *end;
		struct place place;
		struct cgroup cgroup;
		size_t whole;

		if (!at || !parse_line(&line, &place))
			continue;
		end = memchr(at, '/', (size_t)(line.end - at));
		whole = strlen(place.path) - (size_t)(end ? line.end - end : 0);
		place.path[whole] = '\0';
		if (whole >= size)
			return -ENOBUFS;
		if (cgroup_open(host, place.path, &cgroup, NULL) < 0)
			continue;
		cgroup_close(&cgroup);
		memcpy(ret, place.path, whole + 1);
		r = 0;
	}
	return r;
}
