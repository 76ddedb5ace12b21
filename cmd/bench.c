/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.c: records both sides itself, in turn, and compares them. The order is A B B A A B B A:
 * what changes slowly on a machine (heat, neighbours) then weighs alike on both sides.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/baseline.h"
#include "cmd/comparing.h"
#include "cmd/output.h"
#include "cmd/window.h"
#include "cmd/work.h"

#define REPEATS	    5
#define MAX_REPEATS 100

enum { EXIT_CODE = 1 };

static const char *const side_names[] = {"before", "after"};

struct values {
	const char *commands[2];
	struct comparing comparing;
	struct amount repeats, warmup, frequency, duration;
	const char *directory, *event;
	unsigned flags;
};

static const struct option options[] = {
	{.name = "before",
		.type = OPTION_TEXT,
		.value = "COMMAND",
		.offset = offsetof(struct values, commands[0]),
		.help = "what the shell runs for the side before"},
	{.name = "after",
		.type = OPTION_TEXT,
		.value = "COMMAND",
		.offset = offsetof(struct values, commands[1]),
		.help = "and after"},
	{.name = "repeats",
		.letter = 'n',
		.type = OPTION_NUMBER,
		.value = "N",
		.min = 1,
		.max = MAX_REPEATS,
		.offset = offsetof(struct values, repeats),
		.help = "runs of each side (5)"},
	{.name = "warmup",
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct values, warmup),
		.help = "what each run does in its first TIME is not kept"},
	{.name = "duration",
		.letter = 'd',
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct values, duration),
		.help = "end each run after TIME; until then it may end by itself"},
	{.name = "freq",
		.letter = 'F',
		.type = OPTION_NUMBER,
		.value = "HZ",
		.min = 1,
		.max = 100000,
		.offset = offsetof(struct values, frequency),
		.help = "samples a second of CPU time (99)"},
	{.name = "event",
		.letter = 'e',
		.type = OPTION_TEXT,
		.value = "EVENT",
		.offset = offsetof(struct values, event),
		.help = "what to sample by, as stoke record"},
	{.name = "work-before",
		.type = OPTION_TEXT,
		.value = "N",
		.offset = offsetof(struct values, comparing.work_before),
		.help = "operations that each run before does; @FILE is read after each"},
	{.name = "work-after",
		.type = OPTION_TEXT,
		.value = "N",
		.offset = offsetof(struct values, comparing.work_after),
		.help = "and each run after"},
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXT,
		.value = "DIRECTORY",
		.offset = offsetof(struct values, directory),
		.help = "keep captures, report and picture there (stoke-bench-TIME)"},
	EXIT_CODE_OPTION(struct values, EXIT_CODE),
	{.type = OPTION_TABLE,
		.table = naming_options,
		.offset = offsetof(struct values, comparing.naming)},
	OPTIONS_END,
};

/* What is under way. */
struct bench {
	const struct call *call;
	struct values *values;
	char *directory;
	struct sides sides;
	unsigned repeats;
};

static void bench_done(struct bench *bench)
{
	free(bench->directory);
	sides_done(&bench->sides);
}

static void close_recorder(struct stoke_recorder **recorder)
{
	stoke_recorder_close(*recorder);
}

static void close_signals(struct signals **signals)
{
	signals_close(*signals);
}

static int status_of(int error)
{
	return error == -EPERM || error == -EACCES || error == -EOPNOTSUPP || error == -ENOSYS
		       ? STATUS_NOT_PERMITTED
		       : STATUS_USAGE;
}

static int make_directory(struct bench *bench)
{
	const struct voice *voice = &bench->call->voice;
	const struct output_names names = {.name = "bench", .time = time(NULL)};

	bench->directory = bench->values->directory ? strdup(bench->values->directory)
						    : output_default_stem(&names);
	if (!bench->directory)
		return say_error(voice, STATUS_USAGE, "out of memory");
	if (mkdir(bench->directory, 0777) < 0)
		return say_error(voice, STATUS_USAGE, "cannot make the directory %s: %s%s",
			bench->directory, strerror(errno),
			errno == EEXIST ? "; captures of another run are not mixed in" : "");
	return STATUS_DONE;
}

