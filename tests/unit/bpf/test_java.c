/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf/java.h, as the kernel runs it, over a code cache and a stack made here. */
#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

#define STACK	     0x7ffc00000000ull
#define STACK_WORDS  8192
#define CACHE	     0x7e0000000000ull
#define CACHE_BYTES  0x20000u
#define SEGMENT_BITS 7
#define SEGMENTS     0x7d0000000000ull
#define HEAP	     0x7c0000000000ull /* names, methods */
#define HEAP_BYTES   4096u
#define NATIVE	     0x7f0000000000ull /* a file, of which one rule is known */
#define NATIVE_BYTES 0x1000u
#define BLOCK_HEADER 16u
#define CODE	     0x100u /* from a block to its code */
#define CODE_BYTES   0x300u

/* The method and its constant part, in HEAP. */
#define METHOD	  (HEAP + 0x800)
#define CONSTANTS (HEAP + 0x900)
#define BYTECODE  48

static struct {
	uint8_t cache[CACHE_BYTES], segments[CACHE_BYTES >> SEGMENT_BITS], heap[HEAP_BYTES];
	uint64_t stack[STACK_WORDS];
	struct stoke_mapping *native;
} memory;

struct walk;

static inline int copy_from(
	const void *part, uint64_t start, uint64_t bytes, void *to, __u32 size, __u64 from)
{
	if (from < start || from - start > bytes || bytes - (from - start) < size)
		return -1;
	memcpy(to, (const uint8_t *)part + (from - start), size);
	return 0;
}

static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	if (copy_from(memory.cache, CACHE, sizeof(memory.cache), to, size, from) == 0 ||
		copy_from(memory.segments, SEGMENTS, sizeof(memory.segments), to, size, from) ==
			0 ||
		copy_from(memory.heap, HEAP, sizeof(memory.heap), to, size, from) == 0 ||
		copy_from(memory.stack, STACK, sizeof(memory.stack), to, size, from) == 0)
		return 0;
	return -1;
}

#include "bpf/table.h"

static const struct stoke_mapping mappings[] = {
	{.kind = STOKE_MAPPING_HEAD},
	{.kind = STOKE_MAPPING_TABLE, .start = NATIVE, .end = NATIVE + NATIVE_BYTES},
};

static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 index)
{
	return index < ARRAY_SIZE(mappings) ? &mappings[index] : NULL;
}

#define NOTHING(type, name)                                                                        \
	static inline const struct type *name(const struct walk *walk, __u32 index)                \
	{                                                                                          \
		return NULL;                                                                       \
	}
NOTHING(stoke_page, walk_page_at)
NOTHING(stoke_shard, walk_shard_at)
NOTHING(stoke_rule, walk_rule_at)

#include "bpf/java.h"

TestSuite(java, .fini = check_leaks);

static struct walk walk;
static struct java java;
static struct stoke_java vm;

#define NAMES 0x100
static uint64_t name(const char *text)
{
	static const char *const all[] = {"nmethod", "native nmethod", "StubRoutines (1)",
		"vtable chunks", "new_instance Runtime1 stub", "I2C/C2I adapters"};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		memcpy(memory.heap + NAMES + i * 32, all[i], strlen(all[i]) + 1);
		if (strcmp(all[i], text) == 0)
			return HEAP + NAMES + i * 32;
	}
	abort();
}

/* Where its code begins. Blocks lie 0x1000 apart; number 0 is the interpreter's. */
static uint64_t block(unsigned i, const char *text, int frame_words, int complete)
{
	uint8_t *at = memory.cache + i * 0x1000u;
	uint64_t word = CACHE + i * 0x1000u + CODE;
	uint32_t number = (uint32_t)frame_words;

	at[8] = 1;
	memcpy(at + BLOCK_HEADER + 32, &word, 8);
	word += CODE_BYTES;
	memcpy(at + BLOCK_HEADER + 40, &word, 8);
	memcpy(at + BLOCK_HEADER + 28, &number, 4);
	number = (uint32_t)complete;
	memcpy(at + BLOCK_HEADER + 20, &number, 4);
	word = name(text);
	memcpy(at + BLOCK_HEADER + 96, &word, 8);
	return CACHE + i * 0x1000u + CODE;
}

