/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf/walk.h by tables, as the kernel runs it: rows made here, stored and published as a recording
 * does, over stacks made here. */
#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "unwind/publish.h"
#include "unwind/store.h"

#define STACK_WORDS 4096
#define BASE	    0x7ffc00000000ull
#define CODE	    0x400000ull /* a program that is mapped where it was linked */
#define LIBRARY	    0x7f0000000000ull /* and a library, linked at 0 */
#define GENERATED   0x7e0000000000ull
#define BARE	    0x7d0000000000ull
#define PENDING	    0x7c0000000000ull

static struct {
	struct stoke_rule rules[256];
	struct stoke_page pages[256];
	struct stoke_shard *shard;
	struct stoke_mapping mappings[64];
	struct stoke_space space;
	uint64_t readable;
	unsigned reads;
	uint64_t words[STACK_WORDS];
} kernel;

struct walk;

static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	kernel.reads++;
	if (from < BASE || from - BASE > kernel.readable || kernel.readable - (from - BASE) < size)
		return -1;
	memcpy(to, (const uint8_t *)kernel.words + (from - BASE), size);
	return 0;
}

static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 index)
{
	return index < ARRAY_SIZE(kernel.mappings) ? &kernel.mappings[index] : NULL;
}

static inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 index)
{
	return index < ARRAY_SIZE(kernel.pages) ? &kernel.pages[index] : NULL;
}

static inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 index)
{
	return index == 0 ? kernel.shard : NULL;
}

static inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 index)
{
	return index < ARRAY_SIZE(kernel.rules) ? &kernel.rules[index] : NULL;
}

#include "bpf/walk.h"

static struct stoke_shard *give_shard(void *arg, uint32_t index)
{
	return kernel.shard;
}

static int take_space(void *arg, uint32_t pid, const struct stoke_space *space)
{
	kernel.space = space ? *space : (struct stoke_space){0};
	return 0;
}

static struct {
	struct store *store;
	struct publisher *publisher;
	struct stored program, library;
} made;

/* The program's functions, a page apart. */
enum {
	PUSHES = 0x1000, /* sp + 8; fp is pushed at 1: sp + 16, fp at CFA - 16 */
	FRAMED = 0x2000, /* fp + 16 */
	ENTRY = 0x3000, /* the first frame */
	TRAMPOLINE = 0x4000, /* the kernel's signal frame */
	PLT = 0x5000,
	REALIGNED = 0x6000, /* *(fp - 8) + 0, fp at fp + 0 */
	BY_R10 = 0x7000, /* r10 + 0 */
	ODD = 0x8000, /* not supported */
	DOWN = 0x9000, /* sp - 8 */
	LOSES = 0xa000, /* sp + 8, fp unknown */
	GAP = 0xb000, /* no rule */
	DEREF_SP = 0xc000, /* *(sp + 8) + 16 */
	BY_RBX = 0xd000, /* rbx + 24 */
	SAVES = 0xe000, /* sp + 32; rbx at CFA - 16 */
	KEEPS = 0xf000, /* sp + 16; rbx where it was */
	FORGETS = 0x10000, /* sp + 16; of rbx nothing is told */
	BY_RDI = 0x11000, /* sp + 0; returns to rdi */
	END = 0x12000,
};

#define SP(offset)	  .cfa = UNWIND_CFA_SP, .cfa_offset = (offset), .ra_offset = -8
#define FP(offset)	  .cfa = UNWIND_CFA_FP, .cfa_offset = (offset), .ra_offset = -8
#define FP_AT_CFA(offset) .fp = UNWIND_FP_AT_CFA, .fp_offset = (offset)
#define ROW(address_, ...)                                                                         \
	{                                                                                          \
		.address = (address_), .rule = { __VA_ARGS__ }                                     \
	}

