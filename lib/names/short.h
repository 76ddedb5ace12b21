/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_SHORT_H
#define STOKE_NAMES_SHORT_H

#include <stddef.h>

#include "base/symbol.h"

/*
 * A function's name as tables show it: what people call it, without return type, arguments and
 * what differs from run to run. Writes at most room bytes, never a NUL, whole characters; returns
 * how many. Different functions may share a short name, so nothing is keyed by it.
 */
size_t short_name(const char *name, size_t size, enum function_kind kind, char *out, size_t room);

#endif
