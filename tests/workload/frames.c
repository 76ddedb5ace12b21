/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames SECONDS DEPTH: built without frame pointers. Two threads recurse DEPTH deep, then into a
 * frame of a size not known before (alloca), one on a boundary of 64 bytes, and let qsort() call
 * back; every millisecond a signal handler, on a stack of its own, interrupts them.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "work.h"

static volatile unsigned long sink;
static uint64_t end;

HOT static void burn_shortly(void)
{
	for (unsigned long i = 0; i < 3000; i++)
		sink += i;
}

HOT static int compare(const void *a, const void *b)
{
	burn_shortly();
	sink++;
	return *(const int *)a - *(const int *)b;
}

HOT static void handler(int number)
{
	for (int i = 0; i < 10; i++) /* long enough to be seen */
		burn_shortly();
	sink += (unsigned)number;
}

HOT static void variable(unsigned size)
{
	char *room = alloca(size * 16 + 1);
	int numbers[30];

	memset(room, (int)size, size * 16 + 1);
	for (int i = 0; i < 30; i++)
		numbers[i] = i * 7 % 30;
	qsort(numbers, 30, sizeof(int), compare);
	sink += (unsigned char)room[size];
}

HOT static void aligned(unsigned size)
{
	__attribute__((aligned(64))) char room[256];

	memset(room, (int)size, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	variable(size);
	sink += (unsigned char)room[size];
}

HOT static unsigned down(unsigned depth)
{
	volatile char room[40];
	unsigned got = 0;

	room[0] = (char)depth;
	if (depth)
		got = down(depth - 1) + 1;
	else
		aligned((unsigned)sink % 50);
	sink += (unsigned char)room[0];
	return got;
}

static void *work(void *depth)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		sink += down(*(unsigned *)depth);
	return NULL;
}

int main(int argc, char **argv)
{
	stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	unsigned depth = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 60;
	pthread_t thread;

	end = end_after(seconds_of(argc, argv, 1, 10));
	if (sigaltstack(&other, NULL) || sigaction(SIGALRM, &action, NULL) ||
		setitimer(ITIMER_REAL, &often, NULL) || pthread_create(&thread, NULL, work, &depth))
		return 1;
	(void)work(&depth);
	return pthread_join(thread, NULL);
}
