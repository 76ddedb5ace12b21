/* SPDX-License-Identifier: BSD-2-Clause */
/* duty SECONDS: 25 ms of work in each 100 ms; prints its CPU time. */
#include <unistd.h>

#include "work.h"

HOT static void shift(void)
{
	(void)burn_cpu(25000000);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		shift();
		(void)usleep(75000);
	}
	printf("%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
