/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup.c: /proc/PID/cgroup, and the files of the cgroup it names. */
#include "process/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/scan.h"

#define CGROUP_MAX_BYTES    (64 * 1024)
#define MOUNTINFO_MAX_BYTES (4 << 20)
#define FILE_MAX_BYTES	    4096
#define MAX_LEVELS	    32

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
