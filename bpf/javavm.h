/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_JAVAVM_H
#define STOKE_BPF_JAVAVM_H

/* What walks must know of a Java VM (java.h): found in user space, shared with the kernel. */

#include <linux/types.h>

#define STOKE_JAVA_HEAPS 4 /* HotSpot has 1 or 3 */
#define STOKE_MAX_JAVAS	 256 /* processes at a time */

/* Bytes of a block that are read: header of the block, then of the code in it. */
#define STOKE_JAVA_BLOCK_BYTES 160

/* A number within a block's first bytes. bits 0: there is none. */
struct stoke_java_field {
	__u8 offset, bits;
};

struct stoke_java_heap {
	__u64 start, size; /* as reserved */
	__u64 segments; /* its map: a byte a segment, steps back to where the block begins */
};

/* Where the VM of a process keeps what. All zero: not known. */
struct stoke_java {
	__u64 start, size; /* all heaps lie in it */
	struct stoke_java_heap heaps[STOKE_JAVA_HEAPS];
	__u64 interpreter, interpreter_size;
	__u64 call_return; /* where Java code that native code called returns to */
	__u64 compiled_name; /* where the name of compiled methods is; 0: a walk will learn it */
	__u32 nr_heaps;
	__u8 segment_bits;
	__u8 blob; /* offset of the code's own header in a block */
	struct stoke_java_field used, name, begin, end, frame_words, complete;
	__u16 constants; /* Method -> its constant part */
	__u16 bytecode; /* and from there to its bytecode */
	__s16 bytecode_pointer; /* from rbp of an interpreted frame */
	__u16 unused;
};

#endif
