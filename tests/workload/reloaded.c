/* SPDX-License-Identifier: BSD-2-Clause */
/* A library of reload.c: `enter` calls SECOND, which calls THIRD, which burns; in two builds their
 * frames differ by FRAME bytes, so that the rules of one lead astray in the other. */
#include "work.h"

static volatile unsigned long sink;

HOT static void THIRD(uint64_t end)
{
	volatile char room[FRAME];

	room[0] = 1;
	burn_until(end);
	sink += (unsigned char)room[0];
}

HOT static void SECOND(uint64_t end)
{
	volatile char room[3 * FRAME];

	room[1] = 1;
	THIRD(end);
	sink += (unsigned char)room[1];
}

HOT __attribute__((visibility("default"))) void enter(uint64_t end)
{
	volatile char room[2 * FRAME];

	room[2] = 1;
	SECOND(end);
	sink += (unsigned char)room[2];
}
