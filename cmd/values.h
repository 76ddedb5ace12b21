/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_VALUES_H
#define STOKE_CMD_VALUES_H

#include "cmd/options.h"

/*
 * Reads the value of an option as its type says and stores it at *into. spelled: the option as the
 * user wrote it, for messages. 0, -ENOMEM, or -EINVAL with a sentence.
 */
int value_store(const struct option *option, void *into, const char *spelled, const char *value,
	struct stoke_error *err);
/* Frees what value_store() made. */
void value_done(const struct option *option, void *stored);

#endif
