/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_RECORDER_H
#define STOKE_CAPTURE_RECORDER_H

/* What recorder.c, opening.c and facts.c share; everybody else knows stoke.h. */

#include <stdint.h>

#include "capture/assemble.h"
#include "capture/load.h"
#include "capture/rings.h"
#include "capture/target.h"
#include "capture/timeline.h"
#include "capture/unwinder.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "source/source.h"
#include "source/tables.h"
#include "stoke.h"

#define SLICE_NS 20000000ull
#define ROUND_NS 100000000ull

struct stoke_recorder {
	struct stoke_record_options options;
	struct host host;
	int host_is_open;
	struct cgroup cgroup; /* fd -1: none */
	unsigned *cpus;
	size_t nr_cpus;
	struct rings *rings;
	struct objects *objects;
	struct targets *targets;
	struct processes *processes;
	struct timeline *timeline;
	struct assembler *assembler;
	struct tables *tables; /* of unwinding, NULL: walks go by frame pointers */
	struct unwinder *unwinder;
	struct stoke_profile *profile;
	const struct source *source;
	void *source_params, *source_run;
	struct source_state state;
	int epoll_fd, timer_fd;
	uint64_t start_ns, stop_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t start_unix_ns;
	uint64_t own_cpu_start_ns;
	uint64_t mixed_before; /* records lost before the start, as targets were added */
	uint64_t losses_seen, bpf_losses_taken;
	struct resolve_ahead *ahead; /* NULL: not worth it, or not true any more */
	int looked_ahead;
	int held; /* the timeline waits for an unwind table */
	int targets_ended;
	struct load load_before, load_after; /* of the machine and the target's limit */
	int64_t target_cpu_ns; /* at the latest round, final once stopped; -1: not known */
};

/* opening.c: all that stoke_recorder_open() promises. */
int recorder_open_all(struct stoke_recorder *recorder, struct stoke_error *err);
/* An empty profile with its run, to be filled. */
int recorder_begin_profile(struct stoke_recorder *recorder);

unsigned recorder_rate_of(const struct stoke_record_options *options);
/* CPU time of this process. */
uint64_t recorder_own_cpu_ns(void);
/* Of the recording so far, or whole. */
uint64_t recorder_duration_ns(const struct stoke_recorder *recorder);

/* How the machine is now; keeps what was known of the limit of a target that is gone. */
void recorder_note_load(const struct stoke_recorder *recorder, struct load *ret);

/* Puts into the profile what the run says of itself: facts, losses, what is to be warned of. */
int recorder_state_facts(struct stoke_recorder *recorder);

#endif