static void begin(uint64_t ip, uint64_t sp, uint64_t fp)
{
	walk_begin(&walk, ip, sp, fp);
	walk.known = 1;
	walk.first = 1;
	walk.nr_mappings = 1;
	memset(walk.registers, 0, sizeof(walk.registers));
	java_begin(&java);
	java_use(&java, &vm, 0);
}

static void clear(void)
{
	uint64_t word = CONSTANTS;

	memset(&memory, 0, sizeof(memory));
	for (unsigned i = 0; i < sizeof(memory.segments); i++)
		memory.segments[i] = (uint8_t)(i % (0x1000 >> SEGMENT_BITS));
	memcpy(memory.heap + (METHOD - HEAP) + 8, &word, 8);
	vm = (struct stoke_java){
		.start = CACHE,
		.size = CACHE_BYTES,
		.heaps = {{.start = CACHE, .size = CACHE_BYTES, .segments = SEGMENTS}},
		.interpreter = CACHE + CODE,
		.interpreter_size = CODE_BYTES,
		.nr_heaps = 1,
		.segment_bits = SEGMENT_BITS,
		.blob = BLOCK_HEADER,
		.used = {8, 8},
		.name = {BLOCK_HEADER + 96, 64},
		.begin = {BLOCK_HEADER + 32, 64},
		.end = {BLOCK_HEADER + 40, 64},
		.frame_words = {BLOCK_HEADER + 28, 32},
		.complete = {BLOCK_HEADER + 20, 32},
		.constants = 8,
		.bytecode = BYTECODE,
		.bytecode_pointer = -64,
	};
}

static void put(uint64_t at, uint64_t word)
{
	memory.stack[(at - STACK) / 8] = word;
}

static void code(uint64_t at, const char *bytes, size_t size)
{
	memcpy(memory.cache + (at - CACHE), bytes, size);
}

/* Once, as it is large. */
static __attribute__((noinline)) int step(void)
{
	return java_step(&walk, &java, &vm);
}

#define expect_caller(ip_, sp_, fp_)                                                               \
	do {                                                                                       \
		cr_assert(eq(int, step(), 0), "end %u", walk.end);                                 \
		cr_assert(eq(u64, walk.ip, ip_));                                                  \
		cr_assert(eq(u64, walk.sp, sp_));                                                  \
		cr_assert(eq(u64, walk.fp, fp_));                                                  \
	} while (0)

#define expect_end(why)                                                                            \
	do {                                                                                       \
		cr_assert(eq(int, step(), 1));                                                     \
		cr_assert(eq(u32, walk.end, why));                                                 \
	} while (0)

Test(java, walks_compiled_frames_by_their_size)
{
	uint64_t inner, outer;

	clear();
	inner = block(1, "nmethod", 4, 16);
	outer = block(2, "native nmethod", 6, 16);
	begin(inner + 0x40, STACK, 0x1234);
	put(STACK + 16, 0xf00); /* rbp of the caller */
	put(STACK + 24, outer + 0x50);
	put(STACK + 32 + 32, 0xb00);
	put(STACK + 32 + 40, inner + 0x60);
	expect_caller(outer + 0x50, STACK + 32, 0xf00);
	cr_assert(eq(u32, walk.nr, 2));
	expect_caller(inner + 0x60, STACK + 80, 0xb00);
	cr_assert(eq(u64, vm.compiled_name, name("nmethod")), "learned");
}

