/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/javavm.h"

#include <errno.h>

#include "hotspot/codecache.h"
#include "unit/hotspot/fixture.h"

TestSuite(javavm, .fini = check_leaks);

#define QUEUE 0x10000ull

/* What the recorded images leave out: the interpreter's queue, and where stubs return to. */
static int read_more(const struct memory *memory, struct memory_part *parts, size_t nr)
{
	const struct fixture *f = memory->image;
	struct code_heap heaps[CODECACHE_MAX_HEAPS];
	size_t nr_heaps = 0;

	(void)code_heaps_read(&f->image.memory, &f->structs, heaps, &nr_heaps);
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = parts[i].address, inside = heaps[0].low_limit + 0x1000;
		uint8_t *to = parts[i].to;

		if (at == QUEUE) {
			memset(to, 0, parts[i].size);
			memcpy(to + f->structs.queue.buffer.offset, &inside, 8);
			to[f->structs.queue.limit.offset + 1] = 0x10;
		} else if (at == f->structs.at.interpreter) {
			memcpy(to, &(uint64_t){QUEUE}, 8);
		} else if (at == f->structs.at.call_stub_return) {
			memcpy(to, &inside, 8);
		} else {
			int r = f->image.memory.read(&f->image.memory, &parts[i], 1);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int describe(const struct fixture *f, struct stoke_java *ret)
{
	const struct memory memory = {.read = read_more, .image = f};

	return javavm_describe(&memory, &f->structs, ret);
}

static int releases[] = {8, 11, 17, 21, 25};

Test(javavm, describes_each_release_from_8_to_25)
{
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		struct fixture f;
		struct stoke_java java;

		fixture_load(&f, releases[i]);
		cr_assert(eq(int, describe(&f, &java), 0), "%d", releases[i]);
		cr_assert(ge(u32, java.nr_heaps, 1));
		cr_assert(lt(u64, java.interpreter - java.start, java.size));
		cr_assert(lt(u64, java.call_return - java.start, java.size));
		cr_assert(eq(int, java.bytecode_pointer, releases[i] == 8 ? -56 : -64));
		fixture_done(&f);
	}
}

Test(javavm, waits_for_a_vm_that_has_no_interpreter_yet)
{
	struct fixture f;
	struct stoke_java java;

	fixture_load(&f, 17);
	f.structs.queue.limit.offset = 100; /* 0 bytes, at 0 */
	f.structs.queue.buffer.offset = 104;
	cr_assert(eq(int, javavm_describe(&f.image.memory, &f.structs, &java), -EAGAIN));
	fixture_done(&f);
}

Test(javavm, refuses_what_walks_cannot_read)
{
	struct fixture f;
	struct stoke_java java;

	fixture_load(&f, 17);
	f.structs.blob.name.offset = STOKE_JAVA_BLOCK_BYTES;
	cr_assert(eq(int, describe(&f, &java), -EINVAL));
	fixture_done(&f);
	fixture_load(&f, 17);
	f.structs.blob.frame_size.offset = 29; /* over the end of a word */
	cr_assert(eq(int, describe(&f, &java), -EINVAL));
	fixture_done(&f);
	fixture_load(&f, 17);
	f.structs.at.call_stub_return = 0;
	cr_assert(eq(int, describe(&f, &java), -EINVAL));
	fixture_done(&f);
}
