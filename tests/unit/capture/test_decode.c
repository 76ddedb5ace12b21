/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/decode.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "unit/record.h"

TestSuite(decode, .fini = check_leaks);

static void begin(struct bytes *bytes, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	*bytes = (struct bytes){0};
	put(bytes, &header, sizeof(header));
}

/* What sample_id_all adds, and the length. */
static void end(struct bytes *bytes, uint64_t time_ns)
{
	uint16_t size;

	put32(bytes, 71);
	put32(bytes, 72);
	put64(bytes, time_ns);
	put32(bytes, 3);
	put32(bytes, 0);
	size = (uint16_t)bytes->size;
	memcpy(bytes->data + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void put_mmap(struct bytes *bytes, uint16_t misc, const void *id, const char *path, size_t n)
{
	begin(bytes, PERF_RECORD_MMAP2, misc);
	put32(bytes, 41);
	put32(bytes, 42);
	put64(bytes, 0x7f0000001000);
	put64(bytes, 0x5000);
	put64(bytes, 0x2000);
	put(bytes, id, 24);
	put32(bytes, 5);
	put32(bytes, 2);
	put(bytes, path, n);
	end(bytes, 1234567);
}

static int decode(const struct bytes *bytes, struct item *ret, uint64_t *lost)
{
	return sideband_decode(bytes->data, bytes->size, ret, lost);
}

Test(decode, reads_a_mapping_with_device_and_inode)
{
	struct {
		uint32_t major, minor;
		uint64_t inode, generation;
	} id = {8, 17, 4711, 99};
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	put_mmap(&bytes, 0, &id, "/bin/sh\0", 8);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_MMAP));
	cr_assert(eq(u64, item.time_ns, 1234567));
	cr_assert(eq(int, item.mmap.pid, 41));
	cr_assert(eq(int, item.mmap.tid, 42));
	cr_assert(eq(u64, item.mmap.start, 0x7f0000001000));
	cr_assert(eq(u64, item.mmap.size, 0x5000));
	cr_assert(eq(u64, item.mmap.offset, 0x2000));
	cr_assert(eq(u64, item.mmap.dev, makedev(8, 17)));
	cr_assert(eq(u64, item.mmap.ino, 4711));
	cr_assert(eq(u32, item.mmap.prot, 5));
	cr_assert(eq(u8, item.mmap.build_id_size, 0));
	cr_assert(eq(sz, item.mmap.path_size, 7));
	cr_assert(eq(int, memcmp(item.mmap.path, "/bin/sh", 8), 0));
	free(bytes.data);
}

Test(decode, reads_a_mapping_with_build_id)
{
	uint8_t id[24] = {20, 0, 0, 0, 0xaa, 0xbb};
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	id[23] = 0xcc;
	put_mmap(&bytes, PERF_RECORD_MISC_MMAP_BUILD_ID, id, "/lib/x.so\0\0\0\0\0\0\0", 16);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(u8, item.mmap.build_id_size, 20));
	cr_assert(eq(u8, item.mmap.build_id[0], 0xaa));
	cr_assert(eq(u8, item.mmap.build_id[19], 0xcc));
	cr_assert(eq(u64, item.mmap.ino, 0));
	free(bytes.data);
}

Test(decode, refuses_a_build_id_that_is_too_long)
{
	uint8_t id[24] = {21};
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	put_mmap(&bytes, PERF_RECORD_MISC_MMAP_BUILD_ID, id, "/lib/x\0", 8);
	cr_assert(eq(int, decode(&bytes, &item, &lost), -EBADMSG));
	free(bytes.data);
}

Test(decode, refuses_a_path_without_an_end)
{
	uint8_t id[24] = {0};
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	put_mmap(&bytes, 0, id, "/bin/abc", 8);
	cr_assert(eq(int, decode(&bytes, &item, &lost), -EBADMSG));
	free(bytes.data);
	put_mmap(&bytes, 0, id, "", 0);
	cr_assert(eq(int, decode(&bytes, &item, &lost), -EBADMSG), "no path at all");
	free(bytes.data);
}

