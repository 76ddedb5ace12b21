/* SPDX-License-Identifier: BSD-2-Clause */
/* nofp SECONDS: main, top, mid, leaf_without; only the leaf keeps no frame pointer. */
#include "work.h"

void leaf_without(void);

HOT static void mid(void)
{
	leaf_without();
	__asm__ volatile("");
}

HOT static void top(void)
{
	mid();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));

	while (clock_ns(CLOCK_MONOTONIC) < end)
		top();
	return 0;
}
