/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that know their own stacks: known_stacks MODE. Prints where its functions are, then does
 * what the mode says until it is killed or its standard input ends. Compiled with frame pointers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define IN_SECTION(name) __attribute__((noinline, section("fn_" #name)))
#define RANGE(name)	 extern const char __start_fn_##name[], __stop_fn_##name[]
RANGE(inner);
RANGE(middle);
RANGE(outer);
RANGE(recurse);

#define NR_THREADS 2000

static volatile uint64_t sink;

IN_SECTION(inner) static void inner(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sink += i;
}

IN_SECTION(middle) static void middle(uint64_t rounds)
{
	for (int i = 0; i < 4; i++)
		inner(rounds / 4);
	sink++;
}

IN_SECTION(outer) static void outer(uint64_t rounds)
{
	middle(rounds);
	sink++;
}

static void *burn(void *arg)
{
	while (sink != UINT64_MAX)
		outer(1000000);
	return arg;
}

IN_SECTION(recurse) static void recurse(unsigned depth)
{
	if (depth)
		recurse(depth - 1);
	else
		burn(NULL);
	sink++;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* 0.1 ms of work now and then. */
static void *work_sometimes(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (;;) {
		uint64_t end = thread_ns() + 100000;

		while (thread_ns() < end)
			outer(500);
		usleep(150000 + (unsigned)rand_r(&seed) % 300000);
	}
	return NULL;
}

static void start_threads(unsigned nr, void *(*run)(void *))
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (unsigned i = 0; i < nr; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, run, (void *)(uintptr_t)(i + 1)) != 0) {
			perror("pthread_create");
			exit(1);
		}
	}
}

static void tell(const char *name, const char *start, const char *end)
{
	printf("%s %lx %lx\n", name, (unsigned long)start, (unsigned long)end);
}

/* Forks when told to; the child burns, the parent only waits. */
static void fork_when_told(void)
{
	char byte;
	pid_t child;

	if (read(0, &byte, 1) != 1)
		exit(0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		burn(NULL);
	}
	printf("child %d 0\n", (int)child);
	fflush(stdout);
	(void)!read(0, &byte, 1);
}

static void tell_thread(void)
{
	printf("thread %ld 0\n", (long)syscall(SYS_gettid));
	fflush(stdout);
}

static void *burn_and_tell(void *arg)
{
	tell_thread();
	return burn(arg);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	tell("inner", __start_fn_inner, __stop_fn_inner);
	tell("middle", __start_fn_middle, __stop_fn_middle);
	tell("outer", __start_fn_outer, __stop_fn_outer);
	tell("recurse", __start_fn_recurse, __stop_fn_recurse);
	if (strcmp(mode, "threads") == 0)
		start_threads(NR_THREADS, work_sometimes);
	if (strcmp(mode, "two") == 0)
		start_threads(1, burn_and_tell);
	printf("ready %d 0\n", (int)getpid());
	fflush(stdout);
	if (strcmp(mode, "burn") == 0 || strcmp(mode, "two") == 0)
		burn(NULL);
	if (strcmp(mode, "recurse") == 0)
		recurse(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100);
	if (strcmp(mode, "syscalls") == 0)
		for (;;)
			for (int i = 0; i < 100; i++)
				sink += (uint64_t)syscall(SYS_getppid) +
					(uint64_t)access("/nowhere", 0);
	if (strcmp(mode, "fork") == 0)
		fork_when_told();
	for (;;)
		pause();
}
