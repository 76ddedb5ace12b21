/* SPDX-License-Identifier: BSD-2-Clause */
/* clock SECONDS: asks for the time without end, so most of its time is in the vDSO. */
#include "work.h"

HOT static uint64_t ask(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));

	while (ask() < end)
		;
	return 0;
}
