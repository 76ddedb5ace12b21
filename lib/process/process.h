/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_PROCESS_H
#define STOKE_PROCESS_PROCESS_H

/*
 * process.h: what processes have mapped, as far as the timeline has come. Fed by the side band's
 * records in order of time; /proc fills in what was there before, and what records cannot tell
 * (munmap, mremap leave none). An incarnation is one life of a pid between exec-independent fork
 * and exit; pids are reused, incarnation numbers are not.
 */

#include <stdint.h>
#include <sys/types.h>

#include "process/host.h"
#include "process/module.h"

struct processes;

enum mapping_kind {
	MAPPING_FILE, /* an ELF file, hopefully */
	MAPPING_VDSO,
	MAPPING_VSYSCALL,
	MAPPING_ANONYMOUS /* executable memory without a file (JIT); also memfd:, /dev/zero, shm and
			     deleted temporary files that are not ELF: V8, .NET and Java use all of
			     them */
};

/* One executable mapping. */
struct mapping {
	uint64_t start, end; /* [start, end) */
	uint64_t offset; /* of start in the file */
	uint32_t module; /* of processes_module(); 0 for MAPPING_VSYSCALL */
	enum mapping_kind kind;
	uint64_t since_ns; /* of the latest record or reading that showed it */
};

struct thread {
	pid_t tid;
	uint32_t name; /* string id of processes_text() */
	uint64_t exit_ns; /* 0: lives */
};

struct process {
	pid_t pid;
	pid_t alive; /* whose entry in /proc tells of it: pid, or once the first thread has ended
			another one */
	uint64_t incarnation; /* unique in this struct processes */
	uint64_t start_ns; /* start_boottime as BPF saw it; 0: not known yet */
	uint64_t exit_ns; /* 0: lives, as far as is known */
	uint64_t version; /* rises whenever a mapping is added, replaced or dropped */
	uint32_t name; /* string: comm of the leader, or the better name /proc/PID/cmdline gives:
			  main class or jar of a JVM, script of python or node */
	uint32_t jit_module; /* 0 until first anonymous mapping is met */
	pid_t ns_pid; /* innermost value of NSpid:, for perf maps; 0: not read yet */
	uid_t euid; /* effective, for the owner check of perf maps; (uid_t)-1: not known */
	int root_fd; /* O_PATH of /proc/PID/root while it could be opened; -1; owned */
	struct mapping *mappings; /* executable ones, sorted by start, disjoint */
	size_t nr_mappings, mappings_capacity;
	struct thread *threads; /* sorted by tid */
	size_t nr_threads, threads_capacity;
};

int processes_new(const struct host *host, struct processes **ret);
void processes_free(struct processes *processes);

/* Records of the side band, in order of time. pids as seen from stoke's PID namespace. */
struct mmap_event {
	pid_t pid, tid;
	uint64_t time_ns;
	uint64_t start, size, offset;
	const char
		*path; /* as the target's root sees it: "/usr/lib/libc.so.6", "//anon", "[vdso]" */
	size_t path_size;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: dev, ino instead */
	uint64_t dev, ino;
	uint32_t prot; /* only PROT_EXEC ones matter */
};

int processes_mmap(struct processes *processes, const struct mmap_event *event);
int processes_fork(
	struct processes *processes, pid_t pid, pid_t tid, pid_t parent_pid, uint64_t time_ns);
int processes_comm(struct processes *processes, pid_t pid, pid_t tid, const char *comm, int exec,
	uint64_t time_ns);
int processes_exit(struct processes *processes, pid_t pid, pid_t tid, uint64_t time_ns);

/*
 * Reads /proc/PID: maps, names of threads, owner, namespaces. Called for targets after the side
 * band is open, and after losses. Drops mappings that are gone. 0, -ESRCH (gone: what is known
 * stays), -EACCES, -ENOMEM.
 */
int processes_scan(struct processes *processes, pid_t pid);
/* An address without a mapping asks for one reading; at most one in 100 ms a process, else -EAGAIN.
 */
int processes_rescan(struct processes *processes, struct process *process, uint64_t now_ns);

/* What /proc/PID/maps shows as executable now, sorted, disjoint; changes nothing of what is known
 * of the process. The caller frees *ret. 0, -ESRCH, -EACCES, -ENOMEM. Generated code has module 0.
 */
int processes_mapped(struct processes *processes, pid_t pid, struct mapping **ret, size_t *ret_nr);

/* Reads memory of a process: all of it, or -errno. */
int processes_read(
	const struct processes *processes, pid_t pid, uint64_t address, void *ret, size_t size);
/* 1: there is no such process any more. */
int processes_gone(const struct processes *processes, pid_t pid);

/* The current incarnation of pid, or the last one if it has ended; NULL: never heard of. Borrowed
 * until the next record or scan. */
struct process *processes_find(struct processes *processes, pid_t pid);
/* Same; made from /proc (or empty, if that is gone) when not known. -ENOMEM. */
int processes_get(struct processes *processes, pid_t pid, struct process **ret);

/* The mapping that holds address, or NULL. */
const struct mapping *process_mapping(const struct process *process, uint64_t address);
/* Name of a thread as of now (timeline), or 0. */
uint32_t process_thread_name(const struct process *process, pid_t tid);

/* Modules are numbered from 1; the pointer is borrowed until the next record or scan. */
const struct module *processes_module(const struct processes *processes, uint32_t module);
size_t processes_nr_modules(const struct processes *processes);
const char *processes_text(const struct processes *processes, uint32_t string);
/* All processes known, for loops; order of first sight. */
size_t processes_nr(const struct processes *processes);
struct process *processes_at(struct processes *processes, size_t i);

/* Drops processes and threads that ended before that time: when no sample of them can come any
 * more. Borrowed pointers and indices of processes_at() end; modules stay. */
void processes_forget(struct processes *processes, uint64_t before_ns);

#endif
