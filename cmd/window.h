/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_WINDOW_H
#define STOKE_CMD_WINDOW_H

#include <stdint.h>

#include "cmd/progress.h"
#include "stoke.h"

/* The time in which a recording runs, and what ends it. */

struct signals; /* SIGINT, SIGTERM, SIGHUP as something to poll */

enum window_end {
	WINDOW_TIME, /* it was over */
	WINDOW_TARGET, /* every target, or the command, has ended */
	WINDOW_SIGNAL, /* somebody wants the result now */
};

/*
 * From here on the three signals are noted instead of ending the process; SIGPIPE is ignored, a
 * closed pipe being an error of one output and no reason to lose the others. Called after the
 * command was forked: it keeps what stoke was given.
 */
int signals_open(struct signals **ret);
/* They do again what they did before: the next one ends the process at once. Takes NULL. */
void signals_close(struct signals *signals);

struct window {
	struct stoke_recorder *recorder;
	struct signals *signals;
	struct progress *progress;
	uint64_t duration_ns; /* 0: no limit */
	int has_command; /* a signal that only stoke got is passed on to it */
};

/* Runs the recorder until something ends it. 0 or -errno with a sentence. */
int window_run(const struct window *window, enum window_end *ret, struct stoke_error *err);

uint64_t monotonic_ns(void);

#endif
