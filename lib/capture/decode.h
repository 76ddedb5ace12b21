/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_DECODE_H
#define STOKE_CAPTURE_DECODE_H

/*
 * Bytes of rings into items: pure functions, so that tests and fuzzers reach everything that reads
 * what came from outside. Nothing is trusted but the bounds given.
 */

#include <stddef.h>
#include <stdint.h>

#include "capture/item.h"

/* A record may be this long: its size field has 16 bits. */
#define RECORD_MAX_BYTES 65536

/* A perf ring between its two positions. */
struct perf_view {
	const uint8_t *data;
	uint64_t mask; /* size - 1, a power of two */
	uint64_t tail, head; /* ever growing */
};

/*
 * The next record of a perf ring, whole: where it wraps around, put together in bounce, which has
 * room for RECORD_MAX_BYTES. *ret_size is its length, and the tail moves past it. 1, 0 at the end,
 * or -EBADMSG for a length that cannot be; the rest of the ring is then skipped, as nothing says
 * where the next record starts.
 */
int perf_next(struct perf_view *view, uint8_t *bounce, const uint8_t **ret, size_t *ret_size);

/*
 * A record of the side band, which was opened with sample_id_all and TID | TIME | CPU. 1: *ret is
 * set, and leads into record. 0: nothing of interest; *ret_lost, when it tells of lost records, is
 * added to. -EBADMSG: its parts do not fit into its length.
 */
int sideband_decode(const uint8_t *record, size_t size, struct item *ret, uint64_t *ret_lost);

/* A record of a BPF ring. 1; 0: a copy, for a sample that follows; -EBADMSG. record is aligned to 8
 * bytes. */
int sample_decode(const void *record, size_t size, struct item *ret);
/* Bytes of a copy, checked, with the memory behind it; 0: it is none. */
size_t copy_decode(const void *record, size_t size);

#endif
