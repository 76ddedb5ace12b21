/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_JAVA_H
#define STOKE_BPF_JAVA_H

/*
 * One step of a walk out of code that HotSpot, the Java VM, keeps in its code cache: compiled,
 * interpreted, or glue. No table is made of it, since it comes and goes all the time: the VM's own
 * bookkeeping is read in the target, at the moment of the sample. An address leads by the heap's
 * map of segments to the block that holds it, whose header says what it is and how large its
 * frames are. Compiled for BPF and for the host, as walk.h.
 *
 * x86-64. Frames are as HotSpot 8 to 25 makes them (src/hotspot/cpu/x86).
 */

#include "bpf/javavm.h"
#include "bpf/walk.h"

/* What a walk keeps of a VM. */
struct java {
	__u64 start, size; /* of the code cache; size 0: not a Java VM, or none known */
	__u32 index; /* of its struct stoke_java */
	__u32 last; /* walk->nr at the last step here */
	__u64 note; /* on the frame that the step was from; 0: none */
	/* The code where the walk was last: a frame's caller is often of the same. */
	__u64 code, code_size;
	__u32 kind; /* enum java_kind */
	__s32 frame_bytes, complete;
	__u32 unused;
	__u64 block[32];
	__u8 around[64]; /* code around the address that was interrupted */
};

/* How frames look. */
enum java_kind {
	JAVA_COMPILED = 1, /* of a known size */
	JAVA_STUBS = 2, /* many routines in one block; rbp is a frame pointer in most */
	JAVA_PLAIN = 3, /* none: jumps on, or returns */
	JAVA_OTHER = 4, /* of a known size, but its beginning is not told */
};

