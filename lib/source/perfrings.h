/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_PERFRINGS_H
#define STOKE_SOURCE_PERFRINGS_H

/*
 * What a source that has no BPF asks the kernel to put into its samples, in the layouts of
 * linux/perf_event.h, and where it does. Whoever reads the rings needs to know.
 */

#include <stddef.h>
#include <stdint.h>

/* User registers, a bit each as asm/perf_regs.h counts them; in samples they come in that order.
 * x86-64: ax, bx, cx, dx, si, di, bp, sp, ip, r8 to r15. aarch64: x0 to x30, sp, pc. */
#if defined(__aarch64__)
#define PLAIN_REGISTERS	   ((1ull << 33) - 1)
#define PLAIN_NR_REGISTERS 33
#else
#define PLAIN_REGISTERS	   (0x1ffull | 0xffull << 16)
#define PLAIN_NR_REGISTERS 17
#endif

/* A perf ring, mapped; its size is a power of two. */
struct plain_ring {
	int fd; /* to poll and to read its losses */
	void *page; /* struct perf_event_mmap_page */
	size_t bytes; /* behind that page */
};

/* Samples, with the side band of the same tasks between them. */
struct plain_rings {
	const struct plain_ring *items;
	size_t nr;
	uint64_t sample_type; /* PERF_SAMPLE_*: IP | TID | TIME | CPU | PERIOD, and of CALLCHAIN,
				 REGS_USER and STACK_USER what is asked for */
	uint32_t stack_bytes; /* of each stack, at most */
};

#endif
