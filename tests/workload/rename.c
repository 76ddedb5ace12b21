/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rename SECONDS: one thread that calls itself NAME1 while it runs first_task and NAME2 while it
 * runs second_task, in turns of 0.1 s. NAME2 is 15 bytes of which the last is cut out of a letter.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "work.h"

HOT static void first_task(void)
{
	(void)burn_cpu(100000000);
}

HOT static void second_task(void)
{
	(void)burn_cpu(100000000);
}

HOT static void *run(void *arg)
{
	uint64_t end = *(uint64_t *)arg;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		(void)prctl(PR_SET_NAME, "task: first");
		first_task();
		(void)prctl(PR_SET_NAME, "second;\xe7\xbb\x9f\xe8\xae\xa1\xe9");
		second_task();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));
	pthread_t thread;

	return pthread_create(&thread, NULL, run, &end) || pthread_join(thread, NULL);
}
