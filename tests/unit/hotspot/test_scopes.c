/* SPDX-License-Identifier: BSD-2-Clause */
#include "hotspot/scopes.h"

#include <errno.h>

#include "hotspot/methods.h"
#include "unit/hotspot/fixture.h"

TestSuite(scopes, .fini = check_leaks);

#define MAX	   16
#define FIRST_LINE 4 /* of Few.java's class */
#define LAST_LINE  30

struct looked {
	struct fixture f;
	struct codecache cache;
	struct pages pages;
	size_t nr_chains, nr_inlined;
};

static void begin(struct looked *l, int release)
{
	*l = (struct looked){0};
	fixture_load(&l->f, release);
	cr_assert(eq(int, codecache_read(&l->f.image.memory, &l->f.structs, &l->cache), 0));
	pages_init(&l->pages, &l->f.image.memory);
}

static void end(struct looked *l)
{
	codecache_done(&l->cache);
	pages_done(&l->pages);
	fixture_done(&l->f);
}

static void check(struct looked *l, const struct code_blob *blob, const struct scope *scopes, int n)
{
	char text[METHOD_NAME_MAX];

	cr_assert(eq(u64, scopes[n - 1].method, blob->method));
	l->nr_chains++;
	l->nr_inlined += n > 1;
	for (int i = 0; i < n; i++) {
		ssize_t size =
			method_name(&l->pages, &l->f.structs, scopes[i].method, text, sizeof(text));
		uint32_t line = method_line(&l->pages, &l->f.structs, scopes[i].method,
			scopes[i].bci < 0 ? 0 : scopes[i].bci);

		cr_assert(gt(int, (int)size, 0));
		if (!memmem(text, (size_t)size, " Few.", 5))
			continue;
		cr_assert(ge(u32, line, FIRST_LINE));
		cr_assert(le(u32, line, LAST_LINE));
		size = method_file(&l->pages, &l->f.structs, scopes[i].method, text, sizeof(text));
		cr_assert(eq(int, (int)size, 8));
		cr_assert(eq(int, memcmp(text, "Few.java", 8), 0));
	}
}

Test(scopes, every_chain_ends_in_the_method_whose_code_it_is)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixture_releases); i++) {
		struct scope scopes[MAX];
		struct looked l;

		begin(&l, fixture_releases[i]);
		for (size_t k = 0; k < l.cache.nr_blobs; k++) {
			const struct code_blob *blob = &l.cache.blobs[k];

			for (uint64_t at = 0; blob->kind == BLOB_METHOD && at < blob->code_size;
				at += 16) {
				int n = scopes_read(
					&l.pages, &l.f.structs, blob, blob->code + at, scopes, MAX);

				cr_assert(ge(int, n, 0));
				if (n > 0)
					check(&l, blob, scopes, n);
			}
		}
		cr_assert(gt(sz, l.nr_chains, 100), "%d", fixture_releases[i]);
		cr_assert(gt(sz, l.nr_inlined, 5), "%d", fixture_releases[i]);
		end(&l);
	}
}

Test(scopes, tables_that_lie_give_no_answer)
{
	const struct code_blob *blob = NULL;
	struct scope scopes[MAX];
	struct hotspot_structs lying;
	struct looked l;

	begin(&l, 17);
	for (size_t k = 0; k < l.cache.nr_blobs; k++) {
		if (l.cache.blobs[k].kind == BLOB_METHOD && l.cache.blobs[k].level == 4)
			blob = &l.cache.blobs[k];
	}
	cr_assert(ne(ptr, (void *)blob, NULL));
	cr_assert(gt(int,
		scopes_read(&l.pages, &l.f.structs, blob, blob->code + blob->code_size / 2, scopes,
			MAX),
		0));
	lying = l.f.structs;
	lying.nmethod.dependencies = lying.nmethod.orig_pc; /* a smaller number */
	cr_assert(eq(int, scopes_read(&l.pages, &lying, blob, blob->code, scopes, MAX), 0));
	lying = l.f.structs;
	lying.nmethod.scopes_pcs.size = 0;
	cr_assert(eq(int, scopes_read(&l.pages, &lying, blob, blob->code, scopes, MAX), 0));
	lying = l.f.structs;
	lying.pc_desc.size = 65535;
	cr_assert(eq(int, scopes_read(&l.pages, &lying, blob, blob->code, scopes, MAX), 0));
	end(&l);
}
