/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_COMMAND_H
#define STOKE_CMD_COMMAND_H

/*
 * A command: one file (cmd/x.c exports cmd_x), its word in meson.build, its page
 * docs/stoke-x.1.scd, its golden cases. Its options are a table; parsing, errors and --help come
 * from it.
 */

#include <stddef.h>

#include "cmd/options.h"
#include "cmd/say.h"

/* Exit statuses of asking commands. */
enum status {
	STATUS_DONE = 0,
	STATUS_NO = 1, /* the answer is "no" */
	STATUS_USAGE = 2, /* usage, input or output */
	STATUS_CANNOT_TELL = 3,
	STATUS_NOT_PERMITTED = 4, /* or not supported here */
};

/* What a command is called with. Operands point into argv. */
struct call {
	struct voice voice;
	void *values; /* the struct that the command's options fill */
	char **operands;
	size_t nr_operands;
	char **after; /* argv behind "--", NULL-terminated; NULL: there was none */
	size_t nr_first; /* operands before the "--" of a command with two sides */
	int is_parted; /* 1: there was one */
};

struct command {
	const char *name, *summary;
	const char *usage; /* lines, each one way to call it, without "stoke" */
	const char *about; /* what it does, a paragraph */
	const struct option *options; /* ends with an empty row */
	size_t values_size;
	int runs_command; /* what stands after "--" is a command to run, not operands */
	int has_sides; /* "--" parts its operands in two; options may follow it */
	int (*run)(const struct call *call); /* an exit status */
};

/* In the order of meson.build. */
extern const struct command *const commands[];
extern const size_t nr_commands;

/* NULL when there is none of that name. */
const struct command *command_find(const char *name);
/* One line a command, for "stoke", "stoke help" and "stoke --help". */
void commands_list(FILE *out);
/* What "stoke NAME --help" prints. */
void command_help(const struct command *command, FILE *out);

#endif
