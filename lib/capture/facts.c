/* SPDX-License-Identifier: BSD-2-Clause */
/* facts.c: what a run says of itself, so that a file alone tells what its picture is worth. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "capture/generated.h"
#include "capture/jvm.h"
#include "capture/recorder.h"

#define DEFAULT_RATE_HZ 99
#define CPUINFO_MAX	(4 << 20) /* some 1.5 kB a CPU */

unsigned recorder_rate_of(const struct stoke_record_options *options)
{
	return options->frequency_hz ? options->frequency_hz : DEFAULT_RATE_HZ;
}

uint64_t recorder_own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000ull +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000ull;
}

uint64_t recorder_duration_ns(const struct stoke_recorder *recorder)
{
	uint64_t end = recorder->stop_ns ? recorder->stop_ns : host_now_ns();

	return recorder->start_ns ? end - recorder->start_ns : 0;
}

/* Samples that the targets' CPU time should have given; 0: not known. */
static uint64_t expected_samples(const struct stoke_recorder *recorder)
{
	int64_t cpu_ns = recorder->target_cpu_ns;

	if (cpu_ns < 0 || strcmp(recorder->state.unit, "nanoseconds") != 0 ||
		!recorder->state.period || recorder->options.nr_cpus ||
		(recorder->options.flags & STOKE_KERNEL_ONLY) || recorder->state.user_only)
		return 0;
	return (uint64_t)cpu_ns / recorder->state.period;
}

static void count_losses(const struct stoke_recorder *recorder, struct quality *quality)
{
	struct objects_losses lost;
	struct rings_losses sideband;
	struct rusage usage = {0};
	uint64_t have;

	objects_losses(recorder->objects, &lost);
	rings_losses(recorder->rings, &sideband);
	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for SELF */
	quality->count[QUALITY_SAMPLES] = assembler_samples(recorder->assembler);
	sideband.mixed -= recorder->mixed_before;
	if (lost.ring < sideband.mixed) /* the kernel tells of them in records only */
		lost.ring = sideband.mixed;
	quality->count[QUALITY_LOST_RING] = lost.ring;
	quality->count[QUALITY_LOST_BUSY] = lost.busy;
	quality->count[QUALITY_LOST_LATE] = timeline_late(recorder->timeline);
	quality->count[QUALITY_LOST_SIDEBAND] = sideband.sideband + sideband.malformed;
	quality->count[QUALITY_EXPECTED] = expected_samples(recorder);
	quality->count[QUALITY_OWN_CPU_NS] =
		recorder_own_cpu_ns() - recorder->own_cpu_start_ns + lost.run_ns;
	quality->count[QUALITY_OWN_PEAK_BYTES] = (uint64_t)usage.ru_maxrss * 1024;
	have = assembler_samples(recorder->assembler) + lost.ring + lost.busy;
	if (quality->count[QUALITY_EXPECTED] > have)
		quality->count[QUALITY_NOT_TAKEN] = quality->count[QUALITY_EXPECTED] - have;
}

