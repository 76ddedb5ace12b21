/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opening.c: how a recording comes to be, step by step, and which way it can go here. With BPF: the
 * side band, the program that follows targets, the targets, events. Without: an event's rings, and
 * targets, each of which gets its events before what it has mapped is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "capture/cpus.h"
#include "capture/recorder.h"
#include "source/features.h"

static int open_clock(struct stoke_recorder *recorder, struct stoke_error *err)
{
	const struct itimerspec every = {
		.it_interval = {.tv_nsec = ROUND_NS}, .it_value = {.tv_nsec = ROUND_NS}};
	struct epoll_event event = {.events = EPOLLIN};

	recorder->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	recorder->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (recorder->epoll_fd < 0 || recorder->timer_fd < 0 ||
		timerfd_settime(recorder->timer_fd, 0, &every, NULL) < 0 ||
		epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD, recorder->timer_fd, &event) < 0 ||
		epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD, rings_fd(recorder->rings), &event) <
			0 ||
		(recorder->unwinder && epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD,
					       unwinder_fd(recorder->unwinder), &event) < 0))
		return fail(err, -errno, "cannot wait for samples: %s", strerror(errno));
	return 0;
}

static struct objects_options objects_options_of(const struct stoke_recorder *recorder)
{
	const struct stoke_record_options *options = &recorder->options;

	return (struct objects_options){
		.all = !!(options->flags & STOKE_ALL_CPUS),
		.cgroup_version = recorder->cgroup.fd >= 0 ? recorder->cgroup.version : 0,
		.cgroup_fd = recorder->cgroup.fd,
		.cgroup_controller = recorder->cgroup.controller,
		.threads = options->nr_tids != 0,
		.children = !(options->flags & STOKE_NO_CHILDREN),
		.user = !(options->flags & STOKE_KERNEL_ONLY),
		.kernel = !(options->flags & STOKE_USER_ONLY),
		.cpus = recorder->cpus,
		.nr_cpus = recorder->nr_cpus,
		.frequency_hz = recorder_rate_of(options),
	};
}

/* Compiling takes as long as loading programs does: both go on at once. */
static int prepare_unwinder(struct stoke_recorder *recorder)
{
	int r;

	if (recorder->options.flags & STOKE_KERNEL_ONLY)
		return 0;
	r = unwinder_new(recorder->processes, &recorder->unwinder);
	for (size_t i = 0; r >= 0 && i < recorder->options.nr_pids; i++)
		r = unwinder_prepare(recorder->unwinder, recorder->options.pids[i]);
	return r;
}

/* Without tables walks go by frame pointers, which the quality of the profile tells. */
static int open_unwinder(struct stoke_recorder *recorder)
{
	const struct tables *tables;
	int r;

	if (!recorder->unwinder)
		return 0;
	if (tables_open(recorder->objects, &recorder->tables) < 0) {
		unwinder_free(take_pointer(recorder->unwinder));
		return 0;
	}
	objects_use_tables(recorder->objects);
	tables = recorder->tables;
	r = unwinder_attach(recorder->unwinder,
		&(struct store_memory){.rules = tables->rules,
			.max_rules = tables->max_rules,
			.pages = tables->pages,
			.max_pages = tables->max_pages,
			.max_shards = STOKE_MAX_SHARDS,
			.shard = tables_shard,
			.arg = recorder->tables},
		&(struct publisher_memory){.mappings = tables->mappings,
			.max_mappings = tables->max_mappings,
			.set = tables_set_space,
			.arg = recorder->tables});
	/* Without BPF nothing is walked before its record is read. */
	if (r < 0 || objects_are_plain(recorder->objects))
		return r;
	if (r == 0)
		r = unwinder_attach_java(recorder->unwinder, tables->javas, tables->max_javas);
	/* A held command is not yet what it will be; and of a whole machine most are idle. */
	if (recorder->options.command_is_target || (recorder->options.flags & STOKE_ALL_CPUS))
		return r;
	for (size_t i = 0; r >= 0 && i < processes_nr(recorder->processes); i++)
		r = unwinder_expect(recorder->unwinder, processes_at(recorder->processes, i)->pid);
	if (r >= 0)
		r = unwinder_work(recorder->unwinder, host_now_ns());
	return r;
}

static int open_source(struct stoke_recorder *recorder, const char *why, struct stoke_error *err)
{
	const struct stoke_record_options *options = &recorder->options;
	const struct source_setup setup = {
		.objects = recorder->objects,
		.cpus = recorder->cpus,
		.nr_cpus = recorder->nr_cpus,
		.frequency_hz = recorder_rate_of(options),
		.count = options->count,
		.exclude_idle = 1,
		.why = why,
	};
	const int *fds;
	size_t nr;
	int r;

	r = recorder->source->open(&setup, options->event ? options->event : "cpu",
		recorder->source_params, &recorder->source_run, &recorder->state, err);
	if (r < 0)
		return r;
	if (recorder->source->rings)
		return rings_add_perf(
			recorder->rings, recorder->source->rings(recorder->source_run), err);
	objects_ready(recorder->objects);
	nr = objects_ring_fds(recorder->objects, &fds);
	for (size_t i = 0; r >= 0 && i < nr; i++)
		r = rings_add_bpf(recorder->rings, fds[i], err);
	return r;
}

