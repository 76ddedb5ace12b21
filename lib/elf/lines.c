/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c: keeps the process that reads DWARF (dwarf.c), and believes nothing that it says. It may
 * open no file, since names in DWARF lead anywhere; its memory, CPU time and patience are bounded
 * here.
 */
#include "elf/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "elf/dwarf.h"

#define MAX_MEMORY (1ull << 30) /* beside the file itself */
#define MAX_CPU_S  30

struct lines {
	pid_t pid;
	int socket;
	int64_t left_ms; /* of its patience */
	int failed; /* -errno, once it is of no more use */
	uint8_t reply[DWARF_REPLY_MAX];
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static int limit(int resource, uint64_t most)
{
	struct rlimit value;

	if (getrlimit(resource, &value) < 0)
		return -1;
	if (value.rlim_max > most)
		value.rlim_max = most;
	value.rlim_cur = value.rlim_max;
	return setrlimit(resource, &value);
}

/* What this process, a copy, has mapped already counts as well. */
static int limit_memory(uint64_t file_bytes)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return -1;
	return limit(RLIMIT_AS, pages * (uint64_t)sysconf(_SC_PAGESIZE) + file_bytes + MAX_MEMORY);
}

/* In the new process. Of all that stoke has open it keeps three things. */
static void serve(const struct elf_file *file, int socket, pid_t parent)
{
	int fd = fcntl(file->fd, F_DUPFD, 100), other = fcntl(socket, F_DUPFD, 100);

	if (fd < 0 || other < 0 || dup2(fd, 3) < 0 || dup2(other, 4) < 0)
		return;
	if (syscall(SYS_close_range, 5u, ~0u, 0u) < 0 && errno != ENOSYS)
		return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return;
	if (limit_memory(file->size) || limit(RLIMIT_CPU, MAX_CPU_S) || limit(RLIMIT_CORE, 0) ||
		limit(RLIMIT_NOFILE, 0))
		return;
	dwarf_serve(3, 4);
}

static int start(const struct elf_file *file, struct lines *lines)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	lines->socket = ends[0];
	lines->pid = fork();
	if (lines->pid == 0) {
		serve(file, ends[1], parent);
		_exit(0);
	}
	(void)close(ends[1]);
	return lines->pid < 0 ? -errno : 0;
}

int lines_open(const struct elf_file *file, struct lines **ret)
{
	struct lines *lines;
	int r;

	if (file->fd < 0 ||
		(!elf_file_section(file, ".debug_info") && !elf_file_section(file, ".zdebug_info")))
		return -ENOENT;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	lines->socket = -1;
	lines->left_ms = LINES_PATIENCE_MS;
	r = start(file, lines);
	if (r < 0) {
		lines_close(lines);
		return r;
	}
	*ret = lines;
	return 0;
}

/* Waits for an answer. Its size, or -errno. */
static ssize_t await(struct lines *lines)
{
	struct pollfd wanted = {.fd = lines->socket, .events = POLLIN};
	ssize_t n;

	while (lines->left_ms > 0) {
		int64_t before = now_ms();
		int r = poll(&wanted, 1, (int)lines->left_ms);

		lines->left_ms -= now_ms() - before;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r <= 0)
			continue;
		n = recv(lines->socket, lines->reply, sizeof(lines->reply), MSG_DONTWAIT);
		return n > 0 ? n : -EBADMSG;
	}
	return -ETIMEDOUT;
}

/* Takes a reply apart; whoever wrote it may be under the spell of the file. */
static int parse(const struct lines *lines, size_t size, struct symbol *ret, size_t max)
{
	size_t at = sizeof(uint32_t);
	uint32_t nr;

	if (size < sizeof(nr))
		return -EBADMSG;
	memcpy(&nr, lines->reply, sizeof(nr));
	if (nr > LINES_MAX || nr > (size - at) / sizeof(struct dwarf_place))
		return -EBADMSG;
	at += nr * sizeof(struct dwarf_place);
	if (nr > max)
		return 0;
	for (uint32_t i = 0; i < nr; i++) {
		const char *text = (const char *)lines->reply + at;
		struct dwarf_place place;

		memcpy(&place, lines->reply + sizeof(nr) + i * sizeof(place), sizeof(place));
		if ((size_t)place.name_size + place.file_size > size - at)
			return -EBADMSG;
		at += (size_t)place.name_size + place.file_size;
		ret[i] = (struct symbol){
			.name = place.name_size ? text : "[inlined]",
			.name_size = place.name_size ? place.name_size : strlen("[inlined]"),
			.file = place.file_size ? text + place.name_size : NULL,
			.file_size = place.file_size,
			.line = place.line,
			.kind = i + 1 < nr		     ? FUNCTION_INLINED
				: place.kind == FUNCTION_CPP ? FUNCTION_CPP
							     : FUNCTION_NATIVE,
		};
	}
	return (int)nr;
}

int lines_find(struct lines *lines, uint64_t vaddr, struct symbol *ret, size_t max)
{
	ssize_t n;
	int r;

	if (lines->failed)
		return lines->failed;
	if (send(lines->socket, &vaddr, sizeof(vaddr), MSG_NOSIGNAL) != sizeof(vaddr))
		n = -EBADMSG; /* it has ended */
	else
		n = await(lines);
	r = n < 0 ? (int)n : parse(lines, (size_t)n, ret, max);
	if (r < 0)
		lines->failed = r;
	return r;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->socket >= 0)
		(void)close(lines->socket);
	if (lines->pid > 0) {
		(void)kill(lines->pid, SIGKILL); /* its own, not reaped yet */
		while (waitpid(lines->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(lines);
}
