/* SPDX-License-Identifier: BSD-2-Clause */
/* pair SECONDS: one thread only reads, another only sleeps; neither ever does what the other does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "work.h"

static uint64_t end_ns;

HOT static long read_some(int fd)
{
	static char buffer[4096];
	long n = read(fd, buffer, sizeof(buffer));

	__asm__ volatile("" : "+r"(n));
	return n;
}

HOT static void sleep_some(void)
{
	struct timespec moment = {.tv_nsec = 1000};

	(void)nanosleep(&moment, NULL);
	__asm__ volatile("");
}

HOT static void *reader(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (int i = 0; i < 100; i++)
			if (read_some(fd) < 0)
				return arg;
	return arg;
}

HOT static void *sleeper(void *arg)
{
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (int i = 0; i < 100; i++)
			sleep_some();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	return pthread_create(&threads[0], NULL, reader, NULL) ||
	       pthread_create(&threads[1], NULL, sleeper, NULL) || pthread_join(threads[0], NULL) ||
	       pthread_join(threads[1], NULL);
}
