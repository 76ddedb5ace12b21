/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorder.c: THE STORY OF A RECORDING. Read this first.
 *
 *	open	side band -> follow program -> targets and what they have mapped -> events
 *		where BPF is not permitted: rings with both -> targets, each with its events
 *	start	events fire, a held command runs
 *	step	every 100 ms: rings -> timeline -> processes, assembler; periods redrawn; readings
 *	stop	events end
 *	take	drain, last readings, names, quality: a profile
 *
 * The order of opening matters: what is mapped after the side band is open comes as a record, what
 * was mapped before is in /proc, so nothing falls between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "capture/recorder.h"
#include "resolver/ahead.h"
#include "resolver/inlined.h"
#include "resolver/resolver.h"

#define SCANS_A_ROUND 200
#define SETTLE_MS     20 /* that a recording may start later for the sake of unwind tables */
/* How long ended processes are kept: no sample of theirs can come after two rounds. */
#define FORGET_AFTER_NS (10 * ROUND_NS)

int stoke_recorder_open(const struct stoke_record_options *options, struct stoke_recorder **ret,
	struct stoke_error *err)
{
	struct stoke_recorder *recorder = calloc(1, sizeof(*recorder));
	int r;

	if (!recorder)
		return fail(err, -ENOMEM, "out of memory");
	if (err)
		*err = (struct stoke_error){0};
	recorder->options = *options;
	/* Its processes come and go: like all there are, but for those that the kernel leaves out.
	 */
	if (options->cgroup)
		recorder->options.flags |= STOKE_ALL_CPUS;
	recorder->epoll_fd = recorder->timer_fd = recorder->cgroup.fd = -1;
	recorder->own_cpu_start_ns = recorder_own_cpu_ns();
	r = recorder_open_all(recorder, err);
	if (r < 0) {
		stoke_recorder_close(recorder);
		if (err && !err->code)
			return fail(err, r, "cannot record: %s", strerror(-r));
		return r;
	}
	*ret = recorder;
	return 0;
}

int stoke_recorder_fd(const struct stoke_recorder *recorder)
{
	return recorder->epoll_fd;
}

/* The kernel's names are read while there is time for it, once they are seen to be needed. */
static void look_ahead(struct stoke_recorder *recorder)
{
	if (recorder->looked_ahead || !assembler_met_kernel(recorder->assembler))
		return;
	recorder->looked_ahead = 1;
	(void)resolve_ahead_start(&recorder->host, &recorder->ahead); /* else: at the end */
}

static void forget_ahead(struct stoke_recorder *recorder)
{
	resolve_ahead_free(recorder->ahead);
	recorder->ahead = NULL;
}

static int collect(void *arg, const struct item *item)
{
	struct stoke_recorder *recorder = arg;

	if (item->kind == ITEM_KERNEL_CODE) {
		forget_ahead(recorder);
		return 0;
	}
	/* Without BPF events fire before the start. */
	if (item->kind == ITEM_SAMPLE &&
		(!recorder->start_ns || item->time_ns < recorder->start_ns))
		return 0;
	if (recorder->unwinder) {
		int r = unwinder_note(recorder->unwinder, item);

		if (r < 0)
			return r;
	}
	return timeline_add(recorder->timeline, item);
}

static int take_exit(struct stoke_recorder *recorder, const struct item *item)
{
	struct process *process = processes_find(recorder->processes, item->task.pid);
	int r = 0;

	if (item->task.pid == item->task.tid)
		objects_exited(recorder->objects, item->task.pid);

	/* The leader may go before other threads: only its process knows when all have gone, and
	 * that is told by the exit of the last one. Reading once more costs nothing. */
	if (process && item->task.pid == item->task.tid)
		r = assembler_exit(recorder->assembler, process, item->time_ns);
	if (r < 0)
		return r;
	return processes_exit(recorder->processes, item->task.pid, item->task.tid, item->time_ns);
}

/*
 * The side band tells of every process on the machine; files of those that nobody asked for are not
 * worth opening. Known are targets, what they forked, and what was sampled.
 */
