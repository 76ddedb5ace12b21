/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_SOURCE_H
#define STOKE_SOURCE_SOURCE_H

/*
 * A source is what fires, and what one firing weighs. One file a source; its word in meson.build.
 * All sources share the maps of bpf/maps.h (the target set, configuration), which follow.bpf.c owns
 * and objects.c hands on by name.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/param.h"
#include "source/perfrings.h"
#include "stoke.h"

/* The loaded follow program and the shared maps. objects.c. */
struct objects;

struct objects_options {
	int all; /* every process: no target set */
	int threads; /* single threads will be added */
	int children; /* processes forked by targets become targets */
	int user, kernel; /* which parts of stacks */
	int cgroup_version; /* with all: only what is in this cgroup; 0: no such */
	int cgroup_fd; /* its directory; borrowed */
	const char *cgroup_controller; /* version 1: "cpu" */
	int no_tables; /* no memory for unwind tables is to be asked for */
	const unsigned *cpus;
	size_t nr_cpus; /* CPUs that will fire: decides number and size of rings */
	unsigned frequency_hz;
};

/* Loads and attaches follow.bpf.c. Errors name the cause and cure (rights, BTF, lockdown). */
int objects_open(
	const struct objects_options *options, struct objects **ret, struct stoke_error *err);
/* The same where no BPF is to be had: the target set is the source's, who gives it to
 * objects_use_members(). 0, -ENOMEM. */
int objects_open_plain(const struct objects_options *options, struct objects **ret);
int objects_are_plain(const struct objects *objects);
/* Every source is open: what only loading needs (megabytes of the kernel's types) is let go. What
 * is loaded later takes longer. */
void objects_ready(struct objects *objects);
/* Programs loaded from now on may leave walks to user space. */
void objects_use_tables(struct objects *objects);
void objects_close(struct objects *objects);
/* Target set, keyed by tgid in stoke's own PID namespace. */
int objects_add_process(struct objects *objects, pid_t pid, struct stoke_error *err);
/* Same, but held: becomes a target at its next exec ("-- COMMAND"). */
int objects_add_pending(struct objects *objects, pid_t pid, struct stoke_error *err);
/* A single thread (-t). */
int objects_add_thread(struct objects *objects, pid_t tid, struct stoke_error *err);
/* Is pid a target now (also by having been forked)? 1, 0. */
int objects_has_process(struct objects *objects, pid_t pid);
/* Records said so: without BPF nobody else tells the target set. 0, -ENOMEM. */
int objects_forked(struct objects *objects, pid_t parent, pid_t child);
void objects_exited(struct objects *objects, pid_t pid);
/* fds of the sample rings, borrowed; the count. */
size_t objects_ring_fds(const struct objects *objects, const int **ret);

struct objects_losses {
	uint64_t ring; /* samples for which the ring had no room */
	uint64_t busy; /* samples that could not be taken (nesting) */
	uint64_t run_ns; /* time spent in stoke's programs, 0 when not measured */
	uint64_t targets; /* forked processes for which the target set had no room */
};

void objects_losses(struct objects *objects, struct objects_losses *ret);

struct source_setup {
	struct objects *objects;
	const unsigned *cpus;
	size_t nr_cpus;
	unsigned frequency_hz; /* or */
	uint64_t count; /* events a sample */
	int exclude_idle;
	const char *why; /* there is no BPF: "CAP_BPF is missing". NULL: it was not wanted */
};

/* What a source says once it is open. */
struct source_state {
	const char *event; /* in force: "cpu-clock"; lives as long as the run */
	const char *unit; /* of weights: "nanoseconds", or "events" */
	uint64_t period; /* mean, in that unit */
	const char *note; /* "cycles opens but does not count on this machine (no hardware
			     counters); using cpu-clock", or NULL */
	int user_only; /* the kernel could not be looked into */
};

struct source {
	const char *name, *summary;
	const struct param *params;
	size_t params_size;
	/* 0: "-e EVENT" is mine, -ENOENT: not. NULL: by name only. */
	int (*claim)(const char *event);
	/* Opens and attaches events, not yet firing. */
	int (*open)(const struct source_setup *setup, const char *event, const void *params,
		void **ret_run, struct source_state *ret_state, struct stoke_error *err);
	int (*start)(void *run, struct stoke_error *err);
	/* Due every 100 ms or so: redraws the periods. */
	void (*tick)(void *run);
	void (*stop)(void *run);
	void (*close)(void *run);
	/* Rings that it has the kernel write without BPF; NULL: samples come through BPF. */
	const struct plain_rings *(*rings)(const void *run);
};

extern const struct source *const sources[];
extern const size_t nr_sources;

/* Which source takes this event, by name or claim; *ret_params parsed from "name:key=value".
 * -EINVAL: err names what there is. */
int source_find(
	const char *event, const struct source **ret, void **ret_params, struct stoke_error *err);

#endif
