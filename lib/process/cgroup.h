/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_CGROUP_H
#define STOKE_PROCESS_CGROUP_H

/*
 * What a process's cgroup says: how much CPU it may use, how often that was too little, and which
 * container it is. Version 1 and 2, where distributions mount them, below /sys/fs/cgroup.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/host.h"
#include "stoke.h"

#define CONTAINER_ID_MAX 65 /* 64 hexadecimal digits and a NUL */

struct cgroup_limit {
	double cores; /* 0: no limit */
	/* Of the cgroup that limits, since it was made; a period is 100 ms mostly. */
	uint64_t nr_periods, nr_throttled;
	uint64_t throttled_ns; /* of all its CPUs */
};

/* The tightest limit of its cgroup and those above it. 0; -ENOENT when there is no such cgroup to
 * be read; -ESRCH; -errno. */
int cgroup_read_limit(const struct host *host, pid_t pid, struct cgroup_limit *ret);

/* A cgroup that somebody has named. */
struct cgroup {
	int fd; /* O_PATH | O_DIRECTORY; owned; -1 */
	int version; /* 1, 2 */
	char controller[32]; /* version 1: "cpu"; the first of its hierarchy */
	char path[512]; /* where it was found */
};

/* By its directory, or its path below /sys/fs/cgroup. 0; -ENOENT, -ENOTDIR no such one; -EOPNOTSUPP
 * a hierarchy of version 1 that has a name instead of controllers. */
int cgroup_open(
	const struct host *host, const char *text, struct cgroup *ret, struct stoke_error *err);
void cgroup_close(struct cgroup *cgroup);
/* Calls each() for every process in it and below it, until that returns negative. 0 or -errno. */
int cgroup_for_each(const struct cgroup *cgroup, int (*each)(void *arg, pid_t pid), void *arg);

/* The last run of 64 hexadecimal digits in text, such as /proc/PID/cgroup or /proc/self/mountinfo
 * hold. 0 or -ENOENT. Pure. */
int container_id_find(const char *text, size_t size, char ret[CONTAINER_ID_MAX]);
/* Of a process by its cgroup's path. 0, -ENOENT: in none; -errno. */
int container_id_of(const struct host *host, pid_t pid, char ret[CONTAINER_ID_MAX]);
/* The path of the container's own cgroup, which holds the process's: up to the part with its id, of
 * a hierarchy that cgroup_open() finds. 0, -ENOENT, -ENOBUFS, -errno. */
int cgroup_of_container(const struct host *host, pid_t pid, const char *id, char *ret, size_t size);
/* Same of stoke itself, from inside too: by what is mounted. */
int container_id_own(const struct host *host, char ret[CONTAINER_ID_MAX]);

#endif
