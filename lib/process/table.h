/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_TABLE_H
#define STOKE_PROCESS_TABLE_H

/* What process.c (records) and reading.c (/proc) share: the table behind process.h. */

#include "base/strings.h"
#include "process/modules.h"
#include "process/process.h"

struct entry {
	struct process process; /* first: the struct process that is handed out */
	uint64_t born_ns; /* of the record or reading that showed it first */
	uint64_t read_ns; /* of the latest whole reading of /proc, 0: none */
	uint64_t rescan_ns; /* when rescanning was last allowed */
	size_t nr_live; /* threads known to live */
	unsigned hangs; /* file systems that did not answer */
	int named; /* by more than comm */
};

struct processes {
	const struct host *host;
	struct modules *modules;
	struct strings strings;
	struct entry **entries; /* order of first sight */
	size_t nr, capacity;
	uint32_t *slots; /* pid -> index + 1 of its latest incarnation */
	size_t nr_slots; /* a power of two */
	uint64_t last_incarnation;
};

/* A new incarnation, from now on the one of that pid. */
int table_add(struct processes *processes, pid_t pid, uint64_t born_ns, struct entry **ret);
struct entry *table_find(const struct processes *processes, pid_t pid);
/* Adds or renames a thread that lives; an older one of that tid is forgotten. */
int table_set_thread(struct entry *entry, pid_t tid, uint32_t name);
/* A name from the target: bounded, as it was. */
int table_add_name(struct processes *processes, const char *name, uint32_t *ret);

/* What was mapped, as a mapping of this process. path without " (deleted)". 0, -ENOMEM; -ENOENT:
 * nothing that could hold code. */
int table_locate(struct processes *processes, struct entry *entry, const struct module_sight *sight,
	uint64_t offset, int deleted, uint64_t time_ns, struct mapping *ret);

/* reading.c. A whole reading, or only what is missing in an address space. */
int reading_whole(struct processes *processes, pid_t pid);
int reading_gaps(struct processes *processes, struct entry *entry);
/* After an exec: the name of the program, if this command has such. */
int reading_program(struct processes *processes, struct entry *entry);
/* Root, owner, innermost pid, once a process has generated code. */
void reading_context(struct processes *processes, struct entry *entry);

#endif
