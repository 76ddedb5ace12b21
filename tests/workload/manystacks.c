/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manystacks SECONDS: half of its CPU time in one stack, half at the ends of random walks of 20
 * calls over 16 functions, so that hardly a stack comes twice; prints both times. A stretch in
 * either is of random length: with 0.4 ms each, the two took turns nearly as fast as a sampler of
 * 999 Hz comes, whose 60 periods of 6 s then decide, and not its 6,000 samples.
 */
#include "work.h"

static void (*const step[16])(int left);
static uint64_t random_state = 88172645463325252u;
static uint64_t spent_ns[2];

static unsigned next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 32);
}

/* 0.05 to 0.75 ms. */
static uint64_t stretch_ns(void)
{
	return 50000 + next_random() % 700000;
}

#define WALK(n)                                                                                    \
	HOT static void walk##n(int left)                                                          \
	{                                                                                          \
		if (left > 0)                                                                      \
			step[next_random() % 16](left - 1);                                        \
		else                                                                               \
			spent_ns[1] += burn_cpu(stretch_ns());                                     \
		__asm__ volatile("" ::"r"(n));                                                     \
	}
WALK(0)
WALK(1)
WALK(2)
WALK(3)
WALK(4)
WALK(5)
WALK(6)
WALK(7)
WALK(8)
WALK(9)
WALK(10)
WALK(11)
WALK(12)
WALK(13)
WALK(14)
WALK(15)

static void (*const step[16])(int left) = {walk0, walk1, walk2, walk3, walk4, walk5, walk6, walk7,
	walk8, walk9, walk10, walk11, walk12, walk13, walk14, walk15};

HOT static void hot(void)
{
	spent_ns[0] += burn_cpu(stretch_ns());
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 10));

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		hot();
		step[next_random() % 16](20);
	}
	printf("hot %llu\nwalks %llu\n", (unsigned long long)spent_ns[0],
		(unsigned long long)spent_ns[1]);
	return 0;
}
