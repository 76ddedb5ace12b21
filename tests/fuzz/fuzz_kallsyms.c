/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_kallsyms.c: any bytes as /proc/kallsyms, which a container may have put over the real one.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/resolver.h"

extern const struct resolver resolver_kernel;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct host *host)
{
	const struct module kernel = {.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1};
	enum resolver_miss miss;
	struct symbol symbol;
	void *state = NULL;

	if (resolver_kernel.open(host, &kernel, &state) < 0)
		return;
	for (unsigned bit = 0; bit < 64; bit++) {
		if (resolver_kernel.lookup(state, 1ull << bit, &symbol, 1, &miss) < 0 ||
			resolver_kernel.lookup(state, UINT64_MAX << bit, &symbol, 1, &miss) < 0)
			abort();
	}
	resolver_kernel.close(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char dir[] = "/tmp/stoke-fuzz-kallsyms";
	static struct host host = {.proc = dir, .proc_fd = -1};
	int fd;

	if (host.proc_fd < 0) {
		(void)mkdir(dir, 0700); /* may be there from the last run */
		host.proc_fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	fd = openat(host.proc_fd, "kallsyms", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		0600);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size)
		look_up(&host);
	(void)close(fd); /* what matters was read */
	return 0;
}
