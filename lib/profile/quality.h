/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_QUALITY_H
#define STOKE_PROFILE_QUALITY_H

/*
 * What a run knows about its own worth: counts by cause. Nothing is dropped in silence; each count
 * has one sentence (quality.c) with the one thing that would cure it. Travels in pprof comments as
 * "stoke.quality.NAME=N" and in the SVG, so a written file says the same as the recording did.
 */

#include <stddef.h>
#include <stdint.h>

struct stoke_profile;

enum quality_count {
	QUALITY_SAMPLES, /* taken */
	QUALITY_EXPECTED, /* by CPU time of the targets (or wall x CPUs) and the rate */
	QUALITY_NOT_TAKEN, /* ticks that never fired: steal, throttling, merged ticks */
	QUALITY_LOST_RING, /* sampled, no room in the ring */
	QUALITY_LOST_BUSY, /* the program could not run or reserve */
	QUALITY_LOST_LATE, /* arrived after its time was handed on */
	QUALITY_LOST_SIDEBAND, /* mapping, exec, fork or exit records lost; maps were read again */
	QUALITY_STACKS_WHOLE, /* end in the root of their thread, or are kernel only by nature */
	QUALITY_STACKS_TRUNCATED, /* deeper than the limit */
	QUALITY_STACKS_BROKEN, /* end before the root */
	QUALITY_STACKS_EXIT, /* taken after the process gave up its memory: no user stack */
	QUALITY_FRAMES, /* weighted: each frame of each sample */
	QUALITY_UNNAMED_NO_SYMBOLS, /* file without symbols (stripped) */
	QUALITY_UNNAMED_GAP, /* between the symbols of a file that has some */
	QUALITY_UNNAMED_UNREADABLE, /* file could not be opened */
	QUALITY_UNNAMED_JIT, /* generated code, no map, or none of its entries */
	QUALITY_UNNAMED_KERNEL, /* kernel addresses hidden */
	QUALITY_STALE_JIT, /* owner of the address changed around the sample */
	QUALITY_MAP_LINES_BAD, /* lines of perf maps refused */
	QUALITY_LINES_BAD, /* lines of an input file refused */
	QUALITY_HIDDEN_NODES, /* nodes cut while reading (min_share); their weight is kept */
	QUALITY_OWN_CPU_NS, /* CPU time of stoke itself, BPF programs included */
	QUALITY_OWN_PEAK_BYTES, /* peak resident memory of stoke */
	NR_QUALITY_COUNTS
};

struct quality {
	uint64_t count[NR_QUALITY_COUNTS];
};

/* Word of a count in files: "lost-ring". Never renamed. */
const char *quality_name(enum quality_count count);
/* The count of a word, or -ENOENT. */
int quality_find(const char *name, size_t size);

/* The counts of all runs. Sums saturate. */
void quality_sum(const struct stoke_profile *profile, struct quality *ret);

#define QUALITY_LINE_BYTES    256
#define QUALITY_MAX_SENTENCES 32

/*
 * What a profile says of its worth, for people: one line with the figures, and a sentence for each
 * shortfall with what cures it, worst first. All printable, NUL-terminated, without a full stop.
 */
struct quality_text {
	char line[QUALITY_LINE_BYTES]; /* "99.4 % of stacks whole, 0.3 % of frames unnamed, ..." */
	size_t nr;
	char sentence[QUALITY_MAX_SENTENCES][512];
};

/*
 * Reads, besides the counts, the runs' facts "target" ("4242 java, 97 threads"), "state" ("used
 * 0.03 s of CPU in 30.0 s", "ended after 3.0 s"), "rate" ("99 Hz"), "first-bad-line" ("line 7: no
 * count"), and takes each fact "warning" for a sentence of its own. 0 or -ENOMEM.
 */
int quality_say(const struct stoke_profile *profile, struct quality_text *ret);

#endif
