/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/runtime.h"

#include <errno.h>
#include <unistd.h>

#include "runtime/hotspot/owners.h"
#include "unit/hotspot/fixture.h"

TestSuite(hotspot, .fini = check_leaks);

extern const struct runtime runtime_hotspot;

struct watched {
	struct fixture f;
	struct owners owners;
};

static void begin(struct watched *w, int release)
{
	fixture_load(&w->f, release);
	owners_init(&w->owners, &w->f.image.memory, &w->f.structs);
}

static void end(struct watched *w)
{
	owners_done(&w->owners);
	fixture_done(&w->f);
}

static int name_at(struct watched *w, uint64_t time_ns, uint64_t address, char text[256])
{
	struct symbol symbol = {0};
	int n = owners_lookup(&w->owners, (struct span){time_ns, time_ns}, address, 0, &symbol, 1);

	(void)snprintf(text, 256, "%.*s", (int)symbol.name_size, symbol.name ? symbol.name : "");
	return n;
}

/* The blob of a method's that begins with that word; the last in order of address. */
static struct code_blob find(const struct watched *w, const char *word)
{
	struct code_blob found = {0};

	for (size_t i = 0; i < w->owners.now.nr_blobs; i++) {
		const struct owner *owner = &w->owners.items[w->owners.now_owners[i]];
		const struct code_name *name = &w->owners.names.items[owner->name];

		if (memmem(name->text, name->size, word, strlen(word)))
			found = owner->blob;
	}
	cr_assert(ne(u64, found.start, 0), "%s", word);
	return found;
}

static void write_field(
	struct watched *w, uint64_t blob, const struct hotspot_field *field, uint64_t value)
{
	memcpy(fixture_at(&w->f, blob + field->offset, field->size), &value, field->size);
}

Test(hotspot, names_who_was_there_at_the_first_reading_since)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixture_releases); i++) {
		struct watched w;
		struct code_blob blob;
		char text[256];

		begin(&w, fixture_releases[i]);
		cr_assert(eq(int, owners_read(&w.owners, 100), 1));
		cr_assert(eq(int, owners_read(&w.owners, 200), 0));
		blob = find(&w, "Few.middle(");
		cr_assert(eq(int, name_at(&w, 150, blob.code, text), 1));
		cr_assert(eq(str, text, "int Few.middle(int)"));
		cr_assert(eq(int, name_at(&w, 150, blob.code + blob.code_size - 1, text), 1));
		cr_assert(eq(int, name_at(&w, 150, blob.start, text), 0)); /* no code */
		cr_assert(eq(int, name_at(&w, 201, blob.code, text), -EAGAIN));
		end(&w);
	}
}

