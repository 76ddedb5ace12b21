/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/space.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(space, .fini = check_leaks);

static struct mapping file(uint64_t start, uint64_t end, uint64_t offset, uint32_t module)
{
	return (struct mapping){.start = start,
		.end = end,
		.offset = offset,
		.module = module,
		.kind = MAPPING_FILE,
		.since_ns = 1};
}

static struct mapping code(uint64_t start, uint64_t end)
{
	return (struct mapping){
		.start = start, .end = end, .module = 9, .kind = MAPPING_ANONYMOUS, .since_ns = 1};
}

static int put(struct process *process, struct mapping mapping)
{
	return space_put(process, &mapping);
}

static void expect(const struct process *process, size_t i, uint64_t start, uint64_t end,
	uint64_t offset, uint32_t module)
{
	cr_assert(lt(sz, i, process->nr_mappings));
	cr_assert(eq(u64, process->mappings[i].start, start));
	cr_assert(eq(u64, process->mappings[i].end, end));
	cr_assert(eq(u64, process->mappings[i].offset, offset));
	cr_assert(eq(u32, process->mappings[i].module, module));
}

Test(space, finds_the_mapping_that_holds_an_address)
{
	struct process process = {0};

	cr_assert(eq(int, put(&process, file(0x3000, 0x4000, 0, 2)), 1));
	cr_assert(eq(int, put(&process, file(0x1000, 0x2000, 0, 1)), 1));
	cr_assert(eq(ptr, (void *)process_mapping(&process, 0xfff), NULL));
	cr_assert(eq(u32, process_mapping(&process, 0x1000)->module, 1));
	cr_assert(eq(u32, process_mapping(&process, 0x1fff)->module, 1));
	cr_assert(eq(ptr, (void *)process_mapping(&process, 0x2000), NULL));
	cr_assert(eq(u32, process_mapping(&process, 0x3fff)->module, 2));
	cr_assert(eq(ptr, (void *)process_mapping(&process, UINT64_MAX), NULL));
	free(process.mappings);
}

Test(space, a_new_mapping_splits_what_it_overlaps)
{
	struct process process = {0};

	cr_assert(eq(int, put(&process, file(0x1000, 0x9000, 0x100000, 1)), 1));
	cr_assert(eq(int, put(&process, file(0x3000, 0x5000, 0x200000, 2)), 1));
	cr_assert(eq(sz, process.nr_mappings, 3));
	expect(&process, 0, 0x1000, 0x3000, 0x100000, 1);
	expect(&process, 1, 0x3000, 0x5000, 0x200000, 2);
	expect(&process, 2, 0x5000, 0x9000, 0x104000, 1);
	free(process.mappings);
}

Test(space, a_new_mapping_replaces_several_and_cuts_both_ends)
{
	struct process process = {0};

	cr_assert(eq(int, put(&process, file(0x1000, 0x2000, 0, 1)), 1));
	cr_assert(eq(int, put(&process, file(0x2000, 0x3000, 0, 2)), 1));
	cr_assert(eq(int, put(&process, file(0x4000, 0x6000, 0, 3)), 1));
	cr_assert(eq(int, put(&process, file(0x1800, 0x5000, 0, 4)), 1));
	cr_assert(eq(sz, process.nr_mappings, 3));
	expect(&process, 0, 0x1000, 0x1800, 0, 1);
	expect(&process, 1, 0x1800, 0x5000, 0, 4);
	expect(&process, 2, 0x5000, 0x6000, 0x1000, 3);
	free(process.mappings);
}

Test(space, what_is_known_already_is_no_news)
{
	struct process process = {0};
	struct mapping again = file(0x1800, 0x2000, 0x800, 1);
	uint64_t version;

	cr_assert(eq(int, put(&process, file(0x1000, 0x3000, 0, 1)), 1));
	version = process.version;
	again.since_ns = 5;
	cr_assert(eq(int, space_put(&process, &again), 0));
	cr_assert(eq(u64, process.version, version));
	cr_assert(eq(u64, process.mappings[0].since_ns, 5));

	again.offset = 0x900; /* the same file, but shifted */
	cr_assert(eq(int, space_put(&process, &again), 1));
	cr_assert(eq(sz, process.nr_mappings, 3));
	free(process.mappings);
}

Test(space, generated_code_that_touches_is_one_mapping)
{
	struct process process = {0};

	cr_assert(eq(int, put(&process, code(0x1000, 0x2000)), 1));
	cr_assert(eq(int, put(&process, code(0x3000, 0x4000)), 1));
	cr_assert(eq(int, put(&process, code(0x2000, 0x3000)), 1));
	cr_assert(eq(sz, process.nr_mappings, 1));
	expect(&process, 0, 0x1000, 0x4000, 0, 9);
	cr_assert(eq(int, put(&process, code(0x1800, 0x2800)), 0));
	cr_assert(eq(int, put(&process, code(0x3800, 0x4800)), 1));
	cr_assert(eq(int, put(&process, code(0x800, 0x1800)), 1));
	cr_assert(eq(sz, process.nr_mappings, 1));
	cr_assert(eq(u64, process.mappings[0].start, 0x800));
	cr_assert(eq(u64, process.mappings[0].end, 0x4800));
	free(process.mappings);
}

Test(space, filling_leaves_what_is_known)
{
	struct process process = {0};
	const struct mapping all = file(0x1000, 0x9000, 0, 1);

	cr_assert(eq(int, put(&process, file(0x3000, 0x4000, 0, 2)), 1));
	cr_assert(eq(int, put(&process, file(0x8000, 0xa000, 0, 3)), 1));
	cr_assert(eq(int, space_fill(&process, &all), 1));
	cr_assert(eq(sz, process.nr_mappings, 4));
	expect(&process, 0, 0x1000, 0x3000, 0, 1);
	expect(&process, 1, 0x3000, 0x4000, 0, 2);
	expect(&process, 2, 0x4000, 0x8000, 0x3000, 1);
	expect(&process, 3, 0x8000, 0xa000, 0, 3);
	cr_assert(eq(int, space_fill(&process, &all), 0));
	free(process.mappings);
}

Test(space, exec_drops_what_was_there_before_it_only)
{
	struct process process = {0};
	struct mapping later = file(0x3000, 0x4000, 0, 2);

	later.since_ns = 20;
	cr_assert(eq(int, put(&process, file(0x1000, 0x2000, 0, 1)), 1));
	cr_assert(eq(int, space_put(&process, &later), 1));
	space_exec(&process, 10);
	cr_assert(eq(sz, process.nr_mappings, 1));
	expect(&process, 0, 0x3000, 0x4000, 0, 2);
	free(process.mappings);
}

Test(space, a_whole_reading_keeps_the_order_it_promises)
{
	struct mapping *all = NULL, a = file(0x1000, 0x3000, 0, 1), b = file(0x2000, 0x4000, 0, 2);
	struct mapping c = code(0x4000, 0x5000), d = code(0x5000, 0x6000);
	size_t nr = 0, capacity = 0;

	cr_assert(eq(int, space_append(&all, &nr, &capacity, &a), 1));
	cr_assert(eq(int, space_append(&all, &nr, &capacity, &b), 0)); /* overlaps: refused */
	cr_assert(eq(int, space_append(&all, &nr, &capacity, &c), 1));
	cr_assert(eq(int, space_append(&all, &nr, &capacity, &d), 1));
	cr_assert(eq(sz, nr, 2));
	cr_assert(eq(u64, all[1].end, 0x6000));
	free(all);
}
