/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/worker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(worker, .fini = check_leaks);

struct job {
	int in, out;
	int gate; /* read end of a pipe: the job waits for its writer */
	atomic_int *dropped;
};

static void work(void *arg)
{
	struct job *job = arg;
	char byte;

	if (job->gate >= 0 && read(job->gate, &byte, 1) < 0)
		return;
	job->out = job->in * 2;
}

static void drop(void *arg)
{
	struct job *job = arg;
	atomic_int *dropped = job->dropped;

	free(job);
	atomic_fetch_add(dropped, 1);
}

static struct job *job_new(int gate, atomic_int *dropped)
{
	struct job *job = calloc(1, sizeof(*job));

	cr_assert(ne(ptr, job, NULL));
	*job = (struct job){.in = 21, .gate = gate, .dropped = dropped};
	return job;
}

Test(worker, gives_the_argument_back_with_its_result)
{
	static atomic_int dropped;
	struct job *job = job_new(-1, &dropped);

	cr_assert(eq(int, worker_run(work, drop, job, 10000), 0));
	cr_assert(eq(int, job->out, 42));
	cr_assert(eq(int, dropped, 0));
	free(job);
}

Test(worker, one_that_hangs_is_left_at_its_deadline_and_frees_itself_later)
{
	static atomic_int dropped;
	int gate[2];

	cr_assert(eq(int, pipe(gate), 0));
	cr_assert(eq(int, worker_run(work, drop, job_new(gate[0], &dropped), 20), -ETIMEDOUT));
	cr_assert(eq(int, dropped, 0));

	cr_assert(eq(int, close(gate[1]), 0)); /* now the job can end */
	while (!dropped)
		(void)usleep(1000);
	(void)close(gate[0]);
}

Test(worker, can_be_asked_now_and_then)
{
	static atomic_int dropped;
	struct worker *worker;
	struct job *job;
	int gate[2];

	cr_assert(eq(int, pipe(gate), 0));
	job = job_new(gate[0], &dropped);
	cr_assert(eq(int, worker_start(work, drop, job, &worker), 0));
	cr_assert(eq(int, worker_wait(worker, 0), -EAGAIN));
	cr_assert(eq(int, worker_wait(worker, 5), -EAGAIN));
	cr_assert(eq(int, close(gate[1]), 0));
	cr_assert(eq(int, worker_wait(worker, 10000), 0));
	cr_assert(eq(int, job->out, 42));
	free(job);
	(void)close(gate[0]);
}

Test(worker, abandoned_after_its_end_frees_at_once)
{
	static atomic_int dropped;
	struct worker *worker;
	int gate[2];

	cr_assert(eq(int, pipe(gate), 0));
	cr_assert(eq(int, worker_start(work, drop, job_new(gate[0], &dropped), &worker), 0));
	cr_assert(eq(int, (int)write(gate[1], "x", 1), 1));
	worker_abandon(worker);
	while (!dropped)
		(void)usleep(1000);
	worker_abandon(NULL);
	(void)close(gate[0]);
	(void)close(gate[1]);
}
