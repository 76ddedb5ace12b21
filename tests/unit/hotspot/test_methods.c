/* SPDX-License-Identifier: BSD-2-Clause */
#include "hotspot/methods.h"

#include <errno.h>

#include "hotspot/codecache.h"
#include "unit/hotspot/fixture.h"

TestSuite(methods, .fini = check_leaks);

#define OUTER "int Few.outer(int, java.lang.String[], long[][])"

struct named {
	struct fixture f;
	struct codecache cache;
	struct pages pages;
};

static void begin(struct named *n, int release)
{
	fixture_load(&n->f, release);
	cr_assert(eq(int, codecache_read(&n->f.image.memory, &n->f.structs, &n->cache), 0));
	pages_init(&n->pages, &n->f.image.memory);
}

static void end(struct named *n)
{
	codecache_done(&n->cache);
	pages_done(&n->pages);
	fixture_done(&n->f);
}

/* The first method of that name, or 0. */
static uint64_t find(struct named *n, const char *name)
{
	char text[METHOD_NAME_MAX];

	for (size_t i = 0; i < n->cache.nr_blobs; i++) {
		const uint64_t method = n->cache.blobs[i].method;
		ssize_t size =
			method ? method_name(&n->pages, &n->f.structs, method, text, sizeof(text))
			       : 0;

		if (size == (ssize_t)strlen(name) && memcmp(text, name, strlen(name)) == 0)
			return method;
	}
	return 0;
}

Test(methods, names_are_those_that_jcmd_prints)
{
	static const char *const names[] = {
		OUTER,
		"int Few.middle(int)",
		"int Few.leaf(int)",
		"void Few.main(java.lang.String[])",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixture_releases); i++) {
		struct named n;

		begin(&n, fixture_releases[i]);
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			cr_assert(ne(u64, find(&n, names[k]), 0), "%d %s", fixture_releases[i],
				names[k]);
		end(&n);
	}
}

Test(methods, a_name_that_does_not_fit_is_cut)
{
	char text[20];
	struct named n;

	begin(&n, 17);
	cr_assert(eq(int, (int)method_name(&n.pages, &n.f.structs, find(&n, OUTER), text, 14), 14));
	cr_assert(eq(int, memcmp(text, OUTER, 14), 0));
	end(&n);
}

Test(methods, what_is_no_method_has_no_name)
{
	char text[METHOD_NAME_MAX];
	struct named n;
	uint64_t method;

	begin(&n, 17);
	method = find(&n, OUTER);
	cr_assert(eq(int, (int)method_name(&n.pages, &n.f.structs, 0, text, 99), -EINVAL));
	cr_assert(eq(int, (int)method_name(&n.pages, &n.f.structs, method + 4, text, 99), -EINVAL));
	cr_assert(eq(
		int, (int)method_name(&n.pages, &n.f.structs, UINT64_MAX - 7, text, 99), -EINVAL));
	memset(fixture_at(&n.f, method + n.f.structs.method.constants.offset, 8), 0, 8);
	pages_forget(&n.pages);
	cr_assert(eq(int, (int)method_name(&n.pages, &n.f.structs, method, text, 99), -EINVAL));
	end(&n);
}

Test(methods, numbers_of_up_to_five_bytes_are_read_as_the_vm_writes_them)
{
	static const uint8_t bytes[] = {5, 191, 192, 0, 255, 255, 255, 255, 255, 1, 0};
	uint32_t value;
	size_t at = 0;

	cr_assert(eq(int, method_number(bytes, sizeof(bytes), &at, 0, &value), 1));
	cr_assert(eq(u32, value, 5));
	cr_assert(eq(int, method_number(bytes, sizeof(bytes), &at, 1, &value), 1));
	cr_assert(eq(u32, value, 190));
	cr_assert(eq(int, method_number(bytes, sizeof(bytes), &at, 1, &value), 0)); /* a 0 */
	cr_assert(eq(int, method_number(bytes, sizeof(bytes), &at, 0, &value), 1));
	cr_assert(eq(u32, value, 192));
	cr_assert(eq(int, method_number(bytes, sizeof(bytes), &at, 0, &value), 1));
	cr_assert(eq(sz, at, 9)); /* five bytes and no more */
	at = 4;
	cr_assert(eq(int, method_number(bytes, 7, &at, 0, &value), 0)); /* cut off */
	cr_assert(eq(sz, at, 4));
}
