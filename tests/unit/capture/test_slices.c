/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/slices.h"

#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(slices, .fini = check_leaks);

#define SECOND 1000000000ull

static struct mapping file(uint64_t start, uint64_t end, uint32_t module)
{
	return (struct mapping){.start = start, .end = end, .module = module, .kind = MAPPING_FILE};
}

static struct mapping generated(uint64_t start, uint64_t end)
{
	return (struct mapping){.start = start, .end = end, .kind = MAPPING_ANONYMOUS};
}

static struct slice_copy slice_of(uint32_t generation, const struct mapping *mappings, size_t nr)
{
	struct slice_copy slice = {.generation = generation, .nr = nr};

	slice.mappings = calloc(nr, sizeof(*mappings));
	memcpy(slice.mappings, mappings, nr * sizeof(*mappings));
	return slice;
}

Test(slices, tell_what_a_walk_believed_until_nobody_asks_any_more)
{
	const struct mapping first[] = {file(0x1000, 0x2000, 3), generated(0x5000, 0x6000)};
	const struct mapping second[] = {file(0x1000, 0x2000, 4)};
	struct slices slices = {0};
	struct slice_copy a = slice_of(7, first, 2), b = slice_of(9, second, 1);

	cr_assert(eq(int, slices_add(&slices, &a), 0));
	cr_assert(eq(int, slices_add(&slices, &b), 0));
	cr_assert(eq(u32, slices_module(&slices, 7, 0x1fff), 3));
	cr_assert(eq(u32, slices_module(&slices, 7, 0x2000), 0));
	cr_assert(eq(u32, slices_module(&slices, 9, 0x1000), 4));
	cr_assert(eq(u32, slices_module(&slices, 8, 0x1000), 0));
	cr_assert(slices_generated(&slices, 7, 0x5000, 0x6000));
	cr_assert(not(slices_generated(&slices, 7, 0x5000, 0x6001)));
	cr_assert(not(slices_generated(&slices, 7, 0x1000, 0x1800)));
	slices_leave(&slices, 7, SECOND);
	slices_expire(&slices, 2 * SECOND);
	cr_assert(eq(u32, slices_module(&slices, 7, 0x1000), 3));
	slices_expire(&slices, 20 * SECOND);
	cr_assert(eq(u32, slices_module(&slices, 7, 0x1000), 0));
	cr_assert(eq(u32, slices_module(&slices, 9, 0x1000), 4));
	slices_done(&slices);
}

Test(slices, keep_generated_code_that_is_not_executable_just_now)
{
	const struct mapping before[] = {
		generated(0x1000, 0x9000), file(0xa000, 0xb000, 2), generated(0xc000, 0xd000)};
	const struct mapping now[] = {generated(0x2000, 0x3000), file(0x5000, 0x6000, 5)};
	struct slices slices = {0};
	struct slice_copy a = slice_of(1, before, 3), reading = slice_of(0, now, 2);

	cr_assert(eq(int, slices_add(&slices, &a), 0));
	cr_assert(eq(int, slices_merge(&slices, 1, &reading), 1));
	/* What was generated stays but where a file lies now; the file that is gone is gone. */
	cr_assert(eq(sz, reading.nr, 4));
	cr_assert(eq(u64, reading.mappings[0].start, 0x1000));
	cr_assert(eq(u64, reading.mappings[0].end, 0x5000));
	cr_assert(eq(u64, reading.mappings[1].start, 0x5000));
	cr_assert(eq(u32, reading.mappings[1].module, 5));
	cr_assert(eq(u64, reading.mappings[2].start, 0x6000));
	cr_assert(eq(u64, reading.mappings[2].end, 0x9000));
	cr_assert(eq(u64, reading.mappings[3].start, 0xc000));
	slice_copy_done(&reading);
	slices_done(&slices);
}

Test(slices, see_when_nothing_has_changed)
{
	const struct mapping before[] = {generated(0x1000, 0x9000), file(0xa000, 0xb000, 2)};
	const struct mapping now[] = {file(0xa000, 0xb000, 2)}, moved[] = {file(0xa000, 0xb000, 3)};
	struct slices slices = {0};
	struct slice_copy a = slice_of(1, before, 2), same = slice_of(0, now, 1);
	struct slice_copy other = slice_of(0, moved, 1);

	cr_assert(eq(int, slices_add(&slices, &a), 0));
	cr_assert(eq(int, slices_merge(&slices, 1, &same), 0));
	cr_assert(eq(int, slices_merge(&slices, 1, &other), 1));
	slice_copy_done(&same);
	slice_copy_done(&other);
	slices_done(&slices);
}

Test(slices, mark_what_somebody_has_mapped_now)
{
	const struct mapping first[] = {file(0x1000, 0x2000, 3), generated(0x5000, 0x6000)};
	const struct mapping second[] = {file(0x1000, 0x2000, 4), file(0x3000, 0x4000, 9)};
	struct slices slices = {0};
	struct slice_copy a = slice_of(7, first, 2), b = slice_of(9, second, 2);
	uint8_t used[10] = {0};

	cr_assert(eq(u32, slices_modules(&slices), 0));
	cr_assert(eq(int, slices_add(&slices, &a), 0));
	cr_assert(eq(int, slices_add(&slices, &b), 0));
	cr_assert(eq(u32, slices_modules(&slices), 10));
	slices_leave(&slices, 7, SECOND);
	slices_mark(&slices, used, 10);
	cr_assert(used[4] && used[9] && !used[3]);
	slices_leave(&slices, 9, SECOND);
	cr_assert(eq(u32, slices_modules(&slices), 0));
	slices_done(&slices);
}