static void store_program(void)
{
	struct unwind_row items[] = {
		ROW(CODE + PUSHES, SP(8)),
		ROW(CODE + PUSHES + 1, SP(16), FP_AT_CFA(-16)),
		ROW(CODE + PUSHES + 0x100, SP(0x30)),
		ROW(CODE + FRAMED, FP(16), FP_AT_CFA(-16)),
		ROW(CODE + ENTRY, .cfa = UNWIND_CFA_STOP),
		ROW(CODE + TRAMPOLINE - 1, .cfa = UNWIND_CFA_SIGNAL),
		ROW(CODE + PLT, .cfa = UNWIND_CFA_PLT, .cfa_offset = 11, .ra_offset = -8),
		ROW(CODE + REALIGNED, .cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = 0x0000fff8,
			.fp = UNWIND_FP_AT_FP, .fp_offset = 0, .ra_offset = -8),
		ROW(CODE + BY_R10, .cfa = UNWIND_CFA_REGISTER + 10, .ra_offset = -8),
		ROW(CODE + ODD, .cfa = UNWIND_CFA_UNSUPPORTED),
		ROW(CODE + DOWN, SP(-8)),
		ROW(CODE + LOSES, SP(8), .fp = UNWIND_FP_UNKNOWN),
		{.address = CODE + GAP},
		ROW(CODE + DEREF_SP, .cfa = UNWIND_CFA_DEREF_SP, .cfa_offset = 0x00100008,
			.ra_offset = -8),
		ROW(CODE + BY_RBX, .cfa = UNWIND_CFA_REGISTER + 3, .cfa_offset = 24,
			.ra_offset = -8),
		ROW(CODE + SAVES, SP(32), .kept = 2),
		ROW(CODE + KEEPS, SP(16), .kept = UNWIND_KEPT_SAME),
		ROW(CODE + FORGETS, SP(16)),
		ROW(CODE + BY_RDI, .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_REGISTER + 5),
		{.address = CODE + END},
	};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	cr_assert(eq(int, store_add(made.store, &table, 1, &made.program), 0));
	unwind_table_done(&table);
}

static void store_library(void)
{
	struct unwind_row items[] = {ROW(0x1000, SP(0x18)), {.address = 0x2000}};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	cr_assert(eq(int, store_add(made.store, &table, 1, &made.library), 0));
	unwind_table_done(&table);
}

static struct stoke_mapping file(uint64_t start, uint64_t bias, const struct stored *stored)
{
	return (struct stoke_mapping){.start = start,
		.end = start + 0x20000,
		.bias = bias,
		.page = stored->page,
		.first = stored->first,
		.nr = stored->nr,
		.kind = STOKE_MAPPING_TABLE};
}

static void setup(void)
{
	const struct store_memory memory = {.rules = kernel.rules,
		.max_rules = ARRAY_SIZE(kernel.rules),
		.pages = kernel.pages,
		.max_pages = ARRAY_SIZE(kernel.pages),
		.max_shards = 1,
		.shard = give_shard};
	const struct publisher_memory published = {.mappings = kernel.mappings,
		.max_mappings = ARRAY_SIZE(kernel.mappings),
		.set = take_space};
	struct stoke_mapping mappings[5];
	uint32_t generation;

	memset(&kernel, 0, sizeof(kernel));
	kernel.readable = sizeof(kernel.words);
	kernel.shard = calloc(1, sizeof(*kernel.shard));
	cr_assert(eq(int, store_new(&memory, &made.store), 0));
	cr_assert(eq(int, publisher_new(&published, &made.publisher), 0));
	store_program();
	store_library();
	mappings[0] = file(CODE, 0, &made.program);
	mappings[1] = (struct stoke_mapping){
		.start = PENDING, .end = PENDING + 0x1000, .kind = STOKE_MAPPING_PENDING};
	mappings[2] = (struct stoke_mapping){
		.start = BARE, .end = BARE + 0x1000, .kind = STOKE_MAPPING_BARE};
	mappings[3] = (struct stoke_mapping){
		.start = GENERATED, .end = GENERATED + 0x1000, .kind = STOKE_MAPPING_GENERATED};
	mappings[4] = file(LIBRARY, LIBRARY, &made.library);
	cr_assert(eq(int,
		publisher_set(made.publisher, 1, 0, mappings, ARRAY_SIZE(mappings), 1, &generation),
		0));
}

static void teardown(void)
{
	publisher_free(made.publisher);
	store_free(made.store);
	free(kernel.shard);
	check_leaks();
}

TestSuite(tables, .init = setup, .fini = teardown);

static uint64_t at(size_t word)
{
	return BASE + word * 8;
}

static uint64_t frames[STOKE_MAX_USER_FRAMES + 1];

/* Walks to the end, the frames into frames[]; gives their number. */
static unsigned walk_from(struct walk *walk, uint64_t ip, size_t sp, uint64_t fp)
{
	walk_begin(walk, ip, at(sp), fp);
	walk->known = 1;
	cr_assert(walk_use(walk, &kernel.space));
	for (;;) {
		frames[walk->nr - 1] = walk->ip;
		if (walk_step(walk))
			return walk->nr;
	}
}

static void expect_end(const struct walk *walk, enum stoke_walk_end end)
{
	cr_assert(eq(u32, walk->end, (uint32_t)end));
}

