/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_ASSEMBLE_H
#define STOKE_CAPTURE_ASSEMBLE_H

/*
 * Raw stacks -> frames -> rows of the profile: file and kernel code as (module, offset), nameless
 * until the end; generated code named by its runtime, which may mean waiting for a reading.
 */

#include <stdint.h>

#include "bpf/event.h"
#include "capture/ends.h"
#include "process/process.h"
#include "profile/profile.h"

struct assembler;
struct unwinder;

struct assembler_options {
	const struct host *host;
	struct processes *processes;
	uint64_t start_ns; /* CLOCK_MONOTONIC: slice 0 begins */
	uint64_t slice_ns;
	uint64_t end_ns; /* samples after this are dropped: beyond the window */
	int weight_is_ns; /* a second value column, cpu nanoseconds */
	/* Of the unwind tables in use; NULL: walks go by frame pointers. */
	const struct unwinder *unwinder;
	const char *unit; /* type of the weight otherwise: the event's name */
	unsigned flags; /* STOKE_LABEL_CPU, STOKE_NO_THREAD_NAMES, STOKE_KERNEL_ONLY */
};

int assembler_new(const struct assembler_options *options, struct assembler **ret);
void assembler_free(struct assembler *assembler);

/* Where rows go from now on, run 0 of it; what waits or was cached for another one is dropped. */
int assembler_use(struct assembler *assembler, struct stoke_profile *profile);
void assembler_set_start(struct assembler *assembler, uint64_t start_ns);

/* One sample, in order of time with what changes address spaces. */
int assembler_sample(
	struct assembler *assembler, const struct stoke_sample *record, const uint64_t *frames);
/* Readings that are due. */
int assembler_tick(struct assembler *assembler, uint64_t now_ns);
/* The last reading for a process that ends. */
int assembler_exit(struct assembler *assembler, struct process *process, uint64_t now_ns);
/* The last reading for all: nothing waits afterwards. */
int assembler_finish(struct assembler *assembler, uint64_t now_ns);

/* Before resolve_profile(): frames in first functions get their flag (not earlier: it is part of a
 * frame's key). */
void assembler_mark_roots(struct assembler *assembler);
/* After resolve_profile(): stacks whose outermost frame turns out to be a root by its name are
 * taken out from under [broken]; fills the counts of stacks, stale frames and bad map lines. */
int assembler_judge(struct assembler *assembler, struct quality *quality);
/* What the runtime of the i-th process with generated code has to say; "" mostly, NULL after the
 * last. ret_pid: whose. buffer is filled and returned. */
struct generated_findings;
const char *assembler_finding(const struct assembler *assembler, size_t i, pid_t *ret_pid,
	struct generated_findings *buffer);
/* Was there ever a frame of the kernel? */
int assembler_met_kernel(const struct assembler *assembler);
uint64_t assembler_samples(const struct assembler *assembler);
uint64_t assembler_weight(const struct assembler *assembler);

#endif
