/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_PROBES_H
#define STOKE_SOURCE_PROBES_H

/*
 * What the kernel answers when it is asked: each call that a recording makes is made once, small.
 */

#include <stdint.h>
#include <sys/types.h>

/* 0, or the negative errno that came back. */
struct probes {
	int program; /* load a program for events */
	int ring; /* make a ring of the size that a recording begins with */
	int event; /* open the clock event on a CPU, for all tasks */
	int event_counts; /* and it fires */
	int64_t cycles; /* cycles_per_second() */
};

void probes_run(unsigned cpu, struct probes *ret);
/* Open the clock event on a process, of its user code alone, as its owner may: 0 or -errno. */
int probe_process(pid_t pid);
/* Memory of another process: 0, -EPERM, -ESRCH... An address that cannot be mapped is asked for. */
int probe_memory(pid_t pid);

#endif
