/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_PROFILE_H
#define STOKE_PROFILE_PROFILE_H

/*
 * profile.h: THE WAIST. Sources fill a profile, resolvers and runtimes name it, formats and reports
 * read it. A profile read from a file is the same object as a recorded one.
 *
 * Readers look straight into the arrays; only the functions below write. Everything is a u32 id
 * into an array, 0 means none, and nothing is allocated per node, frame or row. Terms are those of
 * pprof's profile.proto: function, location (here: frame), sample (here: row), label, value type.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/symbol.h"
#include "process/module.h"
#include "profile/quality.h"
#include "profile/stacks.h"
#include "stoke.h"

/* A function: key is (name, file, kind). 16 bytes. */
struct function {
	uint32_t name; /* string; raw bytes, escaped only where they are written */
	uint32_t file; /* string, 0: not known */
	uint32_t line; /* where the function starts, 0: not known */
	uint32_t kind; /* enum function_kind */
};

/*
 * A place in code: key is (module, address, function). A frame with function 0 has no name yet;
 * resolve_profile() gives it one. Where code was inlined, nr_functions > 1 and function is the
 * first of a slice of profile->inlined, innermost first. 24 bytes.
 */
struct frame {
	uint64_t address; /* file offset for file modules, else the address itself */
	uint32_t module; /* 0: none (text formats) */
	uint32_t function; /* or index into inlined when nr_functions > 1 */
	uint32_t line; /* of this place, 0: not known */
	uint16_t nr_functions; /* 1, or more with inlining; 0 with function 0: not named yet */
	uint16_t flags; /* FRAME_* */
};

#define FRAME_KERNEL (1u << 0) /* belongs to the kernel part of a stack */
#define FRAME_STALE  (1u << 1) /* the owner of this JIT address changed around the sample */
/* In the first function of a thread or program, as its code shows: has "[thread start]" or
 * "[program start]" for a name where libc's symbols are stripped. */
#define FRAME_THREAD_START  (1u << 2)
#define FRAME_PROGRAM_START (1u << 3)

struct inlined {
	uint32_t function, line;
};

/* One label: pprof's Label. A number when str is 0. */
struct label {
	uint32_t key; /* string: "pid", "tid", "process", "thread", "cpu", or foreign */
	uint32_t str; /* string, 0: it is a number */
	int64_t num;
	uint32_t unit; /* string, for numbers, mostly 0 */
};

/* Sample type: what one value of a row means. */
struct value_type {
	uint32_t type, unit; /* strings: "samples" "count", "cpu" "nanoseconds" */
};

/* pair of strings that a run says of itself: "kernel" "6.18.1" */
struct fact {
	uint32_t key, value;
};

/* One capture or one input file. */
struct run {
	uint32_t name; /* string: file name, or what was recorded */
	uint32_t event; /* string: "cpu-clock"; 0: not known */
	uint64_t start_ns; /* unix time; 0: not known */
	uint64_t duration_ns; /* measured; 0: not known */
	uint64_t period; /* mean, in units of period_type; 0: not known */
	struct value_type period_type;
	uint64_t slice_ns; /* width of a time slice; 0: rows carry no time */
	struct fact *facts;
	size_t nr_facts, facts_capacity;
	struct quality quality;
};

#define PROFILE_MAX_VALUES 8

/* Rows as columns. key is (run, stack, labels, slice): equal rows are one, values summed. */
struct rows {
	uint16_t *run;
	uint32_t *stack; /* node of stacks */
	uint32_t *labels; /* label set */
	uint32_t *slice; /* time since the run's start / slice_ns */
	uint64_t *value[PROFILE_MAX_VALUES];
	size_t nr;
	/* room in each column, for those who add */
	size_t capacity, stack_capacity, labels_capacity, slice_capacity;
	size_t value_capacity[PROFILE_MAX_VALUES];
};

