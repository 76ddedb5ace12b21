/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings.c: opens, maps, polls and drains the rings. BPF rings are read here and not through libbpf,
 * whose poll would return at once as long as a single sample waits: these rings say when they pass
 * their watermark, once, and are read every 100 ms anyway.
 */
#include "capture/rings.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "capture/cpus.h"
#include "capture/decode.h"
#include "capture/perfsample.h"
#include "process/host.h"
#include "source/features.h"
#include "source/perf.h"

/* With one page more, this always fits what an otherwise idle user may lock (perf_event_mlock_kb
 * is 516). */
#define SIDEBAND_MAX_BYTES (512u << 10)
#define SIDEBAND_MIN_BYTES (64u << 10)

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

struct sideband {
	int fd;
	struct perf_event_mmap_page *page;
	size_t mapped; /* bytes, the first page included */
	int lent;
	uint64_t lost; /* told by records */
};

struct bpf_ring {
	int fd;
	uint64_t *consumer;
	const uint64_t *producer;
	const uint8_t *data; /* mapped twice in a row: no record wraps around */
	size_t size;
	/* The latest copy of each CPU, which its sample follows; made when the first one comes. */
	struct stoke_copy *copies[STOKE_CPUS_PER_RING];
};

struct rings {
	struct sideband *sidebands;
	size_t nr_sidebands, sidebands_capacity;
	uint64_t sample_type; /* of samples in rings that were lent */
	struct perf_sample *sample; /* the one at hand; NULL: none were lent */
	struct bpf_ring *bpf;
	size_t nr_bpf, bpf_capacity;
	int epoll_fd;
	size_t page;
	size_t sideband_bytes; /* what the last CPU got: the next need not ask for more */
	int build_ids, lost_by_read;
	uint64_t malformed;
	uint8_t bounce[RECORD_MAX_BYTES] __attribute__((aligned(8)));
};

static int watch(struct rings *rings, int fd)
{
	/* Edges only: level-triggered, one unread sample would keep the caller awake. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_sideband(struct rings *rings, unsigned cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.read_format = rings->lost_by_read ? PERF_FORMAT_LOST : 0,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.build_id = rings->build_ids != 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(rings->sideband_bytes / 4),
	};

	return perf_open_cpu(&attr, cpu);
}

/* Maps a ring as large as this user may have. */
static int map_sideband(struct rings *rings, struct sideband *band)
{
	void *page;

	for (;; rings->sideband_bytes /= 2) {
		page = mmap(NULL, rings->page + rings->sideband_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED, band->fd, 0);
		if (page != MAP_FAILED)
			break;
		if ((errno != EPERM && errno != ENOMEM) ||
			rings->sideband_bytes <= SIDEBAND_MIN_BYTES)
			return -errno;
	}
	band->page = page;
	band->mapped = rings->page + rings->sideband_bytes;
	return 0;
}

/* Opens the side band of the first CPU with all this kernel has, and notes what that is. */
static int open_first(struct rings *rings, unsigned cpu)
{
	int fd = -EINVAL;

	for (int try = 0; try < 4 && fd == -EINVAL; try++) {
		rings->build_ids = !(try & 2); /* 5.12 */
		rings->lost_by_read = !(try & 1); /* 6.0 and some before */
		fd = open_sideband(rings, cpu);
	}
	return fd;
}

static int add_sideband(struct rings *rings, unsigned cpu, struct stoke_error *err)
{
	struct sideband *band = &rings->sidebands[rings->nr_sidebands];
	int r;

	*band = (struct sideband){0};
	band->fd = rings->nr_sidebands ? open_sideband(rings, cpu) : open_first(rings, cpu);
	if (band->fd == -ENODEV)
		return 0; /* went offline since the list was read */
	if (band->fd < 0)
		return refusal_explain("open events", band->fd, err);
	rings->nr_sidebands++;
	r = map_sideband(rings, band);
	if (r < 0)
		return fail(err, r,
			"cannot map the event ring of CPU %u: %s; raise kernel.perf_event_mlock_kb",
			cpu, strerror(-r));
	r = watch(rings, band->fd);
	return r < 0 ? fail(err, r, "cannot poll events: %s", strerror(-r)) : 0;
}

int rings_add_bpf(struct rings *rings, int map_fd, struct stoke_error *err)
{
	struct bpf_map_info info = {0};
	struct bpf_ring ring = {.fd = map_fd};
	uint32_t info_size = sizeof(info);
	void *consumer, *producer;
	int r = array_reserve(&rings->bpf, &rings->bpf_capacity, rings->nr_bpf, 1);

	if (r == 0)
		r = bpf_obj_get_info_by_fd(map_fd, &info, &info_size);
	if (r == 0 && (info.type != BPF_MAP_TYPE_RINGBUF || !info.max_entries))
		r = -EINVAL;
	if (r < 0)
		return fail(err, r, "cannot read a ring of samples: %s", strerror(-r));
	ring.size = info.max_entries;
	consumer = mmap(NULL, rings->page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return fail(err, -errno, "cannot map a ring of samples: %s", strerror(errno));
	producer = mmap(NULL, rings->page + 2 * ring.size, PROT_READ, MAP_SHARED, map_fd,
		(off_t)rings->page);
	if (producer == MAP_FAILED) {
		r = -errno;
		(void)munmap(consumer, rings->page); /* our own mapping: cannot fail */
		return fail(err, r, "cannot map a ring of samples: %s", strerror(-r));
	}
	ring.consumer = consumer;
	ring.producer = producer;
	ring.data = (const uint8_t *)producer + rings->page;
	rings->bpf[rings->nr_bpf++] = ring;
	r = watch(rings, map_fd);
	return r < 0 ? fail(err, r, "cannot poll a ring of samples: %s", strerror(-r)) : 0;
}

int rings_add_perf(struct rings *rings, const struct plain_rings *lent, struct stoke_error *err)
{
	int r = array_reserve(
		&rings->sidebands, &rings->sidebands_capacity, rings->nr_sidebands, lent->nr);

	rings->sample_type = lent->sample_type;
	rings->sample = calloc(1, sizeof(*rings->sample));
	if (r < 0 || !rings->sample)
		return fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < lent->nr; i++) {
		const struct plain_ring *ring = &lent->items[i];

		rings->sidebands[rings->nr_sidebands++] = (struct sideband){.fd = ring->fd,
			.page = ring->page,
			.mapped = rings->page + ring->bytes,
			.lent = 1};
		r = watch(rings, ring->fd);
		if (r < 0)
			return fail(err, r, "cannot poll events: %s", strerror(-r));
	}
	return 0;
}

static int find_online(unsigned **ret, size_t *ret_nr, struct stoke_error *err)
{
	struct host host;
	int r = host_open(NULL, NULL, &host);

	if (r < 0)
		return fail(err, r, "cannot open /proc: %s", strerror(-r));
	r = cpus_choose(&host, NULL, 0, ret, ret_nr, err);
	host_close(&host);
	return r;
}

static int open_sidebands(
	struct rings *rings, const struct rings_options *options, struct stoke_error *err)
{
	_cleanup_free_ unsigned *online = NULL;
	const unsigned *cpus = options->cpus;
	size_t nr = options->nr_cpus;
	int r = 0;

	if (nr == 0) {
		r = find_online(&online, &nr, err);
		if (r < 0)
			return r;
		cpus = online;
	}
	if (array_reserve(&rings->sidebands, &rings->sidebands_capacity, 0, nr) < 0)
		return fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr && r == 0; i++)
		r = add_sideband(rings, cpus[i], err);
	return r;
}