/* How a command ended: 0 when it did as it should. One that time ended did. */
static int wait_for_command(const struct voice *voice, struct stoke_recorder *recorder,
	enum window_end end, const char *side, unsigned number)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	int status = 0, r;

	if (end != WINDOW_TARGET)
		stoke_recorder_command_kill(recorder, SIGTERM);
	while ((r = stoke_recorder_command_status(recorder, &status)) == -EAGAIN)
		(void)nanosleep(&pause, NULL); /* shorter when a signal comes */
	if (end == WINDOW_SIGNAL)
		return say_error(voice, STATUS_USAGE, "stopped in run %u of %s", number, side);
	if (end == WINDOW_TIME || r < 0 || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return STATUS_DONE;
	if (WIFSIGNALED(status))
		return say_error(voice, STATUS_USAGE, "run %u of %s was ended by signal %d", number,
			side, WTERMSIG(status));
	return say_error(voice, STATUS_USAGE,
		"run %u of %s exited with %d: a run that fails measures nothing", number, side,
		WEXITSTATUS(status));
}

/* Behind the first word of a shell's line, quotes and all. */
static const char *behind_word(const char *text)
{
	char quote = '\0';

	for (; *text; text++) {
		if (*text == '\\' && quote != '\'' && text[1])
			text++;
		else if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '\'' || *text == '"')
			quote = *text;
		else if (strchr(" \t\n;|&()<>", *text))
			break;
	}
	return text;
}

/* What the shell was told to run, without variables before it and arguments behind, which may hold
 * passwords. To be freed; NULL: no memory. */
static char *program_of(const char *command)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	for (;;) {
		const char *word = command + strspn(command, " \t\n");
		const char *end = behind_word(word);

		if (end == word || word[strspn(word, letters)] != '=')
			return strndup(word, (size_t)(end - word));
		command = end;
	}
}

