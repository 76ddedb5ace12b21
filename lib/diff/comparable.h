/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_COMPARABLE_H
#define STOKE_DIFF_COMPARABLE_H

/*
 * May these be compared at all? What each side says of itself, and every difference that could
 * pass for a change of the program: event, rate, scope, threads, truncation, losses, unnamed
 * frames, JVM, processor, kernel, machine load, limits, order in time.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct side {
	uint32_t first, nr_runs; /* of the profile */
	uint64_t samples;
	uint64_t duration_ns; /* of all runs; 0: not known */
	double cores; /* CPU time by wall time, mean of the runs; NAN: not known */
	double frequency_hz; /* NAN: not known or mixed */
	double unnamed, truncated, broken, lost; /* shares of samples (frames for unnamed) */
	char *name; /* "8u74.pb.gz", or "5 runs"; owned */
	const char *event; /* NULL: not known. Borrowed from the profile, as those below */
	const char *jvm; /* "17.0.15+6"; NULL: none or not known */
	double work; /* operations of all runs; NAN: not known */
	double jit, gc; /* shares of samples in the JVM's compiler and collector threads */
};

enum finding_weight {
	FINDING_SAME, /* worth a word in the line "compare" */
	FINDING_NOTE,
	FINDING_WARNING, /* diff goes on */
	FINDING_REFUSAL, /* check says "cannot tell"; diff warns */
};

struct comparable_finding {
	enum finding_weight weight;
	const char *key; /* "event", "rate", "scope", "lost", "unnamed", "order", ...: constant */
	char *text; /* the sentence, with its cure where there is one; owned */
};

struct comparable {
	struct side sides[2];
	struct comparable_finding *findings; /* heaviest first, then in fixed order */
	size_t nr_findings;
	int jvms_differ; /* 1: both sides say their JVM and they are not the same feature release */
};

/* -ENODATA: a side has no runs; -ERANGE: more samples than can be added up. -ENOMEM. */
int comparable_look(const struct stoke_profile *profile, uint32_t nr_before,
	struct comparable **ret, struct stoke_error *err);
/* What was borrowed from the profile is borrowed from this one, which has the same runs, from now
 * on.
 */
void comparable_rely_on(struct comparable *comparable, const struct stoke_profile *profile);
void comparable_free(struct comparable *comparable);
/* 1 when any finding has this weight or more. */
int comparable_worst(const struct comparable *comparable, enum finding_weight weight);

#endif
