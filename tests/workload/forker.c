/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forker SECONDS [PROGRAM ARGS]: one child after the other, each of 50 ms in child_work, or
 * PROGRAM; the parent only waits. Prints the children's CPU time and number.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

HOT static void child_work(void)
{
	(void)burn_cpu(50000000);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));
	struct rusage usage;
	int nr = 0;

	for (; clock_ns(CLOCK_MONOTONIC) < end; nr++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			if (argc > 2) {
				(void)execv(argv[2], argv + 2);
				_exit(127);
			}
			child_work();
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
	}
	(void)getrusage(RUSAGE_CHILDREN, &usage);
	printf("%llu %d\n",
		(unsigned long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
			(unsigned long long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
				1000u,
		nr);
	return 0;
}
