/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit SECONDS [OPTION VALUE]...: stands for a JIT. Puts a burning function into executable memory
 * and says so in DIR/perf-PID.map, PID being its own in its own namespace.
 *	name NAME	what the function is called; "jit::spin"
 *	dir DIR		where the map goes; "/tmp". "-": no map
 *	late S		the line is written only after S seconds
 *	reuse NAME	at half time the same address gets another name
 *	prefix 0x	before the numbers
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

#if defined(__x86_64__)
static const unsigned char code[] = {0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0xc7, 0xc0, 0x80, 0x84, 0x1e, 0x00, /* mov $2000000, %rax */
	0x48, 0xff, 0xc8, 0x75, 0xfb, /* 1: dec %rax; jnz 1b */
	0x5d, 0xc3}; /* pop %rbp; ret */
#else
static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, -16]!; mov x29, sp */
	0xd2a003c0, 0xf1000400, 0x54ffffe1, /* mov x0, 0x1e0000; 1: subs x0, x0, 1; b.ne 1b */
	0xa8c17bfd, 0xd65f03c0}; /* ldp x29, x30, [sp], 16; ret */
#endif

struct options {
	const char *name, *dir, *reuse, *prefix;
	double late;
};

static void map_line(FILE *map, const struct options *options, const void *at, const char *name)
{
	if (!map)
		return;
	(void)fprintf(map, "%s%lx %s%lx %s\n", options->prefix, (unsigned long)(uintptr_t)at,
		options->prefix, (unsigned long)sizeof(code), name);
	(void)fflush(map);
}

HOT static void run_generated(void (*function)(void), uint64_t end)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		function();
}

static int run(const struct options *options, double seconds)
{
	unsigned char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), end = start + (uint64_t)(seconds * 1e9);
	void (*function)(void);
	FILE *map = NULL;
	char path[4096];

	if (page == MAP_FAILED)
		return 1;
	(void)memcpy(page + 4096, code, sizeof(code));
	__builtin___clear_cache((char *)page, (char *)page + 65536);
	*(void **)&function = page + 4096;
	(void)snprintf(path, sizeof(path), "%s/perf-%d.map", options->dir, (int)getpid());
	if (strcmp(options->dir, "-")) {
		map = fopen(path, "w");
		if (!map)
			return 1;
	}
	printf("%lx\n", (unsigned long)(uintptr_t)(page + 4096));
	(void)fflush(stdout);
	if (options->late > 0)
		run_generated(function, start + (uint64_t)(options->late * 1e9));
	map_line(map, options, page + 4096, options->name);
	if (options->reuse) {
		run_generated(function, start + (uint64_t)(seconds / 2 * 1e9));
		map_line(map, options, page + 4096, options->reuse);
	}
	run_generated(function, end);
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = {.name = "jit::spin", .dir = "/tmp", .prefix = ""};

	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "name"))
			options.name = argv[i + 1];
		else if (!strcmp(argv[i], "dir"))
			options.dir = argv[i + 1];
		else if (!strcmp(argv[i], "late"))
			options.late = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "reuse"))
			options.reuse = argv[i + 1];
		else if (!strcmp(argv[i], "prefix"))
			options.prefix = argv[i + 1];
		else
			return 2;
	}
	return run(&options, seconds_of(argc, argv, 1, 10));
}
