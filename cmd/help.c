/* SPDX-License-Identifier: BSD-2-Clause */
/* help.c: what a word means: a command, or whatever the library knows by that name. */
#include <errno.h>
#include <string.h>

#include "cmd/command.h"
#include "stoke.h"

static int help_run(const struct call *call)
{
	const struct command *command;

	if (call->nr_operands > 1)
		return say_error(&call->voice, STATUS_USAGE, "help takes one word, not %zu",
			call->nr_operands);
	if (!call->nr_operands) {
		commands_list(stdout);
		fputs("stoke help formats, stoke help events and stoke help NAME explain the "
		      "rest.\n",
			stdout);
		return STATUS_DONE;
	}
	command = command_find(call->operands[0]);
	if (command) {
		command_help(command, stdout);
		return STATUS_DONE;
	}
	if (stoke_help(call->operands[0], stdout) < 0)
		return say_error(&call->voice, STATUS_USAGE,
			"no help on %s; there is help on commands, formats, events and each by "
			"name",
			call->operands[0]);
	return STATUS_DONE;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "explain a command, a format, an event",
	.usage = "help [WORD]",
	.about = "Explains WORD: a command, \"formats\", \"events\", or one of them by name.",
	.run = help_run,
};
