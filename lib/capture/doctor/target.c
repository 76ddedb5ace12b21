/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c: a process as a recording would find it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/worker.h"
#include "capture/doctor/doctor.h"
#include "capture/doctor/java.h"
#include "capture/target.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "process/thread.h"
#include "runtime/runtime.h"
#include "unwind/compile.h"

#define NR_LARGEST	  4 /* files whose unwind tables are looked for */
#define LARGEST_MIN	  (64u << 10) /* bytes of code worth a look */
#define UNWIND_LIMIT_MS	  1500
#define UNWIND_TIMEOUT_MS 4000

/* What is being looked at. */
struct patient {
	const struct host *host;
	pid_t pid;
	const struct surroundings *surroundings;
	struct processes *processes;
	const struct process *process;
	struct java_vm java;
	struct stoke_findings *findings;
};

static int has_generated_code(const struct process *process)
{
	for (size_t i = 0; i < process->nr_mappings; i++) {
		if (process->mappings[i].kind == MAPPING_ANONYMOUS)
			return 1;
	}
	return 0;
}

static void tell_who(const struct patient *patient)
{
	const struct process *process = patient->process;
	char comm[16] = "?", container[CONTAINER_ID_MAX] = "", inside[64] = "", program[128] = "";
	const char *name = processes_text(patient->processes, process->name);

	(void)thread_read_comm(patient->host, patient->pid, patient->pid, comm); /* or "?" */
	(void)container_id_of(patient->host, patient->pid, container); /* or in none */
	if (name && *name && strcmp(name, comm) != 0)
		(void)snprintf(program, sizeof(program), " (%.100s)", name);
	if (process->ns_pid && process->ns_pid != patient->pid)
		(void)snprintf(inside, sizeof(inside), ", PID %d in its own namespace",
			(int)process->ns_pid);
	findings_add(patient->findings, STOKE_FINDING_ABOUT, "target", NULL,
		"%d %s%s%s%s, %zu thread%s, uid %d%s%s%.12s", (int)patient->pid, comm, program,
		patient->java.found ? ", " : "", patient->java.text, process->nr_threads,
		process->nr_threads == 1 ? "" : "s", (int)process->euid, inside,
		*container ? ", container " : "", container);
}

/* Where events of all processes are refused, its owner may have those of this one. */
static void tell_events(const struct patient *patient)
{
	if (patient->surroundings->probes.event < 0 && patient->surroundings->process == 0)
		findings_add(patient->findings, STOKE_FINDING_OK, "target", NULL,
			"open its events: it is recorded without BPF, user code alone");
}

/* What of it is open to us. code: of reading what it has mapped. */
static void tell_access(const struct patient *patient, int code)
{
	const char *cure = "run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
	const int memory = probe_memory(patient->pid);

	if (code < 0)
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", cure,
			"what it has mapped cannot be read (%s): its functions have no names",
			strerror(-code));
	else if (patient->process->root_fd < 0)
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", cure,
			"its root directory cannot be opened: files that only it sees, and perf "
			"maps, have no names to give");
	if (memory < 0)
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", cure,
			"its memory cannot be read (%s)",
			memory == -ENOSYS ? "a seccomp filter hides process_vm_readv"
					  : strerror(-memory));
	else if (code >= 0 && patient->process->root_fd >= 0)
		findings_add(patient->findings, STOKE_FINDING_OK, "target", NULL,
			"read its mappings, memory (%s) and files",
			rights_have(&patient->surroundings->rights, CAP_SYS_PTRACE)
				? "CAP_SYS_PTRACE"
				: "same user");
}

static void tell_limit(const struct patient *patient)
{
	struct cgroup_limit limit;

	if (cgroup_read_limit(patient->host, patient->pid, &limit) < 0 || limit.cores <= 0)
		return;
	if (limit.nr_periods)
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", NULL,
			"limit %.1f cores by cgroup, throttled %.0f %% of the periods since start",
			limit.cores, 100.0 * (double)limit.nr_throttled / (double)limit.nr_periods);
	else
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", NULL,
			"limit %.1f cores by cgroup, never throttled", limit.cores);
}

/* Entries of its perf map; text: what is wrong with it, "" when nothing is. */
static uint64_t read_map(const struct patient *patient, struct runtime_findings *ret)
{
	struct process *process = processes_find(patient->processes, patient->pid);

	*ret = (struct runtime_findings){0};
	for (size_t i = 0; i < nr_runtimes; i++) {
		void *state;

		if (strcmp(runtimes[i]->name, "perfmap") != 0 ||
			runtimes[i]->claim(patient->host, process, &state, NULL) < 0)
			continue;
		(void)runtimes[i]->observe(
			state, OBSERVE_START, host_now_ns()); /* explain() says */
		runtimes[i]->explain(state, ret);
		runtimes[i]->close(state);
	}
	return ret->nr_entries;
}

