/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_SEPARATE_H
#define STOKE_DIFF_SEPARATE_H

/*
 * Keeps the JVM's own work apart from the application's: samples of compiler and collector threads
 * come to stand under one mark each, since a run on a fresh JVM is half compiler, and every share
 * of the application would seem to have changed with it. A growth of either is still seen: as a
 * growth of its mark.
 */

#include "profile/profile.h"
#include "profile/tally.h"

#define SEPARATE_JIT "[JIT compiler]"
#define SEPARATE_GC  "[garbage collector]"

/*
 * In place. A thread is known by its label "thread", else by one of the three outermost frames of
 * its stack. Does nothing where that would leave one side (runs below nr_before, and the rest)
 * without samples. 0 or -ENOMEM, -E2BIG.
 */
int separate_runtimes(struct stoke_profile *profile, uint32_t nr_before);
/* Which part of each side's samples those threads have; 0 where there are none. -ENOMEM. */
int separate_shares(const struct stoke_profile *profile, uint32_t nr_before,
	const struct tally *tally, double ret_jit[2], double ret_gc[2]);
/* 1 when this is a function that separate_runtimes() made. */
int separate_is_mark(const struct stoke_profile *profile, uint32_t function);

#endif