static int open_assembler(struct stoke_recorder *recorder)
{
	const struct assembler_options options = {
		.host = &recorder->host,
		.processes = recorder->processes,
		.slice_ns = SLICE_NS,
		.weight_is_ns = strcmp(recorder->state.unit, "nanoseconds") == 0,
		.unit = recorder->state.event,
		.flags = recorder->options.flags,
		.unwinder = recorder->unwinder,
	};
	int r = assembler_new(&options, &recorder->assembler);

	if (r >= 0)
		r = timeline_new(&recorder->timeline);
	return r;
}

/* An empty profile with its run, to be filled. */
int recorder_begin_profile(struct stoke_recorder *recorder)
{
	uint32_t run;
	int r;

	r = stoke_profile_new(&recorder->profile);
	if (r >= 0)
		r = profile_run(recorder->profile, targets_label(recorder->targets), &run);
	if (r >= 0)
		r = assembler_use(recorder->assembler, recorder->profile);
	return r < 0 ? r : 0;
}

static int open_bpf(struct stoke_recorder *recorder, struct stoke_error *err)
{
	const struct objects_options wanted = objects_options_of(recorder);
	const struct rings_options sideband = {0};
	int r = rings_open(&sideband, &recorder->rings, err);

	if (r >= 0)
		r = objects_open(&wanted, &recorder->objects, err);
	return r;
}

/* The rest, once the first two are there. */
static int open_events(struct stoke_recorder *recorder, struct stoke_error *err)
{
	int r = targets_watch(recorder->targets, recorder->objects, recorder->processes, err);

	if (r >= 0)
		r = open_unwinder(recorder);
	if (r >= 0)
		r = open_source(recorder, NULL, err);
	return r;
}

/* Here a target's events are opened as it is added, so the source comes first. */
static int open_plain(struct stoke_recorder *recorder, const char *why, struct stoke_error *err)
{
	const struct objects_options wanted = objects_options_of(recorder);
	const struct rings_options own = {.no_sideband = 1};
	int r;

	/* Nobody but a program tells who is in it, at each sample. */
	if (recorder->cgroup.fd >= 0)
		return fail(err, -EOPNOTSUPP,
			"a cgroup cannot be recorded without BPF; -p with the processes in "
			"cgroup.procs");
	r = rings_open(&own, &recorder->rings, err);
	if (r >= 0)
		r = objects_open_plain(&wanted, &recorder->objects);
	if (r >= 0 && !recorder->source->rings) {
		params_free(recorder->source->params, recorder->source_params);
		r = source_find("plain", &recorder->source, &recorder->source_params, err);
	}
	if (r >= 0)
		r = open_source(recorder, why, err);
	if (r >= 0)
		r = targets_watch(recorder->targets, recorder->objects, recorder->processes, err);
	if (r >= 0)
		r = open_unwinder(recorder);
	return r;
}

/* Not for want of this or that: because programs may not, or cannot, run here. */
static int is_refusal(int r)
{
	return r == -EPERM || r == -EACCES || r == -EOPNOTSUPP || r == -ENOSYS;
}

static int open_kernel(struct stoke_recorder *recorder, struct stoke_error *err)
{
	struct stoke_error second = {0};
	struct rights rights;
	int first, r;

	if ((recorder->options.flags & STOKE_NO_BPF) || recorder->source->rings)
		return open_plain(recorder, NULL, err);
	first = open_bpf(recorder, err);
	if (first >= 0)
		return open_events(recorder, err);
	if (!is_refusal(first))
		return first;
	rings_close(take_pointer(recorder->rings));
	rights_read("/proc", "/sys", &rights);
	r = open_plain(recorder, rights_without_bpf(&rights, first), &second);
	if (r >= 0) {
		if (err)
			*err = (struct stoke_error){0};
		return r;
	}
	/* What is missing for all of it is what they should hear. */
	if (is_refusal(r) || !err)
		return first;
	*err = second;
	return r;
}

int recorder_open_all(struct stoke_recorder *recorder, struct stoke_error *err)
{
	const struct stoke_record_options *options = &recorder->options;
	int r;

	r = host_open(options->proc_root, NULL, &recorder->host);
	if (r < 0)
		return fail(err, r, "cannot open /proc: %s", strerror(-r));
	recorder->host_is_open = 1;
	if (options->cgroup)
		r = cgroup_open(&recorder->host, options->cgroup, &recorder->cgroup, err);
	if (r >= 0)
		r = source_find(options->event ? options->event : "cpu", &recorder->source,
			&recorder->source_params, err);
	if (r >= 0)
		r = cpus_choose(&recorder->host, options->cpus, options->nr_cpus, &recorder->cpus,
			&recorder->nr_cpus, err);
	if (r >= 0)
		r = targets_open(options, &recorder->host,
			recorder->cgroup.fd >= 0 ? &recorder->cgroup : NULL, &recorder->targets,
			err);
	if (r >= 0)
		r = processes_new(&recorder->host, &recorder->processes);
	if (r >= 0)
		r = prepare_unwinder(recorder);
	if (r >= 0)
		r = open_kernel(recorder, err);
	if (r >= 0)
		r = open_clock(recorder, err);
	if (r >= 0)
		r = open_assembler(recorder);
	if (r >= 0)
		r = recorder_begin_profile(recorder);
	return r < 0 ? r : 0;
}
