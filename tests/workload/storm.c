/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm NUMBER SECONDS LOG PROGRAM...: starts NUMBER processes in SECONDS (0: as fast as it goes),
 * two at a time, each PROGRAM in turn, and waits for them. LOG gets a line "pid program" for each
 * as it starts. With PIDS=n in the environment, at most n process numbers, used again and again
 * (needs CAP_CHECKPOINT_RESTORE). Prints how many, in how many milliseconds, and the children's
 * CPU time.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define WORKERS	 2
#define MAX_PIDS 64
/* A number that somebody else has got may be free again soon. */
#define PATIENCE_NS 1000000000u

extern char **environ;

struct worker {
	unsigned nr; /* which one */
	unsigned long number;
	uint64_t start_ns, interval_ns;
	FILE *log;
	char **programs;
	unsigned nr_programs;
	pid_t pids[MAX_PIDS];
	unsigned nr_pids, max_pids;
};

/* A child of that number, as soon as its last owner is gone; of any, when that is somebody who
 * stays. */
static pid_t fork_as(pid_t wanted)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};
	long pid;

	do {
		pid = syscall(SYS_clone3, &args, sizeof(args));
	} while (pid < 0 && errno == EEXIST && clock_ns(CLOCK_MONOTONIC) < end);
	return pid < 0 && errno == EEXIST ? fork() : (pid_t)pid;
}

/* posix_spawn() is a vfork(): until its exec the child runs in this process's memory. */
HOT static int start(struct worker *worker, unsigned long i, pid_t *ret)
{
	char *program = worker->programs[i % worker->nr_programs];
	char *const argv[] = {program, NULL};
	pid_t *place;

	if (worker->nr_pids < worker->max_pids || !worker->max_pids) {
		if (posix_spawn(ret, program, NULL, NULL, argv, environ))
			return -1;
		if (worker->max_pids)
			worker->pids[worker->nr_pids++] = *ret;
		return 0;
	}
	/* Each time another program. */
	place = &worker->pids[(i / WORKERS + i / MAX_PIDS) % worker->nr_pids];
	*ret = fork_as(*place);
	if (*ret < 0)
		return -1;
	if (*ret == 0) {
		(void)execv(program, argv);
		_exit(127);
	}
	*place = *ret;
	return 0;
}

HOT static int work(struct worker *worker)
{
	for (unsigned long i = worker->nr; i < worker->number; i += WORKERS) {
		uint64_t due = worker->start_ns + i * worker->interval_ns,
			 now = clock_ns(CLOCK_MONOTONIC);
		const struct timespec at = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
		const char *program = worker->programs[i % worker->nr_programs];
		int status;
		pid_t pid;

		if (due > now)
			(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (start(worker, i, &pid) < 0)
			return 1;
		(void)fprintf(worker->log, "%d %s\n", pid, strrchr(program, '/') + 1);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return fclose(worker->log) != 0;
}

static int run(struct worker *worker, const char *log)
{
	pid_t children[WORKERS];
	int status, failed = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		worker->nr = i;
		children[i] = fork();
		if (children[i] < 0)
			return 1;
		if (children[i] == 0) {
			worker->log = fopen(log, "a"); /* whole lines: a line is no page long */
			if (!worker->log)
				_exit(1);
			setvbuf(worker->log, NULL, _IOLBF, 4096);
			_exit(work(worker));
		}
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		if (waitpid(children[i], &status, 0) < 0 || status)
			failed = 1;
	}
	return failed;
}

int main(int argc, char **argv)
{
	const char *pids = getenv("PIDS");
	struct worker worker = {.start_ns = clock_ns(CLOCK_MONOTONIC)};
	struct rusage usage;

	if (argc < 5)
		return 2;
	worker.number = strtoul(argv[1], NULL, 10);
	worker.interval_ns = (uint64_t)(atof(argv[2]) * 1e9) / (worker.number + 1);
	worker.programs = argv + 4;
	worker.nr_programs = (unsigned)argc - 4;
	worker.max_pids = pids ? (unsigned)atoi(pids) / WORKERS : 0;
	if (worker.max_pids > MAX_PIDS)
		worker.max_pids = MAX_PIDS;
	if (run(&worker, argv[3]))
		return 1;
	(void)getrusage(RUSAGE_CHILDREN, &usage);
	printf("number %lu\nms %llu\ncpu %llu\n", worker.number,
		(unsigned long long)(clock_ns(CLOCK_MONOTONIC) - worker.start_ns) / 1000000,
		(unsigned long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
			(unsigned long long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
				1000u);
	return 0;
}
