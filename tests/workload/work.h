/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_WORK_H
#define STOKE_TESTS_WORK_H

/*
 * work.h: what the workloads share. A workload is a program whose stacks are known: HOT functions
 * keep a frame of their own, burning is inlined into them, and clocks are read seldom, since libc
 * and the vDSO keep no frame pointers and would hide the caller.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOT __attribute__((noinline))

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t); /* cannot fail for the clocks used here */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* About 0.1 ms here; touches no memory, so that threads do not slow each other down. */
static inline __attribute__((always_inline)) void burn_some(void)
{
	for (unsigned long i = 0; i < 200000; i++)
		__asm__ volatile("" : "+r"(i));
}

/* Burns at least ns of this thread's CPU time; returns what it took. */
static inline __attribute__((always_inline)) uint64_t burn_cpu(uint64_t ns)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;

	do {
		burn_some();
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (now - start < ns);
	return now - start;
}

/* Burns until the monotonic clock has reached end. */
static inline __attribute__((always_inline)) void burn_until(uint64_t end)
{
	do {
		burn_some();
	} while (clock_ns(CLOCK_MONOTONIC) < end);
}

static inline double seconds_of(int argc, char **argv, int at, double otherwise)
{
	return argc > at ? atof(argv[at]) : otherwise;
}

/* The moment at which a program started now with this many seconds ends. */
static inline uint64_t end_after(double seconds)
{
	return clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
}

#endif
