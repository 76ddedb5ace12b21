/* SPDX-License-Identifier: BSD-2-Clause */
/* A library whose function NAME burns; built twice, alike but for the name. */
#include "work.h"

HOT __attribute__((visibility("default"))) void NAME(uint64_t end)
{
	burn_until(end);
}
