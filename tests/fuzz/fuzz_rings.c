/* SPDX-License-Identifier: BSD-2-Clause */
/* capture/decode.c: a perf ring of records, and the same bytes as one sample. */
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "fuzz/fuzz.h"

#define RING_BYTES 4096

/* Touches what an item leads to, so that a sanitizer sees what lies outside. */
static uint64_t touch(const struct item *item)
{
	uint64_t sum = 0;

	if (item->kind == ITEM_MMAP)
		for (size_t i = 0; i <= item->mmap.path_size; i++)
			sum += (uint8_t)item->mmap.path[i];
	if (item->kind == ITEM_COMM)
		sum += strlen(item->comm.comm);
	if (item->kind == ITEM_SAMPLE) {
		const struct stoke_sample *record = item->sample.record;

		for (size_t i = 0; i < (size_t)record->nr_kernel + record->nr_user; i++)
			sum += item->sample.frames[i];
	}
	return sum;
}

static uint64_t read_ring(const uint8_t *data, size_t size)
{
	static uint8_t bounce[RECORD_MAX_BYTES];
	static uint8_t ring[RING_BYTES];
	/* The first byte says where in the ring the records begin: some wrap around. */
	uint64_t tail = size ? data[0] * 16u : 0, lost = 0, sum = 0;
	struct perf_view view = {.data = ring, .mask = RING_BYTES - 1, .tail = tail, .head = tail};
	const uint8_t *record;
	size_t record_size;
	struct item item;
	int r;

	for (size_t i = 1; i < size && i <= RING_BYTES; i++)
		ring[view.head++ & view.mask] = data[i];
	while ((r = perf_next(&view, bounce, &record, &record_size)) != 0) {
		uint8_t *copy;

		if (r < 0)
			continue;
		copy = malloc(record_size); /* exactly as long as it is */
		if (!copy)
			break;
		memcpy(copy, record, record_size);
		if (sideband_decode(copy, record_size, &item, &lost) > 0)
			sum += touch(&item);
		free(copy);
	}
	return sum + lost;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint64_t sink;
	struct item item;
	void *copy = calloc(1, size ? size : 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (sample_decode(copy, size, &item) > 0)
		sink += touch(&item);
	for (size_t i = copy_decode(copy, size); i > 0; i--)
		sink += ((const uint8_t *)copy)[i - 1];
	free(copy);
	sink += read_ring(data, size);
	return 0;
}
