/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_CPUS_H
#define STOKE_CAPTURE_CPUS_H

#include <stddef.h>

#include "process/host.h"
#include "stoke.h"

/* A kernel CPU list, "0-3,8,10-11" -> numbers, ascending, each once. 0, -EINVAL, -ENOMEM. *ret is
 * the caller's to free. */
int cpus_parse(const char *text, unsigned **ret, size_t *ret_nr);

/* The online CPUs of sys/devices/system/cpu/online, or those wanted; -EINVAL when one is not there.
 */
int cpus_choose(const struct host *host, const unsigned *wanted, size_t nr_wanted, unsigned **ret,
	size_t *ret_nr, struct stoke_error *err);

#endif