Test(java, knows_how_far_a_method_is_with_its_frame)
{
	const uint64_t caller_fp = 0xabc0;
	uint64_t inner, outer;

	clear();
	inner = block(1, "nmethod", 4, 0x40);
	outer = block(2, "nmethod", 6, 16);
	code(inner, "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x10\x90", 13);
	/* before push rbp, after it, after the frame was made */
	put(STACK, outer + 8);
	begin(inner, STACK, caller_fp);
	expect_caller(outer + 8, STACK + 8, caller_fp);
	begin(inner + 7, STACK, caller_fp);
	expect_caller(outer + 8, STACK + 8, caller_fp);
	put(STACK, caller_fp);
	put(STACK + 8, outer + 8);
	begin(inner + 8, STACK, 0x77);
	expect_caller(outer + 8, STACK + 16, caller_fp);
	put(STACK + 16, caller_fp);
	put(STACK + 24, outer + 0x18);
	begin(inner + 12, STACK, 0x77);
	expect_caller(outer + 0x18, STACK + 32, caller_fp);

	/* sub rsp first: rbp is saved later */
	code(inner + 0x20, "\x48\x83\xec\x18\x48\x89\x6c\x24\x10", 9);
	begin(inner + 0x24, STACK, 0x55);
	expect_caller(outer + 0x18, STACK + 32, 0x55);
	begin(inner + 0x29, STACK, 0x55);
	expect_caller(outer + 0x18, STACK + 32, caller_fp);
}

Test(java, knows_how_much_of_its_frame_a_method_has_left)
{
	static const struct {
		const char *bytes;
		size_t size, at;
	} returns[] = {
		{"\xc3", 1, 0},
		{"\x5d\x49\x3b\xa7\x88\x03\x00\x00\x0f\x87\x01\x02\x03\x04\xc3", 15, 1},
		{"\x5d\x49\x3b\xa7\x88\x03\x00\x00\x0f\x87\x01\x02\x03\x04\xc3", 15, 8},
		{"\x5d\x4d\x8b\x97\x08\x01\x00\x00\x41\x85\x02\xc3", 12, 1},
		{"\x5d\x4d\x8b\x97\x08\x01\x00\x00\x41\x85\x02\xc3", 12, 8},
		{"\x5d\x85\x05\x01\x02\x03\x04\xc3", 8, 1},
	};
	uint64_t inner, outer;

	clear();
	inner = block(1, "nmethod", 4, 16);
	outer = block(2, "nmethod", 6, 16);
	put(STACK, outer + 8);
	for (size_t i = 0; i < ARRAY_SIZE(returns); i++) {
		code(inner + 0x80, returns[i].bytes, returns[i].size);
		begin(inner + 0x80 + returns[i].at, STACK, 0x99);
		expect_caller(outer + 8, STACK + 8, 0x99);
	}
	put(STACK, 0x4321);
	put(STACK + 8, outer + 8);
	code(inner + 0x80, "\x5d\xc3", 2);
	begin(inner + 0x80, STACK, 0x99);
	expect_caller(outer + 8, STACK + 16, 0x4321);
}

Test(java, looks_further_up_for_a_return_address_and_not_too_far)
{
	uint64_t inner, outer;

	clear();
	inner = block(1, "nmethod", 4, 16);
	outer = block(2, "nmethod", 6, 16);
	begin(inner + 0x80, STACK, 0);
	put(STACK + 24, 7);
	put(STACK + 32, 0xbb);
	put(STACK + 40, outer + 4);
	expect_caller(outer + 4, STACK + 48, 0xbb);
	put(STACK + 40, 0);
	put(STACK + 24 + 7 * 8, outer + 4);
	begin(inner + 0x80, STACK, 0);
	expect_end(STOKE_WALK_NO_RETURN);
}

