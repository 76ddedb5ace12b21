/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_LABELS_H
#define STOKE_CAPTURE_LABELS_H

#include <stdint.h>

#include "base/strings.h"
#include "bpf/event.h"
#include "process/process.h"
#include "profile/profile.h"

/* Sample -> label set of the profile: process, pid, thread, tid, and cpu if asked for. */
struct labels {
	struct strings keys; /* (incarnation, process name, tid, comm, cpu), as bytes */
	uint32_t *sets; /* by id of keys */
	size_t sets_capacity;
};

int labels_init(struct labels *labels);
void labels_done(struct labels *labels);

/* name: of the process; flags: STOKE_LABEL_CPU, STOKE_NO_THREAD_NAMES (their pool's instead). */
int labels_find(struct labels *labels, struct stoke_profile *profile,
	const struct stoke_sample *record, const struct process *process, const char *name,
	unsigned flags, uint32_t *ret);

#endif
