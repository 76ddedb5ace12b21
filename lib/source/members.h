/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_MEMBERS_H
#define STOKE_SOURCE_MEMBERS_H

/*
 * The target set where there is no BPF: an event on each thread for each CPU, inherited by what
 * those threads start, and a ring a CPU for all of them. Events fire from the moment their thread
 * is added, so that nothing is mapped unseen behind it: samples of before the start are the
 * reader's to drop.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/perfrings.h"
#include "stoke.h"

struct members;

struct members_options {
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config; /* PERF_COUNT_* */
	uint64_t period; /* mean: each event's own is within 20 % of it */
	uint64_t period_ns; /* the same in time, when a CPU is busy */
	int all; /* every process: an event a CPU */
	int children; /* what members fork are members */
	int user, kernel; /* which parts of stacks */
	const unsigned *cpus; /* the caller's */
	size_t nr_cpus;
};

/* Maps the rings. Errors have their sentence. */
int members_open(
	const struct members_options *options, struct members **ret, struct stoke_error *err);
void members_close(struct members *members);
/* Good until members_close(). */
const struct plain_rings *members_rings(const struct members *members);
/* 0: these rights do not allow to see the kernel, and events fire in user code alone. */
int members_see_kernel(const struct members *members);

/* All threads of a process. -ESRCH: it has ended. */
int members_add_process(struct members *members, pid_t pid, struct stoke_error *err);
/* A process of one thread; its events fire from its next exec on. */
int members_add_pending(struct members *members, pid_t pid, struct stoke_error *err);
int members_add_thread(struct members *members, pid_t tid, struct stoke_error *err);
/* 1, 0. */
int members_has(const struct members *members, pid_t pid);
/* Records said so. 0, -ENOMEM. */
int members_forked(struct members *members, pid_t parent, pid_t child);
void members_exited(struct members *members, pid_t pid);

/* What was lost up to now is not counted. */
void members_begin(struct members *members);
/* No event fires any more. */
void members_stop(struct members *members);
/* Records for which a ring had no room, known once stopped; 0 where the kernel does not tell. */
uint64_t members_lost(const struct members *members);

#endif
