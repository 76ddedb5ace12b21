/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clash SECONDS: frames so large that the compiler probes them page by page, in a loop whose CFA is
 * in a register of its own; samples mostly fall into that loop.
 */
#include <string.h>

#include "work.h"

#define ROOM_BYTES 400000

static volatile unsigned long sink;

HOT static void large(unsigned at)
{
	volatile char room[ROOM_BYTES];

	room[at] = (char)at;
	sink += (unsigned char)room[at];
}

HOT static void work(uint64_t end)
{
	do {
		for (unsigned i = 0; i < 1000; i++)
			large(i);
	} while (clock_ns(CLOCK_MONOTONIC) < end);
	sink++;
}

int main(int argc, char **argv)
{
	work(end_after(seconds_of(argc, argv, 1, 10)));
	return (int)(sink & 0);
}