static int add_fact(struct stoke_recorder *recorder, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add_fact(struct stoke_recorder *recorder, const char *key, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long */
	va_end(args);
	return profile_fact(recorder->profile, 0, key, text);
}

/* What the target did, for those who wonder at few samples. */
static int add_state(struct stoke_recorder *recorder)
{
	int64_t cpu_ns = recorder->target_cpu_ns;
	double seconds = (double)recorder_duration_ns(recorder) / 1e9;
	/* Behind a target a command is the window, and its end says nothing of the target. */
	int ended = recorder->targets_ended &&
		    (!recorder->options.command || recorder->options.command_is_target);

	if (cpu_ns >= 0 && (double)cpu_ns / 1e9 < seconds * 0.01)
		return add_fact(recorder, "state", "used %.2f s of CPU in %.1f s%s",
			(double)cpu_ns / 1e9, seconds, ended ? " and ended" : "");
	if (ended)
		return add_fact(recorder, "state", "ended after %.1f s", seconds);
	return 0;
}

/* The command as typed only when asked for: arguments carry passwords. */
static int add_command(struct stoke_recorder *recorder)
{
	char *const *argv = recorder->options.command;
	char text[1024];
	size_t at = 0;

	if (!argv)
		return 0;
	if (!(recorder->options.flags & STOKE_FULL_COMMAND))
		return add_fact(recorder, "command", "%s",
			recorder->options.command_name ? recorder->options.command_name : argv[0]);
	text[0] = '\0';
	for (; *argv && at < sizeof(text); argv++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? " " : "", *argv);
	return profile_fact(recorder->profile, 0, "command", text);
}

/* The JVMs whose code was sampled: names differ from one to the next. */
static int add_jvm(struct stoke_recorder *recorder)
{
	const struct stoke_profile *profile = recorder->profile;
	char text[256] = "", version[JVM_VERSION_MAX];
	size_t used = 0;

	for (size_t i = 1; i < profile->nr_modules && used < sizeof(text); i++) {
		if (!jvm_is_module(&profile->modules[i]) ||
			jvm_version(&profile->modules[i], version) < 0 || strstr(text, version))
			continue;
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s", used ? ", " : "", version);
	}
	return used ? add_fact(recorder, "jvm", "%s", text) : 0;
}

/* What was done for stacks without frame pointers, and for whom there was no room. */
static int add_unwinding(struct stoke_recorder *recorder)
{
	struct unwinder_counts counts;
	int r;

	if (!recorder->unwinder) {
		if (recorder->options.flags & STOKE_KERNEL_ONLY)
			return 0;
		return add_fact(recorder, "warning",
			"no memory for unwind tables: stacks are walked by frame pointers alone");
	}
	unwinder_counts(recorder->unwinder, &counts);
	r = add_fact(recorder, "unwind",
		"%llu files, %llu rows, %llu rules, %llu readings, %llu samples before the first "
		"table, %llu before theirs, %llu finished later, %llu tables gave way",
		(unsigned long long)counts.store.files, (unsigned long long)counts.store.rows,
		(unsigned long long)counts.store.rules, (unsigned long long)counts.readings,
		(unsigned long long)counts.early, (unsigned long long)counts.pending,
		(unsigned long long)counts.finished, (unsigned long long)counts.store.given_way);
	if (r >= 0 && (counts.store.refused || counts.publisher.refused))
		r = add_fact(recorder, "warning",
			"no room for the unwind tables of %llu files and %llu processes: their "
			"stacks are walked by frame pointers alone; record fewer processes at once",
			(unsigned long long)counts.store.refused,
			(unsigned long long)counts.publisher.refused);
	return r;
}

static int add_warnings(struct stoke_recorder *recorder)
{
	struct generated_findings findings;
	const char *text;
	pid_t pid;

	if (add_unwinding(recorder) < 0)
		return -ENOMEM;
	if (recorder->state.note && add_fact(recorder, "warning", "%s", recorder->state.note) < 0)
		return -ENOMEM;
	for (size_t i = 0; (text = assembler_finding(recorder->assembler, i, &pid, &findings));
		i++) {
		if (text[0] && add_fact(recorder, "warning", "%s", text) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* "AMD EPYC 7763": captures of different processors are not compared in silence. Where
 * /proc/cpuinfo has no such line (aarch64), or the recording cannot read it, nothing is said. */
static int add_processor(struct stoke_recorder *recorder)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	const char *line, *end;

	if (file_read_text(recorder->host.proc_fd, "cpuinfo", CPUINFO_MAX, &text, &size) < 0)
		return 0;
	line = strstr(text, "model name");
	line = line ? strchr(line, ':') : NULL;
	if (!line)
		return 0;
	line += 1 + strspn(line + 1, " \t");
	end = line + strcspn(line, "\n");
	return end > line ? add_fact(recorder, "processor", "%.*s", (int)(end - line), line) : 0;
}

void recorder_note_load(const struct stoke_recorder *recorder, struct load *ret)
{
	const struct stoke_record_options *options = &recorder->options;
	const struct load known = *ret;
	pid_t pid = options->nr_pids ? options->pids[0] : options->nr_tids ? options->tids[0] : 0;

	if (!pid && options->command_is_target)
		pid = targets_command_pid(recorder->targets);
	load_read(&recorder->host, pid, ret);
	if (!ret->has_limit) { /* it has ended */
		ret->limit = known.limit;
		ret->has_limit = known.has_limit;
	}
}

/* What the machine and the target's limit did meanwhile. */
static int add_load(struct stoke_recorder *recorder)
{
	int64_t target_ns = recorder->target_cpu_ns;
	struct load now = recorder->load_after;
	char text[256];
	int r = 0;

	if (!recorder->stop_ns)
		recorder_note_load(recorder, &now);
	if (target_ns < 0 && strcmp(recorder->state.unit, "nanoseconds") == 0)
		target_ns = (int64_t)assembler_weight(recorder->assembler);
	if (recorder->options.flags & STOKE_ALL_CPUS && !recorder->options.cgroup)
		target_ns = -1;
	if (load_say_machine(&recorder->load_before, &now, target_ns, text, sizeof(text)) == 0)
		r = add_fact(recorder, "machine", "%s", text);
	if (r >= 0 && load_say_limit(&recorder->load_before, &now, text, sizeof(text)) == 0)
		r = add_fact(recorder, "limit", "%s", text);
	return r;
}

/* What was left out on purpose. */
static int add_scope(struct stoke_recorder *recorder)
{
	unsigned only = recorder->options.flags & (STOKE_USER_ONLY | STOKE_KERNEL_ONLY);

	if (recorder->state.user_only)
		only = STOKE_USER_ONLY;

	if (!only)
		return 0;
	return add_fact(
		recorder, "scope", "%s", only == STOKE_USER_ONLY ? "user code" : "kernel code");
}

int recorder_state_facts(struct stoke_recorder *recorder)
{
	struct stoke_profile *profile = recorder->profile;
	struct utsname system;
	struct run *run;
	int r = 0;

	count_losses(recorder, &profile->runs[0].quality);
	r = add_fact(recorder, "target", "%s", targets_text(recorder->targets));
	if (r >= 0)
		r = add_command(recorder);
	if (r >= 0)
		r = add_fact(recorder, "event", "%s", recorder->state.event);
	if (r >= 0 && recorder->options.count)
		r = add_fact(recorder, "rate", "one in %llu events",
			(unsigned long long)recorder->options.count);
	else if (r >= 0)
		r = add_fact(recorder, "rate", "%u Hz", recorder_rate_of(&recorder->options));
	if (r >= 0 && uname(&system) == 0)
		r = add_fact(recorder, "kernel", "%s %s", system.release, system.machine);
	if (r >= 0)
		r = add_fact(recorder, "cpus", "%zu", recorder->nr_cpus);
	if (r >= 0)
		r = add_processor(recorder);
	if (r >= 0)
		r = add_load(recorder);
	if (r >= 0)
		r = add_scope(recorder);
	if (r >= 0)
		r = add_fact(recorder, "stoke", "%s", STOKE_VERSION);
	if (r >= 0)
		r = add_jvm(recorder);
	if (r >= 0)
		r = add_state(recorder);
	if (r >= 0)
		r = add_warnings(recorder);
	run = &profile->runs[0];
	if (r >= 0)
		r = profile_text(profile, recorder->state.event, &run->event);
	if (r >= 0)
		r = profile_text(profile,
			strcmp(recorder->state.unit, "nanoseconds") == 0 ? "cpu"
									 : recorder->state.event,
			&run->period_type.type);
	if (r >= 0)
		r = profile_text(profile, recorder->state.unit, &run->period_type.unit);
	run->start_ns = recorder->start_unix_ns;
	run->duration_ns = recorder_duration_ns(recorder);
	run->period = recorder->state.period;
	run->slice_ns = SLICE_NS;
	return r < 0 ? r : 0;
}
