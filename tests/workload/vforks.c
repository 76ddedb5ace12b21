/* SPDX-License-Identifier: BSD-2-Clause */
/* vforks SECONDS: main, forks, vfork, again and again; the children exit at once. */
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

HOT static int forks(void)
{
	int child = vfork(), status = 0;

	if (child == 0)
		_exit(0);
	sink++;
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 5));

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (forks())
			return 1;
	}
	return 0;
}
