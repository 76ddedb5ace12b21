/* SPDX-License-Identifier: BSD-2-Clause */
/* shares SECONDS: four named threads, each half 50 %, third 30 %, fifth 20 %; prints the true
 * split. */
#include <pthread.h>

#include "work.h"

enum { HALF, THIRD, FIFTH, NR_PARTS };

struct thread {
	pthread_t id;
	uint64_t spent_ns[NR_PARTS];
};

static uint64_t end_ns;

HOT static uint64_t half(void)
{
	return burn_cpu(6500000);
}

HOT static uint64_t third(void)
{
	return burn_cpu(3900000);
}

HOT static uint64_t fifth(void)
{
	return burn_cpu(2600000);
}

HOT static void *run(void *arg)
{
	struct thread *thread = arg;

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		thread->spent_ns[HALF] += half();
		thread->spent_ns[THIRD] += third();
		thread->spent_ns[FIFTH] += fifth();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[NR_PARTS] = {"half", "third", "fifth"};
	struct thread threads[4] = {0};
	char name[16];

	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			return 1;
		(void)snprintf(name, sizeof(name), "share-%d", i);
		(void)pthread_setname_np(threads[i].id, name);
	}
	for (int i = 0; i < 4; i++)
		(void)pthread_join(threads[i].id, NULL);
	for (int part = 0; part < NR_PARTS; part++) {
		uint64_t sum_ns = 0;

		for (int i = 0; i < 4; i++)
			sum_ns += threads[i].spent_ns[part];
		printf("%s %llu\n", names[part], (unsigned long long)sum_ns);
	}
	return 0;
}
