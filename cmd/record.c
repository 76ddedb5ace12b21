/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c: what "stoke record" can be asked for. How it is done: recording.c. */
#include "cmd/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/busiest.h"
#include "cmd/inputs.h"
#include "cmd/work.h"

#define HIGHEST_RATE_HZ 10000
#define NR_MATCHES	10 /* that are listed */

static const struct option options[] = {
	{.type = OPTION_HEADING, .help = "Target:"},
	{.name = "pid",
		.letter = 'p',
		.type = OPTION_IDS,
		.value = "PID,...",
		.offset = offsetof(struct record_values, pids),
		.help = "these processes: all threads, and the children they start"},
	{.name = "tid",
		.letter = 't',
		.type = OPTION_IDS,
		.value = "TID,...",
		.offset = offsetof(struct record_values, tids),
		.help = "these threads"},
	{.name = "all-cpus",
		.letter = 'a',
		.type = OPTION_FLAG,
		.bits = STOKE_ALL_CPUS,
		.offset = offsetof(struct record_values, flags),
		.help = "every process"},
	{.name = "cgroup",
		.letter = 'G',
		.type = OPTION_TEXT,
		.value = "PATH",
		.offset = offsetof(struct record_values, cgroup),
		.help = "every process in this cgroup, now and later: /system.slice/x.service, or "
			"its directory"},
	{.name = "container",
		.type = OPTION_TEXT,
		.value = "ID",
		.offset = offsetof(struct record_values, container),
		.help = "every process in this container: 12 or more digits of its id"},
	{.name = "name",
		.type = OPTION_TEXT,
		.value = "TEXT",
		.offset = offsetof(struct record_values, name),
		.help = "the process that is called so: command, main class or jar"},
	{.name = "cpu",
		.letter = 'C',
		.type = OPTION_RANGES,
		.value = "LIST",
		.offset = offsetof(struct record_values, cpus),
		.help = "only on these CPUs: 0-3,5"},
	{.name = "no-children",
		.letter = 'i',
		.type = OPTION_FLAG,
		.bits = STOKE_NO_CHILDREN,
		.offset = offsetof(struct record_values, flags),
		.help = "leave out what the target starts"},
	{.type = OPTION_HEADING, .help = "When and how:"},
	{.name = "duration",
		.letter = 'd',
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct record_values, duration),
		.help = "30 (seconds) unless said; 500ms, 5m, 1h; 0: until Ctrl-C. A COMMAND is "
			"recorded until it ends"},
	{.name = "delay",
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct record_values, delay),
		.help = "wait before recording"},
	{.name = "freq",
		.letter = 'F',
		.type = OPTION_NUMBER,
		.value = "HZ",
		.min = 1,
		.max = HIGHEST_RATE_HZ,
		.has_max = 1,
		.offset = offsetof(struct record_values, frequency),
		.help = "samples a second of CPU time, 1 to 10000 or max; 99 unless said"},
	{.name = "count",
		.letter = 'c',
		.type = OPTION_NUMBER,
		.value = "N",
		.min = 1,
		.offset = offsetof(struct record_values, count),
		.help = "a sample every N events, instead of -F"},
	{.name = "event",
		.letter = 'e',
		.type = OPTION_TEXT,
		.value = "EVENT",
		.offset = offsetof(struct record_values, event),
		.help = "what is sampled; cpu unless said (stoke help events)"},
	SIDE_OPTIONS(struct record_values),
	{.name = "no-bpf",
		.type = OPTION_FLAG,
		.bits = STOKE_NO_BPF,
		.offset = offsetof(struct record_values, flags),
		.help = "without BPF programs, as by itself where those are not permitted"},
	{.letter = 'g',
		.type = OPTION_FLAG,
		.bits = 1,
		.offset = offsetof(struct record_values, call_graph),
		.help = "accepted for the habit of perf: stacks are always taken"},
	{.name = "call-graph",
		.type = OPTION_TEXT,
		.value = "HOW",
		.offset = offsetof(struct record_values, call_graph_how),
		.help = "the same"},
	{.type = OPTION_HEADING, .help = "Output:"},
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXTS,
		.value = "FILE",
		.offset = offsetof(struct record_values, outputs),
		.help = "FILE in the format that its suffix says, a directory, or - for standard "
			"output; may be repeated; %p PID, %n name, %h host, %t time"},
	{.name = "format",
		.letter = 'f',
		.type = OPTION_TEXT,
		.value = "NAME",
		.offset = offsetof(struct record_values, format),
		.help = "instead of the suffix (stoke help formats)"},
	{.name = "by",
		.type = OPTION_WORDS,
		.value = "WHAT,...",
		.words = by_words,
		.offset = offsetof(struct record_values, by),
		.help = "put process, thread, pool (of threads named alike) or cpu at the root of "
			"each stack; process unless said, when there is more than one"},
	{.name = "threads",
		.type = OPTION_FLAG,
		.bits = 1,
		.offset = offsetof(struct record_values, threads),
		.help = "same as --by thread"},
	{.name = "inline",
		.type = OPTION_FLAG,
		.bits = STOKE_INLINED,
		.offset = offsetof(struct record_values, flags),
		.help = "inlined functions and source lines, where there is debug information"},
	{.name = "full-command",
		.type = OPTION_FLAG,
		.bits = STOKE_FULL_COMMAND,
		.offset = offsetof(struct record_values, flags),
		.help = "store the target's arguments, which may hold passwords"},
	{.name = "work",
		.type = OPTION_TEXT,
		.offset = offsetof(struct record_values, work),
		.value = "N|@FILE",
		.help = "operations done meanwhile: diff then compares CPU an operation"},
	{.name = "no-thread-names",
		.type = OPTION_FLAG,
		.bits = STOKE_NO_THREAD_NAMES,
		.offset = offsetof(struct record_values, flags),
		.help = "store the names of pools instead of those of threads"},
	{.name = "trigger",
		.type = OPTION_LATER,
		.value = "WHEN",
		.help = "triggers are not in this version"},
	{.name = "before",
		.type = OPTION_LATER,
		.value = "TIME",
		.help = "triggers are not in this version"},
	{.name = "repeat",
		.type = OPTION_LATER,
		.value = "N",
		.help = "triggers are not in this version"},
	{.name = "run-as",
		.type = OPTION_LATER,
		.value = "USER",
		.help = "not in this version; stoke record -- sudo -u USER COMMAND"},
	{.name = "java-perfmap",
		.type = OPTION_LATER,
		.help = "not in this version; jcmd PID Compiler.perfmap"},
	OPTIONS_END,
};

