/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_POOLS_H
#define STOKE_NAMES_POOLS_H

#include <stddef.h>

/*
 * The pool that a thread belongs to: its name without what tells one member from the next. Numbers,
 * addresses, hashes, UUIDs, IP addresses, durations and query strings become "*":
 * "http-nio-8080-exec-12" -> "http-nio-*-exec-*". What has no number stays as it is, byte for byte,
 * and the pool of a pool is itself. Writes at most room bytes to out, never a NUL, cuts between
 * whole characters; returns how many.
 */
size_t pool_of(const char *name, size_t size, char *out, size_t room);

#endif
