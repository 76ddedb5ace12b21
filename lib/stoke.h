/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_H
#define STOKE_H

/*
 * stoke.h: the public API, whole. cmd/ and tests see this; nothing else is promised to stay.
 *
 * Results: 0 or a count is success, a negative errno is failure, and then err (the caller's, may be
 * NULL, written on failure only) holds the sentence for the user. Outputs are untouched on failure.
 * An object belongs to one thread. The library never prints, exits, reads the environment or
 * touches signals. Option structs: all zero is the default. _free and _close take NULL.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct stoke_recorder; /* a running recording */
struct stoke_profile; /* weighted stacks of one or more runs; owns every string it hands out */

struct stoke_error {
	int code; /* negative errno */
	char text[512]; /* what failed, cause, cure; one line */
};

/* Root frames that --by puts in front of each stack, outermost first. */
enum stoke_by {
	STOKE_BY_PROCESS = 1,
	STOKE_BY_THREAD,
	STOKE_BY_POOL, /* thread names without digits, ids and addresses */
	STOKE_BY_CPU,
};

/* flags of stoke_record_options */
#define STOKE_ALL_CPUS	      (1u << 0) /* every process */
#define STOKE_NO_CHILDREN     (1u << 1)
#define STOKE_USER_ONLY	      (1u << 2)
#define STOKE_KERNEL_ONLY     (1u << 3)
#define STOKE_FULL_COMMAND    (1u << 4) /* store the target's arguments (they may hold passwords) */
#define STOKE_NO_THREAD_NAMES (1u << 5) /* store names of pools instead */
#define STOKE_LABEL_CPU	      (1u << 6) /* each sample carries its CPU, for --by cpu */
#define STOKE_INLINED	      (1u << 7) /* inlined functions and source lines, from DWARF */
#define STOKE_NO_BPF	      (1u << 8) /* as where BPF is not permitted */

struct stoke_record_options {
	const pid_t *pids; /* thread groups, as seen from the caller's PID namespace */
	size_t nr_pids;
	const pid_t *tids; /* single threads */
	size_t nr_tids;
	const char *cgroup; /* every process in it, now and later: its directory, or its path below
			       /sys/fs/cgroup. NULL: none */
	const unsigned *cpus; /* only these; none: all online */
	size_t nr_cpus;
	char *const *command; /* argv; started held, sampled from its first instruction */
	const char *command_name; /* what is stored of COMMAND; NULL: its first word. Borrowed */
	int command_is_target; /* 0: COMMAND only sets the window, as in "-p PID -- sleep 30" */
	const char *event; /* NULL: "cpu" */
	unsigned frequency_hz; /* 0: 99 */
	uint64_t count; /* events a sample, instead of a frequency */
	unsigned flags;
	const char *proc_root; /* NULL: "/proc"; tests give a directory */
};

/* A process that fits a name. */
struct stoke_match {
	pid_t pid;
	char comm[16];
	char program[128]; /* main class, jar or script; "" when it runs none */
};

/*
 * Processes called so: by their command, or by the main class, jar or script that it runs; when
 * none is, those with text in either. *ret_nr may be more than max, which fit in ret. 0; -ESRCH
 * none; -EINVAL.
 */
int stoke_find_named(const char *text, const char *proc_root, struct stoke_match *ret, size_t max,
	size_t *ret_nr, struct stoke_error *err);

struct stoke_container {
	char id[65]; /* whole */
	pid_t pid; /* the first of its processes, as seen from here */
	char cgroup[512]; /* for stoke_record_options */
};

/* By the first 12 or more digits of its id. -ESRCH none here; -EEXIST several; -EINVAL no id. */
int stoke_find_container(const char *id, const char *proc_root, struct stoke_container *ret,
	struct stoke_error *err);

/*
 * Finds the targets, opens side band and events, attaches, starts a command held back until
 * everything counts. -ESRCH no such process (status 2); -EPERM, -EACCES, -EOPNOTSUPP, -ENOSYS
 * not permitted or not supported here (status 4); others by their sentence.
 */
