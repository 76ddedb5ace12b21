/* SPDX-License-Identifier: BSD-2-Clause */
/* bodies.c: one worker at a time, a few files each time, so that what samples wait for is never
 * behind more than 20 ms of what they don't. */
#include "capture/bodies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/worker.h"
#include "unwind/compile.h"
#include "unwind/places.h"

#define BATCH_MS   20
#define GIVE_UP_NS 10000000000ull /* a file system that does not answer */

struct body {
	enum body_state state;
	uint64_t asked_ns; /* when its table was first asked for */
	uint64_t wanted_ns; /* and when last */
	int waited; /* it found no room, and waited for some */
	struct stored stored;
	struct elf_segment *segments; /* executable ones, owned */
	size_t nr_segments;
};

struct bodies {
	const struct processes *processes;
	struct store *store;
	struct body *items; /* by module */
	size_t nr, capacity;
	uint32_t *queue; /* modules that wait for a worker, first one first */
	size_t nr_queue, queue_capacity;
	struct worker *worker;
	struct compile *compile; /* the worker's, until it is done */
	uint64_t begun_ns;
	uint64_t room_ns; /* not before that is there room again */
	int lacks_room;
	uint32_t moves; /* how often places were given up */
	int event_fd;
};

int bodies_new(const struct processes *processes, struct bodies **ret)
{
	struct bodies *bodies = calloc(1, sizeof(*bodies));

	if (!bodies)
		return -ENOMEM;
	bodies->processes = processes;
	bodies->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bodies->event_fd < 0) {
		free(bodies);
		return -errno;
	}
	*ret = bodies;
	return 0;
}

void bodies_free(struct bodies *bodies)
{
	if (!bodies)
		return;
	worker_abandon(bodies->worker);
	for (size_t i = 0; i < bodies->nr; i++)
		free(bodies->items[i].segments);
	free(bodies->items);
	free(bodies->queue);
	(void)close(bodies->event_fd); /* nothing to lose */
	free(bodies);
}

void bodies_attach(struct bodies *bodies, struct store *store)
{
	bodies->store = store;
}

int bodies_fd(const struct bodies *bodies)
{
	return bodies->event_fd;
}

static struct body *body_of(struct bodies *bodies, uint32_t module)
{
	if (module >= bodies->nr) {
		size_t more = module + 1 - bodies->nr;

		if (array_reserve(&bodies->items, &bodies->capacity, bodies->nr, more) < 0)
			return NULL;
		memset(bodies->items + bodies->nr, 0, more * sizeof(*bodies->items));
		bodies->nr += more;
	}
	return &bodies->items[module];
}

enum body_state bodies_want(struct bodies *bodies, uint32_t module)
{
	struct body *body = body_of(bodies, module);

	if (!body)
		return BODY_BARE;
	body->wanted_ns = host_now_ns();
	if (body->state != BODY_UNKNOWN)
		return body->state;
	if (array_reserve(&bodies->queue, &bodies->queue_capacity, bodies->nr_queue, 1) < 0)
		return BODY_BARE;
	bodies->queue[bodies->nr_queue++] = module;
	body->state = BODY_WAITS;
	body->asked_ns = body->wanted_ns;
	return body->state;
}

int bodies_soon(const struct bodies *bodies, uint32_t module, uint64_t patience_ns)
{
	return module < bodies->nr && bodies->items[module].state == BODY_WAITS &&
	       host_now_ns() - bodies->items[module].asked_ns < patience_ns;
}

void bodies_hurry(struct bodies *bodies, uint32_t module)
{
	for (size_t i = 0; i < bodies->nr_queue; i++) {
		if (bodies->queue[i] == module) {
			memmove(bodies->queue + 1, bodies->queue, i * sizeof(*bodies->queue));
			bodies->queue[0] = module;
			return;
		}
	}
}

/* Files are left to the worker by descriptors and images of its own. */
static int add_file(struct compile *compile, const struct module *module, uint32_t id)
{
	struct compiled file = {.module = id, .fd = -1};

	if (module->kind == MODULE_VDSO && module->image) {
		file.image = malloc(module->image_size);
		if (!file.image)
			return -ENOMEM;
		memcpy(file.image, module->image, module->image_size);
		file.image_size = module->image_size;
	} else if (module->kind == MODULE_FILE && module->fd >= 0) {
		file.fd = module_keep_fd(fcntl(module->fd, F_DUPFD_CLOEXEC, 0));
	}
	if (!file.image && file.fd < 0)
		return -EBADF;
	compile->files[compile->nr++] = file;
	return 0;
}

static void settle(struct bodies *bodies, uint32_t module, enum body_state state,
	void (*tell)(void *arg, uint32_t module), void *arg)
{
	bodies->items[module].state = state;
	tell(arg, module);
}

/* Gives a worker the next files; those that cannot be had are bare. */
void bodies_begin(struct bodies *bodies, void (*tell)(void *arg, uint32_t module), void *arg)
{
	struct compile *compile;
	size_t taken = 0;

	if (bodies->worker || !bodies->nr_queue || host_now_ns() < bodies->room_ns ||
		compile_new(&compile) < 0)
		return;
	while (taken < bodies->nr_queue && compile->nr < COMPILE_MAX) {
		uint32_t id = bodies->queue[taken++];

		if (add_file(compile, processes_module(bodies->processes, id), id) < 0)
			settle(bodies, id, BODY_BARE, tell, arg);
	}
	bodies->nr_queue -= taken;
	memmove(bodies->queue, bodies->queue + taken, bodies->nr_queue * sizeof(*bodies->queue));
	compile->limit_ms = BATCH_MS;
	compile->event_fd = fcntl(bodies->event_fd, F_DUPFD_CLOEXEC, 0);
	bodies->compile = compile;
	bodies->begun_ns = host_now_ns();
	if (compile->nr && worker_start(compile_job, compile_drop, compile, &bodies->worker) == 0)
		return;
	for (size_t i = 0; i < compile->nr; i++)
		settle(bodies, compile->files[i].module, BODY_BARE, tell, arg);
	compile_free(take_pointer(bodies->compile));
}