Test(java, walks_interpreted_frames_and_says_of_which_method)
{
	const uint64_t fp = STACK + 0x100;

	clear();
	block(0, "nmethod", 4, 16);
	put(fp - 64, CONSTANTS + BYTECODE + 5);
	put(fp - 24, METHOD);
	put(fp - 8, fp + 0x40); /* the caller's stack pointer: not rbp + 16 */
	put(fp, STACK + 0x200);
	put(fp + 8, CACHE + CODE + 0x20);
	begin(CACHE + CODE + 0x10, STACK, fp);
	walk.interrupted = walk.known = 0;
	expect_caller(CACHE + CODE + 0x20, fp + 0x40, STACK + 0x200);
	cr_assert(eq(int, stoke_note_of(java.note), STOKE_NOTE_METHOD));
	cr_assert(eq(u64, stoke_note_method(java.note), METHOD));
	cr_assert(eq(u32, stoke_note_index(java.note), 5));

	/* on top the index is in r13 */
	begin(CACHE + CODE + 0x10, STACK, fp);
	walk.registers[13] = CONSTANTS + BYTECODE + 9;
	expect_caller(CACHE + CODE + 0x20, fp + 0x40, STACK + 0x200);
	cr_assert(eq(u32, stoke_note_index(java.note), 9));

	/* what is no Method is none, and an index that cannot be is not known */
	put(fp - 24, METHOD + 4);
	begin(CACHE + CODE + 0x10, STACK, fp);
	expect_caller(CACHE + CODE + 0x20, fp + 0x40, STACK + 0x200);
	cr_assert(eq(u64, java.note, 0));
	put(fp - 24, METHOD);
	put(fp - 64, 0);
	begin(CACHE + CODE + 0x10, STACK, fp);
	walk.interrupted = walk.known = 0;
	expect_caller(CACHE + CODE + 0x20, fp + 0x40, STACK + 0x200);
	cr_assert(eq(u32, stoke_note_index(java.note), STOKE_NO_BYTECODE_INDEX));
}

Test(java, walks_from_where_the_interpreter_makes_its_frame)
{
	const uint64_t sender = STACK + 0x100, back = CACHE + CODE + 0x30;

	clear();
	block(0, "nmethod", 4, 16);
	/* called */
	put(sender - 8, back);
	begin(CACHE + CODE, sender - 8, STACK + 0x300);
	walk.registers[13] = sender;
	walk.registers[3] = METHOD;
	expect_caller(back, sender, STACK + 0x300);
	cr_assert(eq(u64, stoke_note_method(java.note), METHOD));
	/* the return address is in rax, room for locals is on the stack */
	put(sender - 8, 0);
	put(sender - 16, 0);
	begin(CACHE + CODE, sender - 16, STACK + 0x300);
	walk.registers[13] = sender;
	walk.registers[0] = back;
	expect_caller(back, sender, STACK + 0x300);
	/* rbp is set */
	put(sender - 32, STACK + 0x300);
	put(sender - 24, back);
	begin(CACHE + CODE, sender - 32, sender - 32);
	walk.registers[13] = sender;
	expect_caller(back, sender, STACK + 0x300);
	/* and gone again at the end: rbx is the caller's stack pointer */
	put(STACK, back);
	begin(CACHE + CODE, STACK, 0x1);
	walk.registers[3] = STACK + 0x20;
	expect_caller(back, STACK + 0x20, 0x1);
}

Test(java, goes_back_into_the_vm_through_the_call_stub)
{
	uint64_t stubs;

	clear();
	stubs = block(1, "StubRoutines (1)", 0, -1);
	vm.call_return = stubs + 0x20;
	put(STACK + 0x40, 0xfff0);
	put(STACK + 0x48, NATIVE + 0x10);
	begin(vm.call_return, STACK, STACK + 0x40);
	walk.interrupted = 0;
	expect_caller(NATIVE + 0x10, STACK + 0x50, 0xfff0);
	cr_assert(eq(u64, java.note, 0));
}

