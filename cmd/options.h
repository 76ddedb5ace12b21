/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_OPTIONS_H
#define STOKE_CMD_OPTIONS_H

/*
 * Options as a table: one row an option, stored into the struct of its command. Options and
 * operands may be mixed; "--" ends both, unless the command's operands have two sides.
 * "--opt=value", "--opt value", "-oFILE", "-o FILE", flags in one word ("-UK").
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stoke.h"

struct call;
struct command;

/* Values as they are stored. All zero: not given. */
struct amount {
	uint64_t value; /* times: nanoseconds */
	int given;
};

struct numbers { /* of a list: process ids, CPUs, words */
	unsigned *items;
	size_t nr, capacity;
};

struct texts { /* of an option that may be repeated; borrowed from argv */
	const char **items;
	size_t nr, capacity;
};

enum option_type {
	OPTION_FLAG, /* unsigned: bits are set */
	OPTION_TEXT, /* const char *: the last one counts */
	OPTION_TEXTS, /* struct texts */
	OPTION_TIME, /* struct amount: "30", "1.5", "500ms", "5m", "1h" */
	OPTION_NUMBER, /* struct amount, min to max; "max" too where has_max */
	OPTION_IDS, /* struct numbers: process ids by commas, spaces, newlines */
	OPTION_RANGES, /* struct numbers: "0-3,5" */
	OPTION_WORDS, /* struct numbers: positions in words */
	OPTION_LATER, /* not there: help is the sentence that says so. In no list */
	OPTION_HEADING, /* of --help: help is the text */
	OPTION_TABLE, /* the rows of another table, stored from offset on; one level */
};

struct option {
	const char *name; /* without dashes */
	const char *also; /* a second name */
	char letter; /* 0: none */
	enum option_type type;
	size_t offset; /* into the command's struct */
	const char *value; /* what the value is called in --help; NULL: takes none */
	const char *help;
	unsigned bits; /* OPTION_FLAG */
	uint64_t min, max; /* OPTION_NUMBER */
	int has_max; /* the word "max" is max */
	const char *const *words; /* OPTION_WORDS; ends with NULL */
	int status; /* OPTION_LATER: exit status; 0: usage */
	const struct option *table; /* OPTION_TABLE */
};

#define OPTIONS_END                                                                                \
	{                                                                                          \
		NULL                                                                               \
	}

/* What stands before the command's name, and everywhere else too. */
struct common {
	unsigned flags; /* COMMON_... */
	struct numbers color; /* position in auto, always, never */
};

#define COMMON_HELP    (1u << 0)
#define COMMON_VERSION (1u << 1)
#define COMMON_QUIET   (1u << 2)
#define COMMON_VERBOSE (1u << 3)

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Reads common options up to the first operand: its index in argv (argc without one), or a
 * negative errno with a sentence.
 */
int options_common(int argc, char **argv, struct common *ret, struct stoke_error *err);
/*
 * Reads the words of argv into call->values (zeroed, of the command's size), operands and after.
 * 0, -EINVAL with a sentence, -ENOMEM, or -EOPNOTSUPP with one for what this version cannot do
 * where that is status 4. Freed by options_done(), after a failure too.
 */
int options_parse(const struct command *command, int argc, char **argv, struct call *call,
	struct common *common, struct stoke_error *err);
void options_done(const struct command *command, struct call *call);
void common_done(struct common *common);

/* The part of --help that speaks of options. */
void options_help(const struct option *options, FILE *out);

/* The known name nearest to a mistyped one, NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t nr);
/* "500ms", "5m", "1.5" -> ns. 0 or -EINVAL. */
int time_parse(const char *text, uint64_t *ret_ns);
/* "30 s", "500 ms", "5 min". Buffer of at least 32. */
char *time_format(char *buffer, uint64_t ns);

#endif
