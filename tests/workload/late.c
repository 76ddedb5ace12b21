/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * late SECONDS DELAY: one thread burns from the start (in warm_up, then in early_work once "ready"
 * was answered with a byte on standard input), another one, in late_work, is made DELAY seconds
 * after that; main sleeps. Prints what early_work and late_work took.
 */
#include <pthread.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t end_ns; /* 0: not begun */
static uint64_t spent_ns[2];

HOT static void warm_up(void)
{
	(void)burn_cpu(3000000);
}

HOT static uint64_t early_work(void)
{
	return burn_cpu(3000000);
}

HOT static uint64_t late_work(void)
{
	return burn_cpu(3000000);
}

HOT static void *early(void *arg)
{
	while (!end_ns)
		warm_up();
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		spent_ns[0] += early_work();
	return arg;
}

HOT static void *late(void *arg)
{
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		spent_ns[1] += late_work();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t first, second;
	char byte;

	if (pthread_create(&first, NULL, early, NULL))
		return 1;
	puts("ready");
	(void)fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	(void)usleep((useconds_t)(seconds_of(argc, argv, 2, 1) * 1e6));
	if (pthread_create(&second, NULL, late, NULL))
		return 1;
	(void)pthread_join(first, NULL);
	(void)pthread_join(second, NULL);
	printf("early %llu\nlate %llu\n", (unsigned long long)spent_ns[0],
		(unsigned long long)spent_ns[1]);
	return 0;
}
