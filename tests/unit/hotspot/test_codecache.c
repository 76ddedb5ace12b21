/* SPDX-License-Identifier: BSD-2-Clause */
#include "hotspot/codecache.h"

#include <errno.h>

#include "unit/hotspot/fixture.h"

TestSuite(codecache, .fini = check_leaks);

Test(codecache, a_snapshot_is_sorted_disjoint_and_has_every_kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixture_releases); i++) {
		size_t nr[BLOB_ADAPTER + 1] = {0};
		struct codecache cache;
		struct fixture f;

		fixture_load(&f, fixture_releases[i]);
		cr_assert(eq(int, codecache_read(&f.image.memory, &f.structs, &cache), 0));
		cr_assert(eq(u64, cache.nr_bad, 0));
		for (size_t k = 0; k < cache.nr_blobs; k++) {
			const struct code_blob *blob = &cache.blobs[k];

			cr_assert(le(int, blob->kind, BLOB_ADAPTER));
			nr[blob->kind]++;
			cr_assert(k == 0 || blob->code >= blob[-1].code + blob[-1].code_size);
			cr_assert(eq(int, blob->kind == BLOB_METHOD || blob->kind == BLOB_NATIVE,
				blob->method != 0));
			cr_assert(codecache_find(&cache, blob->code) == blob);
			cr_assert(codecache_find(&cache, blob->code + blob->code_size - 1) == blob);
			cr_assert(codecache_find(&cache, blob->code + blob->code_size) != blob);
		}
		cr_assert(eq(sz, nr[BLOB_INTERPRETER], 1));
		cr_assert(ge(sz, nr[BLOB_METHOD], 4)); /* Few's */
		cr_assert(ge(sz, nr[BLOB_STUBS], 2));
		cr_assert(ge(sz, nr[BLOB_ADAPTER], 10));
		/* Where native code returns to when Java ends. */
		cr_assert(eq(
			int, codecache_find(&cache, f.structs.call_stub_return)->kind, BLOB_STUBS));
		codecache_done(&cache);
		fixture_done(&f);
	}
}

Test(codecache, before_the_heaps_are_made_there_is_nothing)
{
	struct codecache cache;
	struct fixture f;

	fixture_load(&f, 17);
	memset(fixture_at(&f, f.structs.at.heaps, 8), 0, 8);
	cr_assert(eq(int, codecache_read(&f.image.memory, &f.structs, &cache), 0));
	cr_assert(eq(sz, cache.nr_blobs, 0));
	cr_assert(eq(sz, cache.nr_heaps, 0));
	codecache_done(&cache);
	fixture_done(&f);
}

Test(codecache, a_half_written_header_is_left_out_and_counted)
{
	struct codecache cache, less;
	struct fixture f;
	uint64_t victim;

	fixture_load(&f, 17);
	cr_assert(eq(int, codecache_read(&f.image.memory, &f.structs, &cache), 0));
	victim = cache.blobs[5].start;
	memset(fixture_at(&f, victim + f.structs.blob.code_end.offset, 8), 0xff, 8);
	cr_assert(eq(int, codecache_read(&f.image.memory, &f.structs, &less), 0));
	cr_assert(eq(u64, less.nr_bad, 1));
	cr_assert(eq(sz, less.nr_blobs, cache.nr_blobs - 1));
	cr_assert(eq(ptr, (void *)codecache_find(&less, cache.blobs[5].code), NULL));
	codecache_done(&cache);
	codecache_done(&less);
	fixture_done(&f);
}

Test(codecache, heaps_that_make_no_sense_are_an_error)
{
	struct code_heap heaps[CODECACHE_MAX_HEAPS];
	struct codecache cache;
	uint64_t array;
	struct fixture f;
	size_t nr;

	fixture_load(&f, 17);
	cr_assert(eq(int, code_heaps_read(&f.image.memory, &f.structs, heaps, &nr), 0));
	cr_assert(ge(sz, nr, 1));
	cr_assert(lt(u64, heaps[0].low, heaps[0].high));
	array = memory_pointer(&f.image.memory, f.structs.at.heaps);
	memset(fixture_at(&f, array + f.structs.array.length.offset, 4), 0x7f, 4);
	cr_assert(eq(int, codecache_read(&f.image.memory, &f.structs, &cache), -EINVAL));
	fixture_done(&f);
}
