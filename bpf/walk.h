/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_WALK_H
#define STOKE_BPF_WALK_H

/*
 * One step of a user stack walk: from a frame to its caller. Compiled for BPF and for the host, so
 * that tests run what the kernel runs. Before including it, define
 *
 *	static inline int walk_read(void *to, __u32 size, __u64 from);	0 when all of it was read
 *
 * Nothing that is read is believed: a walk only ever goes up the stack, and ends at the limit.
 */

#include "bpf/event.h"

/* Memory is read this much at a time: a call costs 70 ns, and frames lie close together. */
#define WALK_WINDOW_WORDS 64
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
/* A frame further away than this is no frame. */
#define WALK_MAX_FRAME_BYTES (1u << 20)

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
/* The bits above the address hold a signature where return addresses are signed. */
#define WALK_ADDRESS_MASK ((1ull << 48) - 1)
#else
#define WALK_ADDRESS_MASK (~0ull)
#endif

struct walk {
	__u64 ip, sp, fp; /* of the frame where the walk stands */
	__u32 nr; /* frames so far, this one included */
	__u32 end; /* enum stoke_walk_end, once a step returned 1 */
	__u64 window_start;
	__u32 window_bytes; /* 0: nothing there */
	__u32 narrow; /* a whole window could not be read: the end of the stack is near */
	__u64 window[WALK_WINDOW_WORDS];
};

#define walk_inline static inline __attribute__((always_inline))

walk_inline void walk_begin(struct walk *walk, __u64 ip, __u64 sp, __u64 fp)
{
	walk->ip = ip;
	walk->sp = sp;
	walk->fp = fp;
	walk->nr = 1;
	walk->end = STOKE_WALK_NONE;
	walk->window_bytes = 0;
	walk->narrow = 0;
}

walk_inline int walk_stop(struct walk *walk, enum stoke_walk_end why)
{
	walk->end = why;
	return 1;
}

/* The two words at an aligned address, out of the window while that reaches. */
walk_inline int walk_load(struct walk *walk, __u64 at, __u64 *ret_first, __u64 *ret_second)
{
	__u64 offset = at - walk->window_start;
	__u64 words[2] = {0, 0};

	if (!walk->window_bytes || offset > WALK_WINDOW_BYTES - sizeof(words)) {
		walk->window_bytes = 0;
		if (walk->narrow || walk_read(walk->window, WALK_WINDOW_BYTES, at)) {
			walk->narrow = 1;
			if (walk_read(words, sizeof(words), at))
				return -1;
			*ret_first = words[0];
			*ret_second = words[1];
			return 0;
		}
		walk->window_start = at;
		walk->window_bytes = WALK_WINDOW_BYTES;
		offset = 0;
	}
	/* The masks change nothing: they are the verifier's proof. */
	*ret_first = walk->window[(offset >> 3) & (WALK_WINDOW_WORDS - 1)];
	*ret_second = walk->window[((offset >> 3) + 1) & (WALK_WINDOW_WORDS - 1)];
	return 0;
}

/* The caller by the frame pointer, which leads to {caller's frame pointer, return address} on both
 * machines. */
walk_inline int walk_by_frame_pointer(struct walk *walk)
{
	__u64 fp = walk->fp, caller_fp = 0, caller_ip = 0;

	/* In the sampled frame a 0 may be any code's scratch value; further up it is the end that
	 * ABIs ask for. */
	if (fp == 0)
		return walk_stop(walk, walk->nr > 1 ? STOKE_WALK_ROOT : STOKE_WALK_BAD_FP);
	if ((fp & 7) || fp < walk->sp || fp - walk->sp > WALK_MAX_FRAME_BYTES)
		return walk_stop(walk, STOKE_WALK_BAD_FP);
	if (walk_load(walk, fp, &caller_fp, &caller_ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	caller_ip &= WALK_ADDRESS_MASK;
	if (caller_ip == 0)
		return walk_stop(walk, STOKE_WALK_ROOT);
	walk->ip = caller_ip;
	walk->sp = fp + 16;
	walk->fp = caller_fp;
	return 0;
}

/* Moves on to the caller. 0: walk->ip is it; 1: there is none, walk->end says why. How to step is
 * asked here, a frame at a time: by frame pointer, as long as there are no tables. */
walk_inline int walk_step(struct walk *walk)
{
	if (walk_by_frame_pointer(walk))
		return 1;
	if (walk->nr >= STOKE_MAX_USER_FRAMES)
		return walk_stop(walk, STOKE_WALK_DEPTH);
	walk->nr++;
	return 0;
}

#endif