int stoke_recorder_open(const struct stoke_record_options *options, struct stoke_recorder **ret,
	struct stoke_error *err);
/* Lets the held command run (no-op without one) and starts the clock of the recording. */
int stoke_recorder_start(struct stoke_recorder *recorder, struct stoke_error *err);
/* Pollable: readable when stoke_recorder_step() has something to do, at least every 100 ms. */
int stoke_recorder_fd(const struct stoke_recorder *recorder);
/* Does what is due. 0: go on; 1: every target (or the command) has ended. */
int stoke_recorder_step(struct stoke_recorder *recorder, struct stoke_error *err);
/* Stops the events; what was sampled so far stays to be taken. */
void stoke_recorder_stop(struct stoke_recorder *recorder);
#define STOKE_LAST (1u << 0) /* hold nothing back: the recording is over */
/* All since the last take, named. The profile is the caller's. */
int stoke_recorder_take(struct stoke_recorder *recorder, unsigned flags, struct stoke_profile **ret,
	struct stoke_error *err);
/* The command's wait status once it has ended: 0 and *ret, or -EAGAIN while it runs, -ENOENT
 * without a command. */
int stoke_recorder_command_status(const struct stoke_recorder *recorder, int *ret);
/* The command's PID, which it has before the start; 0 without a command. */
pid_t stoke_recorder_command_pid(const struct stoke_recorder *recorder);
/* Sends a signal to the command, if it runs. */
void stoke_recorder_command_kill(struct stoke_recorder *recorder, int signal);
void stoke_recorder_close(struct stoke_recorder *recorder);

struct stoke_stats {
	uint64_t samples; /* taken */
	uint64_t expected; /* by the target's CPU time and the rate; 0: not known */
	uint64_t lost; /* known to be lost */
	uint64_t duration_ns; /* of the recording so far */
	uint64_t cpu_ns; /* CPU time that the samples stand for */
	uint64_t stacks; /* distinct */
	uint32_t nr_threads;
	uint32_t nr_processes;
};

/* What a running recording has so far; cheap enough for every tick of a progress bar. */
void stoke_recorder_stats(const struct stoke_recorder *recorder, struct stoke_stats *ret);
/* One line for people about the target: "248927 java (jenkins.war), 214 threads". Borrowed. */
const char *stoke_recorder_target(const struct stoke_recorder *recorder);
/* Event in force: "cpu-clock". Borrowed. */
const char *stoke_recorder_event(const struct stoke_recorder *recorder);

int stoke_profile_new(struct stoke_profile **ret);
void stoke_profile_free(struct stoke_profile *profile);

struct stoke_read_options {
	const char *name; /* of the file, for messages and as the run's name */
	double min_share; /* subtrees under this share of all may be cut while reading; 0: none */
	uint64_t frequency_hz; /* of folded text, which does not say; 0: unknown */
	uint64_t duration_ns;
};

/*
 * Adds what fd holds as one run. The format is known by content. -EMEDIUMTYPE: a picture of
 * two sides, which is no profile; -EINVAL: nor is this (status
 * 2); bad lines among good ones are counted in the run's quality, not an error.
 */
int stoke_profile_read(struct stoke_profile *profile, int fd,
	const struct stoke_read_options *options, struct stoke_error *err);

/* Says of every run that it did so many operations, for comparisons of CPU an operation. Above zero
 * and finite: -EINVAL. */
int stoke_profile_set_work(
	struct stoke_profile *profile, double operations, struct stoke_error *err);

struct stoke_select_options {
	const char *focus; /* only stacks with a frame that matches this extended regex */
	const char *ignore; /* no stacks with one */
	const char *hide; /* frames taken out of their stacks */
	const char *root; /* stacks begin at the outermost frame that matches */
	const char *thread; /* only threads whose name matches */
	const pid_t *pids; /* only these processes */
	size_t nr_pids;
	uint64_t from_ns, to_ns; /* since the start of each run; to 0: its end */
	unsigned flags; /* STOKE_USER_ONLY, STOKE_KERNEL_ONLY */
	const enum stoke_by *by; /* root frames put in front */
	size_t nr_by;
};

