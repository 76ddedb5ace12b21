/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_COMMAND_H
#define STOKE_CAPTURE_COMMAND_H

/* A command started by stoke, held before its exec until everything counts. */

#include <stdint.h>
#include <sys/types.h>

#include "stoke.h"

struct command;

/* Forks; the child waits. argv must outlive the command. */
int command_start(char *const *argv, struct command **ret, struct stoke_error *err);
/* A command never released ends by itself; one that runs is left alone. Takes NULL. */
void command_close(struct command *command);
pid_t command_pid(const struct command *command);

/* Lets it exec. -ENOENT or -EACCES when it cannot be run. */
int command_release(struct command *command, struct stoke_error *err);
/* Looks whether it has ended. */
void command_reap(struct command *command);
/* Its wait status, or -EAGAIN while it runs. */
int command_status(const struct command *command, int *ret);
/* CPU time of it and of all it waited for; -1 while it runs. */
int64_t command_cpu_ns(const struct command *command);
void command_kill(struct command *command, int signal_number);

#endif
