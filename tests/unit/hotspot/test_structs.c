/* SPDX-License-Identifier: BSD-2-Clause */
#include "hotspot/structs.h"

#include <errno.h>

#include "hotspot/exports.h"
#include "unit/hotspot/fixture.h"

TestSuite(structs, .fini = check_leaks);

Test(structs, each_release_tells_its_number_and_the_width_of_what_it_has)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixture_releases); i++) {
		const int release = fixture_releases[i];
		struct fixture f;

		fixture_load(&f, release);
		cr_assert(eq(int, f.structs.major, release));
		cr_assert(eq(int, f.structs.excluded, release >= 20));
		cr_assert(eq(int, f.structs.at.heap != 0, release == 8));
		cr_assert(eq(int, f.structs.at.heaps != 0, release > 8));
		cr_assert(eq(int, f.structs.at.threads != 0, release > 11));
		cr_assert(eq(int, f.structs.at.thread_list != 0, release <= 11));
		cr_assert(eq(int, f.structs.heap.block_length.size, release == 25 ? 4 : 8));
		cr_assert(eq(int, f.structs.blob.frame_complete.size, release == 25 ? 2 : 4));
		cr_assert(eq(int, f.structs.blob.frame_complete.is_signed, 1));
		cr_assert(eq(int, f.structs.blob.code_begin.size,
			release == 8 || release == 25 ? 4 : 8));
		cr_assert(eq(int, f.structs.thread.wrapper, -6));
		cr_assert(ne(u64, f.structs.call_stub_return, 0));
		cr_assert(eq(int, f.structs.method.klass_source_file.size, release <= 11 ? 2 : 0));
		cr_assert(eq(int, f.structs.method.source_file.size, release <= 11 ? 0 : 2));
		fixture_done(&f);
	}
}

Test(structs, a_library_without_the_tables_is_none_of_ours)
{
	struct hotspot_exports exports;
	struct hotspot_structs structs;
	struct fixture f;
	uint64_t table;

	fixture_load(&f, 17);
	cr_assert(eq(int,
		hotspot_structs_read(
			&f.image.memory, f.image.start + 4096, f.image.offset, &structs),
		-ENOENT));
	cr_assert(eq(int,
		hotspot_exports_read(&f.image.memory, f.image.start, f.image.offset, &exports), 0));
	cr_assert(eq(u64, hotspot_exports_find(&exports, "gHotSpotVMNothing"), 0));
	table = hotspot_exports_find(&exports, "gHotSpotVMStructs");
	cr_assert(ne(u64, table, 0));
	hotspot_exports_done(&exports);

	memset(fixture_at(&f, table, 8), 0, 8); /* not relocated yet */
	cr_assert(eq(int,
		hotspot_structs_read(&f.image.memory, f.image.start, f.image.offset, &structs),
		-EAGAIN));
	fixture_done(&f);
}

Test(structs, numbers_outside_of_the_copy_are_zero)
{
	const uint8_t copy[8] = {0xff, 0xfe, 3, 4, 5, 6, 7, 0x88};
	const struct hotspot_field two = {0, 2, 1}, last = {7, 1, 1}, beyond = {7, 2, 0},
				   far = {UINT32_MAX, 8, 0}, none = {0, 0, 0};

	cr_assert(eq(u64, hotspot_get(&two, copy, sizeof(copy)), 0xfeff));
	cr_assert(eq(i64, hotspot_get_signed(&two, copy, sizeof(copy)), -257));
	cr_assert(eq(i64, hotspot_get_signed(&last, copy, sizeof(copy)), -120));
	cr_assert(eq(u64, hotspot_get(&beyond, copy, sizeof(copy)), 0));
	cr_assert(eq(u64, hotspot_get(&far, copy, sizeof(copy)), 0));
	cr_assert(eq(u64, hotspot_get(&none, copy, sizeof(copy)), 0));
}
