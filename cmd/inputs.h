/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_INPUTS_H
#define STOKE_CMD_INPUTS_H

/* What the commands that look at profiles share: files read into one profile, and filters. */

#include "cmd/command.h"
#include "stoke.h"

struct filters {
	const char *focus, *ignore, *hide, *root, *thread;
	struct numbers pids;
	struct amount from, to;
	unsigned flags; /* STOKE_USER_ONLY, STOKE_KERNEL_ONLY */
	struct numbers by; /* positions in by_words */
};

/* "process", "thread", "pool", "cpu": in the order of enum stoke_by, which starts at 1. */
extern const char *const by_words[];

/* -U and -K of a struct with unsigned flags, and what to say of both together. */
#define SIDE_OPTIONS(in)                                                                           \
	{.name = "user-only",                                                                      \
		.also = "all-user",                                                                \
		.letter = 'U',                                                                     \
		.type = OPTION_FLAG,                                                               \
		.offset = offsetof(in, flags),                                                     \
		.bits = STOKE_USER_ONLY,                                                           \
		.help = "user code only"},                                                         \
	{                                                                                          \
		.name = "kernel-only", .also = "all-kernel", .letter = 'K', .type = OPTION_FLAG,   \
		.offset = offsetof(in, flags), .bits = STOKE_KERNEL_ONLY,                          \
		.help = "kernel code only"                                                         \
	}
/* An exit status; what is wrong has been said. done: "shown". */
int sides_check(const struct voice *voice, unsigned flags, const char *done);

/* The options of struct filters; a row {.type = OPTION_TABLE, .table = filter_options} takes them.
 */
extern const struct option filter_options[];

/* Every operand of the call, read as told (but for the name) into one new profile, a run each; "-"
 * is standard input. An exit status; what is wrong has been said. */
int inputs_read(
	const struct call *call, const struct stoke_read_options *how, struct stoke_profile **ret);
/* One file more as a run of profile; "-" is standard input. An exit status, as above. */
int input_read(const struct voice *voice, const char *path, const struct stoke_read_options *how,
	struct stoke_profile *profile);
/* How much there is of everything, for -v. */
void stats_say(const struct voice *voice, const struct stoke_profile *profile);
/* What is wrong with a profile. The text report says so itself. */
void warnings_say(const struct voice *voice, const struct stoke_profile *profile);
/* 1: they leave everything as it is. */
int filters_are_empty(const struct filters *filters);
/* What filters leave of *profile, in its place. An exit status; what is wrong has been said. */
int filters_apply(
	const struct voice *voice, const struct filters *filters, struct stoke_profile **profile);

static inline void cleanup_profile(struct stoke_profile **profile)
{
	stoke_profile_free(*profile);
}
#define _cleanup_profile_ _cleanup_(cleanup_profile)

#endif
