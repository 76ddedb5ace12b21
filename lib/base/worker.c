/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c: jobs with a deadline. The only file with locks: who frees is decided under them. */
#include "base/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* Jobs read files through heap buffers; the default of 8 MiB a thread would only be address space
 * that a limit may refuse. */
#define WORKER_STACK_BYTES (256 * 1024)

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int done, abandoned;
	void (*job)(void *arg);
	void (*drop)(void *arg);
	void *arg;
};

static void worker_free(struct worker *worker)
{
	(void)pthread_cond_destroy(&worker->ended); /* nobody waits: cannot fail */
	(void)pthread_mutex_destroy(&worker->lock);
	free(worker);
}

static void *run(void *data)
{
	struct worker *worker = data;
	int abandoned;

	worker->job(worker->arg);
	(void)pthread_mutex_lock(&worker->lock); /* a plain mutex, never held twice */
	abandoned = worker->abandoned;
	worker->done = 1;
	(void)pthread_cond_signal(&worker->ended);
	(void)pthread_mutex_unlock(&worker->lock);
	if (abandoned) {
		worker->drop(worker->arg);
		worker_free(worker);
	}
	return NULL;
}

/* Detached and deaf: signals are for the caller's own threads. */
static int spawn(struct worker *worker)
{
	pthread_attr_t attributes;
	sigset_t all;
	pthread_t thread;
	int r;

	r = pthread_attr_init(&attributes);
	if (r)
		return -r;
	(void)sigfillset(&all);
	r = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!r)
		r = pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
	if (!r)
		r = pthread_attr_setsigmask_np(&attributes, &all);
	if (!r)
		r = pthread_create(&thread, &attributes, run, worker);
	(void)pthread_attr_destroy(&attributes);
	return -r;
}

int worker_start(void (*job)(void *arg), void (*drop)(void *arg), void *arg, struct worker **ret)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	pthread_condattr_t monotonic;
	int r;

	if (!worker)
		return -ENOMEM;
	*worker = (struct worker){.job = job, .drop = drop, .arg = arg};
	(void)pthread_mutex_init(&worker->lock, NULL); /* cannot fail with glibc and musl */
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&worker->ended, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);

	r = spawn(worker);
	if (r < 0) {
		worker_free(worker);
		return r;
	}
	*ret = worker;
	return 0;
}

static struct timespec deadline_of(unsigned timeout_ms)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += timeout_ms / 1000;
	at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

int worker_wait(struct worker *worker, unsigned timeout_ms)
{
	struct timespec deadline = deadline_of(timeout_ms);
	int done, r = 0;

	(void)pthread_mutex_lock(&worker->lock);
	while (!worker->done && timeout_ms && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&worker->ended, &worker->lock, &deadline);
	done = worker->done;
	(void)pthread_mutex_unlock(&worker->lock);
	if (!done)
		return -EAGAIN;
	worker_free(worker);
	return 0;
}

void worker_abandon(struct worker *worker)
{
	int done;

	if (!worker)
		return;
	(void)pthread_mutex_lock(&worker->lock);
	done = worker->done;
	worker->abandoned = 1;
	(void)pthread_mutex_unlock(&worker->lock);
	if (done) {
		worker->drop(worker->arg);
		worker_free(worker);
	}
}

int worker_run(void (*job)(void *arg), void (*drop)(void *arg), void *arg, unsigned timeout_ms)
{
	struct worker *worker;
	int r;

	r = worker_start(job, drop, arg, &worker);
	if (r < 0)
		return r;
	if (worker_wait(worker, timeout_ms) == 0)
		return 0;
	worker_abandon(worker);
	return -ETIMEDOUT;
}
