/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recording.c: the story of "stoke record" as its user sees it: outputs are opened, the recorder
 * is, the window runs, the profile is written and told.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/inputs.h"
#include "cmd/record.h"
#include "cmd/results.h"
#include "cmd/window.h"
#include "cmd/work.h"

#define NS_PER_S	    1000000000ull
#define DEFAULT_DURATION_NS (30 * NS_PER_S)
#define DEFAULT_RATE_HZ	    99

/* Exit statuses of a program that runs another, as of env(1) and timeout(1). */
enum { STATUS_STOKE_FAILED = 125, STATUS_NOT_RUNNABLE = 126, STATUS_NOT_FOUND = 127 };

static void cleanup_signals(struct signals **signals)
{
	signals_close(*signals);
}

/* What a recording has in hand. */
struct recording {
	const struct call *call;
	const struct record_values *values;
	struct stoke_record_options options;
	struct results *results;
	struct stoke_recorder *recorder;
	struct stoke_profile *profile;
	uint64_t duration_ns; /* 0: no limit */
	enum window_end end;
	FILE *out; /* where the summary goes */
};

static int runs_target(const struct recording *recording)
{
	return recording->options.command_is_target;
}

/* The status of a failure: what a command would have said for itself must not be mistaken. */
static int failed(const struct recording *recording, int status)
{
	return runs_target(recording) && status ? STATUS_STOKE_FAILED : status;
}

static int status_of_error(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return STATUS_NOT_PERMITTED;
	default:
		return STATUS_USAGE;
	}
}

static void fill_options(struct recording *recording)
{
	const struct record_values *values = recording->values;
	struct stoke_record_options *options = &recording->options;

	*options = (struct stoke_record_options){
		.pids = (const pid_t *)values->pids.items,
		.nr_pids = values->pids.nr,
		.tids = (const pid_t *)values->tids.items,
		.nr_tids = values->tids.nr,
		.cpus = values->cpus.items,
		.nr_cpus = values->cpus.nr,
		.cgroup = values->cgroup,
		.event = values->event,
		.frequency_hz = (unsigned)values->frequency.value,
		.count = values->count.value,
		.flags = values->flags,
	};
	if (recording->call->after) {
		options->command = recording->call->after;
		options->command_is_target = !record_has_target(values);
	}
	for (size_t i = 0; i < values->by.nr; i++) {
		if (values->by.items[i] + 1 == STOKE_BY_CPU)
			options->flags |= STOKE_LABEL_CPU;
	}
	recording->duration_ns = values->duration.given ? values->duration.value
				 : options->command	? 0
							: DEFAULT_DURATION_NS;
}

static int open_recorder(struct recording *recording)
{
	const struct voice *voice = &recording->call->voice;
	struct stoke_error err = {0};
	int r = stoke_recorder_open(&recording->options, &recording->recorder, &err);

	return r < 0 ? say_error(voice, status_of_error(r), "%s", err.text) : STATUS_DONE;
}

/* "30 s", "until it ends": how long it is meant to run. */
static const char *window_format(const struct recording *recording, char *buffer, size_t size)
{
	if (recording->duration_ns)
		return time_format(buffer, recording->duration_ns);
	if (runs_target(recording))
		return "until it ends";
	if (!recording->options.command)
		return "until Ctrl-C";
	(void)snprintf(buffer, size, "while %s runs", recording->options.command[0]); /* or cut */
	return buffer;
}

static void say_header(const struct recording *recording)
{
	const struct record_values *values = recording->values;
	char window[64], rate[64];

	if (values->count.given)
		(void)snprintf(
			rate, sizeof(rate), "a sample every %" PRIu64 " of", values->count.value);
	else
		(void)snprintf(rate, sizeof(rate), "at %" PRIu64 " Hz,",
			values->frequency.given ? values->frequency.value
						: (uint64_t)DEFAULT_RATE_HZ);
	say(&recording->call->voice, "%s; %s %s %s", stoke_recorder_target(recording->recorder),
		window_format(recording, window, sizeof(window)), rate,
		stoke_recorder_event(recording->recorder));
}