Test(java, walks_routines_of_the_vm)
{
	uint64_t stubs, vtable, runtime, outer;

	clear();
	stubs = block(1, "StubRoutines (1)", 0, -1);
	outer = block(2, "nmethod", 6, 16);
	vtable = block(3, "vtable chunks", 0, -1);
	runtime = block(4, "new_instance Runtime1 stub", 4, -1);
	vm.call_return = stubs + 0x2f0;
	/* by rbp, at its ret, and where it pushes rbp */
	put(STACK + 0x40, 0x10);
	put(STACK + 0x48, outer + 1);
	begin(stubs + 0x20, STACK, STACK + 0x40);
	expect_caller(outer + 1, STACK + 0x50, 0x10);
	put(STACK, outer + 2);
	code(stubs + 0x30, "\xc3", 1);
	begin(stubs + 0x30, STACK, STACK + 0x40);
	expect_caller(outer + 2, STACK + 8, STACK + 0x40);
	code(stubs + 0x30, "\x55", 1);
	begin(stubs + 0x30, STACK, STACK + 0x40);
	expect_caller(outer + 2, STACK + 8, STACK + 0x40);
	/* dispatch has no frame */
	begin(vtable + 4, STACK, 0x66);
	expect_caller(outer + 2, STACK + 8, 0x66);
	/* nor has what the VM itself calls */
	put(STACK, NATIVE + 0x20);
	put(STACK + 8, outer + 2);
	begin(vtable + 4, STACK, 0x66);
	expect_caller(NATIVE + 0x20, STACK + 8, 0x66);
	/* slow paths are as large as they say */
	put(STACK + 16, 0x77);
	put(STACK + 24, outer + 3);
	begin(runtime + 9, STACK, 0);
	walk.interrupted = 0;
	expect_caller(outer + 3, STACK + 32, 0x77);
	/* the barrier at a method's entry */
	put(STACK + 0x40, 0x88);
	put(STACK + 0x48, ~0ull);
	put(STACK + 0x50, outer + 4);
	begin(stubs + 0x20, STACK, STACK + 0x40);
	walk.interrupted = 0;
	expect_caller(outer + 4, STACK + 0x58, 0x88);
}

Test(java, walks_from_an_adapter_that_has_a_call_mended)
{
	uint64_t adapter, outer;

	clear();
	adapter = block(1, "I2C/C2I adapters", 0, -1);
	outer = block(2, "nmethod", 6, 16);
	put(STACK + 512 + 16, STACK + 0x300);
	put(STACK + 0x300, outer + 5);
	begin(adapter + 9, STACK, 0x44);
	walk.interrupted = 0;
	expect_caller(outer + 5, STACK + 0x308, 0x44);
	put(STACK + 512 + 16, 0);
	put(STACK + 2688 + 16, STACK + 0xb00);
	put(STACK + 0xb00, outer + 6);
	begin(adapter + 9, STACK, 0x44);
	walk.interrupted = 0;
	expect_caller(outer + 6, STACK + 0xb08, 0x44);
	put(STACK + 2688 + 16, STACK - 8);
	begin(adapter + 9, STACK, 0x44);
	walk.interrupted = 0;
	expect_end(STOKE_WALK_NO_RETURN);
	/* after an exception, the stack was aligned */
	put(STACK + 8, outer + 7);
	begin(adapter + 9, STACK, 0x44);
	walk.interrupted = 0;
	expect_caller(outer + 7, STACK + 16, 0x44);
}

Test(java, notes_that_callers_of_a_virtual_thread_are_in_the_heap)
{
	uint64_t stubs, inner, outer;

	clear();
	stubs = block(1, "StubRoutines (1)", 0, -1);
	inner = block(2, "nmethod", 4, 16);
	outer = block(3, "nmethod", 4, 16);
	vm.call_return = stubs + 0x2f0;
	begin(inner + 0x80, STACK, 0);
	put(STACK + 16, STACK + 0x60);
	put(STACK + 24, stubs + 0x40); /* the barrier that a return goes through */
	put(STACK + 0x60, 0x99);
	put(STACK + 0x68, outer + 0x30);
	expect_caller(stubs + 0x40, STACK + 32, STACK + 0x60);
	cr_assert(eq(u64, java.note, 0));
	expect_caller(outer + 0x30, STACK + 0x70, 0x99);
	cr_assert(eq(int, stoke_note_of(java.note), STOKE_NOTE_GAP));
	cr_assert(eq(u64, java.note & 0xff, STOKE_GAP_CONTINUATION));
}