Test(decode, reads_a_comm_and_whether_it_was_an_exec)
{
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	begin(&bytes, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&bytes, 5);
	put32(&bytes, 6);
	put(&bytes, "java\0\0\0\0", 8);
	end(&bytes, 9);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_COMM));
	cr_assert(eq(int, item.comm.pid, 5));
	cr_assert(eq(int, item.comm.tid, 6));
	cr_assert(eq(str, (char *)item.comm.comm, "java"));
	cr_assert(ne(int, item.comm.exec, 0));
	bytes.data[offsetof(struct perf_event_header, misc) + 1] = 0;
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(int, item.comm.exec, 0));
	free(bytes.data);
}

Test(decode, reads_forks_and_exits)
{
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	begin(&bytes, PERF_RECORD_FORK, 0);
	put32(&bytes, 11);
	put32(&bytes, 12);
	put32(&bytes, 13);
	put32(&bytes, 14);
	put64(&bytes, 77);
	end(&bytes, 78);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_FORK));
	cr_assert(eq(int, item.task.pid, 11));
	cr_assert(eq(int, item.task.parent_pid, 12));
	cr_assert(eq(int, item.task.tid, 13));
	cr_assert(eq(int, item.task.parent_tid, 14));
	bytes.data[0] = PERF_RECORD_EXIT;
	cr_assert(eq(int, decode(&bytes, &item, &lost), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_EXIT));
	free(bytes.data);
}

Test(decode, counts_what_the_kernel_says_it_lost)
{
	struct item item = {.time_ns = 5};
	struct bytes bytes;
	uint64_t lost = 2;

	begin(&bytes, PERF_RECORD_LOST, 0);
	put64(&bytes, 1);
	put64(&bytes, 40);
	end(&bytes, 8);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 0));
	cr_assert(eq(u64, lost, 42));
	cr_assert(eq(u64, item.time_ns, 5), "output untouched");
	free(bytes.data);
}

Test(decode, passes_over_records_it_does_not_know)
{
	struct item item = {0};
	struct bytes bytes;
	uint64_t lost = 0;

	begin(&bytes, 4000, 0);
	end(&bytes, 8);
	cr_assert(eq(int, decode(&bytes, &item, &lost), 0));
	free(bytes.data);
}

Test(decode, refuses_every_shortened_record)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK,
		PERF_RECORD_EXIT, PERF_RECORD_LOST};
	uint8_t id[24] = {0};
	struct item item = {0};
	uint64_t lost = 0;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t fixed = (size_t[]){72, 16, 32, 32, 24}[i];

		for (size_t size = 0; size < fixed + 24; size++) {
			struct bytes bytes;

			put_mmap(&bytes, 0, id, "abcdefg", 8);
			memcpy(bytes.data, &types[i], sizeof(types[i]));
			bytes.data = realloc(bytes.data, size ? size : 1);
			bytes.size = size;
			cr_assert(eq(int, decode(&bytes, &item, &lost), -EBADMSG),
				"type %u, %zu bytes", types[i], size);
			free(bytes.data);
		}
	}
}

/* Rings. */

static void lay(uint8_t *ring, size_t size, uint64_t at, uint16_t length, uint8_t fill)
{
	struct perf_event_header header = {.type = PERF_RECORD_COMM, .size = length};

	for (size_t i = 0; i < length; i++)
		ring[(at + i) & (size - 1)] =
			i < sizeof(header) ? ((uint8_t *)&header)[i] : (uint8_t)(fill + i);
}

Test(decode, puts_records_together_that_wrap_around)
{
	static uint8_t bounce[RECORD_MAX_BYTES];
	uint8_t ring[64];
	struct perf_view view = {.data = ring, .mask = 63, .tail = 1000, .head = 1000};
	const uint8_t *record;
	size_t size;

	for (unsigned i = 0; i < 100; i++) { /* 40 bytes at every place of 64 */
		lay(ring, 64, view.head, 40, (uint8_t)i);
		view.head += 40;
		cr_assert(eq(int, perf_next(&view, bounce, &record, &size), 1));
		cr_assert(eq(sz, size, 40));
		for (size_t j = sizeof(struct perf_event_header); j < 40; j++)
			cr_assert(eq(u8, record[j], (uint8_t)(i + j)));
		cr_assert(eq(int, perf_next(&view, bounce, &record, &size), 0));
	}
}