int rings_open(const struct rings_options *options, struct rings **ret, struct stoke_error *err)
{
	struct rings *rings = calloc(1, sizeof(*rings));
	int r = 0;

	if (!rings)
		return fail(err, -ENOMEM, "out of memory");
	rings->page = (size_t)sysconf(_SC_PAGESIZE);
	rings->sideband_bytes = SIDEBAND_MAX_BYTES;
	rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rings->epoll_fd < 0) {
		r = fail(err, -errno, "cannot poll: %s", strerror(errno));
		goto fail;
	}
	if (!options->no_sideband)
		r = open_sidebands(rings, options, err);
	for (size_t i = 0; i < options->nr_bpf_maps && r == 0; i++)
		r = rings_add_bpf(rings, options->bpf_map_fds[i], err);
	if (r < 0)
		goto fail;
	*ret = rings;
	return 0;
fail:
	rings_close(rings);
	return r;
}

void rings_close(struct rings *rings)
{
	if (!rings)
		return;
	for (size_t i = 0; i < rings->nr_sidebands; i++) {
		if (rings->sidebands[i].lent)
			continue;
		/* munmap of our own mapping cannot fail, nothing was written through the fd */
		if (rings->sidebands[i].page)
			(void)munmap(rings->sidebands[i].page, rings->sidebands[i].mapped);
		(void)close(rings->sidebands[i].fd);
	}
	for (size_t i = 0; i < rings->nr_bpf; i++) {
		for (size_t cpu = 0; cpu < STOKE_CPUS_PER_RING; cpu++)
			free(rings->bpf[i].copies[cpu]);
		(void)munmap(rings->bpf[i].consumer, rings->page);
		(void)munmap((void *)rings->bpf[i].producer, rings->page + 2 * rings->bpf[i].size);
	}
	if (rings->epoll_fd >= 0)
		(void)close(rings->epoll_fd);
	free(rings->sidebands);
	free(rings->sample);
	free(rings->bpf);
	free(rings);
}

int rings_fd(const struct rings *rings)
{
	return rings->epoll_fd;
}

int rings_have_build_ids(const struct rings *rings)
{
	return rings->build_ids;
}

