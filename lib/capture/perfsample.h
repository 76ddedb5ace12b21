/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_PERFSAMPLE_H
#define STOKE_CAPTURE_PERFSAMPLE_H

/*
 * A sample as perf_event_open() alone gives it, made one of bpf/event.h: kernel addresses, and of
 * the user part its registers and a copy of the stack, over which the walk is done later. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "capture/item.h"

/* Where a sample is put together. */
struct perf_sample {
	struct stoke_sample record;
	uint64_t frames[STOKE_MAX_KERNEL_FRAMES + 1];
	struct stoke_copy copy;
	uint8_t memory[STOKE_COPY_BYTES]; /* follows the copy without a gap */
};

/*
 * A PERF_RECORD_SAMPLE of events opened as source/perfrings.h says, with this sample_type. 1: *ret
 * is set and leads into room; -EBADMSG: its parts do not fit into its length. comm is not in it:
 * "".
 */
int perf_sample_decode(const uint8_t *record, size_t size, uint64_t sample_type,
	struct perf_sample *room, struct item *ret);

#endif