Test(hotspot, another_method_at_the_same_address_is_told_apart_by_its_compilation)
{
	struct code_blob blob;
	struct watched w;
	char text[256];

	begin(&w, 17);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.leaf(");
	write_field(&w, blob.start, &w.f.structs.nmethod.compile_id, 4711);
	write_field(&w, blob.start, &w.f.structs.nmethod.method, find(&w, "Few.outer(").method);
	cr_assert(eq(int, owners_read(&w.owners, 200), 1));
	cr_assert(eq(int, owners_read(&w.owners, 300), 0));

	cr_assert(eq(int, name_at(&w, 100, blob.code, text), 1));
	cr_assert(eq(str, text, "int Few.leaf(int)"));
	cr_assert(eq(int, name_at(&w, 250, blob.code, text), 1));
	cr_assert(eq(str, text, "int Few.outer(int, java.lang.String[], long[][])"));
	/* In between it may have been either. */
	cr_assert(eq(int, name_at(&w, 150, blob.code, text), -ESTALE));
	cr_assert(eq(str, text, "[replaced code]"));
	end(&w);
}

Test(hotspot, code_that_went_keeps_its_name_up_to_when_it_was_seen_last)
{
	struct code_blob blob;
	struct watched w;
	char text[256];

	begin(&w, 17);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.leaf(");
	write_field(&w, blob.start, &w.f.structs.nmethod.state, 3); /* a zombie */
	cr_assert(eq(int, owners_read(&w.owners, 200), 1));
	cr_assert(eq(int, name_at(&w, 90, blob.code, text), 1));
	cr_assert(eq(int, name_at(&w, 150, blob.code, text), -ESTALE));
	cr_assert(eq(str, text, "int Few.leaf(int)"));
	end(&w);
}

Test(hotspot, a_method_without_a_sound_name_is_asked_for_again)
{
	const struct hotspot_field *constants;
	struct code_blob blob;
	struct watched w;
	uint64_t kept;
	char text[256];

	begin(&w, 17);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.middle(");
	owners_done(&w.owners);
	owners_init(&w.owners, &w.f.image.memory, &w.f.structs);

	constants = &w.f.structs.method.constants;
	kept = memory_pointer(&w.f.image.memory, blob.method + constants->offset);
	write_field(&w, blob.method, constants, 1);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	cr_assert(eq(int, name_at(&w, 50, blob.code, text), 0));
	write_field(&w, blob.method, constants, kept);
	cr_assert(eq(int, owners_read(&w.owners, 200), 1));
	cr_assert(eq(int, name_at(&w, 150, blob.code, text), 1));
	cr_assert(eq(str, text, "int Few.middle(int)"));
	end(&w);
}

Test(hotspot, inlined_methods_come_with_files_and_lines)
{
	struct symbol symbols[CHAIN_MAX_FRAMES], again[CHAIN_MAX_FRAMES];
	struct code_blob blob;
	size_t nr_inlined = 0;
	struct watched w;

	begin(&w, 17);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.main(");
	for (uint64_t at = 0; at < blob.code_size; at += 16) {
		const struct span when = {50, 50};
		int n = owners_lookup(
			&w.owners, when, blob.code + at, 0, symbols, CHAIN_MAX_FRAMES);

		cr_assert(ge(int, n, 1));
		cr_assert(eq(int, symbols[n - 1].kind, FUNCTION_JIT));
		cr_assert(eq(int, memcmp(symbols[n - 1].name, "void Few.main(", 14), 0));
		for (int i = 0; i + 1 < n; i++)
			cr_assert(eq(int, symbols[i].kind, FUNCTION_INLINED));
		nr_inlined += n > 1;
		/* The second answer is the first; with room for one it is the method itself. */
		cr_assert(eq(int,
			owners_lookup(&w.owners, when, blob.code + at, 0, again, CHAIN_MAX_FRAMES),
			n));
		cr_assert(eq(int, memcmp(symbols, again, (size_t)n * sizeof(*symbols)), 0));
		cr_assert(eq(int, owners_lookup(&w.owners, when, blob.code + at, 0, again, 1), 1));
		cr_assert(again[0].name == symbols[n - 1].name);
	}
	cr_assert(gt(sz, nr_inlined, 0));
	end(&w);
}

Test(hotspot, inlining_is_not_told_of_code_that_has_gone)
{
	struct symbol symbols[CHAIN_MAX_FRAMES];
	struct code_blob blob;
	struct watched w;

	begin(&w, 17);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.main(");
	write_field(&w, blob.start, &w.f.structs.nmethod.compile_id, 4711);
	for (uint64_t at = 0; at < blob.code_size; at += 16) {
		cr_assert(eq(int,
			owners_lookup(&w.owners, (struct span){50, 50}, blob.code + at, 0, symbols,
				CHAIN_MAX_FRAMES),
			1));
		cr_assert(eq(u32, symbols[0].line, 0));
	}
	end(&w);
}

Test(hotspot, interpreted_methods_are_named_at_once)
{
	struct code_blob blob;
	struct symbol symbol;
	struct watched w;

	begin(&w, 25);
	cr_assert(eq(int, owners_read(&w.owners, 100), 1));
	blob = find(&w, "Few.middle(");
	for (int i = 0; i < 2; i++) {
		cr_assert(eq(int,
			owners_lookup_method(&w.owners, blob.method, 1, i == 0, &symbol, 1), 1));
		cr_assert(eq(int, symbol.kind, FUNCTION_INTERPRETED));
		cr_assert(eq(sz, symbol.name_size, strlen("int Few.middle(int)")));
		cr_assert(eq(int, memcmp(symbol.name, "int Few.middle(int)", symbol.name_size), 0));
		cr_assert(gt(u32, symbol.line, 0));
	}
	/* The second time it was known; what is no method, and what can be read no more, is not. */
	cr_assert(eq(int, owners_lookup_method(&w.owners, 0x1230, 1, 1, &symbol, 1), 0));
	cr_assert(eq(int, owners_lookup_method(&w.owners, blob.method, 2, 0, &symbol, 1), 0));
	end(&w);
}

/* A VM that writes what it likes: never a crash, a hang, or memory without bounds. */
Test(hotspot, corrupted_memory_is_survived, .timeout = 100)
{
	struct symbol symbols[CHAIN_MAX_FRAMES];
	uint32_t random = 12345;

	for (unsigned i = 0; i < 300; i++) {
		struct hotspot_structs structs;
		struct owners owners;
		struct image image;

		cr_assert(eq(int, image_load(TEST_DATA "/hotspot/17.image", &image), 0));
		for (unsigned k = 0; k < 1 + i % 40; k++) {
			struct piece *piece;

			random = random * 1103515245 + 12345;
			piece = &image.pieces[(random >> 8) % image.nr_pieces];
			random = random * 1103515245 + 12345;
			piece->bytes[(random >> 4) % piece->size] = (uint8_t)(random >> 20);
		}
		if (hotspot_structs_read(&image.memory, image.start, image.offset, &structs) == 0) {
			owners_init(&owners, &image.memory, &structs);
			(void)owners_read(&owners, 1);
			(void)owners_read(&owners, 2);
			for (size_t k = 0; k < owners.now.nr_blobs; k++)
				(void)owners_lookup(&owners, (struct span){1, 1},
					owners.now.blobs[k].code + k % 64, 0, symbols,
					CHAIN_MAX_FRAMES);
			cr_assert(lt(sz, owners.now.nr_blobs, 100000));
			owners_done(&owners);
		}
		image_done(&image);
	}
}

Test(hotspot, a_process_without_libjvm_is_not_claimed)
{
	struct process self = {.pid = getpid(), .alive = getpid()};
	struct host host;
	void *state;

	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, runtime_hotspot.claim(&host, &self, &state, NULL), -ENOENT));
	host_close(&host);
}
