/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_TABLE_H
#define STOKE_BPF_TABLE_H

/*
 * Unwind tables as walks read them: made in user space, looked up in the kernel. Shared by both.
 *
 *	space     a process -> a slice of `mappings`, sorted by address; its first entry is a head
 *	mapping   [start, end) of executable memory -> the file's own addresses, and its pages
 *	page      4 KiB of a file's code -> a run of rows in one shard
 *	row       12 bits of address within the page, 20 bits of rule: 4 bytes
 *	rule      how to step; all files share one dictionary, as compilers only make some thousand
 *
 * The rows of a page begin with the one that holds at its start, so no page before it is asked.
 * Nothing that a walk may be reading is ever changed, but for a mapping whose table became ready.
 */

#include "bpf/rule.h"

#define STOKE_PAGE_BITS 12
#define STOKE_RULE_BITS 20
#define STOKE_PAGE_MASK ((1u << STOKE_PAGE_BITS) - 1)
#define STOKE_RULE_MASK ((1u << STOKE_RULE_BITS) - 1)

/* A shard is as large as kernels before 5.16 allocate in one piece: 4 MiB. */
#define STOKE_SHARD_BITS 20
#define STOKE_SHARD_ROWS (1u << STOKE_SHARD_BITS)
#define STOKE_MAX_SHARDS 64 /* 256 MiB of rows */
#define STOKE_MAX_PAGES	 (1u << 18) /* 1 GiB of code */
#define STOKE_MAX_RULES	 (1u << 16)

/* Mappings for the processes of targets, and for those of a whole machine. */
#define STOKE_MAX_MAPPINGS	(1u << 16)
#define STOKE_MAX_MAPPINGS_ALL	(1u << 18)
#define STOKE_MAX_SPACES	4096
#define STOKE_MAX_SPACES_ALL	32768
#define STOKE_MAPPING_STEPS	16 /* of a search: a process has fewer than 65,536 */
#define STOKE_MAX_SPACE_ENTRIES ((1u << STOKE_MAPPING_STEPS) - 2)

struct stoke_shard {
	__u32 rows[STOKE_SHARD_ROWS];
};

struct stoke_page {
	__u32 first; /* row, counted through all shards */
	__u32 nr; /* at most STOKE_PAGE_MASK + 1, in one shard; 0: no rules here */
};

/* Array elements are multiples of 8 bytes. */
struct stoke_rule {
	struct unwind_rule rule;
	__u32 unused;
};

enum stoke_mapping_kind {
	/* start: the generation of the slice, not an address. page: 1 + index of the process's
	 * struct stoke_java (javavm.h); 0: none is known. It may become known later. */
	STOKE_MAPPING_HEAD = 0,
	STOKE_MAPPING_TABLE = 1, /* rows say how to step; frame pointers where they say nothing */
	STOKE_MAPPING_PENDING = 2, /* rows are being made */
	STOKE_MAPPING_BARE = 3, /* a file that says nothing of its frames */
	STOKE_MAPPING_GENERATED = 4, /* code without a file: frame pointers */
	STOKE_MAPPING_UNIFORM = 5, /* such, but rule `page` holds at all return addresses in it */
};

struct stoke_mapping {
	__u64 start, end;
	__u64 bias; /* address - bias: the file's own */
	__u32 page; /* index of the file's address 0 >> STOKE_PAGE_BITS; wraps. UNIFORM: a rule */
	__u32 first, nr; /* pages of this file: others are not its own */
	__u32 kind; /* enum stoke_mapping_kind; written last */
};

/* What a process has mapped, as of some reading. */
struct stoke_space {
	__u64 memory; /* the address space that was read: 0 until a walk has met it */
	__u32 first; /* of the slice: its head */
	__u32 nr; /* mappings behind the head */
	__u32 generation; /* of the slice: slots are used again. Never 0 */
	__u32 unused;
};

#endif
