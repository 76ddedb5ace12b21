/* SPDX-License-Identifier: BSD-2-Clause */
/* deep SECONDS DEPTH: main, then DEPTH + 1 frames of down, then bottom, which burns. */
#include "work.h"

static uint64_t end_ns;

HOT static void bottom(void)
{
	burn_until(end_ns);
}

HOT static void down(int left)
{
	if (left > 0)
		down(left - 1);
	else
		bottom();
	__asm__ volatile(""); /* the call above is not the last thing */
}

int main(int argc, char **argv)
{
	end_ns = end_after(seconds_of(argc, argv, 1, 10));
	down(argc > 2 ? atoi(argv[2]) : 300);
	return 0;
}