/* Events of the manual that this version does not have, and words of other profilers. */
static const struct {
	const char *name, *sentence;
	int status;
} other_events[] = {
	{"wall", "is not in this version: it records CPU time", STATUS_NOT_PERMITTED},
	{"off-cpu", "is not in this version: it records CPU time", STATUS_NOT_PERMITTED},
	{"context-switches", "is not in this version: it records CPU time", STATUS_NOT_PERMITTED},
	{"page-faults", "is not in this version: it records CPU time", STATUS_NOT_PERMITTED},
	{"lock", "is what -e off-cpu will show; it is not in this version", STATUS_NOT_PERMITTED},
	{"alloc",
		"stoke loads nothing into the JVM, so allocations cannot be seen; jcmd PID "
		"JFR.start",
		STATUS_USAGE},
};

int record_has_target(const struct record_values *values)
{
	return values->pids.nr || values->tids.nr || values->cgroup ||
	       values->flags & STOKE_ALL_CPUS;
}

static int check_event(const struct voice *voice, struct record_values *values)
{
	const char *event = values->event;

	if (!event)
		return STATUS_DONE;
	if (!strcmp(event, "itimer") || !strcmp(event, "ctimer"))
		values->event = "cpu";
	for (size_t i = 0; i < ARRAY_SIZE(other_events); i++) {
		if (!strcmp(other_events[i].name, event))
			return say_error(voice, other_events[i].status, "-e %s%s %s", event,
				other_events[i].status == STATUS_USAGE ? ":" : "",
				other_events[i].sentence);
	}
	if (strchr(event, ':'))
		return say_error(voice, STATUS_NOT_PERMITTED,
			"-e %s: tracepoints and probes are not in this version", event);
	return STATUS_DONE;
}

