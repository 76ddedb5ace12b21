/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_GROUP_H
#define STOKE_NAMES_GROUP_H

#include <stddef.h>

#include "base/symbol.h"

/*
 * What a function belongs to, by the nature of its name: Java package (at most three words), C++
 * namespace or Rust crate, Go package, module of node or Python, else the library (module, "" or
 * NULL: not known), "[kernel]", "[generated code]". Writes at most room bytes, never a NUL, whole
 * characters; returns how many. 0: no group (marks, roots, a plain name of nobody knows whose).
 */
size_t group_of(const char *name, size_t size, enum function_kind kind, const char *module,
	char *out, size_t room);

#endif