/* As sideband_decode(), samples among them. */
static int decode_mixed(struct rings *rings, struct sideband *band, const uint8_t *record,
	size_t size, struct item *ret)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header)); /* perf_next() saw that it is there */
	if (header.type == PERF_RECORD_SAMPLE && band->lent)
		return perf_sample_decode(record, size, rings->sample_type, rings->sample, ret);
	return sideband_decode(record, size, ret, &band->lost);
}

static int drain_sideband(struct rings *rings, struct sideband *band,
	int (*take)(void *arg, const struct item *item), void *arg)
{
	struct perf_view view = {
		.data = (const uint8_t *)band->page + rings->page,
		.mask = band->mapped - rings->page - 1,
		.tail = band->page->data_tail,
		.head = __atomic_load_n(&band->page->data_head, __ATOMIC_ACQUIRE),
	};
	const uint8_t *record;
	struct item item;
	int nr = 0, r;
	size_t size;

	while ((r = perf_next(&view, rings->bounce, &record, &size)) != 0) {
		if (r > 0)
			r = decode_mixed(rings, band, record, size, &item);
		if (r < 0)
			rings->malformed++;
		r = r > 0 ? take(arg, &item) : 0;
		/* Given back one by one: a burst should not find the ring full of what was read. */
		__atomic_store_n(&band->page->data_tail, view.tail, __ATOMIC_RELEASE);
		if (r < 0)
			return r;
		nr++;
	}
	return nr;
}

static struct stoke_copy **copy_slot(struct bpf_ring *ring, uint32_t cpu)
{
	return &ring->copies[cpu % STOKE_CPUS_PER_RING];
}

/* Out of the ring, which has other use for the room. 0, -ENOMEM. */
static int keep_copy(struct bpf_ring *ring, const struct stoke_copy *copy, size_t size)
{
	struct stoke_copy **slot = copy_slot(ring, copy->cpu);

	if (!*slot)
		*slot = malloc(sizeof(*copy) + STOKE_COPY_BYTES);
	if (!*slot)
		return -ENOMEM;
	memcpy(*slot, copy, size);
	return 0;
}

/* 1: *ret is a sample, with its copy if it has one. 0, -EBADMSG, -ENOMEM. */
static int take_record(struct bpf_ring *ring, const void *record, size_t size, struct item *ret)
{
	const struct stoke_sample *sample;
	const struct stoke_copy *copy;
	int r = sample_decode(record, size, ret);

	if (r == 0)
		return keep_copy(ring, record, copy_decode(record, size));
	if (r < 0 || !(ret->sample.record->flags & STOKE_SAMPLE_COPIED))
		return r;
	sample = ret->sample.record;
	copy = *copy_slot(ring, sample->cpu);
	if (copy && copy->cpu == sample->cpu && copy->time_ns == sample->time_ns)
		ret->sample.copy = copy;
	return 1;
}

static int drain_bpf(struct rings *rings, struct bpf_ring *ring,
	int (*take)(void *arg, const struct item *item), void *arg)
{
	uint64_t tail = *ring->consumer;
	/* No further than here: a ring that fills as fast as it is read would never end. */
	uint64_t head = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	struct item item;
	int nr = 0, r;

	while (tail < head) {
		const uint8_t *at = ring->data + (tail & (ring->size - 1));
		uint32_t length = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break; /* being written: next time */
		r = 0;
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			r = take_record(ring, at + BPF_RINGBUF_HDR_SZ, size, &item);
			rings->malformed += r == -EBADMSG;
			nr += r > 0;
			r = r > 0 ? take(arg, &item) : r == -ENOMEM ? r : 0;
		}
		tail += ((uint64_t)size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		__atomic_store_n(ring->consumer, tail, __ATOMIC_RELEASE);
		if (r < 0)
			return r;
	}
	return nr;
}

int rings_drain(struct rings *rings, int (*take)(void *arg, const struct item *item), void *arg)
{
	int nr = 0, r;

	for (size_t i = 0; i < rings->nr_bpf; i++) {
		r = drain_bpf(rings, &rings->bpf[i], take, arg);
		if (r < 0)
			return r;
		nr += r;
	}
	for (size_t i = 0; i < rings->nr_sidebands; i++) {
		r = drain_sideband(rings, &rings->sidebands[i], take, arg);
		if (r < 0)
			return r;
		nr += r;
	}
	return nr;
}

void rings_losses(struct rings *rings, struct rings_losses *ret)
{
	struct rings_losses sum = {.malformed = rings->malformed};

	for (size_t i = 0; i < rings->nr_sidebands; i++) {
		struct sideband *band = &rings->sidebands[i];
		uint64_t counts[2] = {0, 0}, lost = band->lost;

		if (band->lent) {
			sum.mixed += lost; /* the rest knows who opened its events */
			continue;
		}
		/* A LOST record is only written when a later one fits: the end of a run is told by
		 * read() alone. Where that works it knows of all. */
		if (rings->lost_by_read &&
			read(band->fd, counts, sizeof(counts)) == sizeof(counts) &&
			counts[1] > lost)
			lost = counts[1];
		sum.sideband += lost;
	}
	*ret = sum;
}
