/* SPDX-License-Identifier: BSD-2-Clause */
/* ahead.c: one worker with the kernel's resolver in it. */
#include "resolver/ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/worker.h"
#include "resolver/resolver.h"

#define MODULES_MAX_BYTES (1u << 20)
#define PATIENCE_MS	  20000 /* the machine may be busy; reading takes a tenth of a second */

extern const struct resolver resolver_kernel;

/* What the worker has in hand. */
struct job {
	struct host host;
	uint64_t modules; /* what was loaded before it began */
	void *state; /* NULL: could not be opened */
};

struct resolve_ahead {
	struct worker *worker; /* NULL: taken */
	struct job *job; /* the worker's until it is done */
};

/* "ext4 741376 1 - Live 0xffffffffc0a00000": which, and where. The count of users may change. */
static uint64_t modules_hash(const struct host *host)
{
	_cleanup_free_ char *text = NULL;
	uint64_t hash = 0;
	size_t size;

	if (file_read_text(host->proc_fd, "modules", MODULES_MAX_BYTES, &text, &size) < 0)
		return 0; /* a kernel without modules */
	for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
		size_t name = strcspn(line, " \n");
		char *last;

		end = line + strcspn(line, "\n");
		for (last = end; last > line && last[-1] != ' ';)
			last--;
		hash = hash * 31 + bytes_hash(line, name);
		hash = hash * 31 + bytes_hash(last, (size_t)(end - last));
	}
	return hash;
}

static void drop(void *arg)
{
	struct job *job = arg;

	if (job->state)
		resolver_kernel.close(job->state);
	host_close(&job->host);
	free(job);
}

static void read_names(void *arg)
{
	const struct module kernel = {.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1};
	struct job *job = arg;

	if (resolver_kernel.open(&job->host, &kernel, &job->state) < 0)
		job->state = NULL;
}

int resolve_ahead_start(const struct host *host, struct resolve_ahead **ret)
{
	struct resolve_ahead *ahead = calloc(1, sizeof(*ahead));
	struct job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (ahead && job)
		r = host_open(host->proc, host->sys, &job->host);
	if (r < 0) {
		free(job);
		free(ahead);
		return r;
	}
	job->modules = modules_hash(&job->host);
	r = worker_start(read_names, drop, job, &ahead->worker);
	if (r < 0) {
		drop(job);
		free(ahead);
		return r;
	}
	ahead->job = job;
	*ret = ahead;
	return 0;
}

void resolve_ahead_free(struct resolve_ahead *ahead)
{
	if (!ahead)
		return;
	worker_abandon(ahead->worker);
	free(ahead);
}

void *resolve_ahead_take(struct resolve_ahead *ahead)
{
	struct job *job = ahead->job;
	void *state = NULL;

	if (!ahead->worker || worker_wait(ahead->worker, PATIENCE_MS) < 0)
		return NULL;
	ahead->worker = NULL;
	if (modules_hash(&job->host) == job->modules)
		state = take_pointer(job->state);
	drop(job);
	return state;
}
