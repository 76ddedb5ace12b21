/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/measure.h"

#include "unit/folded.h"

TestSuite(measure, .fini = check_leaks);

static struct measured measured_of(const char *lines)
{
	struct stoke_profile *profile = folded_profile(lines);
	struct measured measured = {0};

	cr_assert(eq(int, measure_stacks(profile, &measured), 0));
	stoke_profile_free(profile);
	return measured;
}

Test(measure, generated_code_under_a_broken_root_has_no_callers)
{
	struct measured m = measured_of("[broken]_[m];a_[j];b_[j] 3\nstart;a_[j] 5\n"
					"[broken]_[m];read;a_[j] 7\n[broken]_[m] 1\n"
					"[truncated]_[m];a_[j] 9\n");

	cr_assert(eq(u64, m.jit, 24));
	cr_assert(eq(u64, m.jit_without_callers, 3));
	cr_assert(eq(u64, m.broken, 8));
}

Test(measure, a_mark_inside_a_stack_breaks_nothing)
{
	struct measured m = measured_of("start;[broken]_[m];a_[j] 3\n");

	cr_assert(eq(u64, m.jit_without_callers, 0));
	cr_assert(eq(u64, m.broken, 0));
}

Test(measure, sums_saturate)
{
	struct measured m = measured_of("[broken]_[m];a_[j] 18446744073709551615\n"
					"[broken]_[m];b_[j] 18446744073709551615\n");

	cr_assert(eq(u64, m.jit_without_callers, UINT64_MAX));
}
