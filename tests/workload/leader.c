/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leader SECONDS: the first thread ends at once and leaves a zombie, whose /proc/PID/maps is empty;
 * another one goes on in survivor.
 */
#include <pthread.h>

#include "work.h"

static uint64_t end_ns;

HOT static void survivor(void)
{
	burn_until(end_ns);
}

HOT static void *run(void *arg)
{
	survivor();
	exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	pthread_exit(NULL);
}