/* asprof's fingers: "record 4242". */
static int take_operands(const struct call *call, struct record_values *values)
{
	const struct voice *voice = &call->voice;
	const char *word = call->nr_operands ? call->operands[0] : NULL;
	unsigned long pid;
	char *end;

	if (!word)
		return STATUS_DONE;
	errno = 0;
	pid = strtoul(word, &end, 10);
	if (*end || end == word || *word == '+' || *word == ' ')
		return say_error(voice, STATUS_USAGE,
			"%s is no PID; to run and record a command: stoke record -- %s", word,
			word);
	if (record_has_target(values) || call->nr_operands > 1)
		return say_error(voice, STATUS_USAGE,
			"%s: a duration is -d %s, and several processes are -p PID,PID",
			call->operands[call->nr_operands - 1],
			call->operands[call->nr_operands - 1]);
	if (errno || !pid || pid > INT_MAX)
		return say_error(voice, STATUS_USAGE, "%s is no PID: it is out of range", word);
	if (array_reserve(&values->pids.items, &values->pids.capacity, 0, 1) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	values->pids.items[values->pids.nr++] = (unsigned)pid;
	return STATUS_DONE;
}

static int add_pid(const struct voice *voice, struct record_values *values, pid_t pid)
{
	if (array_reserve(&values->pids.items, &values->pids.capacity, values->pids.nr, 1) < 0)
		return say_error(voice, STATUS_USAGE, "out of memory");
	values->pids.items[values->pids.nr++] = (unsigned)pid;
	return STATUS_DONE;
}

static int take_name(const struct voice *voice, struct record_values *values)
{
	struct stoke_match matches[NR_MATCHES];
	struct stoke_error err = {0};
	size_t nr;

	if (stoke_find_named(values->name, NULL, matches, NR_MATCHES, &nr, &err) < 0)
		return say_error(voice, STATUS_USAGE, "--name: %s", err.text);
	if (nr == 1)
		return add_pid(voice, values, matches[0].pid);
	(void)say_error(voice, STATUS_USAGE,
		"--name: %zu processes are called %s; one of them:", nr, values->name);
	for (size_t i = 0; i < nr && i < NR_MATCHES; i++) {
		fprintf(stderr, "  stoke record -p %-8d ", (int)matches[i].pid);
		text_print(stderr, matches[i].comm, strlen(matches[i].comm));
		fputc(' ', stderr);
		text_print(stderr, matches[i].program, strlen(matches[i].program));
		fputc('\n', stderr);
	}
	return STATUS_USAGE;
}

/* --name becomes a PID, --container a cgroup; all of them exclude each other. */
static int take_target(const struct voice *voice, struct record_values *values)
{
	struct stoke_error err = {0};
	const int nr = (values->pids.nr > 0) + (values->tids.nr > 0) +
		       ((values->flags & STOKE_ALL_CPUS) != 0) + (values->cgroup != NULL) +
		       (values->container != NULL) + (values->name != NULL);

	if (nr > 1 && (values->cgroup || values->container || values->name))
		return say_error(
			voice, STATUS_USAGE, "-p, -t, -a, -G, --container and --name: one of them");
	if (values->name)
		return take_name(voice, values);
	if (!values->container)
		return STATUS_DONE;
	if (stoke_find_container(values->container, NULL, &values->found, &err) < 0)
		return say_error(voice, STATUS_USAGE, "--container: %s", err.text);
	values->cgroup = values->found.cgroup;
	return STATUS_DONE;
}

static int ask_for_target(const struct voice *voice)
{
	(void)say_error(voice, STATUS_USAGE, "what shall be recorded? Busiest now:");
	busiest_list(stderr);
	return STATUS_USAGE;
}

/* An id named twice is one target. */
static void drop_repeats(struct numbers *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < ids->nr; i++) {
		size_t k = 0;

		while (k < kept && ids->items[k] != ids->items[i])
			k++;
		if (k == kept)
			ids->items[kept++] = ids->items[i];
	}
	ids->nr = kept;
}

int record_check(const struct call *call)
{
	struct record_values *values = call->values;
	const struct voice *voice = &call->voice;
	int status = take_operands(call, values);
	struct stoke_error err;
	double work;

	if (!status)
		status = take_target(voice, values);
	if (!status)
		status = check_event(voice, values);
	if (status)
		return status;
	drop_repeats(&values->pids);
	drop_repeats(&values->tids);
	if (call->after && !call->after[0])
		return say_error(voice, STATUS_USAGE, "no command behind --");
	if (!record_has_target(values) && !call->after)
		return ask_for_target(voice);
	if (values->flags & STOKE_ALL_CPUS && (values->pids.nr || values->tids.nr))
		return say_error(voice, STATUS_USAGE,
			"-a records every process: leave out -p and -t, or -a");
	if (values->pids.nr && values->tids.nr)
		return say_error(voice, STATUS_USAGE, "-p and -t together: one of them");
	if (sides_check(voice, values->flags, "recorded"))
		return STATUS_USAGE;
	if (values->frequency.given && values->count.given)
		return say_error(voice, STATUS_USAGE,
			"-F and -c together: samples a second, or events a sample");
	if (values->delay.given && call->after && !record_has_target(values))
		return say_error(voice, STATUS_USAGE,
			"--delay of a COMMAND is not in this version: it is recorded from its "
			"first instruction");
	if (values->work && values->work[0] != '@' && work_parse(values->work, &work, &err) < 0)
		return say_error(voice, STATUS_USAGE, "--work: %s", err.text);
	if (values->call_graph || values->call_graph_how)
		say(voice, "-g and --call-graph change nothing: stacks are always taken");
	return STATUS_DONE;
}

