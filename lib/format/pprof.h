/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_PPROF_H
#define STOKE_FORMAT_PPROF_H

/*
 * What reader and writer of pprof's profile.proto share: field numbers of its outermost message,
 * which both walk by hand so that only one sample is unpacked at a time, and the conventions of
 * stoke (docs/file-formats.md). The messages inside are protobuf-c's affair.
 */

#include "format/format.h"

/* message Profile, profile.proto */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING_TABLE = 6,
	PPROF_TIME_NANOS = 9,
	PPROF_DURATION_NANOS = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_SAMPLE_TYPE = 14,
};

/* types on the wire, https://protobuf.dev/programming-guides/encoding */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/*
 * An extra field, far outside the numbers that profile.proto uses, which every reader but stoke
 * skips: in Function enum function_kind, in Location the FRAME_* flags. Lost when another tool
 * writes the file anew; then kinds are told from mappings.
 */
#define PPROF_EXTRA 1000

#define PPROF_KERNEL	     "[kernel.kallsyms]" /* file name of the kernel's mapping, as perf's */
#define PPROF_COMMENT_PREFIX "stoke."
#define PPROF_QUALITY	     "quality." /* behind the prefix */
#define PPROF_SLICE	     "slice_ns"
#define PPROF_TIME	     "time" /* label: start of the slice, unit nanoseconds */

/* A varint at *at in [p, p + size): 0 and *at moves on, or -1: cut or longer than 10 bytes. */
static inline int pprof_varint(const uint8_t *p, size_t size, size_t *at, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (*at >= size)
			return -1;
		byte = p[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return shift == 63 && byte > 1 ? -1 : 0;
		}
	}
	return -1;
}

int pprof_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err);
int pprof_recognise(const uint8_t *start, size_t size);

#endif
