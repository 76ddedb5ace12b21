/* SPDX-License-Identifier: BSD-2-Clause */
/* lockstep SECONDS: 1.5 ms of work each 10.101010 ms, in step with 99 Hz; prints its CPU time. */
#include "work.h"

HOT static void beat(void)
{
	(void)burn_cpu(1500000);
}

int main(int argc, char **argv)
{
	uint64_t at = clock_ns(CLOCK_MONOTONIC), end = end_after(seconds_of(argc, argv, 1, 10));

	while (at < end) {
		struct timespec next;

		beat();
		at += 10101010;
		next.tv_sec = (time_t)(at / 1000000000u);
		next.tv_nsec = (long)(at % 1000000000u);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL))
			;
	}
	printf("%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