Test(decode, skips_a_ring_whose_lengths_cannot_be)
{
	static const uint16_t bad[] = {0, 1, 7, 9, 44, 48, 65528};
	static uint8_t bounce[RECORD_MAX_BYTES];
	uint8_t ring[64] = {0};
	const uint8_t *record;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct perf_view view = {.data = ring, .mask = 63, .tail = 0, .head = 40};
		struct perf_event_header header = {.size = bad[i]};

		memcpy(ring, &header, sizeof(header));
		cr_assert(
			eq(int, perf_next(&view, bounce, &record, &size), -EBADMSG), "%u", bad[i]);
		cr_assert(eq(u64, view.tail, 40), "goes on, behind it");
		cr_assert(eq(int, perf_next(&view, bounce, &record, &size), 0));
	}
}

Test(decode, refuses_positions_further_apart_than_the_ring)
{
	static uint8_t bounce[RECORD_MAX_BYTES];
	uint8_t ring[64] = {0};
	struct perf_view view = {.data = ring, .mask = 63, .tail = 0, .head = 72};
	const uint8_t *record;
	size_t size;

	cr_assert(eq(int, perf_next(&view, bounce, &record, &size), -EBADMSG));
	view = (struct perf_view){.data = ring, .mask = 63, .tail = 72, .head = 0};
	cr_assert(eq(int, perf_next(&view, bounce, &record, &size), -EBADMSG), "backwards");
}

/* Samples. */

struct two_frames {
	struct stoke_sample sample;
	uint64_t frames[2];
};

Test(decode, reads_a_sample)
{
	struct two_frames record = {
		.sample = {.type = STOKE_RECORD_SAMPLE, .nr_kernel = 1, .nr_user = 1, .time_ns = 9},
		.frames = {0xffffffff81000000, 0x401000},
	};
	struct item item = {0};

	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_SAMPLE));
	cr_assert(eq(u64, item.time_ns, 9));
	cr_assert(eq(u64, item.sample.frames[1], 0x401000));
}

Test(decode, refuses_samples_that_count_more_frames_than_they_hold)
{
	struct two_frames record = {.sample = {.type = STOKE_RECORD_SAMPLE}};
	struct item item = {0};

	record.sample.nr_user = 3;
	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), -EBADMSG));
	record.sample.nr_user = UINT16_MAX;
	record.sample.nr_kernel = UINT16_MAX;
	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), -EBADMSG));
	record.sample.nr_user = 2;
	record.sample.nr_kernel = 0;
	cr_assert(eq(int, sample_decode(&record, sizeof(record) - 1, &item), -EBADMSG));
	cr_assert(eq(int, sample_decode(&record, sizeof(record.sample) - 1, &item), -EBADMSG));
	record.sample.type = 2;
	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), -EBADMSG), "unknown type");
}

Test(decode, knows_copies_of_stacks_and_their_bounds)
{
	struct {
		struct stoke_copy head;
		uint64_t memory[4];
	} record = {.head = {.type = STOKE_RECORD_COPY, .bytes = 32}};
	struct item item;

	cr_assert(eq(sz, copy_decode(&record, sizeof(record)), sizeof(record)));
	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), 0), "no sample");
	record.head.bytes = 16;
	cr_assert(eq(sz, copy_decode(&record, sizeof(record)), sizeof(record.head) + 16));
	record.head.bytes = 33;
	cr_assert(eq(sz, copy_decode(&record, sizeof(record)), 0));
	cr_assert(eq(int, sample_decode(&record, sizeof(record), &item), -EBADMSG));
	record.head.bytes = UINT32_MAX;
	cr_assert(eq(sz, copy_decode(&record, sizeof(record)), 0));
	cr_assert(eq(sz, copy_decode(&record, sizeof(record.head) - 1), 0));
}