static int wanted(const struct stoke_recorder *recorder, const struct item *item)
{
	if (recorder->options.flags & STOKE_ALL_CPUS)
		return 1;
	switch (item->kind) {
	case ITEM_SAMPLE:
		/* Events are inherited by whatever is forked. */
		return !objects_are_plain(recorder->objects) || recorder->options.nr_tids ||
		       !(recorder->options.flags & STOKE_NO_CHILDREN) ||
		       objects_has_process(recorder->objects, (pid_t)item->sample.record->pid);
	case ITEM_MMAP:
		return processes_find(recorder->processes, item->mmap.pid) != NULL;
	case ITEM_COMM:
		return processes_find(recorder->processes, item->comm.pid) != NULL;
	case ITEM_FORK:
		return processes_find(recorder->processes, item->task.parent_pid) != NULL;
	case ITEM_EXIT:
		return processes_find(recorder->processes, item->task.pid) != NULL;
	case ITEM_KERNEL_CODE:
		break;
	}
	return 0;
}

/* Samples of BPF programs bear the thread's name. */
static void name_thread(const struct stoke_recorder *recorder, struct stoke_sample *record)
{
	const struct process *process = processes_find(recorder->processes, (pid_t)record->pid);
	uint32_t name = process ? process_thread_name(process, (pid_t)record->tid) : 0;
	const char *text;

	if (process && !name)
		name = process->name;
	if (!name)
		return;
	text = processes_text(recorder->processes, name);
	memcpy(record->comm, text, strnlen(text, sizeof(record->comm)));
}

/* -EAGAIN: it waits for a table, and what comes after it too. */
static int take_sample(struct stoke_recorder *recorder, const struct item *item)
{
	struct walked walked = {item->sample.record, item->sample.frames};

	if (recorder->unwinder) {
		int r = unwinder_finish(recorder->unwinder, item, &walked);

		if (r < 0)
			return r;
	}
	if (objects_are_plain(recorder->objects)) {
		struct stoke_sample named = *walked.record;

		name_thread(recorder, &named);
		return assembler_sample(recorder->assembler, &named, walked.frames);
	}
	return assembler_sample(recorder->assembler, walked.record, walked.frames);
}

static int take_item(void *arg, const struct item *item)
{
	struct stoke_recorder *recorder = arg;

	if (!wanted(recorder, item))
		return 0;
	switch (item->kind) {
	case ITEM_SAMPLE:
		return take_sample(recorder, item);
	case ITEM_MMAP:
		return processes_mmap(recorder->processes, &item->mmap);
	case ITEM_COMM:
		return processes_comm(recorder->processes, item->comm.pid, item->comm.tid,
			item->comm.comm, item->comm.exec, item->time_ns);
	case ITEM_FORK:
		if (objects_forked(recorder->objects, item->task.parent_pid, item->task.pid) < 0)
			return -ENOMEM;
		if (item->task.pid != item->task.parent_pid &&
			objects_has_process(recorder->objects, item->task.pid))
			targets_note_child(recorder->targets);
		return processes_fork(recorder->processes, item->task.pid, item->task.tid,
			item->task.parent_pid, item->time_ns);
	case ITEM_EXIT:
		return take_exit(recorder, item);
	case ITEM_KERNEL_CODE:
		break;
	}
	return 0;
}

/* Records of the side band were lost: what is mapped now is read again. */
static void cure_losses(struct stoke_recorder *recorder)
{
	struct rings_losses losses;

	rings_losses(recorder->rings, &losses);
	if (losses.sideband + losses.mixed == recorder->losses_seen)
		return;
	recorder->losses_seen = losses.sideband + losses.mixed;
	forget_ahead(recorder);
	for (size_t i = 0; i < processes_nr(recorder->processes); i++) {
		const struct process *process = processes_at(recorder->processes, i);

		if (!process->exit_ns &&
			((recorder->options.flags & STOKE_ALL_CPUS) ||
				objects_has_process(recorder->objects, process->pid)))
			(void)processes_scan(recorder->processes, process->pid); /* or gone */
	}
}

