/* SPDX-License-Identifier: BSD-2-Clause */
/* The leaf of nofp.c, built without frame pointer, as libc is. */
#include "work.h"

void leaf_without(void);

void leaf_without(void)
{
	for (int i = 0; i < 20; i++)
		burn_some();
}
