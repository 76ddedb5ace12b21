/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c: what this kernel, these rights and these limits allow. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "capture/cpus.h"
#include "capture/doctor/doctor.h"

#define SMALL_MAX_BYTES	 (64 * 1024)
#define KALLSYMS_BYTES	 4096
#define FILES_AND_TARGET 512 /* besides those of CPUs: what targets have mapped, outputs */
#define FILES_A_CPU	 3 /* sample event, side band, ring */
#define USUAL_RATE	 999

static int64_t read_number(const struct host *host, const char *path, int64_t otherwise)
{
	_cleanup_free_ char *text = NULL;
	size_t size;

	if (file_read_text(host->proc_fd, path, SMALL_MAX_BYTES, &text, &size) < 0)
		return otherwise;
	return strtoll(text, NULL, 10);
}

/* Without the right to see them addresses are zeros. */
static int read_kernel_names(const struct host *host)
{
	_cleanup_close_ int fd = openat(host->proc_fd, "kallsyms", O_RDONLY | O_CLOEXEC);
	char text[KALLSYMS_BYTES];
	ssize_t n = fd < 0 ? -1 : file_read(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strtoull(line, NULL, 16))
			return 1;
	}
	return 0;
}

int surroundings_read(const struct host *host, struct surroundings *ret, struct stoke_error *err)
{
	_cleanup_free_ unsigned *cpus = NULL;
	struct rlimit limit;
	int r = cpus_choose(host, NULL, 0, &cpus, &ret->nr_cpus, err);

	if (r < 0)
		return r;
	rights_read(host->proc, host->sys, &ret->rights);
	rights_probe(&ret->rights);
	probes_run(cpus[0], &ret->probes);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		ret->max_files = limit.rlim_max;
	ret->max_sample_rate = read_number(host, "sys/kernel/perf_event_max_sample_rate", 0);
	ret->kptr_restrict = (int)read_number(host, "sys/kernel/kptr_restrict", -1);
	ret->kernel_names = read_kernel_names(host);
	ret->version = STOKE_VERSION;
	return 0;
}

static void tell_where(const struct surroundings *at, struct stoke_findings *findings)
{
	const struct rights *rights = &at->rights;

	findings_add(findings, STOKE_FINDING_ABOUT, "here", NULL,
		"%s, uid %u, kernel %s with%s BTF, %zu CPU%s, stoke %s",
		rights->container ? "container with its own PID namespace" : "host",
		(unsigned)rights->uid, rights->release, rights->btf ? "" : "out", at->nr_cpus,
		at->nr_cpus == 1 ? "" : "s", at->version);
}

/* Without BPF, events alone will do, with less of each stack: of all processes or of the target. */
static int records_without_bpf(const struct surroundings *at)
{
	return (at->probes.event == 0 || at->process == 0) && !at->rights.lockdown;
}

/* One thing that a recording does: ok, or why not. */
static void tell_probe(
	const struct surroundings *at, const char *what, int code, struct stoke_findings *findings)
{
	struct refusal refusal;

	if (code == 0) {
		findings_add(findings, STOKE_FINDING_OK, "here", NULL, "%s", what);
		return;
	}
	rights_refusal(&at->rights, code, &refusal);
	findings_add(findings, records_without_bpf(at) ? STOKE_FINDING_NOTE : STOKE_FINDING_NO,
		"here", *refusal.cure ? refusal.cure : NULL, "%s: %s", what, refusal.cause);
}

static void tell_types(const struct surroundings *at, struct stoke_findings *findings)
{
	struct refusal refusal;

	if (at->rights.btf)
		return;
	rights_refusal(&at->rights, -EOPNOTSUPP, &refusal);
	findings_add(findings, records_without_bpf(at) ? STOKE_FINDING_NOTE : STOKE_FINDING_NO,
		"here", refusal.cure, "find the kernel's types: %s", refusal.cause);
}