/* Samples one run of a command. */
static int record(struct bench *bench, int side, unsigned number, struct stoke_profile **ret)
{
	const struct voice *voice = &bench->call->voice;
	const struct values *values = bench->values;
	_cleanup_free_ char *script = NULL, *name = program_of(values->commands[side]);
	_cleanup_(close_recorder) struct stoke_recorder *recorder = NULL;
	_cleanup_(close_signals) struct signals *signals = NULL;
	struct progress progress;
	char shell[] = "/bin/sh", option[] = "-c";
	char *argv[] = {shell, option, NULL, NULL};
	struct stoke_record_options how = {
		.command = argv,
		.command_is_target = 1,
		.event = values->event,
		.frequency_hz = (unsigned)values->frequency.value,
	};
	struct window window = {
		.progress = &progress, .duration_ns = values->duration.value, .has_command = 1};
	enum window_end end = WINDOW_TARGET;
	struct stoke_error err = {0};
	int r;

	/* Standard output is for the report. */
	if (!name || asprintf(&script, "exec 1>&2\n%s", values->commands[side]) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	argv[2] = script;
	how.command_name = *name ? name : NULL;
	r = stoke_recorder_open(&how, &recorder, &err);
	if (r < 0)
		return say_error(voice, status_of(r), "%s", err.text);
	if (signals_open(&signals) < 0)
		return say_error(voice, STATUS_USAGE, "cannot note signals: %s", strerror(errno));
	progress_init(&progress, voice, 0);
	progress.enabled = 0;
	window.recorder = recorder;
	window.signals = signals;
	r = stoke_recorder_start(recorder, &err);
	if (r >= 0)
		r = window_run(&window, &end, &err);
	stoke_recorder_stop(recorder);
	if (r >= 0)
		r = stoke_recorder_take(recorder, STOKE_LAST, ret, &err);
	if (r < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	return wait_for_command(voice, recorder, end, side_names[side], number);
}

/* Without its warm-up, and with the work that it did. */
static int finish(const struct bench *bench, int side, struct stoke_profile **profile)
{
	const struct values *values = bench->values;
	const char *work = side ? values->comparing.work_after : values->comparing.work_before;
	struct filters warm = {.from = values->warmup};
	struct stoke_error err = {0};
	double operations;
	int status = STATUS_DONE;

	if (values->warmup.value)
		status = filters_apply(&bench->call->voice, &warm, profile);
	if (status || !work)
		return status;
	if (work_parse(work, &operations, &err) < 0 ||
		stoke_profile_set_work(*profile, operations, &err) < 0)
		return say_error(&bench->call->voice, STATUS_USAGE, "%s", err.text);
	return STATUS_DONE;
}

static int run_one(struct bench *bench, int side, unsigned number)
{
	const struct voice *voice = &bench->call->voice;
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	_cleanup_results_ struct results *results = NULL;
	_cleanup_free_ char *path = NULL;
	struct stoke_stats stats;
	char samples[32];
	int status;

	if (asprintf(&path, "%s/%s-%02u.pb.gz", bench->directory, side_names[side], number) < 0 ||
		results_new(NULL, &results) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	status = results_add(results, voice, path, "pprof", 0);
	if (!status)
		status = record(bench, side, number, &profile);
	if (!status)
		status = finish(bench, side, &profile);
	if (!status)
		status = results_write(results, voice, profile, NULL);
	if (status)
		return status;
	stoke_profile_stats(profile, &stats);
	say(voice, "run %u of %u %s: %s samples", number, bench->repeats, side_names[side],
		text_count(samples, stats.samples));
	return paths_add(side ? &bench->sides.after : &bench->sides.before, voice, path);
}

static int run_all(struct bench *bench)
{
	int status = STATUS_DONE;

	for (unsigned i = 0; i < bench->repeats && !status; i++) {
		int first = i % 2; /* A B, B A, A B */

		status = run_one(bench, first, i + 1);
		if (!status)
			status = run_one(bench, !first, i + 1);
	}
	if (!status)
		return STATUS_DONE;
	if (bench->sides.before.nr + bench->sides.after.nr)
		say(&bench->call->voice, "what was recorded so far is in %s", bench->directory);
	else
		(void)rmdir(bench->directory); /* empty, unless it is somebody's who hurried */
	return status;
}

/* The text for people, picture and JSON for later. */
static int judge(struct bench *bench)
{
	static const char *const files[] = {"diff.svg", "diff.json"};
	const struct call *call = bench->call;
	struct values *values = bench->values;
	const struct spelling none = {0};
	_cleanup_(cleanup_comparison) struct stoke_comparison *comparison = NULL;
	_cleanup_results_ struct results *results = NULL;
	int status = STATUS_DONE;

	/* Each run says it itself. */
	values->comparing.work_before = values->comparing.work_after = NULL;
	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t i = 0; i < ARRAY_SIZE(files) && !status; i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", bench->directory, files[i]) < 0)
			return say_error(&call->voice, STATUS_USAGE, "out of memory");
		status = comparing_output(call, &values->comparing, path, NULL, &none, results);
	}
	if (!status)
		status = comparing_run(call, &values->comparing, &bench->sides, NULL, &comparison);
	if (!status)
		status = comparing_tell(call, comparison, &(struct telling){.more = ""}, results);
	if (status || !(values->flags & EXIT_CODE))
		return status;
	return comparing_status(call, comparison);
}

static int bench_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_(bench_done) struct bench bench = {
		.call = call,
		.values = values,
		.repeats = values->repeats.given ? (unsigned)values->repeats.value : REPEATS,
	};
	int status;

	if (call->nr_operands)
		return say_error(&call->voice, STATUS_USAGE,
			"bench takes no files; to compare files: stoke diff");
	if (!values->commands[0] || !values->commands[1])
		return say_error(&call->voice, STATUS_USAGE,
			"bench needs --before COMMAND and --after COMMAND");
	if (!values->comparing.work_before != !values->comparing.work_after)
		return say_error(&call->voice, STATUS_USAGE,
			"--work-before and --work-after go together: work is compared with work");
	status = make_directory(&bench);
	if (!status)
		status = run_all(&bench);
	if (!status)
		status = baseline_describe(&call->voice, bench.directory);
	return status ? status : judge(&bench);
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "record two commands in turn and compare them",
	.usage = "bench --before COMMAND --after COMMAND [-n 5] [--warmup TIME] [-o DIRECTORY]",
	.about =
		"Runs two commands in turn, A B B A, records each run, keeps the captures and says "
		"what\ndiffers. Recording needs rights; judging the captures again (stoke check) "
		"needs none.",
	.options = options,
	.values_size = sizeof(struct values),
	.run = bench_run,
};
