/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_WORKER_H
#define STOKE_BASE_WORKER_H

/*
 * A job that may hang (a file on a file system whose server never answers) or take long runs in a
 * thread of its own, with a deadline. It shares nothing: `arg` is its input and its result, owned
 * by the worker until worker_wait() gives it back. A worker that is abandoned frees `arg` by
 * drop() whenever its job ends, or never.
 */

struct worker;

/* 0, or -errno: then nothing ran and arg is still the caller's. */
int worker_start(void (*job)(void *arg), void (*drop)(void *arg), void *arg, struct worker **ret);
/* 0: the job is done, arg is the caller's again, the worker is gone. -EAGAIN: not done after that
 * time (0: just looks). */
int worker_wait(struct worker *worker, unsigned timeout_ms);
/* The worker, done or not, is left to itself, arg too. Takes NULL. */
void worker_abandon(struct worker *worker);

/* All in one. 0: done, arg is the caller's. -ETIMEDOUT: arg is gone. Other -errno: as
 * worker_start(). */
int worker_run(void (*job)(void *arg), void (*drop)(void *arg), void *arg, unsigned timeout_ms);

#endif