/* A new profile with what the options leave. Sums of what stays are exact. */
int stoke_profile_select(const struct stoke_profile *profile,
	const struct stoke_select_options *options, struct stoke_profile **ret,
	struct stoke_error *err);

/* How far names are made comparable between builds and releases of a runtime. */
enum stoke_names {
	STOKE_NAMES_AUTO, /* BUILD; JDK where both sides of a comparison say different JVMs */
	STOKE_NAMES_NONE, /* as they are */
	STOKE_NAMES_BUILD, /* without what changes from run to run and build to build */
	STOKE_NAMES_JDK, /* and from one JDK to the next */
};

struct stoke_rename_options {
	enum stoke_names names; /* AUTO: BUILD */
	const char *aliases; /* text of stoke.alias, "GLOB => NAME" a line; NULL: none */
	size_t aliases_size;
	const char *aliases_name; /* its file, for messages */
	unsigned flags; /* STOKE_NO_FOLD */
};

/*
 * A new profile with names made comparable: frames of one name are one, adjacent ones fold. -EINVAL
 * when an alias is wrong.
 */
int stoke_profile_rename(const struct stoke_profile *profile,
	const struct stoke_rename_options *options, struct stoke_profile **ret,
	struct stoke_error *err);

/* What a side's counts are divided by. */
enum stoke_exposure {
	STOKE_EXPOSURE_AUTO, /* work where both sides have it, else share */
	STOKE_EXPOSURE_SHARE, /* of samples; blind to everything slowing alike */
	STOKE_EXPOSURE_WORK, /* CPU an operation */
	STOKE_EXPOSURE_TIME, /* cores: CPU time by wall time */
};

struct stoke_budget; /* rules of stoke.budget */
struct stoke_comparison; /* what comparing two sides of a profile's runs found */

/* Parses a budget; text NULL: the built-in rules. name: of the file, for messages. */
int stoke_budget_parse(const char *text, size_t size, const char *name, struct stoke_budget **ret,
	struct stoke_error *err);
void stoke_budget_free(struct stoke_budget *budget);

/* flags of stoke_compare_options */
#define STOKE_PAIRED	  (1u << 0) /* the i-th run before belongs to the i-th after */
#define STOKE_JVM_THREADS (1u << 2) /* compilers and collectors stay among the application */
#define STOKE_NO_FOLD	  (1u << 1) /* adjacent equal frames stay apart */

struct stoke_compare_options {
	enum stoke_names names;
	const char *aliases; /* text of stoke.alias, NULL: none */
	size_t aliases_size;
	const char *aliases_name; /* its file, for messages */
	enum stoke_exposure exposure;
	const double *work; /* operations done in each run, or NULL: as the runs themselves say */
	unsigned flags;
	const struct stoke_budget
		*budget; /* makes the comparison a check; borrowed while it lives */
	const char *today; /* "2026-11-30", for allowances that expire */
	double alpha; /* 0: 0.05, or the budget's */
	double least; /* growth that matters, a fraction; 0: 0.005 */
	double least_ratio; /* and relative to before; 0: 0.05 */
	uint64_t seed; /* 0: fixed */
};

/*
 * Compares runs 0..nr_before-1 of a profile with the rest. -EINVAL: an input of the options is
 * wrong or a side is empty (status 2). What cannot be decided is no error: the comparison says it.
 */
int stoke_compare(const struct stoke_profile *profile, uint32_t nr_before,
	const struct stoke_compare_options *options, struct stoke_comparison **ret,
	struct stoke_error *err);
/* Says it: "text", "json", "svg:width=800"... Errors as stoke_profile_write(). comparison NULL:
 * only tries whether there is such a report, with these options. */
int stoke_comparison_report(const struct stoke_comparison *comparison, const char *report,
	FILE *out, struct stoke_error *err);
/* 0 pass, 1 regression, 3 cannot tell; without a budget 1 when anything grew, 0 when nothing did, 3
 * when so few runs or samples, or such as are not comparable, cannot tell. */
