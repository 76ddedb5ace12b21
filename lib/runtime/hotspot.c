/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hotspot.c: the code cache of a Java VM, read from outside through the tables that its libjvm.so
 * exports for debuggers. Nothing is loaded into the VM, no signal sent, no file left; so it serves
 * any JVM from 8 on, as it was started.
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "hotspot/structs.h"
#include "process/maps.h"
#include "runtime/hotspot/owners.h"

#define MAPS_MAX_BYTES (64 * 1024 * 1024)
#define LIBJVM	       "/libjvm.so"
#define MAX_TRIES      3 /* of one reading, while the VM writes */
#define MAX_FAILED     5 /* readings, before samples wait no longer */

struct hotspot {
	pid_t pid;
	int pidfd; /* says whether the process whose memory is read is still the one; -1 */
	int ended;
	struct memory memory;
	struct hotspot_structs structs;
	struct owners owners;
	int error; /* of the last reading, errno */
	unsigned nr_failed; /* readings in a row */
};

static void hotspot_close(void *state)
{
	struct hotspot *hotspot = state;

	if (!hotspot)
		return;
	owners_done(&hotspot->owners);
	cleanup_close(&hotspot->pidfd);
	free(hotspot);
}

/* Where the process has libjvm.so's code. */
static int find_libjvm(const struct host *host, pid_t pid, struct map_line *ret)
{
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	struct map_line map;
	char path[64];
	size_t size;
	int r;

	(void)snprintf(path, sizeof(path), "%d/maps", pid);
	r = file_read_text(host->proc_fd, path, MAPS_MAX_BYTES, &text, &size);
	if (r < 0)
		return -ENOENT; /* gone, or not ours: whoever reads its maps says so */
	scan = scan_of(text, size);
	while (scan_line(&scan, &line)) {
		if (maps_parse_line(line.at, scan_left(&line), &map) == 0 &&
			(map.prot & PROT_EXEC) && map.path_size >= strlen(LIBJVM) &&
			memcmp(map.path + map.path_size - strlen(LIBJVM), LIBJVM, strlen(LIBJVM)) ==
				0) {
			map.path = NULL; /* the text goes */
			*ret = map;
			return 0;
		}
	}
	return -ENOENT;
}

static int explain_claim(int r, pid_t pid, struct stoke_error *err)
{
	if (r == -EPERM || r == -EACCES)
		return fail(err, r,
			"cannot read the memory of the Java VM %d: permission denied; run as root "
			"or with CAP_SYS_PTRACE",
			pid);
	if (r == -ENOENT || r == -EINVAL)
		return fail(err, -EOPNOTSUPP,
			"the libjvm.so of process %d exports no tables that tell of its code (not "
			"HotSpot, or stripped): its names can only come from a perf map",
			pid);
	return fail(err, r, "cannot read the Java VM %d: %s", pid, strerror(-r));
}

static int hotspot_claim(
	const struct host *host, struct process *process, void **ret_state, struct stoke_error *err)
{
	struct hotspot *hotspot;
	struct map_line libjvm;
	int r;

	r = find_libjvm(host, process->alive ? process->alive : process->pid, &libjvm);
	if (r < 0)
		return r;
	hotspot = calloc(1, sizeof(*hotspot));
	if (!hotspot)
		return -ENOMEM;
	hotspot->pid = process->pid;
	/* Before anything is read: without it a later process of that pid could be read. */
	hotspot->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	hotspot->memory = memory_of(process->alive ? process->alive : process->pid);
	r = hotspot_structs_read(&hotspot->memory, libjvm.start, libjvm.offset, &hotspot->structs);
	if (r < 0) {
		hotspot_close(hotspot);
		return r == -EAGAIN || r == -ESRCH ? -ENOENT : explain_claim(r, process->pid, err);
	}
	owners_init(&hotspot->owners, &hotspot->memory, &hotspot->structs);
	*ret_state = hotspot;
	return 0;
}

static int is_gone(const struct hotspot *hotspot)
{
	struct pollfd pollfd = {.fd = hotspot->pidfd, .events = POLLIN};

	return hotspot->pidfd >= 0 && poll(&pollfd, 1, 0) > 0;
}

static int hotspot_observe(void *state, enum observe why, uint64_t now_ns)
{
	struct hotspot *hotspot = state;
	int r = -EINVAL;

	hotspot->ended = why == OBSERVE_END;
	if (is_gone(hotspot))
		return -ESRCH; /* what is known stays */
	for (unsigned i = 0; i < MAX_TRIES && r == -EINVAL; i++)
		r = owners_read(&hotspot->owners, now_ns);
	hotspot->error = r < 0 ? -r : 0;
	hotspot->nr_failed = r < 0 ? hotspot->nr_failed + 1 : 0;
	if (r < 0 && r != -ENOMEM && hotspot->nr_failed >= MAX_FAILED) {
		int committed = code_history_commit(&hotspot->owners.history, now_ns);

		return committed < 0 ? committed : r;
	}
	return r;
}

static int hotspot_lookup(
	void *state, struct span when, uint64_t address, struct symbol *ret, size_t max)
{
	struct hotspot *hotspot = state;

	return owners_lookup(&hotspot->owners, when, address, hotspot->ended, ret, max);
}

/* Who is interpreted needs no reading of the code cache. */
static int hotspot_lookup_method(void *state, struct span when, uint64_t method, uint32_t index,
	struct symbol *ret, size_t max)
{
	struct hotspot *hotspot = state;

	(void)when;
	return owners_lookup_method(&hotspot->owners, method, index, !is_gone(hotspot), ret, max);
}

static void hotspot_explain(void *state, struct runtime_findings *ret)
{
	const struct hotspot *hotspot = state;
	const uint64_t nr_refused = hotspot->owners.nr_refused +
				    hotspot->owners.history.nr_refused +
				    hotspot->owners.now.nr_left_out;

	*ret = (struct runtime_findings){
		.nr_entries = code_history_nr_owned(&hotspot->owners.history),
	};
	if (hotspot->error)
		(void)snprintf(ret->text, sizeof(ret->text),
			"the code cache of the Java VM %d could not be read any further: %s",
			hotspot->pid, strerror(hotspot->error));
	else if (nr_refused)
		(void)snprintf(ret->text, sizeof(ret->text),
			"the Java VM %d compiled more than can be kept; %llu compilations have no "
			"names",
			hotspot->pid, (unsigned long long)nr_refused);
}

const struct runtime runtime_hotspot = {
	.name = "hotspot",
	.summary = "the code cache of Java VMs, read from outside (JDK 8 on, any flags)",
	.claim = hotspot_claim,
	.observe = hotspot_observe,
	.lookup = hotspot_lookup,
	.lookup_method = hotspot_lookup_method,
	.explain = hotspot_explain,
	.close = hotspot_close,
};
