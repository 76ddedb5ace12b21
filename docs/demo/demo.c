/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pthread_setname_np */
/* demo.c: four threads that spend 50, 30 and 20 % of their time in three functions. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define NR_THREADS 4
#define SECONDS	   60 /* then it ends by itself, should nobody end it */

/* The same loop in each, so that turns are time. volatile: nothing may be left out. */
#define SPIN(turns)                                                                                \
	for (volatile unsigned i = 0; i < (turns); i++)                                            \
		;

__attribute__((noinline)) static void parse_request(void)
{
	SPIN(50000)
}

__attribute__((noinline)) static void render_page(void)
{
	SPIN(30000)
}

__attribute__((noinline)) static void write_log(void)
{
	SPIN(20000)
}

__attribute__((noinline)) static void serve_request(void)
{
	parse_request();
	render_page();
	write_log();
}

static void *worker(void *argument)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "worker-%d", *(int *)argument);
	(void)pthread_setname_np(pthread_self(), name);
	for (;;)
		serve_request();
	return NULL;
}

int main(void)
{
	static int numbers[NR_THREADS];
	pthread_t thread;

	for (int i = 0; i < NR_THREADS; i++) {
		numbers[i] = i + 1;
		if (pthread_create(&thread, NULL, worker, &numbers[i]) != 0)
			return 1;
	}
	(void)sleep(SECONDS);
	return 0;
}
