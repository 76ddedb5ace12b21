/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_ITEM_H
#define STOKE_CAPTURE_ITEM_H

/*
 * One thing that happened, whatever ring it came through, bounds-checked and decoded. Pointers lead
 * into ring memory and are good during the callback only.
 */

#include <stdint.h>
#include <sys/types.h>

#include "bpf/event.h"
#include "process/process.h"

enum item_kind {
	ITEM_SAMPLE,
	ITEM_MMAP,
	ITEM_COMM,
	ITEM_FORK,
	ITEM_EXIT,
	ITEM_KERNEL_CODE, /* code came into the kernel or went (BPF, trampolines); no fields */
};

struct item {
	enum item_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	union {
		struct {
			const struct stoke_sample *record; /* checked: frames lie within */
			const uint64_t *frames; /* nr_kernel, then nr_user */
			const struct stoke_copy *copy; /* checked likewise; NULL: none came */
		} sample;
		struct mmap_event mmap;
		struct {
			pid_t pid, tid;
			const char *comm; /* NUL-terminated */
			int exec;
		} comm;
		struct {
			pid_t pid, tid, parent_pid, parent_tid;
		} task; /* FORK, EXIT */
	};
};

#endif
