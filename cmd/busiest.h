/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_BUSIEST_H
#define STOKE_CMD_BUSIEST_H

#include <stdio.h>
#include <sys/types.h>

/*
 * The five processes that use most CPU right now, with the command that records each; takes 200 ms.
 * Nothing is written where /proc cannot be read.
 */
void busiest_list(FILE *out);

/* comm of a process, cut to size; "process" when it cannot be read. Raw bytes. */
void process_comm(pid_t pid, char *ret, size_t size);

#endif
