/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_STRUCTS_H
#define STOKE_HOTSPOT_STRUCTS_H

/*
 * Where HotSpot keeps what, by its own word: each libjvm.so from 8 on exports tables of its types,
 * fields and constants for debuggers. Widths come from the types it gives its fields, not from
 * version numbers. What a release has renamed or moved has one name here.
 */

#include <stddef.h>
#include <stdint.h>

#include "process/memory.h"

/* A field of some struct. */
struct hotspot_field {
	uint32_t offset; /* in the struct */
	uint8_t size; /* 1, 2, 4 or 8 bytes; 0: this VM has no such field */
	uint8_t is_signed;
};

struct hotspot_structs {
	/* Variables of the VM: their addresses in the process, 0 when there is no such one. */
	struct {
		uint64_t heap; /* CodeHeap *, of 8; else */
		uint64_t heaps; /* GrowableArray<CodeHeap *> * */
		uint64_t low_bound, high_bound; /* address: of all heaps; not on 8 */
		uint64_t call_stub_return; /* address: where Java returns to native code */
		uint64_t thread_list; /* JavaThread *, up to 11; else */
		uint64_t threads; /* ThreadsList * */
		uint64_t interpreter; /* StubQueue * */
		uint64_t continuation_return; /* address: ContinuationEntry::_return_pc, 25 */
		uint64_t oop_base, oop_shift, klass_base, klass_shift; /* address, int */
		uint64_t flags, nr_flags; /* JVMFlag *, size_t */
		uint64_t major_version; /* int: 11, 17 ...; 25 on 8, too */
		uint64_t release; /* const char *: "17.0.15+6-Debian-1deb12u1" */
	} at;

	struct {
		struct hotspot_field length, data; /* of GrowableArray: int, pointer */
	} array;
	struct { /* CodeHeap; memory and segments are VirtualSpaces in it */
		uint32_t memory, segments;
		struct hotspot_field log2_segment; /* int */
		struct hotspot_field low, high, low_limit,
			high_limit; /* of VirtualSpace; limits: reserved */
		struct hotspot_field block_length,
			block_used; /* of a block's header; in segments */
		uint32_t block_size; /* of that header: a CodeBlob follows */
	} heap;
	struct { /* CodeBlob */
		struct hotspot_field name; /* const char * */
		struct hotspot_field size;
		struct hotspot_field frame_size; /* in words */
		struct hotspot_field frame_complete; /* offset from code begin; -1: never */
		/* From the blob, unless they are 8 bytes: then addresses. */
		struct hotspot_field code_begin, code_end;
		struct hotspot_field data_offset, relocation_size, mutable_data;
		struct hotspot_field kind; /* 25 */
		uint32_t header_size; /* sizeof(CodeBlob) */
	} blob;
	struct { /* nmethod, as what it is derived from */
		struct hotspot_field method; /* Method * */
		struct hotspot_field state, compile_id, level, entry_bci;
		struct hotspot_field verified_entry; /* as code_begin: 8 bytes is an address */
		struct hotspot_field orig_pc; /* offset from sp */
		struct hotspot_field deopt_handler; /* 8 bytes: an address; else from the blob */
		struct hotspot_field metadata; /* offset from the blob; none: 23 on */
		struct hotspot_field scopes_data; /* 8 bytes: an address; else an offset */
		struct hotspot_field scopes_pcs, dependencies; /* offsets */
		/* 23 on: the offsets above count from here */
		struct hotspot_field immutable_data, immutable_size;
		uint32_t size; /* sizeof(nmethod) */
	} nmethod;
	struct { /* a row of the table from code to scopes */
		struct hotspot_field offset, scope;
		uint32_t size;
	} pc_desc;
	struct {
		struct hotspot_field unpack; /* DeoptimizationBlob::_unpack_offset */
	} deopt;
	struct { /* StubQueue */
		struct hotspot_field buffer, limit; /* address, int: the interpreter's code */
	} queue;

	struct { /* Method, ConstMethod, ConstantPool, Klass, Symbol */
		struct hotspot_field constants; /* Method -> ConstMethod * */
		struct hotspot_field pool; /* ConstMethod -> ConstantPool * */
		struct hotspot_field name, signature; /* ConstMethod: indices into the pool */
		struct hotspot_field code_size, flags; /* ConstMethod; flags bit 0: has lines */
		uint32_t code; /* sizeof(ConstMethod): bytecode follows, then lines */
		struct hotspot_field holder; /* ConstantPool -> Klass * */
		uint32_t slots; /* sizeof(ConstantPool): 8 bytes each follow */
		/* Index of the source file's name in the pool: of ConstantPool, or of Klass (8,
		 * 11). */
		struct hotspot_field source_file, klass_source_file;
		struct hotspot_field klass_name; /* Klass -> Symbol * */
		struct hotspot_field klass_layout; /* int: bytes of an instance */
		struct hotspot_field symbol_length; /* u2 */
		uint32_t symbol_body;
	} method;

	struct { /* JavaThread, JavaFrameAnchor, JavaCallWrapper, OSThread, ThreadsList */
		uint32_t anchor; /* JavaThread::_anchor, a JavaFrameAnchor in it */
		struct hotspot_field last_sp, last_pc, last_fp; /* of JavaFrameAnchor */
		uint32_t wrapper_anchor; /* JavaCallWrapper::_anchor, likewise */
		int32_t wrapper; /* words from rbp to the JavaCallWrapper * of an entry frame */
		struct hotspot_field next; /* JavaThread *, up to 11 */
		struct hotspot_field os_thread, object; /* OSThread *; java.lang.Thread */
		struct hotspot_field stack_base, stack_size, state;
		struct hotspot_field continuation; /* JavaThread::_cont_entry, 25 */
		struct hotspot_field tid; /* OSThread: of the innermost pid namespace */
		struct hotspot_field list_length, list; /* of ThreadsList: int, JavaThread ** */
	} thread;
	struct { /* JVMFlag */
		struct hotspot_field name, value; /* const char *, address */
		uint32_t size;
	} flag;

	int major; /* 8, 11, 17 ...: for words and for what no table tells */
	uint8_t excluded; /* 1: UNSIGNED5 leaves out the byte 0 (20 on) */
	uint64_t call_stub_return; /* value of the variable; 0: not made yet */
};

/*
 * Reads the tables of the libjvm.so that has `offset` of its file mapped executable at `start`.
 * 0; -ENOENT: no libjvm there, or one without tables; -EAGAIN: not relocated yet, ask again;
 * -EINVAL: tables that contradict themselves or lack what names need; -ESRCH, -EPERM, -ENOMEM.
 */
int hotspot_structs_read(
	const struct memory *memory, uint64_t start, uint64_t offset, struct hotspot_structs *ret);

/* The number in a copy of a struct of that many bytes: 0 when the field is missing or outside. */
uint64_t hotspot_get(const struct hotspot_field *field, const void *copy, size_t size);
/* Same, with its sign. */
int64_t hotspot_get_signed(const struct hotspot_field *field, const void *copy, size_t size);

#endif
