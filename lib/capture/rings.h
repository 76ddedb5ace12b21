/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_RINGS_H
#define STOKE_CAPTURE_RINGS_H

/*
 * The rings that kernel writes and stoke drains: BPF rings with samples (one per 16 CPUs) and a
 * perf ring a CPU with the side band. Knows layouts, bounds and losses; knows nothing of what
 * records mean.
 */

#include <stddef.h>
#include <stdint.h>

#include "capture/item.h"
#include "source/perfrings.h"
#include "stoke.h"

struct rings;

struct rings_options {
	const unsigned *cpus; /* whose side band; all online when nr_cpus is 0 */
	size_t nr_cpus;
	const int *bpf_map_fds; /* RINGBUF maps with samples; added later by rings_add_bpf() */
	size_t nr_bpf_maps;
	int no_sideband; /* it will come with samples: rings_add_perf() */
};

/* Side band first: it has to be open before /proc is read and before anything samples. */
int rings_open(const struct rings_options *options, struct rings **ret, struct stoke_error *err);
int rings_add_bpf(struct rings *rings, int map_fd, struct stoke_error *err);
/* Rings with samples and side band, mapped by whoever lends them: they outlive these. */
int rings_add_perf(struct rings *rings, const struct plain_rings *lent, struct stoke_error *err);
void rings_close(struct rings *rings);

/* epoll fd: readable when a ring passed its watermark. */
int rings_fd(const struct rings *rings);

/* Hands each record now in the rings to take(), ring by ring, in each ring's order. Returns the
 * number handed on, or the first negative result of take(), which ends the draining. */
int rings_drain(struct rings *rings, int (*take)(void *arg, const struct item *item), void *arg);

struct rings_losses {
	uint64_t sideband; /* records the kernel says it dropped (PERF_RECORD_LOST and FORMAT_LOST)
			    */
	uint64_t mixed; /* of rings that hold samples, too */
	uint64_t malformed; /* records whose sizes contradict themselves */
};

void rings_losses(struct rings *rings, struct rings_losses *ret);
/* 1 when the side band carries build ids (5.12). */
int rings_have_build_ids(const struct rings *rings);

#endif