#define IN(function) (CODE + (function) + 0x11) /* beyond the first instructions */

Test(tables, step_to_the_first_frame_through_a_program_and_a_library)
{
	struct walk walk;

	/* in the library: 24 bytes; caller PUSHES: 16 with fp; caller FRAMED; ENTRY */
	kernel.words[2] = IN(PUSHES);
	kernel.words[3] = at(8); /* fp that PUSHES saved */
	kernel.words[4] = IN(FRAMED);
	kernel.words[8] = 0x1234; /* fp of ENTRY */
	kernel.words[9] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, LIBRARY + 0x1800, 0, 0xdead), 4));
	cr_assert(eq(u64, frames[0], LIBRARY + 0x1800));
	cr_assert(eq(u64, frames[1], IN(PUSHES)));
	cr_assert(eq(u64, frames[2], IN(FRAMED)));
	cr_assert(eq(u64, frames[3], IN(ENTRY)));
	expect_end(&walk, STOKE_WALK_FIRST);
	cr_assert(eq(u64, walk.fp, 0x1234));
}

Test(tables, tell_the_first_instruction_from_the_second)
{
	struct walk walk;

	kernel.words[0] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 2));
	expect_end(&walk, STOKE_WALK_FIRST);
	kernel.words[1] = IN(ENTRY);
	kernel.words[0] = 5;
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES + 1, 0, 0), 2));
	expect_end(&walk, STOKE_WALK_FIRST);
	cr_assert(eq(u64, walk.fp, 5));
}

Test(tables, take_a_return_address_for_the_call_before_it)
{
	struct walk walk;

	/* A call that never returns is its function's last instruction. */
	kernel.words[0] = CODE + FRAMED; /* of the call that ends PUSHES */
	kernel.words[1 + 5] = IN(ENTRY); /* by the last rule of PUSHES: 0x30 */
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 3));
	expect_end(&walk, STOKE_WALK_FIRST);
	/* The sampled address itself stands where it stands. */
	cr_assert(eq(uint, walk_from(&walk, CODE + FRAMED, 0, at(20)), 1));
	expect_end(&walk, STOKE_WALK_FIRST); /* its return address is 0 */
}

Test(tables, count_a_return_address_of_zero_as_the_first_frame)
{
	struct walk walk;

	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 1));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, go_through_signal_frames_to_another_stack)
{
	struct walk walk;

	/* A handler on an alternate stack at 0, the interrupted leaf far below its caller. */
	kernel.words[0] = CODE + TRAMPOLINE;
	/* sp then leads to the ucontext at word 1: r8 at 40, rbp 120, rsp 160, rip 168 */
	kernel.words[1 + 5 + 2] = at(700); /* r10 */
	kernel.words[1 + 15] = 0xf0; /* rbp */
	kernel.words[1 + 20] = at(600);
	kernel.words[1 + 21] = CODE + PUSHES; /* its first instruction: not to be decremented */
	kernel.words[600] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 4));
	cr_assert(eq(u64, frames[1], CODE + TRAMPOLINE));
	cr_assert(eq(u64, frames[2], CODE + PUSHES));
	cr_assert(eq(u64, frames[3], IN(ENTRY)));
	expect_end(&walk, STOKE_WALK_FIRST);
	cr_assert(eq(u64, walk.fp, 0xf0));
}

Test(tables, know_all_registers_of_an_interrupted_frame)
{
	struct walk walk;

	kernel.words[0] = CODE + TRAMPOLINE;
	kernel.words[1 + 5 + 2] = at(700); /* r10 */
	kernel.words[1 + 20] = at(600);
	kernel.words[1 + 21] = IN(BY_R10);
	kernel.words[699] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 4));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, use_other_registers_only_where_they_are_known)
{
	struct walk walk;

	kernel.words[9] = IN(ENTRY);
	walk_begin(&walk, IN(BY_R10), at(0), 0);
	walk.known = 1;
	walk.registers[10] = at(10);
	cr_assert(walk_use(&walk, &kernel.space));
	cr_assert(eq(int, walk_step(&walk), 0));
	cr_assert(eq(u64, walk.ip, IN(ENTRY)));

	kernel.words[0] = IN(BY_R10); /* now as a caller */
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0, 0), 2));
	expect_end(&walk, STOKE_WALK_UNSUPPORTED);
}