/* Handing on that waits for a table goes on later. */
static int held(struct stoke_recorder *recorder, int r)
{
	recorder->held = r == -EAGAIN;
	return recorder->held ? 0 : r;
}

/* Empties the rings; what walks met there and did not know is looked after at once. */
static int drain(struct stoke_recorder *recorder)
{
	int r = rings_drain(recorder->rings, collect, recorder);

	if (r >= 0 && recorder->unwinder && !recorder->stop_ns)
		r = unwinder_work(recorder->unwinder, host_now_ns());
	return r;
}

int stoke_recorder_start(struct stoke_recorder *recorder, struct stoke_error *err)
{
	struct rings_losses before;
	struct timespec now;
	int r;

	/* Mostly it is done: the worker had as long as loading took. */
	r = recorder->unwinder ? unwinder_settle(recorder->unwinder, SETTLE_MS) : 0;
	if (r < 0)
		return fail(err, r, "cannot read what is mapped: %s", strerror(-r));
	r = drain(
		recorder); /* what came before is the side band of targets that were being added */
	if (r < 0)
		return fail(err, r, "cannot keep records: %s", strerror(-r));
	rings_losses(recorder->rings, &before);
	recorder->mixed_before = before.mixed;
	recorder->start_ns = host_now_ns();
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
	recorder->start_unix_ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	assembler_set_start(recorder->assembler, recorder->start_ns);
	recorder_note_load(recorder, &recorder->load_before);
	targets_begin(recorder->targets);
	r = recorder->source->start(recorder->source_run, err);
	if (r < 0)
		return r;
	return targets_release(recorder->targets, err);
}

static int drain_round(struct stoke_recorder *recorder, struct stoke_error *err)
{
	uint64_t now = host_now_ns();
	int r;

	r = drain(recorder);
	if (r >= 0)
		r = held(recorder, timeline_round(recorder->timeline, now, take_item, recorder));
	if (r >= 0)
		r = assembler_tick(recorder->assembler, now);
	if (r < 0)
		return fail(err, r, "cannot keep samples: %s", strerror(-r));
	cure_losses(recorder);
	look_ahead(recorder);
	if (now > FORGET_AFTER_NS)
		processes_forget(recorder->processes, now - FORGET_AFTER_NS);
	return 0;
}

int stoke_recorder_step(struct stoke_recorder *recorder, struct stoke_error *err)
{
	uint64_t expirations;
	int r, due = read(recorder->timer_fd, &expirations, sizeof(expirations)) > 0;

	/* A ring past its watermark is emptied at once; the round waits for its time. */
	r = due ? drain_round(recorder, err) : drain(recorder);
	if (r >= 0 && recorder->held)
		r = held(recorder, timeline_resume(recorder->timeline, take_item, recorder));
	if (r < 0)
		return err && err->code ? r : fail(err, r, "cannot keep samples: %s", strerror(-r));
	(void)targets_scan_some(recorder->targets, recorder->processes, SCANS_A_ROUND);
	if (due && !recorder->stop_ns) {
		recorder->source->tick(recorder->source_run);
		recorder->target_cpu_ns = targets_cpu_ns(recorder->targets);
	}
	recorder->targets_ended = targets_ended(recorder->targets);
	return recorder->targets_ended;
}

void stoke_recorder_stop(struct stoke_recorder *recorder)
{
	if (recorder->stop_ns || !recorder->start_ns)
		return;
	(void)targets_ended(recorder->targets); /* a command's time is known from its end on */
	recorder->target_cpu_ns = targets_cpu_ns(recorder->targets);
	recorder->source->stop(recorder->source_run);
	recorder->stop_ns = host_now_ns();
	recorder_note_load(recorder, &recorder->load_after);
}

/* All there is. What waits for a table waits a limited time. */
static int flush(struct stoke_recorder *recorder)
{
	int r;

	while ((r = timeline_flush(recorder->timeline, take_item, recorder)) == -EAGAIN) {
		r = unwinder_settle(recorder->unwinder, SETTLE_MS);
		if (r < 0)
			break;
	}
	return r;
}

