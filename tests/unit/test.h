/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_TEST_H
#define STOKE_TESTS_UNIT_TEST_H

/*
 * What every unit test includes. LeakSanitizer says nothing under Criterion, whose workers leave
 * by _exit(): so each test of a suite made with TestSuite(x, .fini = check_leaks) asks it itself.
 */

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/cleanup.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

static inline void check_leaks(void)
{
	/* The verdict on a test is out before its .fini runs: Criterion takes no notice of an
	 * assert here, but a crash makes it leave with a status that meson calls an error. */
	if (__lsan_do_recoverable_leak_check())
		abort();
}
#else
static inline void check_leaks(void)
{
}
#endif

#endif
