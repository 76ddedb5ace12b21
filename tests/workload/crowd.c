/* SPDX-License-Identifier: BSD-2-Clause */
/* crowd SECONDS THREADS: each burns 0.1 ms, then sleeps 0.6 s; prints the CPU time of all. */
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "work.h"

static uint64_t end_ns;

HOT static void crumb(void)
{
	burn_some();
}

HOT static void *run(void *arg)
{
	/* Out of step with each other, or all wake at once. */
	(void)usleep((useconds_t)(uintptr_t)arg * 300u);
	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		crumb();
		(void)usleep(600000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 2000, made = 0;
	pthread_t *threads = calloc((size_t)nr, sizeof(*threads));
	pthread_attr_t attr;

	if (!threads || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 65536))
		return 1;
	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	while (made < nr && !pthread_create(&threads[made], &attr, run, (void *)(uintptr_t)made))
		made++;
	for (int i = 0; i < made; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%llu %d\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID), made);
	free(threads);
	return made == nr ? 0 : 1;
}
