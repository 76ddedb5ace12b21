/* SPDX-License-Identifier: BSD-2-Clause */
/* busiest.c: who uses the CPU now, for somebody who has not said what to record. */
#include "cmd/busiest.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

#define NR_LISTED   5
#define INTERVAL_NS 200000000ull
#define PF_KTHREAD  0x00200000u /* linux/sched.h; in field 9 of /proc/PID/stat */

struct busy {
	pid_t pid;
	unsigned long long ticks, new_ticks; /* all, and those of the interval */
};

struct busy_list {
	struct busy *items;
	size_t nr, capacity;
};

/* The start of a file of /proc, NUL-terminated; bytes, or -1. */
static ssize_t read_start(pid_t pid, const char *file, char *ret, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, ret, size - 1);
	(void)close(fd); /* only read */
	if (n < 0)
		return -1;
	ret[n] = '\0';
	return n;
}

/* utime + stime; 0 for what cannot be recorded as a process: kernel threads. */
static unsigned long long ticks_of(pid_t pid)
{
	unsigned long long user, system;
	char text[1024], *close;
	unsigned flags;

	if (read_start(pid, "stat", text, sizeof(text)) < 0)
		return 0;
	close = strrchr(text, ')'); /* the name may hold brackets and blanks */
	if (!close || sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu",
			      &flags, &user, &system) != 3)
		return 0;
	return flags & PF_KTHREAD ? 0 : user + system;
}

static int read_all(struct busy_list *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int r = 0;

	if (!proc)
		return -1;
	while (r == 0 && (entry = readdir(proc))) {
		struct busy one = {.pid = (pid_t)strtol(entry->d_name, NULL, 10)};

		if (one.pid <= 0 || one.pid == getpid())
			continue;
		one.ticks = ticks_of(one.pid);
		if (!one.ticks)
			continue;
		r = array_reserve(&list->items, &list->capacity, list->nr, 1);
		if (r == 0)
			list->items[list->nr++] = one;
	}
	(void)closedir(proc); /* only read */
	return r;
}

static int by_use(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->new_ticks != y->new_ticks)
		return x->new_ticks < y->new_ticks ? 1 : -1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

void process_comm(pid_t pid, char *ret, size_t size)
{
	ssize_t n = read_start(pid, "comm", ret, size);

	if (n <= 0)
		(void)snprintf(ret, size, "process");
	else
		ret[strcspn(ret, "\n")] = '\0';
}

static int takes_value(const char *word)
{
	static const char *const words[] = {"-cp", "-classpath", "--class-path", "-p",
		"--module-path", "--add-modules", "--add-opens", "--add-exports", "--add-reads",
		"-W", "-r", "--require"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(word, words[i]))
			return 1;
	}
	return 0;
}

/*
 * What an interpreter runs: the jar, main class or script, and nothing else of its arguments, which
 * may hold passwords. NULL when there is none.
 */
static const char *program_of(const char *comm, const char *arguments, size_t size)
{
	static const char *const interpreters[] = {
		"java", "python", "python3", "node", "ruby", "perl", "bash", "sh"};
	const char *end = arguments + size, *slash;
	const char *p = arguments + strlen(arguments) + 1;
	int known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		known |= !strcmp(comm, interpreters[i]);
	for (; known && p < end; p += strlen(p) + 1) {
		if (!strcmp(p, "-jar") || !strcmp(p, "-m") || !strcmp(p, "--module"))
			continue;
		if (takes_value(p)) {
			p += strlen(p) + 1;
			if (p >= end)
				break;
			continue;
		}
		if (!strcmp(p, "-c") || !strcmp(p, "-e"))
			return NULL; /* a program in the arguments themselves */
		if (*p && *p != '-' && *p != '@') {
			slash = strrchr(p, '/');
			return slash ? slash + 1 : p;
		}
	}
	return NULL;
}

static void print_one(const struct busy *busy, double seconds, FILE *out)
{
	char comm[64], arguments[4096], cores[32];
	double used = (double)busy->new_ticks / (double)sysconf(_SC_CLK_TCK) / seconds;
	const char *program = NULL;
	ssize_t n;

	process_comm(busy->pid, comm, sizeof(comm));
	n = read_start(busy->pid, "cmdline", arguments, sizeof(arguments));
	if (n > 0)
		program = program_of(comm, arguments, (size_t)n);
	(void)snprintf(cores, sizeof(cores), "%.1f", used);
	fprintf(out, "  stoke record -p %-8d %4s cores  ", (int)busy->pid, cores);
	text_print(out, comm, strlen(comm));
	if (program) {
		fputc(' ', out);
		text_print(out, program, strlen(program));
	}
	fputc('\n', out);
}

void busiest_list(FILE *out)
{
	const struct timespec wait = {.tv_nsec = INTERVAL_NS};
	struct busy_list list = {0};

	if (read_all(&list) == 0) {
		(void)nanosleep(&wait, NULL); /* shorter when a signal comes: less exact */
		for (size_t i = 0; i < list.nr; i++) {
			unsigned long long now = ticks_of(list.items[i].pid);

			if (now > list.items[i].ticks)
				list.items[i].new_ticks = now - list.items[i].ticks;
		}
		if (list.nr)
			qsort(list.items, list.nr, sizeof(*list.items), by_use);
		for (size_t i = 0; i < list.nr && i < NR_LISTED; i++)
			print_one(&list.items[i], INTERVAL_NS / 1e9, out);
	}
	free(list.items);
}
