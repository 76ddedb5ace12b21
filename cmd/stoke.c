/* SPDX-License-Identifier: BSD-2-Clause */
/* stoke.c: main, and the table of commands. What a command does is in the file of its name. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "lists.h"

#define EXTERN(word) extern const struct command cmd_##word;
STOKE_COMMANDS(EXTERN)
#define ENTRY(word) &cmd_##word,
const struct command *const commands[] = {STOKE_COMMANDS(ENTRY)};
const size_t nr_commands = ARRAY_SIZE(commands);

/* Commands of the manual that this version does not have. */
static const struct {
	const char *name, *sentence;
} later[] = {
	{"top", "is not in this version; stoke record -a -d 5 shows where the machine's time goes"},
	{"count", "is not in this version"},
	{"completion", "is not in this version"},
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < nr_commands; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

void commands_list(FILE *out)
{
	fputs("usage: stoke COMMAND [OPTION]... [OPERAND]...\n\n", out);
	for (size_t i = 0; i < nr_commands; i++)
		fprintf(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
	fputs("\nstoke COMMAND --help lists a command's options.\n", out);
}

void command_help(const struct command *command, FILE *out)
{
	const char *line = command->usage;

	while (*line) {
		size_t size = strcspn(line, "\n");

		fprintf(out, "%s stoke %.*s\n", line == command->usage ? "usage:" : "      ",
			(int)size, line);
		line += size + (line[size] == '\n');
	}
	fprintf(out, "\n%s\n", command->about);
	options_help(command->options, out);
}

static unsigned colored(enum color when)
{
	const char *no = getenv("NO_COLOR");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return isatty(STDERR_FILENO) && !(no && *no);
}

static struct voice voice_of(const struct common *common)
{
	size_t nr = common->color.nr;

	return (struct voice){
		.quiet = !!(common->flags & COMMON_QUIET),
		.verbose = !!(common->flags & COMMON_VERBOSE),
		.color = colored(nr ? (enum color)common->color.items[nr - 1] : COLOR_AUTO),
	};
}

static int unknown_command(const struct voice *voice, const char *word)
{
	const char *names[32], *near;
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		if (!strcmp(later[i].name, word))
			return say_error(voice, STATUS_USAGE, "%s %s", word, later[i].sentence);
	}
	for (; nr < nr_commands && nr < ARRAY_SIZE(names); nr++)
		names[nr] = commands[nr]->name;
	near = nearest_name(word, names, nr);
	if (near)
		return say_error(
			voice, STATUS_USAGE, "unknown command %s; did you mean %s?", word, near);
	return say_error(
		voice, STATUS_USAGE, "unknown command %s; stoke --help lists what there is", word);
}

/* Standard output may have been closed or full: an answer that nobody got is none, be it "yes" or
 * "no". What a COMMAND said with its status stands. */
static int finish(const struct voice *voice, const struct command *command, int status)
{
	int is_answer =
		status == STATUS_DONE ||
		((status == STATUS_NO || status == STATUS_CANNOT_TELL) && !command->runs_command);

	errno = 0;
	if (fflush(stdout) != EOF && !ferror(stdout))
		return status;
	return say_error(voice, is_answer ? STATUS_USAGE : status,
		"cannot write to standard output%s%s", errno ? ": " : "",
		errno ? strerror(errno) : "");
}

static int help_or_version(const struct command *command, const struct common *common)
{
	struct voice voice = voice_of(common);

	if (common->flags & COMMON_VERSION)
		puts("stoke " STOKE_VERSION);
	else if (command)
		command_help(command, stdout);
	else
		commands_list(stdout);
	return finish(&voice, command, STATUS_DONE);
}

static int run(const struct command *command, int argc, char **argv, struct common *common)
{
	struct stoke_error err = {0};
	struct call call = {0};
	int status;
	int r = options_parse(command, argc, argv, &call, common, &err);

	call.voice = voice_of(common);
	if (r < 0)
		status = say_error(&call.voice,
			r == -EOPNOTSUPP ? STATUS_NOT_PERMITTED : STATUS_USAGE, "%s", err.text);
	else if (common->flags & (COMMON_HELP | COMMON_VERSION))
		status = help_or_version(command, common);
	else
		status = finish(&call.voice, command, command->run(&call));
	options_done(command, &call);
	return status;
}

/*
 * A standard stream that was closed would be the next file opened: warnings would stand in the
 * picture. The wrong way round, so that using it fails as before; a COMMAND still finds it closed.
 */
static int hold_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way | O_CLOEXEC) != fd)
			return -errno;
	}
	return 0;
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* A file that meets "ulimit -f" is an error to be told, not the end. A handler and not SIG_IGN,
 * which a COMMAND would inherit. */
static void survive_file_limit(void)
{
	struct sigaction old, action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGXFSZ, &action, NULL); /* a signal that there is: cannot fail */
}

int main(int argc, char **argv)
{
	_cleanup_(common_done) struct common common = {0};
	const struct command *command;
	struct stoke_error err = {0};
	struct voice voice;
	int at;

	if (hold_closed_streams() < 0)
		return STATUS_USAGE;
	survive_file_limit();
	at = options_common(argc, argv, &common, &err);
	voice = voice_of(&common);
	if (at < 0)
		return say_error(&voice, STATUS_USAGE, "%s", err.text);
	if (at == argc && (common.flags & (COMMON_HELP | COMMON_VERSION)))
		return help_or_version(NULL, &common);
	if (at == argc) {
		commands_list(stderr);
		return STATUS_USAGE;
	}
	command = command_find(argv[at]);
	if (!command)
		return unknown_command(&voice, argv[at]);
	return run(command, argc - at - 1, argv + at + 1, &common);
}
