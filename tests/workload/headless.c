/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * headless SECONDS: the first thread calls pthread_exit() and leaves a zombie behind, another one
 * burns in lone_work.
 */
#include <pthread.h>

#include "work.h"

HOT static void lone_work(uint64_t end)
{
	burn_until(end);
	__asm__ volatile("");
}

static void *lone(void *arg)
{
	lone_work(*(uint64_t *)arg);
	exit(0);
}

int main(int argc, char **argv)
{
	static uint64_t end;
	pthread_t thread;

	end = end_after(seconds_of(argc, argv, 1, 10));
	if (pthread_create(&thread, NULL, lone, &end) != 0)
		return 1;
	pthread_exit(NULL);
}
