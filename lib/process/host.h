/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_HOST_H
#define STOKE_PROCESS_HOST_H

/*
 * The machine as a parameter: where /proc and /sys are, what time it is. Tests give a directory.
 */

#include <stdint.h>

struct host {
	char *proc; /* "/proc" */
	char *sys; /* "/sys" */
	int proc_fd; /* O_PATH | O_DIRECTORY of proc */
};

/* proc NULL: "/proc"; sys NULL: "/sys". 0, -ENOMEM, or -errno of open. */
int host_open(const char *proc, const char *sys, struct host *ret);
void host_close(struct host *host);

/* CLOCK_MONOTONIC: the clock of bpf_ktime_get_ns() and, by attr.clockid, of the side band. */
uint64_t host_now_ns(void);

#endif