/* 8 letters as a word in memory. */
#define JAVA_NAME(a, b, c, d, e, f, g, h)                                                          \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
		(__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define JAVA_NAME_COMPILED JAVA_NAME('n', 'm', 'e', 't', 'h', 'o', 'd', '\0')
#define JAVA_NAME_NATIVE   JAVA_NAME('n', 'a', 't', 'i', 'v', 'e', ' ', 'n')
#define JAVA_NAME_STUBS	   JAVA_NAME('S', 't', 'u', 'b', 'R', 'o', 'u', 't')

/* A segment's byte leads back by less than this; a block of more segments takes several steps. */
#define JAVA_MAX_HOPS	  48
#define JAVA_FREE	  0xff
#define JAVA_BEFORE	  32 /* bytes of `around` before the address */
#define JAVA_SEARCH_WORDS 7 /* for a return address, above where it belongs */
#define JAVA_STUB_WORDS	  16
/* Where an adapter that calls the VM has r13: floating point state of 512 bytes (8) or 2688 (9 on,
 * whatever the processor), then r15, r14, r13; and how much it saves at most. */
#define JAVA_SAVED_R13	  (512 + 2 * 8)
#define JAVA_SAVED_MORE	  (2688 - 512)
#define JAVA_SAVED_MAX	  4096
#define JAVA_REGISTER_RAX 0
#define JAVA_REGISTER_RBX 3
#define JAVA_REGISTER_R13 13

walk_inline void java_begin(struct java *java)
{
	java->size = 0;
	java->last = 0;
	java->note = 0;
	java->code_size = 0;
}

walk_inline void java_use(struct java *java, const struct stoke_java *vm, __u32 index)
{
	java->start = vm->start;
	java->size = vm->size;
	java->index = index;
}

/* Is this address in the code cache? */
walk_inline int java_covers(const struct java *java, __u64 address)
{
	return address - java->start < java->size;
}

walk_inline __u64 java_field(const struct java *java, struct stoke_java_field field)
{
	__u64 word = java->block[(field.offset >> 3) & 31] >> ((field.offset & 7) * 8);

	return field.bits < 64 ? word & ((1ull << (field.bits & 63)) - 1) : word;
}

walk_inline __s32 java_signed(const struct java *java, struct stoke_java_field field)
{
	__u64 word = java_field(java, field);

	return field.bits == 16 ? (__s16)word : (__s32)word;
}

/* The block that holds an address of a heap: its own address, or 0. */
walk_inline __u64 java_find_block(
	const struct walk *walk, const struct stoke_java *vm, __u64 address)
{
	__u64 start = 0, segments = 0, segment;
	__u8 back = 0;

	for (int i = 0; i < STOKE_JAVA_HEAPS; i++) {
		if (address - vm->heaps[i].start < vm->heaps[i].size) {
			start = vm->heaps[i].start;
			segments = vm->heaps[i].segments;
		}
	}
	if (!start)
		return 0;
	segment = (address - start) >> (vm->segment_bits & 31);
	for (int i = 0; i < JAVA_MAX_HOPS; i++) {
		if (walk_read(walk, &back, 1, segments + segment) || back == JAVA_FREE ||
			back > segment)
			return 0;
		if (!back)
			return start + (segment << (vm->segment_bits & 31));
		segment -= back;
	}
	return 0;
}

walk_inline enum java_kind java_kind_of(
	const struct walk *walk, struct java *java, struct stoke_java *vm)
{
	__u64 name_at = java_field(java, vm->name), name = 0;

	if (name_at && name_at == vm->compiled_name)
		return JAVA_COMPILED;
	if (walk_read(walk, &name, sizeof(name), name_at))
		return JAVA_PLAIN;
	if (name == JAVA_NAME_COMPILED) {
		vm->compiled_name = name_at; /* the same for all of them */
		return JAVA_COMPILED;
	}
	if (name == JAVA_NAME_NATIVE)
		return JAVA_COMPILED;
	if (name == JAVA_NAME_STUBS)
		return JAVA_STUBS;
	return java->frame_bytes > 0 ? JAVA_OTHER : JAVA_PLAIN;
}

/* Which code is there, and what its header says. 0: none. */
walk_inline int java_find_code(
	const struct walk *walk, struct java *java, struct stoke_java *vm, __u64 address)
{
	__u64 block, begin, end;

	if (address - java->code < java->code_size)
		return 1;
	java->code_size = 0;
	block = java_find_block(walk, vm, address);
	if (!block || walk_read(walk, java->block, STOKE_JAVA_BLOCK_BYTES, block) ||
		!java_field(java, vm->used))
		return 0;
	begin = java_field(java, vm->begin);
	end = java_field(java, vm->end);
	if (vm->begin.bits != 64)
		begin += block + vm->blob;
	if (vm->end.bits != 64)
		end += block + vm->blob;
	if (address < begin || address >= end)
		return 0;
	java->frame_bytes = java_signed(java, vm->frame_words) * 8;
	java->complete = java_signed(java, vm->complete);
	java->kind = java_kind_of(walk, java, vm);
	java->code = begin;
	java->code_size = end - begin;
	return 1;
}

/* The caller's address is at `at`, or some words above, where only the code cache is believed. The
 * word before it is the caller's frame pointer. */
walk_inline int java_return_from(
	struct walk *walk, const struct java *java, __u64 at, int keeps_fp, int words)
{
	__u64 fp = 0, ip = 0;

	if (!keeps_fp && walk_load(walk, at - 8, &fp))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	for (int i = 0; i < JAVA_STUB_WORDS; i++) {
		if (i >= words)
			break;
		if (walk_load(walk, at, &ip))
			return walk_stop(walk, STOKE_WALK_UNREADABLE);
		at += 8;
		if (java_covers(java, ip)) {
			if (!keeps_fp)
				walk->lost = 0;
			return walk_move(walk, ip, at, keeps_fp ? walk->fp : fp);
		}
		fp = ip;
	}
	return walk_stop(walk, STOKE_WALK_NO_RETURN);
}

/* What a function has done to its frame where it was interrupted. */
enum java_progress {
	JAVA_NOTHING, /* the return address is on top */
	JAVA_PUSHED, /* the caller's rbp, then the return address */
	JAVA_MOVED, /* the frame is there, rbp is still the caller's */
	JAVA_COMPLETE,
};

#define JAVA_AT(i) java->around[JAVA_BEFORE + (i)]

/* At the end of a function: `ret`; `pop rbp` and what follows it, which polls for safepoints. */
walk_inline enum java_progress java_leaving(const struct java *java)
{
	__u8 first = JAVA_AT(0), second = JAVA_AT(1), third = JAVA_AT(2);
	int popped = JAVA_AT(-1) == 0x5d;

	if (first == 0xc3 || (first == 0xf3 && second == 0xc3))
		return JAVA_NOTHING;
	if (first == 0x5d)
		return JAVA_PUSHED;
	/* cmp rsp,[r15+..]; ja ..; ret (17 on) */
	if (popped && first == 0x49 && second == 0x3b && (third == 0x67 || third == 0xa7))
		return JAVA_NOTHING;
	if (first == 0x0f && second == 0x87 && JAVA_AT(6) == 0xc3)
		return JAVA_NOTHING;
	/* mov r10,[r15+..]; test [r10],eax; ret (10 on) */
	if (popped && first == 0x4d && second == 0x8b && third == 0x97)
		return JAVA_NOTHING;
	if (first == 0x41 && second == 0x85 && third == 0x02 && JAVA_AT(3) == 0xc3)
		return JAVA_NOTHING;
	/* test [rip+..],eax; ret (8) */
	if (first == 0x85 && second == 0x05 && JAVA_AT(6) == 0xc3)
		return JAVA_NOTHING;
	return JAVA_COMPLETE;
}

/* Was rbp just pushed, and perhaps made the frame pointer? */
walk_inline int java_has_pushed(const struct java *java)
{
	if (JAVA_AT(-1) == 0x55)
		return 1;
	return JAVA_AT(-4) == 0x55 && JAVA_AT(-3) == 0x48 &&
	       ((JAVA_AT(-2) == 0x8b && JAVA_AT(-1) == 0xec) ||
		       (JAVA_AT(-2) == 0x89 && JAVA_AT(-1) == 0xe5));
}

/* At the beginning of a compiled method: `push rbp; sub rsp,..`, or `sub rsp,..; mov [rsp+..],rbp`.
 */
walk_inline enum java_progress java_entering(const struct java *java)
{
	int made = 0;

	if (java_has_pushed(java))
		return JAVA_PUSHED;
	for (int i = 0; i + 4 <= JAVA_BEFORE; i++) {
		if (java->around[i] == 0x48 && (java->around[i + 1] & 0xfd) == 0x81 &&
			java->around[i + 2] == 0xec) {
			made = 1;
			break;
		}
	}
	if (!made)
		return JAVA_NOTHING;
	return JAVA_AT(0) == 0x48 && JAVA_AT(1) == 0x89 && JAVA_AT(2) == 0x6c && JAVA_AT(3) == 0x24
		       ? JAVA_MOVED
		       : JAVA_COMPLETE;
}

walk_inline int java_read_around(struct walk *walk, struct java *java)
{
	return walk_read(walk, java->around, sizeof(java->around), walk->ip - JAVA_BEFORE);
}

walk_inline int java_by_progress(
	struct walk *walk, const struct java *java, enum java_progress progress)
{
	if (progress == JAVA_NOTHING)
		return java_return_from(walk, java, walk->sp, 1, JAVA_SEARCH_WORDS);
	if (progress == JAVA_PUSHED)
		return java_return_from(walk, java, walk->sp + 8, 0, JAVA_SEARCH_WORDS);
	return java_return_from(walk, java, walk->sp + java->frame_bytes - 8,
		progress == JAVA_MOVED, JAVA_SEARCH_WORDS);
}

walk_inline int java_from_compiled(struct walk *walk, struct java *java)
{
	enum java_progress progress = JAVA_COMPLETE;

	if (walk->interrupted && java_read_around(walk, java) == 0) {
		progress = java_leaving(java);
		if (progress == JAVA_COMPLETE && (__s64)(walk->ip - java->code) < java->complete)
			progress = java_entering(java);
	}
	if (progress >= JAVA_MOVED && java->frame_bytes <= 0)
		return walk_stop(walk, STOKE_WALK_NO_CODE);
	return java_by_progress(walk, java, progress);
}

/* Is this where native code of the process goes on? */
walk_inline int java_is_native(struct walk *walk, __u64 ip)
{
	if (walk_locate(walk, ip - 1))
		return walk->kind == STOKE_MAPPING_TABLE;
	walk->size = 0;
	return 0;
}

/* The VM's own routines, which set rbp; some that are called at a method's end or beginning do not.
 */
walk_inline int java_from_stub(struct walk *walk, struct java *java, const struct stoke_java *vm)
{
	enum java_progress progress = JAVA_COMPLETE;
	__u64 fp = walk->fp, ip = 0, word = 0;

	if (walk->ip == vm->call_return)
		return walk_by_frame_pointer(walk); /* into the VM */
	if (walk->interrupted && java_read_around(walk, java) == 0) {
		progress = java_leaving(java);
		if (progress == JAVA_COMPLETE && JAVA_AT(0) == 0x55)
			progress = JAVA_NOTHING;
		else if (progress == JAVA_COMPLETE && java_has_pushed(java))
			progress = JAVA_PUSHED;
	}
	if (progress < JAVA_MOVED) {
		__u64 at = walk->sp + (progress == JAVA_PUSHED ? 8 : 0);

		/* Called by the VM. */
		if (walk_load(walk, walk->sp, &fp) || walk_load(walk, at, &ip))
			return walk_stop(walk, STOKE_WALK_UNREADABLE);
		if (!java_covers(java, ip) && java_is_native(walk, ip))
			return walk_move(walk, ip, at + 8, progress == JAVA_PUSHED ? fp : walk->fp);
		return java_by_progress(walk, java, progress);
	}
	if (java->kind == JAVA_OTHER &&
		java_return_from(walk, java, walk->sp + java->frame_bytes - 8, 0, 4) == 0)
		return 0;
	if (!walk->lost && !(fp & 7) && fp >= walk->sp && fp - walk->sp <= WALK_MAX_FRAME_BYTES &&
		walk_load(walk, fp + 8, &ip) == 0) {
		/* The barrier at a method's entry has a word of its own before its frame. */
		if (ip == ~0ull && walk_load(walk, fp, &word) == 0 &&
			walk_load(walk, fp + 16, &ip) == 0 && java_covers(java, ip))
			return walk_move(walk, ip, fp + 24, word);
		if (java_covers(java, ip) || (walk->interrupted && java_is_native(walk, ip)))
			return walk_by_frame_pointer(walk);
	}
	/* Called by the VM: the way back is in one of its own files. */
	if (walk->ip - vm->call_return + 512 < 1024)
		return walk_by_frame_pointer(walk);
	for (int i = 0; i < JAVA_STUB_WORDS; i++) {
		/* Elsewhere what lies there may be anything. */
		if (!walk->interrupted || walk_load(walk, walk->sp + i * 8, &ip))
			break;
		if (java_covers(java, ip))
			return walk_move(walk, ip, walk->sp + i * 8 + 8, walk->fp);
	}
	return walk_stop(walk, STOKE_WALK_NO_RETURN);
}

/* The VM was called from code without a frame: from where a method has ended by an exception, on a
 * stack that was perhaps aligned; or from an adapter that has a call mended, with all registers
 * saved, r13 among them, which was made the stack pointer of before. */
walk_inline int java_from_calling(struct walk *walk, const struct java *java)
{
	__u64 saved = walk->sp + JAVA_SAVED_R13, before = 0, ip = 0;

	if (walk_load(walk, walk->sp + 8, &ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	if (java_covers(java, ip))
		return walk_move(walk, ip, walk->sp + 16, walk->fp);
	for (int i = 0; i < 2; i++) {
		if (walk_load(walk, saved + i * JAVA_SAVED_MORE, &before))
			break;
		if (!(before & 7) && before > walk->sp && before - walk->sp <= JAVA_SAVED_MAX &&
			walk_load(walk, before, &ip) == 0 && java_covers(java, ip))
			return walk_move(walk, ip, before + 8, walk->fp);
	}
	return walk_stop(walk, STOKE_WALK_NO_RETURN);
}

/* Adapters, dispatch: whoever called the method that they lead to is on top of the stack, or was
 * just taken from there. Some routines are called by native code. */
walk_inline int java_from_plain(struct walk *walk, const struct java *java)
{
	__u64 ip = 0, held = walk->registers[JAVA_REGISTER_RAX];

	if (walk_load(walk, walk->sp, &ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	if (java_covers(java, ip) || (walk->interrupted && java_is_native(walk, ip)))
		return walk_move(walk, ip, walk->sp + 8, walk->fp);
	if (!walk->interrupted)
		return java_from_calling(walk, java);
	if (walk->known && java_covers(java, held))
		return walk_move(walk, held, walk->sp, walk->fp);
	return java_return_from(walk, java, walk->sp, 1, JAVA_STUB_WORDS);
}

/* Which method, and where in it. 0: this is no Method. */
walk_inline __u64 java_method_note(
	const struct walk *walk, const struct stoke_java *vm, __u64 method, __u64 pointer)
{
	__u64 constants = 0, index;

	if (!method || (method & 7) || method >> 47 ||
		walk_read(walk, &constants, sizeof(constants), method + vm->constants))
		return 0;
	if (!constants || (constants & 7) || constants >> 47)
		return 0;
	index = pointer - (constants + vm->bytecode);
	if (index >= STOKE_NO_BYTECODE_INDEX)
		index = STOKE_NO_BYTECODE_INDEX;
	return (__u64)STOKE_NOTE_METHOD << 60 | method >> 3 << 16 | index;
}

/* The interpreter at the beginning of a method, while r13 is the caller's stack pointer: the frame
 * is being made. */
walk_inline int java_from_entry(struct walk *walk, struct java *java, const struct stoke_java *vm)
{
	__u64 sender = walk->registers[JAVA_REGISTER_R13], fp = walk->fp;
	__u64 held = walk->registers[JAVA_REGISTER_RAX], first = 0, second = 0;

	java->note = java_method_note(walk, vm, walk->registers[JAVA_REGISTER_RBX], 0);
	if (fp >= walk->sp && fp + 16 <= sender && walk_load(walk, fp, &first) == 0 &&
		walk_load(walk, fp + 8, &second) == 0 && java_covers(java, second))
		return walk_move(walk, second, sender, first);
	if (walk_load(walk, walk->sp, &first) || walk_load(walk, walk->sp + 8, &second))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	if (java_covers(java, first))
		return walk_move(walk, first, sender, fp);
	if (java_covers(java, held))
		return walk_move(walk, held, sender, fp);
	if (java_covers(java, second))
		return walk_move(walk, second, sender, first);
	return walk_stop(walk, STOKE_WALK_NO_RETURN);
}

/* At the end of a method, when its frame is gone: rbx is the caller's stack pointer. */
walk_inline int java_from_exit(struct walk *walk, const struct java *java)
{
	__u64 sender = walk->registers[JAVA_REGISTER_RBX], ip = 0;

	if (!walk->known)
		return walk_stop(walk, STOKE_WALK_NO_RETURN);
	if (walk_load(walk, walk->sp, &ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	if (!java_covers(java, ip))
		return java_from_plain(walk, java);
	if ((sender & 7) || sender - walk->sp > WALK_MAX_FRAME_BYTES || sender <= walk->sp)
		sender = walk->sp + 8;
	return walk_move(walk, ip, sender, walk->fp);
}

/* rbp - 8: the caller's stack pointer, rbp - 24: Method. */
walk_inline int java_from_interpreter(
	struct walk *walk, struct java *java, const struct stoke_java *vm)
{
	__u64 fp = walk->fp, sender = walk->registers[JAVA_REGISTER_R13];
	__u64 pointer = 0, method = 0, caller_fp = 0, ip = 0;
	int known = walk->interrupted && walk->known;

	if (known && !(sender & 7) && sender > walk->sp &&
		sender - walk->sp <= WALK_MAX_FRAME_BYTES)
		return java_from_entry(walk, java, vm);
	if (walk->lost || (fp & 7) || fp < walk->sp || fp - walk->sp > WALK_MAX_FRAME_BYTES)
		return java_from_exit(walk, java);
	/* Upwards, as a window is read. */
	if (walk_load(walk, fp + vm->bytecode_pointer, &pointer) ||
		walk_load(walk, fp - 24, &method) || walk_load(walk, fp - 8, &sender) ||
		walk_load(walk, fp, &caller_fp) || walk_load(walk, fp + 8, &ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	if (known)
		pointer = walk->registers[JAVA_REGISTER_R13];
	java->note = java_method_note(walk, vm, method, pointer);
	if (!java->note && known)
		java->note =
			java_method_note(walk, vm, walk->registers[JAVA_REGISTER_RBX], pointer);
	if (!java_covers(java, ip))
		return known ? java_from_exit(walk, java) : walk_stop(walk, STOKE_WALK_NO_RETURN);
	if ((sender & 7) || sender < fp + 16 || sender - fp > WALK_MAX_FRAME_BYTES)
		sender = fp + 16;
	return walk_move(walk, ip, sender, caller_fp);
}

walk_inline int java_from(struct walk *walk, struct java *java, struct stoke_java *vm)
{
	__u64 address = walk->ip - (walk->interrupted ? 0 : 1);
	int called = java->last && java->last + 1 == walk->nr; /* by Java code */

	if (address - vm->interpreter < vm->interpreter_size)
		return java_from_interpreter(walk, java, vm);
	if (!java_find_code(walk, java, vm, address))
		return walk_stop(walk, STOKE_WALK_NO_CODE);
	switch (java->kind) {
	case JAVA_COMPILED:
		return java_from_compiled(walk, java);
	case JAVA_PLAIN:
		return java_from_plain(walk, java);
	default:
		/* Java code returns into a routine of the VM where the rest of a virtual thread
		 * would have to be brought back to the stack. */
		if (called && java->kind == JAVA_STUBS && walk->ip != vm->call_return)
			java->note = (__u64)STOKE_NOTE_GAP << 60 | STOKE_GAP_CONTINUATION;
		return java_from_stub(walk, java, vm);
	}
}

/* As walk_step(), where java_covers() the address. java->note is on the frame that it was from,
 * also when there is no caller. */
walk_inline int java_step(struct walk *walk, struct java *java, struct stoke_java *vm)
{
	__u32 nr = walk->nr;

	/* Not this VM's any more. */
	if (vm->start != java->start || vm->size != java->size)
		return walk_stop(walk, STOKE_WALK_NO_CODE);
	if (java_from(walk, java, vm))
		return 1;
	java->last = nr;
	return walk_count(walk);
}

#endif
