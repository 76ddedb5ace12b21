/* SPDX-License-Identifier: BSD-2-Clause */
/* capture/perfsample.c: the first byte says which parts a sample is told to have. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "capture/perfsample.h"
#include "fuzz/fuzz.h"

static const uint64_t parts[] = {
	PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint64_t sink;
	static struct perf_sample room;
	uint64_t type = 0;
	struct item item;
	uint8_t *copy;

	if (!size)
		return 0;
	for (size_t i = 0; i < 3; i++)
		type |= data[0] >> i & 1 ? parts[i] : 0;
	copy = malloc(size); /* exactly as long as it is, and aligned */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (perf_sample_decode(copy, size - 1, type, &room, &item) > 0) {
		const struct stoke_sample *record = item.sample.record;

		for (size_t i = 0; i < (size_t)record->nr_kernel + record->nr_user; i++)
			sink += item.sample.frames[i];
		for (size_t i = 0; item.sample.copy && i < item.sample.copy->bytes; i++)
			sink += ((const uint8_t *)(item.sample.copy + 1))[i];
	}
	free(copy);
	return 0;
}