static int begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void tell_runtime(const struct patient *patient)
{
	struct runtime_findings map;
	const uint64_t entries = read_map(patient, &map);
	char comm[16] = "";

	(void)thread_read_comm(patient->host, patient->pid, patient->pid, comm); /* or "" */
	java_vm_tell(&patient->java, patient->pid, entries, patient->findings);
	if (patient->java.found && patient->java.error == 0)
		return; /* its map is not needed */
	if (entries && !patient->java.found)
		findings_add(patient->findings, STOKE_FINDING_OK, "target", NULL,
			"generated code: its perf map has %" PRIu64 " entries", entries);
	if (map.text[0] &&
		(entries || (has_generated_code(patient->process) && !begins(comm, "node") &&
				    !begins(comm, "python") && !patient->java.found)))
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target", NULL, "%s", map.text);
	if (!entries && begins(comm, "node"))
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target",
			"start it with node --perf-basic-prof",
			"JavaScript functions have no names: there is no perf map");
	if (!entries && begins(comm, "python"))
		findings_add(patient->findings, STOKE_FINDING_NOTE, "target",
			"start it with python3 -X perf (3.12 on)",
			"Python functions do not show, only the interpreter's own");
}

struct file_size {
	uint32_t module;
	uint64_t bytes;
};

/* The files with most code mapped, the largest first. */
static size_t find_largest(const struct patient *patient, struct file_size ret[NR_LARGEST])
{
	size_t nr = 0;

	for (uint32_t module = 1; module <= processes_nr_modules(patient->processes); module++) {
		struct file_size size = {.module = module};
		size_t at;

		for (size_t i = 0; i < patient->process->nr_mappings; i++) {
			const struct mapping *mapping = &patient->process->mappings[i];

			if (mapping->kind == MAPPING_FILE && mapping->module == module)
				size.bytes += mapping->end - mapping->start;
		}
		if (size.bytes < LARGEST_MIN)
			continue;
		for (at = nr; at > 0 && ret[at - 1].bytes < size.bytes; at--) {
			if (at < NR_LARGEST)
				ret[at] = ret[at - 1];
		}
		if (at < NR_LARGEST)
			ret[at] = size;
		nr += nr < NR_LARGEST;
	}
	return nr;
}

static void tell_unwinding(const struct patient *patient)
{
	struct file_size largest[NR_LARGEST];
	const size_t nr = find_largest(patient, largest);
	const struct module *module;
	struct compile *compile;
	size_t nr_good = 0;

	if (!nr || compile_new(&compile) < 0)
		return;
	compile->limit_ms = UNWIND_LIMIT_MS;
	for (size_t i = 0; i < nr; i++) {
		struct compiled *file = &compile->files[compile->nr];

		module = processes_module(patient->processes, largest[i].module);
		file->module = largest[i].module;
		file->fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 3);
		if (file->fd < 0)
			findings_add(patient->findings, STOKE_FINDING_NOTE, "target", NULL,
				"%s cannot be opened (%s): its functions have no names",
				module->path, strerror(module->open_error));
		else
			compile->nr++;
	}
	if (worker_run(compile_job, compile_drop, compile, UNWIND_TIMEOUT_MS) < 0)
		return; /* a file system that hangs: others say so */
	for (size_t i = 0; i < compile->nr; i++) {
		module = processes_module(patient->processes, compile->files[i].module);
		nr_good += compile->files[i].done && !compile->files[i].error;
		if (compile->files[i].done && compile->files[i].error)
			findings_add(patient->findings, STOKE_FINDING_NOTE, "target", NULL,
				"no unwind information in %s: stacks through it are whole only "
				"where it keeps frame pointers",
				module->path);
	}
	if (nr_good)
		findings_add(patient->findings, STOKE_FINDING_OK, "target", NULL,
			"unwind its %zu largest file%s without frame pointers", nr_good,
			nr_good == 1 ? "" : "s");
	compile_free(compile);
}

void target_tell(const struct host *host, pid_t pid, const struct surroundings *surroundings,
	struct stoke_findings *findings)
{
	struct patient patient = {
		.host = host, .pid = pid, .surroundings = surroundings, .findings = findings};
	struct stoke_error err = {0};
	int r;

	if (target_check(host, pid, &err) < 0) {
		findings_add(findings, STOKE_FINDING_ABOUT, "target", NULL, "%d", (int)pid);
		findings_add(findings, STOKE_FINDING_NO, "target", NULL, "%s", err.text);
		return;
	}
	r = processes_new(host, &patient.processes);
	if (r == 0)
		r = processes_scan(patient.processes, pid);
	patient.process = r == -ENOMEM ? NULL : processes_find(patient.processes, pid);
	if (r == -ENOMEM)
		findings->error = r;
	if (patient.process) {
		java_vm_read(patient.processes, patient.process, &patient.java);
		tell_who(&patient);
		tell_events(&patient);
		tell_access(&patient, r);
		tell_limit(&patient);
		tell_runtime(&patient);
		tell_unwinding(&patient);
	}
	processes_free(patient.processes);
}
