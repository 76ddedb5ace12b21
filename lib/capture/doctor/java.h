/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_DOCTOR_JAVA_H
#define STOKE_CAPTURE_DOCTOR_JAVA_H

#include "base/findings.h"
#include "process/process.h"

/* What is known of a process's Java VM. */
struct java_vm {
	int found; /* it has a libjvm.so */
	int error; /* 0: its structures can be read; else negative errno */
	char text[160]; /* "JDK 17.0.15+6, G1" */
	int debug_non_safepoints; /* 1, 0, -1: not known, as all of these */
	int frame_pointers, tiered, compiles;
};

void java_vm_read(
	const struct processes *processes, const struct process *process, struct java_vm *ret);
/* Pure: what of it can be seen, and what never. map: entries of its perf map; 0: none. */
void java_vm_tell(
	const struct java_vm *vm, pid_t pid, uint64_t map, struct stoke_findings *findings);

#endif
