/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_ROOT_H
#define STOKE_CAPTURE_ROOT_H

/*
 * Is this return address in the first function of a thread or program? Where libc keeps no frame
 * pointers, the chain ends there and what lies beyond is junk; and libc's symbols for these
 * functions are mostly stripped, so names alone cannot tell.
 */

#include <stddef.h>
#include <stdint.h>

#include "process/module.h"

enum root_kind {
	ROOT_NONE,
	ROOT_THREAD, /* start_thread, clone: nothing above it */
	ROOT_PROGRAM, /* _start, __libc_start_call_main */
	ROOT_LIKELY_THREAD, /* looks like one, but other code does too: a root if the chain ends
			       here */
	ROOT_LIKELY_PROGRAM,
};

/* By the code around the return address at this file offset (read through module->fd or image). */
enum root_kind root_by_code(const struct module *module, uint64_t return_offset);

/* Pure part: before[16] ends at the return address, after[16] begins there. */
enum root_kind root_by_bytes(const uint8_t before[16], const uint8_t after[16]);

/* By a symbol's name: start_thread, clone, clone3, __clone, _start, __libc_start_call_main,
 * __libc_start_main with or without @version. */
enum root_kind root_by_name(const char *name, size_t size);

#endif
