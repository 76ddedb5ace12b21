/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_SAID_H
#define STOKE_REPORT_SAID_H

/*
 * What all reports of a comparison say alike, so that a number is the same number in each: rates
 * and changes in the units of the exposure, names, paths, which changes there are and which of
 * them one word is enough for.
 */

#include <stddef.h>
#include <stdio.h>

#include "diff/comparison.h"

#define SAID_ROOM 128

/* How rates of this comparison are written. */
struct said_scale {
	double factor; /* times a rate */
	const char *unit; /* behind a rate: "%", "cores", "ms", "samples" */
	const char *points, *pp; /* behind a change, for people and in rules: "pts" and "pp" */
	const char *of; /* what it is of: "share of samples", "CPU an operation" */
	int decimals;
};

void said_scale(const struct stoke_comparison *comparison, struct said_scale *ret);
/* A ceiling's scale: percent or cores, whatever the comparison counts by. */
void said_rule_scale(const struct rule *rule, struct said_scale *ret);

/* "13.03", "+3.03": rounded half away from zero as it is written in decimal. Room SAID_ROOM. */
char *said_number(char *buffer, double value, int decimals);
char *said_change(char *buffer, double value, int decimals);
/* "0.0143", "0.008", "<0.0001" */
char *said_p(char *buffer, double p);
/* "27", "1.35": how many times, for people. */
char *said_times(char *buffer, double ratio);

/* Canonical name of a hypothesis ("all samples", "all of libz.so", the name of a sum), printable,
 * NUL-terminated; at most width columns, SIZE_MAX: all. To be freed; NULL: no memory. */
char *said_plain_name(const struct stoke_comparison *comparison, size_t hypothesis, size_t width);
/* The same for people: "read (kernel)" where the program has a read, too. */
char *said_name(const struct stoke_comparison *comparison, size_t hypothesis, size_t width);
/* " (+0.012 cores)": what the points of a rule, which are of all samples, are in the figures shown;
 * empty for shares. Room 2 * SAID_ROOM. Returns buffer. */
char *said_points(char *buffer, const struct stoke_comparison *comparison, const struct rule *rule);
/* " --exposure work" where the budget and not the command line said so, else empty. */
const char *said_exposure(const struct stoke_comparison *comparison);
/* "", or "s" of any number but one. */
const char *said_s(uint64_t count);
/* "total" or "self". */
const char *said_kind(const struct hypothesis *hypothesis);
/* "all > main > parse": names of a path down to a node, at most `most` of them: the first and the
 * last ones. To be freed; NULL: no memory. */
char *said_path(const struct stoke_comparison *comparison, uint32_t node, size_t most);
/* The node of a hypothesis that changed most in a direction (sign), 0: none. */
uint32_t said_node(const struct stoke_comparison *comparison, size_t hypothesis, int sign);
/* The owner of growth that is this hypothesis, or NULL. */
const struct owner *said_owner(const struct stoke_comparison *comparison, size_t hypothesis);
/* "the same work, more often", ... */
const char *said_cause(enum cause_kind kind);
/* Name of a part of an owner, printable, at most width columns. To be freed; NULL: no memory. */
char *said_part(const struct stoke_comparison *comparison, const struct part *part, size_t width);

/* Changes in one direction. */
struct said_changes {
	size_t *hypotheses; /* indices of the evidence's changes */
	size_t *of; /* position of the one that stands for it; itself: its own */
	size_t *order; /* positions of those that stand for themselves, most telling first */
	size_t nr, nr_order;
	int by_chance; /* 1: too few runs for a p; these are beyond sampling error, no more */
};

/* 1: so few runs or samples that no p can be small; that it is more than sampling could do can
 * still be told. */
int said_has_no_test(const struct stoke_comparison *comparison);
/* 0 or -ENOMEM. */
int said_changes(const struct stoke_comparison *comparison, int sign, struct said_changes *ret);
void said_changes_done(struct said_changes *changes);
double said_p_of(const struct change *change, int sign);
/* 1: the i-th change is one in the direction of sign: more than chance, or, with too few runs for
 * a p, beyond sampling error at least. */
int said_is_change(const struct stoke_comparison *comparison, size_t i, int sign);

/* What the sides were, and how runs were counted: "5 runs before, 5 after". */
size_t said_runs(const struct stoke_comparison *comparison, int side);

#define SAID_INTERVAL (1u << 0) /* with its 95 % interval */

/* "parse total 10.00 % -> 13.03 % (+3.03 pp), p 0.0143"; of a ceiling "parse 21.00 % of max 20 %".
 * Printable; to be freed; NULL: no memory. */
char *said_breach(
	const struct stoke_comparison *comparison, const struct breach *breach, unsigned flags);

/* The line that accepts a failure, as it stands in stoke.budget: an allowance, or of a ceiling
 * the rule with more room, to stand in its place. To be freed; NULL: no memory. */
char *said_allowance(const struct stoke_comparison *comparison, const struct breach *breach);

#endif
