/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_LOAD_H
#define STOKE_CAPTURE_LOAD_H

/*
 * What else the machine did meanwhile, and what the target was allowed: both decide what a picture
 * of it means. Taken at the start and at the end of a recording.
 */

#include <stddef.h>
#include <stdint.h>

#include "process/cgroup.h"
#include "process/host.h"

/* Time of all CPUs since boot, in ticks of the clock. */
struct machine_times {
	uint64_t user, system, irq, idle, stolen;
	unsigned nr_cpus; /* online */
};

/* Text of /proc/stat. Pure. 0 or -EINVAL. */
int machine_times_parse(const char *text, size_t size, struct machine_times *ret);

/* One moment. */
struct load {
	struct machine_times times;
	struct cgroup_limit limit;
	int has_times, has_limit;
};

/* pid: of the target whose limit counts, 0: of nobody. What cannot be read is left out. */
void load_read(const struct host *host, pid_t pid, struct load *ret);

/* "8 CPUs, 31 % busy (user 22 %, system 8 %, irq 1 %), 80 % of that the target". target_ns: CPU
 * time of the target in between; negative: not known, or it is all there is. 0; -ENODATA nothing
 * can be said. */
int load_say_machine(const struct load *before, const struct load *after, int64_t target_ns,
	char *ret, size_t size);
/* "2.0 cores by cgroup, throttled in 41 % of the periods: ..." 0; -ENODATA: there is no limit. */
int load_say_limit(const struct load *before, const struct load *after, char *ret, size_t size);

#endif
