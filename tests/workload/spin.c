/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin SECONDS: main calls OUTER calls INNER, which burns. Built several times with other names,
 * linkers and link options. INNER is static: only .symtab knows it.
 */
#include "work.h"

#ifndef INNER
#define INNER hot_inner
#define OUTER warm_outer
#endif

HOT static void INNER(void)
{
	for (int i = 0; i < 20; i++)
		burn_some();
}

HOT static void OUTER(void)
{
	INNER();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));

	while (clock_ns(CLOCK_MONOTONIC) < end)
		OUTER();
	return 0;
}
