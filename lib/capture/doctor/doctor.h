/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_DOCTOR_DOCTOR_H
#define STOKE_CAPTURE_DOCTOR_DOCTOR_H

/* What the parts of doctor.c share. */

#include "base/findings.h"
#include "process/host.h"
#include "source/features.h"
#include "source/probes.h"

/* Everything that is known of the machine before a word is said. */
struct surroundings {
	struct rights rights;
	struct probes probes;
	int process; /* probe_process() of the target; -ESRCH: there is none */
	size_t nr_cpus; /* online */
	uint64_t max_files; /* that stoke may raise its own limit to */
	int64_t max_sample_rate; /* sysctl; 0: not known */
	int kernel_names; /* 1: /proc/kallsyms shows addresses; 0: zeros; -1: not readable */
	int kptr_restrict; /* sysctl; -1: not known */
	const char *version; /* of stoke */
};

/* Reads and asks; -errno when not even the online CPUs are known. */
int surroundings_read(const struct host *host, struct surroundings *ret, struct stoke_error *err);
/* Pure: what it means. */
void surroundings_tell(const struct surroundings *surroundings, struct stoke_findings *findings);

/* Who it is, what is seen of it and what never. */
void target_tell(const struct host *host, pid_t pid, const struct surroundings *surroundings,
	struct stoke_findings *findings);

#endif