Test(java, finds_blocks_over_many_segments)
{
	uint64_t inner, outer;

	clear();
	inner = block(1, "nmethod", 4, 16);
	outer = block(2, "nmethod", 4, 16);
	put(STACK + 24, outer + 4);
	/* each step leads back by one only */
	for (unsigned i = 33; i < 64; i++)
		memory.segments[i] = 1;
	begin(inner + CODE_BYTES - 1, STACK, 0);
	expect_caller(outer + 4, STACK + 32, 0);
}

Test(java, believes_no_header_that_cannot_be)
{
	uint64_t inner;

	clear();
	inner = block(1, "nmethod", 4, 16);
	put(STACK + 24, inner + 4);
	begin(inner + CODE_BYTES, STACK, 0); /* behind its code */
	expect_end(STOKE_WALK_NO_CODE);
	begin(CACHE + 0x5000, STACK, 0); /* nothing there */
	expect_end(STOKE_WALK_NO_CODE);
	memory.cache[0x1000 + 8] = 0; /* freed */
	begin(inner, STACK, 0);
	expect_end(STOKE_WALK_NO_CODE);
	memory.cache[0x1000 + 8] = 1;
	memory.segments[(inner - CACHE) >> SEGMENT_BITS] = JAVA_FREE;
	begin(inner, STACK, 0);
	expect_end(STOKE_WALK_NO_CODE);
	memory.segments[(inner - CACHE) >> SEGMENT_BITS] = 200; /* out of the heap */
	begin(inner, STACK, 0);
	expect_end(STOKE_WALK_NO_CODE);
	clear();
	inner = block(1, "nmethod", 0, 16); /* no frame */
	begin(inner + 0x80, STACK, 0);
	expect_end(STOKE_WALK_NO_CODE);
	inner = block(1, "nmethod", -5, 16);
	begin(inner + 0x80, STACK, 0);
	expect_end(STOKE_WALK_NO_CODE);
	inner = block(1, "nmethod", 4, 16);
	begin(inner + 0x80, STACK - 0x1000, 0);
	expect_end(STOKE_WALK_UNREADABLE);
	/* the VM has been replaced */
	begin(inner + 0x80, STACK, 0);
	vm.size /= 2;
	expect_end(STOKE_WALK_NO_CODE);
}

/* Whatever is there: it ends, and goes up. */
Test(java, ends_in_any_memory)
{
	uint64_t seed = 88172645463325252ull;

	clear();
	for (unsigned round = 0; round < 3000; round++) {
		uint8_t *parts[] = {memory.cache, memory.segments, (uint8_t *)memory.stack};
		size_t sizes[] = {0x4000, 0x80, 4096};
		uint64_t before;

		for (unsigned i = 0; i < 300; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			parts[i % 3][seed % sizes[i % 3]] = (uint8_t)(seed >> 40);
			if (i % 5 == 0)
				put(STACK + (seed >> 20) % 512 * 8, CACHE + seed % 0x4000);
		}
		block(round % 3 + 1, round & 1 ? "nmethod" : "StubRoutines (1)",
			(int)(seed >> 33 & 31), 32);
		begin(CACHE + seed % 0x4000, STACK, STACK + (seed >> 30) % 256 * 8);
		for (unsigned i = 0; i < 32; i++)
			walk.registers[i] = i & 1 ? STACK + (seed >> i) % 4096 : seed >> i;
		before = walk.sp;
		while (java_covers(&java, walk.ip) && step() == 0) {
			cr_assert(ge(u64, walk.sp, before));
			before = walk.sp;
		}
		cr_assert(le(u32, walk.nr, STOKE_MAX_USER_FRAMES));
	}
}
