/* SPDX-License-Identifier: BSD-2-Clause */
/* A library of two exported functions and, between them, one that has no symbol once stripped. */
#include "work.h"

__attribute__((visibility("default"))) void gap_first(void);
__attribute__((visibility("default"))) void gap_last(uint64_t end);

void nameless(uint64_t end); /* hidden by the build; static, it would not stand between */

void gap_first(void)
{
	__asm__ volatile("");
}

HOT void nameless(uint64_t end)
{
	burn_until(end);
}

void gap_last(uint64_t end)
{
	nameless(end);
	__asm__ volatile("");
}