/* Back to the front of the queue, in their order. */
static void put_back(struct bodies *bodies, const struct compiled *files, size_t nr)
{
	if (!nr || array_reserve(&bodies->queue, &bodies->queue_capacity, bodies->nr_queue, nr) < 0)
		return;
	memmove(bodies->queue + nr, bodies->queue, bodies->nr_queue * sizeof(*bodies->queue));
	for (size_t i = 0; i < nr; i++)
		bodies->queue[i] = files[i].module;
	bodies->nr_queue += nr;
}

/* Where tables can give way, there is room once no walk is in theirs any more. 1: so it waits. */
static int await_room(struct bodies *bodies, uint32_t module)
{
	struct body *body = &bodies->items[module];

	if (body->waited ||
		array_reserve(&bodies->queue, &bodies->queue_capacity, bodies->nr_queue, 1) < 0)
		return 0;
	body->waited = 1;
	bodies->queue[bodies->nr_queue++] = module;
	bodies->lacks_room = 1;
	bodies->room_ns = host_now_ns() + PLACES_GRACE_NS + PLACES_GRACE_NS / 8;
	return 1;
}

static void take_file(struct bodies *bodies, struct compiled *file,
	void (*tell)(void *arg, uint32_t module), void *arg)
{
	struct body *body = &bodies->items[file->module];
	int r = file->error;

	if (r == 0)
		r = store_add(bodies->store, &file->table, host_now_ns(), &body->stored);
	if (!file->error && r == -ENOSPC) {
		if (await_room(bodies, file->module))
			return;
		store_refuse(bodies->store);
	}
	if (r < 0) {
		settle(bodies, file->module, BODY_BARE, tell, arg);
		return;
	}
	body->waited = 0;
	body->segments = take_pointer(file->segments);
	body->nr_segments = file->nr_segments;
	settle(bodies, file->module, BODY_READY, tell, arg);
}

int bodies_lack_room(const struct bodies *bodies)
{
	return bodies->lacks_room || (bodies->store && store_is_short(bodies->store));
}

/* Of those that may go the one that was not wanted for longest; NULL: none. */
static struct body *find_oldest(struct bodies *bodies, const uint8_t *used, size_t nr)
{
	struct body *oldest = NULL;

	for (size_t i = 0; i < bodies->nr; i++) {
		struct body *body = &bodies->items[i];

		if (body->state == BODY_READY && !(i < nr && used[i]) &&
			(!oldest || body->wanted_ns < oldest->wanted_ns))
			oldest = body;
	}
	return oldest;
}

void bodies_give_way(struct bodies *bodies, const uint8_t *used, size_t nr, uint64_t now_ns)
{
	struct body *body;
	int all = bodies->lacks_room; /* what is in the way of a large one is not known */

	while ((all || store_is_short(bodies->store)) && (body = find_oldest(bodies, used, nr))) {
		store_remove(bodies->store, &body->stored, now_ns);
		free(body->segments);
		*body = (struct body){.state = BODY_UNKNOWN};
		bodies->moves++;
	}
	bodies->lacks_room = 0;
}

uint32_t bodies_moves(const struct bodies *bodies)
{
	return bodies->moves;
}

/* 1: there is no worker any more. */
static int end(struct bodies *bodies, unsigned timeout_ms, void (*tell)(void *arg, uint32_t module),
	void *arg)
{
	struct compile *compile = bodies->compile;
	size_t nr = 0;

	if (worker_wait(bodies->worker, timeout_ms) < 0) {
		if (host_now_ns() - bodies->begun_ns < GIVE_UP_NS)
			return 0;
		/* Which of them hangs is not known: all of these are given up. */
		for (size_t i = 0; i < bodies->nr; i++) {
			int queued = 0;

			for (size_t j = 0; j < bodies->nr_queue; j++)
				queued |= bodies->queue[j] == i;
			if (bodies->items[i].state == BODY_WAITS && !queued)
				settle(bodies, (uint32_t)i, BODY_BARE, tell, arg);
		}
		bodies->compile = NULL;
		worker_abandon(take_pointer(bodies->worker));
		return 1;
	}
	bodies->worker = NULL;
	while (nr < compile->nr && compile->files[nr].done)
		take_file(bodies, &compile->files[nr++], tell, arg);
	put_back(bodies, &compile->files[nr], compile->nr - nr);
	compile_free(take_pointer(bodies->compile));
	return 1;
}

size_t bodies_work(struct bodies *bodies, unsigned timeout_ms,
	void (*tell)(void *arg, uint32_t module), void *arg)
{
	uint64_t done;

	(void)!read(bodies->event_fd, &done, sizeof(done)); /* it said so, or did not */
	if (bodies->worker && !end(bodies, timeout_ms, tell, arg))
		return bodies->nr_queue + 1;
	bodies_begin(bodies, tell, arg);
	return bodies->nr_queue + (bodies->worker != NULL);
}

int bodies_place(const struct bodies *bodies, uint32_t module, const struct mapping *mapping,
	struct stored *ret, uint64_t *ret_bias)
{
	const struct body *body = &bodies->items[module];
	uint64_t address;
	int r;

	r = segments_address(body->segments, body->nr_segments, mapping->offset, &address);
	if (r < 0)
		return r;
	*ret = body->stored;
	*ret_bias = mapping->start - address;
	return 0;
}
