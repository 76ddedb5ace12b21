/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: a command that is there before it runs, so that not one instruction of it is missed.
 */
#include "capture/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

struct command {
	pid_t pid;
	const char *name; /* argv[0], the caller's */
	int hold; /* write end: a byte lets the command go, closing it ends it */
	int result; /* read end: errno of a failed exec */
	int ended, status;
	uint64_t cpu_ns;
};

/* The child: waits for the word, then becomes the command. Only async-signal-safe calls. */
static void run_command(char *const *argv, int hold, int result)
{
	sigset_t none;
	int error;
	char word;

	(void)sigemptyset(&none);
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL); /* what the caller ignores is its affair */
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(hold, &word, 1) != 1)
		_exit(125); /* stoke went before it was ready */
	(void)execvp(argv[0], argv);
	error = errno;
	(void)!write(result, &error, sizeof(error)); /* nobody is left to be told otherwise */
	_exit(error == ENOENT ? 127 : 126);
}

static int fork_held(struct command *command, char *const *argv, struct stoke_error *err)
{
	int hold[2], result[2];

	if (pipe2(hold, O_CLOEXEC) < 0)
		return fail(err, -errno, "cannot start the command: %s", strerror(errno));
	if (pipe2(result, O_CLOEXEC) < 0) {
		(void)close(hold[0]);
		(void)close(hold[1]);
		return fail(err, -errno, "cannot start the command: %s", strerror(errno));
	}
	command->pid = fork();
	if (command->pid == 0) {
		(void)close(hold[1]);
		run_command(argv, hold[0], result[1]);
	}
	(void)close(hold[0]);
	(void)close(result[1]);
	command->hold = hold[1];
	command->result = result[0];
	if (command->pid < 0)
		return fail(err, -errno, "cannot start the command: %s", strerror(errno));
	return 0;
}

int command_start(char *const *argv, struct command **ret, struct stoke_error *err)
{
	struct command *command = calloc(1, sizeof(*command));
	int r;

	if (!command)
		return -ENOMEM;
	command->hold = command->result = -1;
	command->name = argv[0];
	r = fork_held(command, argv, err);
	if (r < 0) {
		command_close(command);
		return r;
	}
	*ret = command;
	return 0;
}

void command_close(struct command *command)
{
	if (!command)
		return;
	if (command->hold >= 0) {
		(void)close(command->hold); /* never released: it leaves by itself */
		if (command->pid > 0)
			(void)waitpid(command->pid, NULL, 0);
	}
	if (command->result >= 0)
		(void)close(command->result);
	free(command);
}

pid_t command_pid(const struct command *command)
{
	return command->pid;
}

int command_release(struct command *command, struct stoke_error *err)
{
	int error = 0;
	ssize_t n;

	if (command->hold < 0)
		return 0;
	n = write(command->hold, "", 1);
	(void)close(take_fd(command->hold));
	if (n != 1)
		return fail(err, -EPIPE, "the command ended before it was started");
	do
		n = read(command->result, &error, sizeof(error)); /* ends at its exec */
	while (n < 0 && errno == EINTR);
	if (n != sizeof(error))
		return 0;
	(void)waitpid(command->pid, NULL, 0);
	command->pid = 0;
	return fail(err, error == ENOENT ? -ENOENT : -EACCES, "cannot run %s: %s", command->name,
		strerror(error));
}

void command_reap(struct command *command)
{
	struct rusage usage;

	if (command->pid <= 0 || command->ended || command->hold >= 0)
		return;
	if (wait4(command->pid, &command->status, WNOHANG, &usage) != command->pid)
		return;
	command->ended = 1;
	command->cpu_ns =
		((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) *
			1000000000ull +
		((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000ull;
}

int command_status(const struct command *command, int *ret)
{
	if (!command->ended)
		return -EAGAIN;
	*ret = command->status;
	return 0;
}

int64_t command_cpu_ns(const struct command *command)
{
	return command->ended ? (int64_t)command->cpu_ns : -1;
}

void command_kill(struct command *command, int signal_number)
{
	if (command->pid > 0 && !command->ended)
		(void)kill(command->pid, signal_number); /* a race with its end is harmless */
}
