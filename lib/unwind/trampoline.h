/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_TRAMPOLINE_H
#define STOKE_UNWIND_TRAMPOLINE_H

/*
 * Generated code that is one small function over and over: python -X perf has one for each of its
 * functions, all alike, so that native stacks show them. They call and return, and one rule holds
 * at all their return addresses.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/rule.h"

#define TRAMPOLINE_BYTES 16 /* to look at, where one may begin */

/* 0: this is the beginning of one, and *ret holds where it returns to. -ENOENT: it is not. */
int trampoline_recognise(const uint8_t code[TRAMPOLINE_BYTES], struct unwind_rule *ret);

#endif