/* Lets the window run and takes what was sampled in it. */
static int run_window(struct recording *recording, struct signals *signals)
{
	const struct voice *voice = &recording->call->voice;
	struct progress progress;
	const struct window window = {
		.recorder = recording->recorder,
		.signals = signals,
		.progress = &progress,
		.duration_ns = recording->duration_ns,
		.has_command = recording->options.command != NULL,
	};
	struct stoke_error err = {0};
	struct stoke_stats stats = {0};
	int r = stoke_recorder_start(recording->recorder, &err);

	if (r < 0 && recording->options.command)
		return say_error(voice, r == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE, "%s",
			err.text);
	progress_init(&progress, voice, recording->duration_ns);
	if (r >= 0)
		r = window_run(&window, &recording->end, &err);
	stoke_recorder_stop(recording->recorder);
	stoke_recorder_stats(recording->recorder, &stats);
	progress_done(&progress, stats.duration_ns, &stats);
	if (r < 0) /* what there is up to here is worth having */
		say_warning(voice, "the recording broke off: %s", err.text);
	r = stoke_recorder_take(recording->recorder, STOKE_LAST, &recording->profile, &err);
	return r < 0 ? failed(recording, say_error(voice, STATUS_USAGE, "%s", err.text))
		     : STATUS_DONE;
}

/* With several processes in it, a picture needs them apart. */
static int rooted_profile(const struct recording *recording, struct stoke_profile **ret)
{
	const struct record_values *values = recording->values;
	unsigned by = STOKE_BY_PROCESS - 1;
	struct filters filters = {.by = values->by};
	enum stoke_by roots[8];
	struct stoke_select_options select = {.by = roots};
	struct stoke_error err = {0};
	struct stoke_stats stats;

	stoke_profile_stats(recording->profile, &stats);
	if (!filters.by.nr && values->threads)
		by = STOKE_BY_THREAD - 1;
	if (!filters.by.nr && (values->threads || stats.nr_processes > 1))
		filters.by = (struct numbers){&by, 1, 1};
	for (size_t i = 0; i < filters.by.nr && i < ARRAY_SIZE(roots); i++)
		roots[select.nr_by++] = (enum stoke_by)(filters.by.items[i] + 1);
	if (!select.nr_by)
		return STATUS_DONE;
	if (stoke_profile_select(recording->profile, &select, ret, &err) < 0)
		return say_error(&recording->call->voice, STATUS_USAGE, "%s", err.text);
	return STATUS_DONE;
}

static void say_end(const struct recording *recording)
{
	struct stoke_stats stats;
	char time[32];

	stoke_profile_stats(recording->profile, &stats);
	if (recording->end == WINDOW_TARGET && recording->duration_ns)
		say(&recording->call->voice, "the target ended after %s",
			time_format(time, stats.duration_ns));
}

/* The answer as text, as wide as the terminal. */
static void tell_summary(const struct recording *recording)
{
	struct stoke_error err = {0};
	struct winsize size = {0};
	char report[64];

	(void)ioctl(fileno(recording->out), TIOCGWINSZ, &size); /* no terminal: 0 columns */
	(void)snprintf(report, sizeof(report), "text:summary,width=%d",
		size.ws_col < 60    ? 80
		: size.ws_col > 160 ? 160
				    : size.ws_col);
	if (stoke_profile_report(recording->profile, report, recording->out, &err) < 0)
		say_warning(&recording->call->voice, "%s", err.text);
}

/* The answer itself, then where the files are. */
static void tell(const struct recording *recording)
{
	const struct voice *voice = &recording->call->voice;
	const char *ssh = getenv("SSH_CONNECTION");

	say_end(recording);
	stats_say(voice, recording->profile);
	if (!voice->quiet)
		tell_summary(recording);
	(void)fflush(recording->out); /* before what goes to the other stream; main() looks */
	warnings_say(voice, recording->profile);
	if (voice->quiet)
		return;
	results_list(recording->results, recording->out);
	if (ssh && *ssh)
		results_fetch(recording->results, recording->out);
}