static void tell_event(const struct surroundings *at, struct stoke_findings *findings)
{
	const struct probes *probes = &at->probes;

	if (probes->event < 0) {
		tell_probe(at, "open events of all processes", probes->event, findings);
		return;
	}
	if (!probes->event_counts) {
		findings_add(findings, STOKE_FINDING_NO, "here",
			"look at kernel.perf_event_max_sample_rate and "
			"kernel.perf_cpu_time_max_percent",
			"count time: cpu-clock opens but never fires");
		return;
	}
	findings_add(findings, STOKE_FINDING_OK, "here", NULL, "open events of all processes; %s",
		probes->cycles > 0    ? "cycles count, and are what -e cpu uses"
		: probes->cycles == 0 ? "cycles opens but does not count: -e cpu is cpu-clock"
				      : "no hardware counters: -e cpu is cpu-clock");
}

static void tell_kernel_names(const struct surroundings *at, struct stoke_findings *findings)
{
	char cure[512];

	if (at->kernel_names > 0) {
		findings_add(findings, STOKE_FINDING_OK, "here", NULL, "name kernel functions");
		return;
	}
	if (at->kptr_restrict > 1)
		(void)snprintf(cure, sizeof(cure), "sudo sysctl kernel.kptr_restrict=1");
	else
		rights_cure(&at->rights, cure, sizeof(cure));
	findings_add(findings, STOKE_FINDING_NOTE, "here", cure,
		"kernel functions have no names: %s",
		at->kernel_names < 0	? "/proc/kallsyms cannot be read"
		: at->kptr_restrict > 1 ? "kernel.kptr_restrict is 2, which hides addresses from "
					  "everybody"
					: "addresses are hidden from who lacks CAP_SYSLOG");
}

/* Sampling works without these; what it does not is said. */
static void tell_capabilities(const struct surroundings *at, struct stoke_findings *findings)
{
	static const struct {
		unsigned capability;
		const char *name, *without;
	} rows[] = {
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
			"programs and memory of other users' processes cannot be read: their "
			"functions have no names"},
		{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
			"files and perf maps that only their owner may read stay closed"},
		{CAPABILITY_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
			"files that were deleted or replaced while they run stay closed"},
	};
	char cure[512];

	rights_cure(&at->rights, cure, sizeof(cure));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rights_have(&at->rights, rows[i].capability))
			continue;
		findings_add(findings, STOKE_FINDING_NOTE, "here", cure, "%s is missing: %s",
			rows[i].name, rows[i].without);
	}
}

static void tell_limits(const struct surroundings *at, struct stoke_findings *findings)
{
	const uint64_t wanted = at->nr_cpus * FILES_A_CPU + FILES_AND_TARGET;
	char cure[128];

	if (at->max_files && at->max_files < wanted) {
		(void)snprintf(cure, sizeof(cure), "ulimit -n %" PRIu64, wanted);
		findings_add(findings,
			at->max_files < at->nr_cpus * FILES_A_CPU ? STOKE_FINDING_NO
								  : STOKE_FINDING_NOTE,
			"here", cure,
			"at most %" PRIu64
			" open files: %zu CPUs and what targets have mapped want "
			"%" PRIu64,
			at->max_files, at->nr_cpus, wanted);
	}
	if (at->max_sample_rate && at->max_sample_rate < USUAL_RATE)
		findings_add(findings, STOKE_FINDING_NOTE, "here",
			"sudo sysctl kernel.perf_event_max_sample_rate=10000",
			"kernel.perf_event_max_sample_rate is %" PRId64
			": above that the kernel drops samples",
			at->max_sample_rate);
}

void surroundings_tell(const struct surroundings *at, struct stoke_findings *findings)
{
	tell_where(at, findings);
	tell_types(at, findings);
	tell_probe(at, "load BPF programs", at->probes.program, findings);
	tell_probe(at, "make a ring for samples", at->probes.ring, findings);
	if (at->rights.lockdown && at->probes.program == 0)
		tell_probe(at, "read memory by BPF", -EPERM, findings);
	tell_event(at, findings);
	tell_kernel_names(at, findings);
	tell_capabilities(at, findings);
	tell_limits(at, findings);
}