struct stoke_profile {
	struct strings strings;
	struct module *modules; /* [0] is none; own copies, own fds */
	size_t nr_modules, modules_capacity;
	struct function *functions; /* [0] is none */
	size_t nr_functions, functions_capacity;
	struct frame *frames; /* [0] is none */
	size_t nr_frames, frames_capacity;
	struct inlined *inlined; /* [0] is none */
	size_t nr_inlined, inlined_capacity;
	struct stacks stacks;
	struct label *labels; /* all sets, one behind the other */
	size_t nr_labels, labels_capacity;
	uint32_t *label_sets; /* set -> first of labels; label_sets[nr_label_sets] is the end */
	size_t nr_label_sets, label_sets_capacity; /* set 0 is the empty set */
	struct run *runs;
	size_t nr_runs, runs_capacity;
	struct value_type values[PROFILE_MAX_VALUES];
	unsigned nr_values;
	unsigned default_value; /* the one that pictures show */
	struct rows rows;
	struct profile_index *index; /* hashes, private (index.h) */
	struct quality_text *said; /* room for what stoke_profile_warning() lends out */
};

/* profile_new() and profile_free() are stoke_profile_new() and stoke_profile_free(). */

int profile_string(struct stoke_profile *profile, const char *text, size_t size, uint32_t *ret);
/* Same for a C string. */
int profile_text(struct stoke_profile *profile, const char *text, uint32_t *ret);

/* Adds a run; *ret is its number. -E2BIG past 65,535. profile->runs moves: keep the number. */
int profile_run(struct stoke_profile *profile, const char *name, uint32_t *ret);
int profile_fact(struct stoke_profile *profile, uint32_t run, const char *key, const char *value);
/* The value of a run's fact, or NULL. Borrowed. */
const char *profile_fact_find(const struct stoke_profile *profile, uint32_t run, const char *key);

/* The column of a value type, added (and zero for earlier rows) when new. -E2BIG past the limit. */
int profile_value(struct stoke_profile *profile, const char *type, const char *unit, unsigned *ret);

/* Copies *module (with a dup of its fd) unless one with the same identity is there. */
int profile_module(struct stoke_profile *profile, const struct module *module, uint32_t *ret);

/* The function of this key, added when new. file: a string id, or 0. */
int profile_function(struct stoke_profile *profile, const char *name, size_t size,
	enum function_kind kind, uint32_t file, uint32_t line, uint32_t *ret);
/* The frame of key's (module, address, function, line, nr_functions, flags), added when new. */
int profile_frame(struct stoke_profile *profile, const struct frame *key, uint32_t *ret);
/* A frame that is nothing but a name: text formats, marks, roots. */
int profile_named_frame(struct stoke_profile *profile, const char *name, size_t size,
	enum function_kind kind, uint32_t *ret);
/* The functions of a frame to be, innermost first, into ret's function, nr_functions and line. Of
 * several, each call makes a slice of its own: whoever asks remembers the frame. */
int profile_symbols(struct stoke_profile *profile, const struct symbol *symbols, size_t nr_symbols,
	struct frame *ret);
/* Gives a nameless frame its functions, innermost first. Several frames may come to mean the same:
 * trees merge by name. */
int profile_name_frame(struct stoke_profile *profile, uint32_t frame, const struct symbol *symbols,
	size_t nr_symbols);

/* Interns a label set. Order of the given labels does not matter; they are sorted in place by key.
 */
int profile_labels(
	struct stoke_profile *profile, struct label *labels, size_t nr_labels, uint32_t *ret);
/* The label of this key in a set, or NULL. Borrowed. */
const struct label *profile_label(
	const struct stoke_profile *profile, uint32_t set, const char *key);

/* Adds values (profile->nr_values of them) to the row of this key. Sums saturate at UINT64_MAX. */
int profile_row(struct stoke_profile *profile, uint32_t run, uint32_t stack, uint32_t labels,
	uint32_t slice, const uint64_t *values);

/* Appends a row without looking whether one of this key is there: for keys that are new for sure.
 */
int profile_row_append(struct stoke_profile *profile, uint32_t run, uint32_t stack, uint32_t labels,
	uint32_t slice, const uint64_t *values);

/* After nodes or rows were moved by hand: forgets where they were; they are looked for anew. */
void profile_renumbered(struct stoke_profile *profile);

/* Sum of one value over all rows (of all runs). Saturates. */
uint64_t profile_total(const struct stoke_profile *profile, unsigned value);

/* innermost function of a frame (0 when nameless) and the i-th of nr_functions */
uint32_t frame_function(const struct stoke_profile *profile, const struct frame *frame, unsigned i);

#endif
