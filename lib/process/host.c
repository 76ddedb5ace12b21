/* SPDX-License-Identifier: BSD-2-Clause */
/* host.c: the machine as a parameter. */
#include "process/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int host_open(const char *proc, const char *sys, struct host *ret)
{
	struct host host = {.proc_fd = -1};
	int r = -ENOMEM;

	host.proc = strdup(proc ? proc : "/proc");
	host.sys = strdup(sys ? sys : "/sys");
	if (!host.proc || !host.sys)
		goto fail;
	host.proc_fd = open(host.proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host.proc_fd < 0) {
		r = -errno;
		goto fail;
	}
	*ret = host;
	return 0;

fail:
	host_close(&host);
	return r;
}

void host_close(struct host *host)
{
	free(host->proc);
	free(host->sys);
	if (host->proc_fd >= 0)
		(void)close(host->proc_fd); /* O_PATH: nothing to lose */
	*host = (struct host){.proc_fd = -1};
}

uint64_t host_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* fails for unknown clocks only */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