/* Walks from code at sp 0, with these in rbx and rdi. */
static enum stoke_walk_end walk_knowing(struct walk *walk, uint64_t ip, uint64_t rbx, uint64_t rdi)
{
	walk_begin(walk, ip, at(0), 0);
	walk->known = 1;
	walk->registers[3] = rbx;
	walk->registers[5] = rdi;
	cr_assert(walk_use(walk, &kernel.space));
	while (walk_step(walk) == 0)
		cr_assert(lt(uint, walk->nr, 8));
	return walk->end;
}

Test(tables, find_rbx_where_frames_below_have_saved_it)
{
	struct walk walk;

	kernel.words[1] = IN(SAVES);
	kernel.words[4] = at(100);
	kernel.words[5] = IN(BY_RBX);
	kernel.words[102] = IN(ENTRY);
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, 7, 7), STOKE_WALK_FIRST));
	cr_assert(eq(uint, walk.nr, 4));
	cr_assert(eq(u64, walk.sp, at(103)));
	kernel.words[4] = BASE + sizeof(kernel.words) + 8;
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, 7, 7), STOKE_WALK_UNREADABLE));
	kernel.words[4] = at(1);
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, 7, 7), STOKE_WALK_BAD_CFA));
}

Test(tables, find_rbx_in_its_register_as_long_as_it_is_there)
{
	struct walk walk;

	kernel.words[1] = IN(KEEPS);
	kernel.words[3] = IN(BY_RBX);
	kernel.words[102] = IN(ENTRY);
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, at(100), 7), STOKE_WALK_FIRST));
	cr_assert(eq(uint, walk.nr, 4));
	kernel.words[1] = IN(FORGETS);
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, at(100), 7), STOKE_WALK_UNSUPPORTED));
	kernel.words[1] = GENERATED + 8; /* by its frame pointer, which is 0 */
	cr_assert(ne(int, walk_knowing(&walk, CODE + KEEPS, at(100), 7), STOKE_WALK_FIRST));
}

Test(tables, find_a_return_address_in_a_register_only_where_it_is_known)
{
	struct walk walk;

	kernel.words[1] = IN(ENTRY);
	cr_assert(eq(int, walk_knowing(&walk, CODE + BY_RDI, 7, IN(KEEPS)), STOKE_WALK_FIRST));
	cr_assert(eq(uint, walk.nr, 3));
	kernel.words[1] = IN(BY_RDI);
	cr_assert(eq(int, walk_knowing(&walk, CODE + KEEPS, 7, IN(KEEPS)), STOKE_WALK_UNSUPPORTED));
}

Test(tables, know_how_far_a_lazy_plt_entry_has_come)
{
	struct walk walk;

	kernel.words[0] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, CODE + PLT + 16 + 10, 0, 0), 2));
	cr_assert(eq(u64, frames[1], IN(ENTRY)));
	kernel.words[0] = 3; /* index pushed */
	kernel.words[1] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, CODE + PLT + 16 + 11, 0, 0), 2));
	cr_assert(eq(u64, frames[1], IN(ENTRY)));
}

Test(tables, follow_frames_that_were_realigned)
{
	struct walk walk;

	kernel.words[20] = 0x77; /* caller's fp, where fp leads */
	kernel.words[19] = at(40); /* the CFA is kept at fp - 8 */
	kernel.words[39] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, IN(REALIGNED), 0, at(20)), 2));
	expect_end(&walk, STOKE_WALK_FIRST);
	cr_assert(eq(u64, walk.fp, 0x77));
}

Test(tables, read_a_cfa_that_lies_on_the_stack)
{
	struct walk walk;

	kernel.words[1] = at(30); /* *(sp + 8) + 16 */
	kernel.words[31] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, IN(DEREF_SP), 0, 0), 2));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, say_why_they_stop)
{
	struct walk walk;

	cr_assert(eq(uint, walk_from(&walk, IN(ODD), 0, 0), 1));
	expect_end(&walk, STOKE_WALK_UNSUPPORTED);
	cr_assert(eq(uint, walk_from(&walk, IN(DOWN), 8, 0), 1));
	expect_end(&walk, STOKE_WALK_BAD_CFA);
	cr_assert(eq(uint, walk_from(&walk, 0x1000, 0, 0), 1));
	expect_end(&walk, STOKE_WALK_NO_MAPPING);
	cr_assert(eq(uint, walk_from(&walk, BARE + 0x100, 0, 3), 1));
	expect_end(&walk, STOKE_WALK_NO_TABLE);
	cr_assert(eq(uint, walk_from(&walk, PENDING + 0x100, 0, 3), 1));
	expect_end(&walk, STOKE_WALK_PENDING);
	cr_assert(eq(uint, walk_from(&walk, GENERATED + 0x100, 0, 3), 1));
	expect_end(&walk, STOKE_WALK_BAD_FP);
	kernel.readable = 0x100;
	cr_assert(eq(uint, walk_from(&walk, CODE + PUSHES, 0x100 / 8, 0), 1));
	expect_end(&walk, STOKE_WALK_UNREADABLE);
}

