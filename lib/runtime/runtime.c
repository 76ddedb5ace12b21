/* SPDX-License-Identifier: BSD-2-Clause */
/* runtime.c: the table of runtimes, made from the list in meson.build. */
#include "runtime/runtime.h"

#include "base/cleanup.h"
#include "lists.h"

#define DECLARE(name) extern const struct runtime runtime_##name;
STOKE_RUNTIMES(DECLARE)

#define ENTRY(name) &runtime_##name,
const struct runtime *const runtimes[] = {STOKE_RUNTIMES(ENTRY)};
const size_t nr_runtimes = ARRAY_SIZE(runtimes);
