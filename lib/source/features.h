/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_FEATURES_H
#define STOKE_SOURCE_FEATURES_H

/*
 * What this kernel and these rights allow: asked for, never guessed from a version number. And when
 * the kernel said no, the sentence that says why and what would help.
 */

#include <stdint.h>
#include <sys/types.h>

#include "stoke.h"

/* Inode number of the initial PID namespace in every kernel since 3.8 (PROC_PID_INIT_INO). */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu

/* What decides whether events and programs may be opened. */
struct rights {
	uid_t uid; /* effective */
	uint64_t capabilities; /* effective, a bit each */
	uint64_t bounding; /* those it could be given */
	int paranoid; /* kernel.perf_event_paranoid; INT_MIN: not readable */
	int seccomp; /* a filter is in force */
	int bpf_filtered, perf_filtered; /* which refuses that call; set by rights_probe() */
	int user_namespace; /* not in the machine's own: capabilities count for nothing outside */
	int container; /* not in the machine's own PID namespace */
	int btf; /* the kernel describes its types */
	int lockdown; /* confidentiality: BPF may not read memory */
	char release[65]; /* "6.1.0-57-amd64" */
	char executable[256]; /* of stoke; "" when not readable */
	char container_id[13]; /* its first 12 digits; "" when not known */
};

/* linux/capability.h of old distributions does not have these. */
#define CAPABILITY_PERFMON	      38
#define CAPABILITY_BPF		      39
#define CAPABILITY_CHECKPOINT_RESTORE 40

/* proc and sys: "/proc", "/sys"; tests give directories. What cannot be read stays 0. */
void rights_read(const char *proc, const char *sys, struct rights *ret);

/* Makes the calls that a filter may keep from the kernel, in a way that harms nothing. */
void rights_probe(struct rights *rights);
/* 1: has it, or what stands in for it. */
int rights_have(const struct rights *rights, unsigned capability);

/* Why the kernel answered code, and what would help. */
struct refusal {
	int code; /* for the caller: see rights_explain() */
	char cause[320];
	char cure[512]; /* "" when there is none */
};

/* What gives stoke the capabilities that it lacks. */
void rights_cure(const struct rights *rights, char *ret, size_t size);
void rights_refusal(const struct rights *rights, int code, struct refusal *ret);
/* May these lock more memory for rings than kernel.perf_event_mlock_kb? */
int rights_may_lock(const struct rights *rights);
/* Why BPF programs could not be loaded, which was refused with code: "CAP_BPF is missing". */
const char *rights_without_bpf(const struct rights *rights, int code);

/* Writes the sentence for a refusal: the kernel answered code (negative errno) when stoke tried to
 * do `what` ("open events", "load programs"). Returns the code for the caller: -EPERM for rights,
 * -EOPNOTSUPP for what this kernel cannot do, else code itself. */
int rights_explain(
	const struct rights *rights, const char *what, int code, struct stoke_error *err);
/* Same, of this machine. */
int refusal_explain(const char *what, int code, struct stoke_error *err);

/* Cycles that this thread burns in a second of computing, measured in a few milliseconds by the way
 * samples are taken; 0 when the event opens but does not count, or -errno when it does not open. */
int64_t cycles_per_second(void);

/* A number from a file below /proc/sys: 0 and *ret, or -errno. */
int sysctl_read(const char *path, int64_t *ret);

/* How many threads there are on the machine; 0: not known. proc: "/proc". */
uint64_t tasks_now(const char *proc);

#endif