/* The command's own, once it has one. It may outlive a window that a time or a signal ended. */
static int command_status(const struct recording *recording)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	int status, r;

	while ((r = stoke_recorder_command_status(recording->recorder, &status)) == -EAGAIN)
		(void)nanosleep(&pause, NULL); /* shorter when a signal comes */
	if (r < 0)
		return STATUS_DONE;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static int finish(struct recording *recording, int status)
{
	int own;

	if (!recording->options.command)
		return status;
	if (!runs_target(recording)) {
		/* It only said how long; what ended the window otherwise ends it, too. */
		if (recording->end != WINDOW_TARGET)
			stoke_recorder_command_kill(recording->recorder, SIGTERM);
		own = command_status(recording);
		return status || recording->end != WINDOW_TARGET ? status : own;
	}
	if (recording->end == WINDOW_TIME)
		say(&recording->call->voice,
			"the recording is over; %s goes on, and so stoke waits",
			recording->options.command[0]);
	own = command_status(recording);
	return own ? own : failed(recording, status);
}

/* Signals are noted from the fork of the command until the window is over, and only so long. */
static int run_noting_signals(struct recording *recording)
{
	_cleanup_(cleanup_signals) struct signals *signals = NULL;

	if (signals_open(&signals) < 0)
		return failed(recording, say_error(&recording->call->voice, STATUS_USAGE,
						 "cannot note signals: %s", strerror(errno)));
	return run_window(recording, signals);
}

/* The file is written by the work itself, so it is read when that is over. Whatever is wrong with
 * it, the recording is worth having. */
static void add_work(const struct recording *recording)
{
	const struct voice *voice = &recording->call->voice;
	const char *text = recording->values->work;
	struct stoke_error err = {0};
	double work;

	if (!text)
		return;
	if (work_parse(text, &work, &err) < 0 ||
		stoke_profile_set_work(recording->profile, work, &err) < 0)
		say_warning(voice, "%s; the files say nothing of work done", err.text);
}

static int record(struct recording *recording)
{
	_cleanup_profile_ struct stoke_profile *rooted = NULL;
	int status;

	say_header(recording);
	status = run_noting_signals(recording);
	if (status)
		return status;
	add_work(recording);
	status = rooted_profile(recording, &rooted);
	if (!status)
		status = results_write(recording->results, &recording->call->voice,
			rooted ? rooted : recording->profile,
			recording->values->by.nr ? NULL : recording->profile);
	tell(recording);
	return finish(recording, status);
}

static void wait_for_delay(const struct record_values *values)
{
	const struct timespec delay = {
		.tv_sec = (time_t)(values->delay.value / NS_PER_S),
		.tv_nsec = (long)(values->delay.value % NS_PER_S),
	};

	if (values->delay.value)
		(void)nanosleep(&delay, NULL); /* only a signal that ends stoke cuts it short */
}

/* A command is there, and held, as soon as the recorder is: its files can be called by its PID. For
 * others files come first: they are not kept waiting by what cannot be written. */
static int prepare(struct recording *recording)
{
	const struct call *call = recording->call;
	int status;

	if (runs_target(recording)) {
		status = open_recorder(recording);
		if (status)
			return status;
		return record_open_outputs(
			call, recording->results, stoke_recorder_command_pid(recording->recorder));
	}
	status = record_open_outputs(call, recording->results, 0);
	if (status)
		return status;
	wait_for_delay(recording->values);
	return open_recorder(recording);
}

int record_run(const struct call *call)
{
	struct record_values *values = call->values;
	_cleanup_results_ struct results *results = NULL;
	struct recording recording = {.call = call, .values = values, .out = stdout};
	int status = record_check(call);

	if (status)
		return status;
	if (results_new("Nothing was recorded; -o /tmp/", &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	fill_options(&recording);
	recording.results = results;
	status = prepare(&recording);
	if (results_use_stdout(results))
		recording.out = stderr;
	status = status ? failed(&recording, status) : record(&recording);
	stoke_profile_free(recording.profile);
	stoke_recorder_close(recording.recorder);
	return status;
}
