/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_EVENT_H
#define STOKE_BPF_EVENT_H

/*
 * The one layout that kernel and user space share. Values are never renumbered. All numbers in the
 * machine's byte order; pids as stoke's own PID namespace sees them.
 */

#include <linux/types.h>

#define STOKE_MAX_USER_FRAMES	1024
#define STOKE_MAX_USER_WORDS	(2 * STOKE_MAX_USER_FRAMES) /* a note a frame */
#define STOKE_MAX_KERNEL_FRAMES 127 /* kernel.perf_event_max_stack of most machines */

enum stoke_record_type {
	STOKE_RECORD_SAMPLE = 1,
	STOKE_RECORD_COPY = 2,
};

/* Why the user part of a stack ended. */
enum stoke_walk_end {
	STOKE_WALK_NONE = 0, /* no user part: kernel thread, or not asked for */
	STOKE_WALK_ROOT = 1, /* frame pointer or return address 0: nothing above */
	STOKE_WALK_DEPTH = 2, /* STOKE_MAX_USER_FRAMES reached, or no room in the record */
	STOKE_WALK_UNREADABLE = 3, /* the frame's memory could not be read */
	STOKE_WALK_BAD_FP = 4, /* the frame pointer is no frame pointer: unaligned, below the stack
				  pointer, or too far up */
	STOKE_WALK_EXIT = 5, /* task in exit, its memory is gone: no user part can exist */
	STOKE_WALK_COMPAT = 6, /* 32-bit code: not walked */
	/* By tables alone: */
	STOKE_WALK_FIRST = 7, /* the file says that nothing called this frame, or its return address
				 is 0 */
	STOKE_WALK_NO_MAPPING = 8, /* the last frame is in no executable memory that was known */
	STOKE_WALK_NO_TABLE = 9, /* its file does not tell how to step, and has no frame pointer */
	STOKE_WALK_PENDING = 10, /* its file's table was still being made, or nothing was known of
				  its process: user space can go on where there is a copy */
	STOKE_WALK_UNSUPPORTED = 11, /* a rule that no walk can follow */
	STOKE_WALK_BAD_CFA = 12, /* a rule that leads down the stack */
	/* In a Java VM's code: */
	STOKE_WALK_NO_CODE = 13, /* the last frame is in no code that the VM has there now */
	STOKE_WALK_NO_RETURN = 14, /* no return address where that code's frame keeps it */
};

/*
 * Among user addresses: what more there is to say of the frame whose address stands before it.
 * Recognised by its highest 4 bits, which no address that can be mapped has; a stack's words that
 * look like one are made STOKE_NO_ADDRESS.
 */
enum stoke_note {
	STOKE_NOTE_NONE = 0,
	/* Interpreted code: the Method's address / 8 in 44 bits, then 16 bits of bytecode index,
	 * 0xffff when that is not known. */
	STOKE_NOTE_METHOD = 8,
	STOKE_NOTE_GAP = 9, /* frames are missing between it and the next: enum stoke_gap */
};

enum stoke_gap {
	STOKE_GAP_CONTINUATION = 1, /* a virtual thread's callers are not on the stack, but in the
				       heap */
};

#define STOKE_NO_ADDRESS	(~0ull)
#define STOKE_NO_BYTECODE_INDEX 0xffff

static inline enum stoke_note stoke_note_of(__u64 word)
{
	__u32 kind = word >> 60;

	return kind == STOKE_NOTE_METHOD || kind == STOKE_NOTE_GAP ? (enum stoke_note)kind
								   : STOKE_NOTE_NONE;
}

static inline __u64 stoke_note_method(__u64 word)
{
	return (word >> 16 & ((1ull << 44) - 1)) << 3;
}

static inline __u32 stoke_note_index(__u64 word)
{
	return word & 0xffff;
}

/* A sample. Followed by nr_kernel addresses and then nr_user words, innermost first: __u64 each. */
struct stoke_sample {
	__u16 type; /* STOKE_RECORD_SAMPLE */
	__u8 walk_end; /* enum stoke_walk_end */
	__u8 flags; /* STOKE_SAMPLE_* */
	__u16 nr_kernel, nr_user; /* words: user frames, and notes on them */
	__u64 time_ns; /* bpf_ktime_get_ns(): CLOCK_MONOTONIC */
	__u64 weight; /* period in force: ns for cpu-clock, else events */
	__u64 start_ns; /* group_leader->start_boottime: which incarnation of the pid */
	__u32 pid, tid; /* thread group and thread */
	__u32 cpu;
	__u32 generation; /* of the slice of mappings that the walk used; 0: none, by frame pointers
			   */
	__u64 memory; /* which address space: its mm in the kernel; 0 without a user part */
	/* User registers, for walks without frame pointers: ip, sp, fp. 0 without a user part. */
	__u64 ip, sp, fp;
	char comm[16]; /* of the thread, at this instant; not NUL-terminated when full */
};

#define STOKE_SAMPLE_USER_MODE (1 << 0) /* interrupted in user code */
#define STOKE_SAMPLE_COPIED    (1 << 1) /* its struct stoke_copy is in the ring before it */

/* As far as a per-CPU value of 32 KiB has room. */
#define STOKE_COPY_PAGE_BYTES 4096
#define STOKE_COPY_PAGES      7
#define STOKE_COPY_BYTES      (STOKE_COPY_PAGES * STOKE_COPY_PAGE_BYTES)

/* What a walk needed that could not be finished in the kernel: the first of a process come before
 * its tables. Before the sample of the same CPU and time. Followed by `bytes` of memory. */
struct stoke_copy {
	__u16 type; /* STOKE_RECORD_COPY */
	__u16 unused;
	__u32 cpu;
	__u64 time_ns;
	__u64 start; /* address of the copied memory, at or below sp */
	__u32 bytes; /* up to the end of the stack or STOKE_COPY_BYTES */
	__u32 cut; /* there may be more of the stack */
	__u64 registers[32]; /* of the interrupted frame, by DWARF number */
};

/* What user space sets before programs are loaded. */
struct stoke_config {
	__u32 level, ns_inum; /* of stoke's own PID namespace: depth and inode number */
	__u32 all; /* every process: no target set */
	__u32 user, kernel; /* which parts of stacks */
	__u32 tables; /* user space makes unwind tables, and finishes walks over copies */
	__u32 wake_bytes; /* unread bytes in a ring that wake its reader: an eighth of it */
	__u32 cgroup; /* with all: only what is in this cgroup, of version 1 or 2; 0: no such */
	__u32 subsystem; /* version 1: index of its controller in css_set */
	__u64 cgroup_inode; /* version 1: of its directory */
};

#define STOKE_MAX_TARGETS   32768
#define STOKE_MAX_THREADS   4096
#define STOKE_CPUS_PER_RING 16

/* An entry of the target set. */
struct stoke_target {
	__u64 start_ns; /* start_boottime; 0: not known yet */
	__u32 pending; /* a held command: counts from its exec on */
	__u32 unused;
};

/* Period in force on a CPU. A redrawn period begins anew, so what had passed of the old one is
 * carried by the first sample after it. */
struct stoke_period {
	__u64 period;
	__u64 carry;
	__u64 carry_until_ns; /* CLOCK_MONOTONIC */
};

struct stoke_losses {
	__u64 ring; /* no room */
	__u64 busy; /* no ring, no scratch */
	__u64 targets; /* no room in the target set */
};

struct stoke_place {
	__u32 level, ns_inum;
};

#endif
