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

/* The last run of 64 hexadecimal digits in text, such as /proc/PID/cgroup or /proc/self/mountinfo
 * hold. 0 or -ENOENT. Pure. */
int container_id_find(const char *text, size_t size, char ret[CONTAINER_ID_MAX]);
/* Of a process by its cgroup's path. 0, -ENOENT: in none; -errno. */
int container_id_of(const struct host *host, pid_t pid, char ret[CONTAINER_ID_MAX]);
/* Same of stoke itself, from inside too: by what is mounted. */
int container_id_own(const struct host *host, char ret[CONTAINER_ID_MAX]);

#endif
