/* SPDX-License-Identifier: BSD-2-Clause */
/* pair SECONDS: one thread only reads, another only sleeps; neither ever does what the other does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "work.h"

static uint64_t end_ns;

HOT static void *reader(void *arg)
{
	static char buffer[4096];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (int i = 0; i < 100; i++)
			if (read(fd, buffer, sizeof(buffer)) < 0)
				return arg;
	return arg;
}

HOT static void *sleeper(void *arg)
{
	struct timespec moment = {.tv_nsec = 1000};

	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		(void)nanosleep(&moment, NULL);
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
