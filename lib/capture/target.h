/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_TARGET_H
#define STOKE_CAPTURE_TARGET_H

/*
 * Who is recorded: processes that exist, their descendants, or a command that is started and held
 * until everything counts.
 */

#include <stdint.h>

#include "process/cgroup.h"
#include "process/process.h"
#include "source/source.h"
#include "stoke.h"

struct targets;

/* Is pid a process that can be recorded? 0, or -ESRCH with a sentence that says what it is instead:
 * a thread, a zombie, a number of another PID namespace. */
int target_check(const struct host *host, pid_t pid, struct stoke_error *err);

/* Checks that the named processes live; starts the command, held before its exec. -ESRCH with the
 * sentence for pids that are threads, zombies or nothing. The options' arrays and the
 * cgroup (NULL: none) stay the caller's and must outlive the targets. */
int targets_open(const struct stoke_record_options *options, const struct host *host,
	const struct cgroup *cgroup, struct targets **ret, struct stoke_error *err);
void targets_close(struct targets *targets);

/* Fills the target set, adds descendants until a scan finds no more, reads what they have mapped.
 */
int targets_watch(struct targets *targets, struct objects *objects, struct processes *processes,
	struct stoke_error *err);
/* Lets the command exec. -ENOENT or -EACCES when it cannot be run. */
int targets_release(struct targets *targets, struct stoke_error *err);

/* 1 when every named target, or the command, has ended. */
int targets_ended(struct targets *targets);
/* Processes to read in for -a, a few each time; 1 while some are left. */
int targets_scan_some(struct targets *targets, struct processes *processes, size_t max);

/* The recording begins: CPU time counts from now. */
void targets_begin(struct targets *targets);
/* CPU time that the named processes used since targets_begin(), -1: not known (-a; or they had
 * children, whose time it does not hold). */
int64_t targets_cpu_ns(struct targets *targets);
/* A process was forked by a target. */
void targets_note_child(struct targets *targets);

pid_t targets_command_pid(const struct targets *targets); /* 0: there is none */
int targets_command_status(const struct targets *targets, int *ret);
void targets_command_kill(struct targets *targets, int signal);

/* "248927 java (jenkins.war), 214 threads" */
const char *targets_text(const struct targets *targets);
/* Short word for file names: "java-248927", "all", "3-processes". */
const char *targets_label(const struct targets *targets);

#endif
