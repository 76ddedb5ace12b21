/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.c: layouts of perf's records (linux/perf_event.h) and of samples (bpf/event.h). File names
 * and comms in them are chosen by whoever is profiled.
 */
#include "capture/decode.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/sysmacros.h>

/* What sample_id_all puts behind every record: TID, TIME, CPU. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_size, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	/* then the path, padded with NULs to 8 bytes */
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	/* then the comm, padded likewise */
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

_Static_assert(sizeof(struct trailer) == 24, "as the kernel lays it out");
_Static_assert(sizeof(struct mmap2_record) == 72, "as the kernel lays it out");
_Static_assert(sizeof(struct task_record) == 32, "as the kernel lays it out");

static void copy_out(const struct perf_view *view, uint64_t at, void *to, size_t size)
{
	uint64_t offset = at & view->mask, first = view->mask + 1 - offset;

	if (first > size)
		first = size;
	memcpy(to, view->data + offset, first);
	memcpy((uint8_t *)to + first, view->data, size - first);
}

int perf_next(struct perf_view *view, uint8_t *bounce, const uint8_t **ret, size_t *ret_size)
{
	uint64_t available = view->head - view->tail;
	struct perf_event_header header;

	if (available == 0)
		return 0;
	if (available < sizeof(header) || available > view->mask + 1) {
		view->tail = view->head;
		return -EBADMSG;
	}
	copy_out(view, view->tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > available || header.size % 8) {
		view->tail = view->head;
		return -EBADMSG;
	}
	if ((view->tail & view->mask) + header.size <= view->mask + 1) {
		*ret = view->data + (view->tail & view->mask);
	} else {
		copy_out(view, view->tail, bounce, header.size);
		*ret = bounce;
	}
	*ret_size = header.size;
	view->tail += header.size;
	return 1;
}

/* The text between a record's fixed part and its trailer; NULL when it does not end. */
static const char *text_of(const uint8_t *record, size_t fixed, size_t end, size_t *ret_size)
{
	const char *text = (const char *)record + fixed;
	const char *nul = fixed < end ? memchr(text, '\0', end - fixed) : NULL;

	if (!nul)
		return NULL;
	*ret_size = (size_t)(nul - text);
	return text;
}

static int decode_mmap(const uint8_t *record, size_t end, struct item *ret)
{
	struct mmap_event event = {.time_ns = ret->time_ns};
	struct mmap2_record mmap;

	if (end < sizeof(mmap))
		return -EBADMSG;
	memcpy(&mmap, record, sizeof(mmap));
	event.path = text_of(record, sizeof(mmap), end, &event.path_size);
	if (!event.path)
		return -EBADMSG;
	event.pid = (pid_t)mmap.pid;
	event.tid = (pid_t)mmap.tid;
	event.start = mmap.start;
	event.size = mmap.size;
	event.offset = mmap.offset;
	event.prot = mmap.prot;
	if (mmap.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (mmap.build_id_size > MODULE_BUILD_ID_MAX)
			return -EBADMSG;
		event.build_id_size = mmap.build_id_size;
		memcpy(event.build_id, mmap.build_id, mmap.build_id_size);
	} else {
		event.dev = makedev(mmap.major, mmap.minor);
		event.ino = mmap.inode;
	}
	ret->kind = ITEM_MMAP;
	ret->mmap = event;
	return 1;
}

static int decode_comm(const uint8_t *record, size_t end, struct item *ret)
{
	struct comm_record comm;
	const char *text;
	size_t size;

	if (end < sizeof(comm))
		return -EBADMSG;
	memcpy(&comm, record, sizeof(comm));
	text = text_of(record, sizeof(comm), end, &size);
	if (!text)
		return -EBADMSG;
	ret->kind = ITEM_COMM;
	ret->comm.pid = (pid_t)comm.pid;
	ret->comm.tid = (pid_t)comm.tid;
	ret->comm.comm = text;
	ret->comm.exec = (comm.header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
	return 1;
}

static int decode_task(const uint8_t *record, size_t end, enum item_kind kind, struct item *ret)
{
	struct task_record task;

	if (end < sizeof(task))
		return -EBADMSG;
	memcpy(&task, record, sizeof(task));
	ret->kind = kind;
	ret->task.pid = (pid_t)task.pid;
	ret->task.tid = (pid_t)task.tid;
	ret->task.parent_pid = (pid_t)task.parent_pid;
	ret->task.parent_tid = (pid_t)task.parent_tid;
	return 1;
}

int sideband_decode(const uint8_t *record, size_t size, struct item *ret, uint64_t *ret_lost)
{
	struct perf_event_header header;
	struct item item = {0};
	struct trailer trailer;
	struct lost_record lost;
	size_t end;
	int r = 0;

	if (size < sizeof(header) + sizeof(trailer))
		return -EBADMSG;
	memcpy(&header, record, sizeof(header));
	end = size - sizeof(trailer);
	memcpy(&trailer, record + end, sizeof(trailer));
	item.time_ns = trailer.time_ns;
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		r = decode_mmap(record, end, &item);
		break;
	case PERF_RECORD_COMM:
		r = decode_comm(record, end, &item);
		break;
	case PERF_RECORD_FORK:
		r = decode_task(record, end, ITEM_FORK, &item);
		break;
	case PERF_RECORD_EXIT:
		r = decode_task(record, end, ITEM_EXIT, &item);
		break;
	case PERF_RECORD_KSYMBOL:
		item.kind = ITEM_KERNEL_CODE;
		r = 1;
		break;
	case PERF_RECORD_LOST:
		if (end < sizeof(lost))
			return -EBADMSG;
		memcpy(&lost, record, sizeof(lost));
		*ret_lost += lost.lost;
		break;
	default: /* MMAP comes beside MMAP2 on no kernel; throttling concerns no dummy event */
		break;
	}
	if (r == 1)
		*ret = item;
	return r;
}

size_t copy_decode(const void *record, size_t size)
{
	const struct stoke_copy *copy = record;

	if (size < sizeof(*copy) || copy->type != STOKE_RECORD_COPY ||
		copy->bytes > STOKE_COPY_BYTES || copy->bytes > size - sizeof(*copy))
		return 0;
	return sizeof(*copy) + copy->bytes;
}

int sample_decode(const void *record, size_t size, struct item *ret)
{
	const struct stoke_sample *sample = record;
	size_t frames;

	if (copy_decode(record, size))
		return 0;
	if (size < sizeof(*sample) || sample->type != STOKE_RECORD_SAMPLE)
		return -EBADMSG;
	frames = (size_t)sample->nr_kernel + sample->nr_user;
	if (sample->nr_kernel > STOKE_MAX_KERNEL_FRAMES || sample->nr_user > STOKE_MAX_USER_WORDS ||
		size - sizeof(*sample) < frames * sizeof(uint64_t))
		return -EBADMSG;
	/* A note is on the address before it. */
	for (size_t i = 0; i < sample->nr_user; i++) {
		const uint64_t *word = (const uint64_t *)(sample + 1) + sample->nr_kernel + i;

		if (stoke_note_of(*word) && (!i || stoke_note_of(word[-1])))
			return -EBADMSG;
	}
	*ret = (struct item){
		.kind = ITEM_SAMPLE,
		.time_ns = sample->time_ns,
		.sample = {.record = sample, .frames = (const uint64_t *)(sample + 1)},
	};
	return 1;
}