int stoke_comparison_verdict(const struct stoke_comparison *comparison);
/* Why what it says may mislead, heaviest first; NULL after the last. Borrowed. */
const char *stoke_comparison_warning(const struct stoke_comparison *comparison, size_t i);
void stoke_comparison_free(struct stoke_comparison *comparison);

/*
 * Writes in a format ("svg", "svg:width=800"). Does not look at the stream's error: formats write,
 * the caller checks ferror() and fclose() once. -EINVAL unknown format or option, -EOPNOTSUPP a
 * format that only reads.
 */
int stoke_profile_write(const struct stoke_profile *profile, const char *format, FILE *out,
	struct stoke_error *err);
/* Says something of a profile: "text:tree,n=20". Errors as stoke_profile_write(). */
int stoke_profile_report(const struct stoke_profile *profile, const char *report, FILE *out,
	struct stoke_error *err);
/* What a run says of itself: "command", "jvm", "kernel"... NULL: nothing. Borrowed. */
const char *stoke_profile_fact(const struct stoke_profile *profile, uint32_t run, const char *key);
void stoke_profile_stats(const struct stoke_profile *profile, struct stoke_stats *ret);
/* Warnings that go with a profile (lost samples, maps that do not fit), each with its cure;
 * NULL after the last. Ask from 0 on: that weighs the profile as it is then. Borrowed. */
const char *stoke_profile_warning(const struct stoke_profile *profile, size_t i);

/* What stoke finds out about the machine and a target before anything is recorded. */
struct stoke_findings;

enum stoke_finding_state {
	STOKE_FINDING_ABOUT, /* what those after it speak of */
	STOKE_FINDING_OK,
	STOKE_FINDING_NO, /* this stands in the way of a recording */
	STOKE_FINDING_NOTE, /* worth knowing; nothing stands in the way */
	STOKE_FINDING_VERDICT, /* what works after all this */
};

struct stoke_finding {
	enum stoke_finding_state state;
	const char *subject; /* "here", "target", "verdict" */
	const char *text; /* one line, harmless on a terminal */
	const char *cure; /* what mends it: lines, or NULL */
};

struct stoke_doctor_options {
	pid_t pid; /* 0: the machine alone */
	const char *proc_root, *sys_root; /* NULL: "/proc", "/sys" */
};

/*
 * Looks at the machine by asking it for what a recording needs, then at the target. 0; a target
 * that is not there is a finding, too. Errors: no memory, no /proc.
 */
int stoke_doctor(const struct stoke_doctor_options *options, struct stoke_findings **ret,
	struct stoke_error *err);
/* In the order in which they are to be told; NULL after the last. Borrowed. */
const struct stoke_finding *stoke_findings_at(const struct stoke_findings *findings, size_t i);
/* How many stand in the way: 0 when a recording will work. */
size_t stoke_findings_blocking(const struct stoke_findings *findings);
void stoke_findings_free(struct stoke_findings *findings);

#define STOKE_OUTPUT_FORMAT	(1u << 0)
#define STOKE_OUTPUT_REPORT	(1u << 1)
#define STOKE_OUTPUT_COMPARISON (1u << 2)
/* "out.svg" -> "svg"; NULL when no format or report of that kind has such a suffix. */
const char *stoke_output_for(const char *path, unsigned kind);
/* "svg:width=800" -> ".svg", what files of this format or report are called by default: 0, -ENOENT
 * when there is none of that name, -ENOBUFS when it does not fit. */
int stoke_output_suffix(const char *format, char *ret, size_t size);
/* Every suffix that has an output of that kind, once, blank-separated, cut where it does not fit.
 * Returns ret. */
char *stoke_output_suffixes(unsigned kind, char *ret, size_t size);
/* 1 when this format's output is binary and has no place on a terminal. */
int stoke_output_binary(const char *format);
/* What a word means: a format, report, event or "formats", "events". -ENOENT: nothing. */
int stoke_help(const char *word, FILE *out);

#endif