static int finish_profile(struct stoke_recorder *recorder, unsigned flags)
{
	uint64_t now;
	int r;

	if (flags & STOKE_LAST)
		stoke_recorder_stop(recorder);
	r = rings_drain(recorder->rings, collect, recorder);
	now = host_now_ns();
	if (r >= 0 && (flags & STOKE_LAST))
		r = flush(recorder);
	else if (r >= 0)
		r = held(recorder, timeline_round(recorder->timeline, now, take_item, recorder));
	if (r >= 0)
		r = assembler_finish(recorder->assembler, now);
	if (r < 0)
		return r;
	assembler_mark_roots(recorder->assembler);
	r = resolve_profile(recorder->profile, &recorder->host, recorder->ahead);
	forget_ahead(recorder);
	recorder->looked_ahead = 0; /* for what is taken next */
	if (r >= 0)
		r = assembler_judge(recorder->assembler, &recorder->profile->runs[0].quality);
	if (r >= 0 && (recorder->options.flags & STOKE_INLINED))
		r = resolve_inlined(recorder->profile);
	if (r < 0)
		return r;
	return recorder_state_facts(recorder);
}

int stoke_recorder_take(struct stoke_recorder *recorder, unsigned flags, struct stoke_profile **ret,
	struct stoke_error *err)
{
	struct stoke_profile *profile;
	int r;

	r = finish_profile(recorder, flags);
	if (r < 0)
		return fail(err, r, "cannot finish the recording: %s", strerror(-r));
	profile = take_pointer(recorder->profile);
	if (!(flags & STOKE_LAST)) {
		r = recorder_begin_profile(recorder);
		if (r < 0) {
			stoke_profile_free(profile);
			return fail(err, r, "cannot go on recording: %s", strerror(-r));
		}
	}
	*ret = profile;
	return 0;
}

int stoke_recorder_command_status(const struct stoke_recorder *recorder, int *ret)
{
	return targets_command_status(recorder->targets, ret);
}

pid_t stoke_recorder_command_pid(const struct stoke_recorder *recorder)
{
	return targets_command_pid(recorder->targets);
}

void stoke_recorder_command_kill(struct stoke_recorder *recorder, int signal)
{
	targets_command_kill(recorder->targets, signal);
}

void stoke_recorder_stats(const struct stoke_recorder *recorder, struct stoke_stats *ret)
{
	struct objects_losses lost;

	objects_losses(recorder->objects, &lost);
	*ret = (struct stoke_stats){
		.samples = assembler_samples(recorder->assembler),
		.lost = lost.ring + lost.busy,
		.duration_ns = recorder_duration_ns(recorder),
		.cpu_ns = strcmp(recorder->state.unit, "nanoseconds") == 0
				  ? assembler_weight(recorder->assembler)
				  : 0,
	};
}

const char *stoke_recorder_target(const struct stoke_recorder *recorder)
{
	return targets_text(recorder->targets);
}

const char *stoke_recorder_event(const struct stoke_recorder *recorder)
{
	return recorder->state.event;
}

void stoke_recorder_close(struct stoke_recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->source_run)
		recorder->source->close(recorder->source_run);
	unwinder_free(recorder->unwinder);
	tables_close(recorder->tables);
	objects_close(recorder->objects);
	rings_close(recorder->rings);
	resolve_ahead_free(recorder->ahead);
	assembler_free(recorder->assembler);
	timeline_free(recorder->timeline);
	stoke_profile_free(recorder->profile);
	processes_free(recorder->processes);
	targets_close(recorder->targets);
	if (recorder->source)
		params_free(recorder->source->params, recorder->source_params);
	if (recorder->host_is_open)
		host_close(&recorder->host);
	cgroup_close(&recorder->cgroup);
	if (recorder->timer_fd >= 0)
		(void)close(recorder->timer_fd);
	if (recorder->epoll_fd >= 0)
		(void)close(recorder->epoll_fd);
	free(recorder->cpus);
	free(recorder);
}