Test(tables, do_not_use_a_frame_pointer_that_was_lost)
{
	struct walk walk;

	kernel.words[0] = IN(FRAMED);
	kernel.words[20] = at(30);
	kernel.words[21] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, IN(LOSES), 0, at(20)), 2));
	expect_end(&walk, STOKE_WALK_UNSUPPORTED);
	/* nor by itself */
	kernel.words[0] = GENERATED + 0x100;
	cr_assert(eq(uint, walk_from(&walk, IN(LOSES), 0, at(20)), 2));
	expect_end(&walk, STOKE_WALK_BAD_FP);
}

Test(tables, learn_a_lost_frame_pointer_again)
{
	struct walk walk;

	kernel.words[0] = IN(PUSHES); /* saved fp of its own caller */
	kernel.words[1] = at(20);
	kernel.words[2] = IN(FRAMED);
	kernel.words[20] = 1;
	kernel.words[21] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, IN(LOSES), 0, at(50)), 4));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, leave_generated_code_and_gaps_to_frame_pointers)
{
	struct walk walk;

	/* generated -> a gap of the program (V8's builtins) -> PUSHES, without a frame pointer */
	kernel.words[10] = at(20);
	kernel.words[11] = IN(GAP);
	kernel.words[20] = at(33);
	kernel.words[21] = IN(PUSHES);
	kernel.words[22] = 0x55;
	kernel.words[23] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, GENERATED + 0x100, 0, at(10)), 4));
	cr_assert(eq(u64, frames[1], IN(GAP)));
	cr_assert(eq(u64, frames[2], IN(PUSHES)));
	cr_assert(eq(u64, frames[3], IN(ENTRY)));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, end_at_an_address_that_is_no_code)
{
	struct walk walk;

	kernel.words[10] = at(20);
	kernel.words[11] = 0x7d000000ad8;
	kernel.words[20] = at(30);
	kernel.words[21] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, GENERATED + 0x100, 0, at(10)), 2));
	expect_end(&walk, STOKE_WALK_NO_MAPPING);
}

Test(tables, see_a_table_that_became_ready)
{
	struct walk walk;
	const struct stored *stored = &made.library;

	kernel.words[2] = IN(ENTRY);
	cr_assert(eq(uint, walk_from(&walk, PENDING + 0x100, 0, 3), 1));
	publisher_upgrade(made.publisher, 1, 1, stored, PENDING - 0x1000);
	cr_assert(eq(uint, walk_from(&walk, PENDING + 0x100, 0, 3), 2));
	expect_end(&walk, STOKE_WALK_FIRST);
}

Test(tables, refuse_a_slice_that_has_gone)
{
	struct walk walk;
	struct stoke_space old = kernel.space;

	publisher_drop(made.publisher, 1, 5);
	walk_begin(&walk, IN(PUSHES), at(0), 0);
	cr_assert(not(walk_use(&walk, &old)));
	cr_assert(eq(u32, walk.nr_mappings, 0));
}

Test(tables, walk_deep_recursion_with_few_reads)
{
	struct walk walk;
	size_t depth = 1000;

	/* PUSHES + 0x11: 16 bytes a frame, fp and return address */
	for (size_t i = 0; i < depth; i++) {
		kernel.words[i * 2] = i;
		kernel.words[i * 2 + 1] = i + 1 < depth ? IN(PUSHES) : IN(ENTRY);
	}
	kernel.reads = 0;
	cr_assert(eq(uint, walk_from(&walk, IN(PUSHES), 0, 0), depth + 1));
	expect_end(&walk, STOKE_WALK_FIRST);
	cr_assert(le(uint, kernel.reads, depth * 16 / WALK_WINDOW_BYTES + 2));
}

Test(tables, end_at_the_limit_of_frames)
{
	struct walk walk;

	for (size_t i = 0; i < STACK_WORDS; i++)
		kernel.words[i] = IN(PUSHES);
	cr_assert(eq(uint, walk_from(&walk, IN(PUSHES), 0, 0), STOKE_MAX_USER_FRAMES));
	expect_end(&walk, STOKE_WALK_DEPTH);
}
