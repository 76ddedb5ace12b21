/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_THREAD_H
#define STOKE_PROCESS_THREAD_H

/* What /proc tells of a process and its threads besides their memory. */

#include <stddef.h>
#include <sys/types.h>

#include "process/host.h"

struct thread_status {
	char state; /* 'R', 'S', 'Z', ... */
	pid_t ns_pid; /* innermost of NSpid: */
	uid_t euid; /* as the reader's user namespace sees it */
	pid_t alive; /* a thread that lives: /proc/ALIVE still tells of memory and root when the
			first thread has ended before the others. Not set by parsing. */
};

/* Text of /proc/PID/status. Pure. 0, or -EINVAL when a line that matters is missing. */
int thread_parse_status(const char *text, size_t size, struct thread_status *ret);
/* 0, -ESRCH gone (no thread of it lives), -errno. */
int thread_read_status(const struct host *host, pid_t pid, struct thread_status *ret);

/*
 * The name that says more than "java", "python3" or "node" does: main class or jar, script or
 * module. Out of the command line nothing but this, as arguments carry passwords. cmdline: as in
 * /proc/PID/cmdline, each argument ended by NUL. Pure; *ret leads into cmdline. The size, 0: no
 * better name than comm.
 */
size_t thread_program_name(const char *cmdline, size_t size, const char **ret);
/* Does a command of this name run programs that have names of their own? */
int thread_runs_programs(const char *comm);
/* Reads /proc/PID/cmdline, which is memory of the target and may hang: in a worker. 0 with the
 * name for free(), "" when there is no better one; -ETIMEDOUT; -errno. */
int thread_read_program_name(const struct host *host, pid_t pid, char **ret);

/* comm of a thread, into 16 bytes, NUL-terminated. 0 or -errno. */
int thread_read_comm(const struct host *host, pid_t pid, pid_t tid, char ret[16]);
/* Calls each() for every thread, until it returns negative. 0 or -errno. */
int thread_for_each(
	const struct host *host, pid_t pid, int (*each)(void *arg, pid_t tid), void *arg);

#endif
