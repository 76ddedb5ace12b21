/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_RECORD_H
#define STOKE_CMD_RECORD_H

/* Between the two halves of "stoke record": what was asked for, and doing it. */

#include "cmd/command.h"
#include "cmd/results.h"

struct record_values {
	unsigned flags; /* of stoke_record_options */
	struct numbers pids, tids, cpus;
	struct amount duration, delay, frequency, count;
	const char *cgroup, *container, *name; /* other ways to say who */
	struct stoke_container found; /* by --container */
	const char *event, *format, *call_graph_how, *work;
	struct texts outputs;
	struct numbers by; /* positions in by_words */
	unsigned threads, call_graph;
};

int record_run(const struct call *call);
/* Bare operands become PIDs; what makes no sense together is refused. An exit status. */
int record_check(const struct call *call);
/* -p, -t or -a was given: a command behind "--" is only the window. */
int record_has_target(const struct record_values *values);
/* Each -o, or the two default files, called by the PID of the target, or of the command. An exit
 * status. */
int record_open_outputs(const struct call *call, struct results *results, pid_t command);

#endif
