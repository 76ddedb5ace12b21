/* SPDX-License-Identifier: BSD-2-Clause */
/* parts PARSE_MS DRAW_MS: burns so much CPU time in parse() and in draw(), then ends. */
#include "work.h"

HOT static uint64_t parse(uint64_t ns)
{
	return burn_cpu(ns);
}

HOT static uint64_t draw(uint64_t ns)
{
	return burn_cpu(ns);
}

int main(int argc, char **argv)
{
	uint64_t parse_ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	uint64_t draw_ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	uint64_t spent = 0;

	for (int i = 0; i < 10; i++) {
		spent += parse(parse_ns / 10);
		spent += draw(draw_ns / 10);
	}
	return spent < parse_ns / 10 * 10;
}