/* What files are called after. */
static void target_names(
	const struct call *call, struct output_names *ret, char *buffer, size_t size)
{
	const struct record_values *values = call->values;
	const char *slash;

	*ret = (struct output_names){.name = buffer, .time = time(NULL)};
	if (values->pids.nr || values->tids.nr) {
		ret->pid = (pid_t)(values->pids.nr ? values->pids.items[0] : values->tids.items[0]);
		process_comm(ret->pid, buffer, size);
	} else if (values->container) {
		(void)snprintf(buffer, size, "container-%.12s", values->found.id);
	} else if (values->cgroup) {
		slash = strrchr(values->cgroup, '/');
		(void)snprintf(buffer, size, "cgroup-%s", slash && slash[1] ? slash + 1 : "all");
	} else if (values->flags & STOKE_ALL_CPUS) {
		(void)snprintf(buffer, size, "all");
	} else {
		slash = strrchr(call->after[0], '/');
		(void)snprintf(buffer, size, "%s", slash ? slash + 1 : call->after[0]);
	}
}

/* directory/stem[-n]suffix; to be freed. */
static char *numbered(const char *directory, const char *stem, int n, const char *suffix)
{
	char number[16] = "";
	char *path;

	if (n > 1)
		(void)snprintf(number, sizeof(number), "-%d", n);
	if (asprintf(&path, "%s/%s%s%s", directory, stem, number, suffix) < 0)
		return NULL;
	return path;
}

static int is_free(const char *directory, const char *stem, int n, const char *const *suffixes)
{
	for (size_t i = 0; suffixes[i]; i++) {
		_cleanup_free_ char *path = numbered(directory, stem, n, suffixes[i]);
		struct stat st;

		if (path && lstat(path, &st) == 0)
			return 0;
	}
	return 1;
}

/* The picture and the capture (or what -f says), under one name that no earlier file has. */
static int add_defaults(const struct call *call, struct results *results, const char *directory,
	const struct output_names *names)
{
	const struct record_values *values = call->values;
	const char *suffixes[] = {".svg", ".pb.gz", NULL};
	_cleanup_free_ char *stem = output_default_stem(names);
	char suffix[32];
	int n = 1, status = STATUS_DONE;

	if (values->format) {
		/* No such format: that is said as for a named file. */
		if (stoke_output_suffix(values->format, suffix, sizeof(suffix)) < 0)
			return results_add(results, &call->voice, directory, values->format, 0);
		suffixes[0] = suffix;
		suffixes[1] = NULL;
	}
	while (stem && n < 1000 && !is_free(directory, stem, n, suffixes))
		n++;
	for (size_t i = 0; suffixes[i] && !status; i++) {
		_cleanup_free_ char *path = stem ? numbered(directory, stem, n, suffixes[i]) : NULL;

		if (!path)
			return say_error(&call->voice, STATUS_USAGE, "out of memory");
		status = results_add(results, &call->voice, path, values->format, OUTPUT_KEEP);
	}
	return status;
}

static int is_directory(const char *path)
{
	size_t size = strlen(path);
	struct stat st;

	return (size && path[size - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static int add_named(const struct call *call, struct results *results, const char *text,
	const struct output_names *names)
{
	const struct record_values *values = call->values;
	struct stoke_error err = {0};
	_cleanup_free_ char *path = output_expand(text, names, &err);

	if (!path)
		return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
	if (strcmp(path, "-") != 0 && is_directory(path))
		return add_defaults(call, results, path, names);
	return results_add(results, &call->voice, path, values->format, 0);
}

int record_open_outputs(const struct call *call, struct results *results, pid_t command)
{
	const struct record_values *values = call->values;
	_cleanup_free_ char *directory = NULL;
	struct output_names names;
	char name[64];
	int status = STATUS_DONE, elsewhere;

	target_names(call, &names, name, sizeof(name));
	if (!names.pid)
		names.pid = command;
	for (size_t i = 0; i < values->outputs.nr && !status; i++)
		status = add_named(call, results, values->outputs.items[i], &names);
	if (values->outputs.nr)
		return status;
	directory = output_default_directory(&elsewhere);
	if (!directory)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	if (elsewhere)
		say(&call->voice, "the current directory cannot be written to: files go to %s",
			directory);
	return add_defaults(call, results, directory, &names);
}

const struct command cmd_record = {
	.name = "record",
	.summary = "sample processes, a command or the whole machine",
	.usage = "record PID [-d TIME] [-o FILE]...\n"
		 "record -p PID,... | -t TID,... | -a [OPTION]... [-- COMMAND [ARG]...]\n"
		 "record -G PATH | --container ID | --name TEXT [OPTION]... [-- COMMAND "
		 "[ARG]...]\n"
		 "record [OPTION]... -- COMMAND [ARG]...",
	.about =
		"Samples where the CPU time of the target goes, stack by stack, and writes a flame "
		"graph\n(.svg) and a capture (.pb.gz) beside the answer as text. A COMMAND behind "
		"a "
		"target sets\nonly how long: -p PID -- sleep 30.",
	.options = options,
	.values_size = sizeof(struct record_values),
	.runs_command = 1,
	.run = record_run,
};
