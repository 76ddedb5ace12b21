/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_WALK_H
#define STOKE_BPF_WALK_H

/*
 * One step of a user stack walk: from a frame to its caller, by the rules that tables hold for its
 * address, else by its frame pointer. Compiled for BPF and for the host, so that tests run what the
 * kernel runs. Before including it, declare struct walk and define, returning 0 when all was read,
 *
 *	static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from);
 *
 * and, returning NULL for what is not there,
 *
 *	static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 i);
 *	static inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 i);
 *	static inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 i);
 *	static inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 i);
 *
 * Nothing that is read is believed: a walk only ever goes up the stack, and ends at the limit.
 */

#include "bpf/event.h"
#include "bpf/table.h"

/* Memory is read this much at a time: a call costs 70 ns, and frames lie close together. */
#define WALK_WINDOW_WORDS 64
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
/* By frame pointer, a frame further away than this is no frame. */
#define WALK_MAX_FRAME_BYTES (1u << 20)
/* By DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15; x0 to x30. */
#define WALK_REGISTERS 32
/* No frame saves anything there. */
#define WALK_KEPT_HERE 1 /* in `registers` */

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
/* The bits above the address hold a signature where return addresses are signed. */
#define WALK_ADDRESS_MASK  ((1ull << 48) - 1)
#define WALK_LINK_REGISTER 30
#else
#define WALK_ADDRESS_MASK  (~0ull)
#define WALK_LINK_REGISTER 31 /* there is none: no such rule */
#endif

struct walk {
	__u64 ip, sp, fp; /* of the frame where the walk stands */
	__u32 nr; /* frames so far, this one included */
	__u32 end; /* enum stoke_walk_end, once a step returned 1 */
	__u64 window_start;
	__u32 window_bytes; /* 0: nothing there */
	__u32 narrow; /* a whole window could not be read: the end of the stack is near */
	__u64 window[WALK_WINDOW_WORDS];
	/* Tables: the slice of mappings of this process. */
	__u32 first, nr_mappings; /* nr_mappings 0: there are no tables */
	__u32 interrupted; /* ip is where the frame stands, not where it will return to */
	__u32 known; /* `registers` are of this frame */
	__u32 lost; /* fp is not known here */
	/* The mapping where the last frame was. */
	__u32 kind, page, first_page, nr_pages;
	__u32 guessed; /* a frame pointer led here, not a rule */
	__u32 java; /* 1 + index of the Java VM of this process (java.h); 0: none known */
	__u32 unused;
	__u64 start, size, bias;
	__u64 kept; /* where the frame's rbx is: an address, WALK_KEPT_HERE, 0: not known */
	__u64 registers[WALK_REGISTERS];
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
	walk->first = 0;
	walk->nr_mappings = 0;
	walk->java = 0;
	walk->interrupted = 1;
	walk->known = 0;
	walk->lost = 0;
	walk->guessed = 0;
	walk->kind = STOKE_MAPPING_HEAD;
	walk->page = 0;
	walk->first_page = 0;
	walk->nr_pages = 0;
	walk->start = 0;
	walk->size = 0;
	walk->bias = 0;
	walk->kept = 0;
}

/* From now on by the tables of this space, unless its slice has gone. 1: yes. */
walk_inline int walk_use(struct walk *walk, const struct stoke_space *space)
{
	__u32 first = space->first;
	const struct stoke_mapping *head = walk_mapping_at(walk, first);

	if (!head || head->kind != STOKE_MAPPING_HEAD || head->start != space->generation)
		return 0;
	walk->first = first + 1;
	walk->nr_mappings = space->nr;
	walk->java = *(const volatile __u32 *)&head->page;
	return 1;
}

walk_inline int walk_stop(struct walk *walk, enum stoke_walk_end why)
{
	walk->end = why;
	return 1;
}

/* The word at an address, out of the window while that reaches. Otherwise a new one begins there:
 * what comes next is further up. */
walk_inline int walk_load(struct walk *walk, __u64 at, __u64 *ret)
{
	__u64 offset = at - walk->window_start, word = 0;

	if (!walk->window_bytes || offset > WALK_WINDOW_BYTES - 8 || (offset & 7)) {
		walk->window_bytes = 0;
		if (walk->narrow || walk_read(walk, walk->window, WALK_WINDOW_BYTES, at)) {
			walk->narrow = 1;
			if (walk_read(walk, &word, sizeof(word), at))
				return -1;
			*ret = word;
			return 0;
		}
		walk->window_start = at;
		walk->window_bytes = WALK_WINDOW_BYTES;
		offset = 0;
	}
	/* The mask changes nothing: it is the verifier's proof. */
	*ret = walk->window[(offset >> 3) & (WALK_WINDOW_WORDS - 1)];
	return 0;
}

walk_inline int walk_move(struct walk *walk, __u64 ip, __u64 sp, __u64 fp)
{
	walk->ip = ip;
	walk->sp = sp;
	walk->fp = fp;
	walk->interrupted = 0;
	walk->known = 0;
	walk->kept = 0;
	return 0;
}

/* Why a frame pointer was the only way: what to say when it leads nowhere. */
walk_inline enum stoke_walk_end walk_bad_fp(const struct walk *walk)
{
	return walk->kind == STOKE_MAPPING_BARE || walk->kind == STOKE_MAPPING_TABLE
		       ? STOKE_WALK_NO_TABLE
		       : STOKE_WALK_BAD_FP;
}

/* The caller by the frame pointer, which leads to {caller's frame pointer, return address} on both
 * machines. */
walk_inline int walk_by_frame_pointer(struct walk *walk)
{
	__u64 fp = walk->fp, caller_fp = 0, caller_ip = 0;

	/* In the sampled frame a 0 may be any code's scratch value; further up it is the end that
	 * ABIs ask for. */
	if (fp == 0 && !walk->lost && walk->nr > 1)
		return walk_stop(walk, STOKE_WALK_ROOT);
	if (walk->lost || (fp & 7) || fp < walk->sp || fp - walk->sp > WALK_MAX_FRAME_BYTES)
		return walk_stop(walk, walk_bad_fp(walk));
	if (walk_load(walk, fp, &caller_fp) || walk_load(walk, fp + 8, &caller_ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	caller_ip &= WALK_ADDRESS_MASK;
	if (caller_ip == 0)
		return walk_stop(walk, STOKE_WALK_ROOT);
	walk->guessed = 1;
	return walk_move(walk, caller_ip, fp + 16, caller_fp);
}

/* Finds the mapping of an address; 0 when there is none. */
walk_inline int walk_locate(struct walk *walk, __u64 address)
{
	__u32 low = walk->first, nr = walk->nr_mappings;
	const struct stoke_mapping *mapping;

	if (address - walk->start < walk->size)
		return 1;
	for (int i = 0; i < STOKE_MAPPING_STEPS; i++) {
		__u32 half = nr >> 1, middle = low + half;

		if (nr <= 1)
			break;
		mapping = walk_mapping_at(walk, middle);
		if (!mapping)
			return 0;
		if (mapping->start <= address)
			low = middle;
		nr -= half;
	}
	mapping = walk_mapping_at(walk, low);
	if (!mapping || address - mapping->start >= mapping->end - mapping->start)
		return 0;
	/* What it says of a table is there once its kind says so. */
	walk->kind = *(const volatile __u32 *)&mapping->kind;
	walk->start = mapping->start;
	walk->size = mapping->end - mapping->start;
	walk->bias = mapping->bias;
	walk->page = mapping->page;
	walk->first_page = mapping->first;
	walk->nr_pages = mapping->nr;
	return 1;
}

/* The rule at an address of the mapping where the walk stands; NULL: none. */
walk_inline const struct stoke_rule *walk_find_rule(const struct walk *walk, __u64 address)
{
	__u64 own = address - walk->bias;
	__u32 key = ((__u32)own << STOKE_RULE_BITS) | STOKE_RULE_MASK;
	const struct stoke_shard *shard;
	const struct stoke_page *page;
	__u32 index, low, nr, rule;

	index = walk->page + (__u32)(own >> STOKE_PAGE_BITS);
	if (index - walk->first_page >= walk->nr_pages)
		return 0;
	page = walk_page_at(walk, index);
	if (!page || !page->nr)
		return 0;
	low = page->first;
	nr = page->nr;
	shard = walk_shard_at(walk, low >> STOKE_SHARD_BITS);
	if (!shard)
		return 0;
	for (int i = 0; i <= STOKE_PAGE_BITS; i++) {
		__u32 half = nr >> 1, middle = low + half;

		if (nr <= 1)
			break;
		if (shard->rows[middle & (STOKE_SHARD_ROWS - 1)] <= key)
			low = middle;
		nr -= half;
	}
	rule = shard->rows[low & (STOKE_SHARD_ROWS - 1)] & STOKE_RULE_MASK;
	return rule ? walk_rule_at(walk, rule) : 0;
}

/*
 * The kernel's signal frame: at the address where a handler returns to, sp leads to a ucontext.
 * Registers are put where their DWARF numbers say. x86-64: struct sigcontext after 40 bytes, r8 to
 * r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
 */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
/* A siginfo of 128 bytes, then a ucontext whose registers are 184 bytes in: x0 to x30, sp, pc. */
#define WALK_SIGNAL_OFFSET (128 + 184 - 8)
#define WALK_SIGNAL_WORDS  34

walk_inline int walk_by_signal_frame(struct walk *walk)
{
	if (walk_read(walk, walk->window, WALK_SIGNAL_WORDS * 8, walk->sp + WALK_SIGNAL_OFFSET))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	for (int i = 0; i < 31; i++)
		walk->registers[i] = walk->window[1 + i];
	walk->fp = walk->window[1 + 29];
	walk->sp = walk->window[1 + 31];
	walk->ip = walk->window[1 + 32];
	return 0;
}
#else
#define WALK_SIGNAL_OFFSET 40
#define WALK_SIGNAL_WORDS  17

walk_inline int walk_by_signal_frame(struct walk *walk)
{
	if (walk_read(walk, walk->window, WALK_SIGNAL_WORDS * 8, walk->sp + WALK_SIGNAL_OFFSET))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	for (int i = 0; i < 8; i++)
		walk->registers[8 + i] = walk->window[i];
	walk->registers[0] = walk->window[13];
	walk->registers[1] = walk->window[12];
	walk->registers[2] = walk->window[14];
	walk->registers[3] = walk->window[11];
	walk->registers[4] = walk->window[9];
	walk->registers[5] = walk->window[8];
	walk->fp = walk->window[10];
	walk->sp = walk->window[15];
	walk->ip = walk->window[16];
	return 0;
}
#endif

/* From a frame that a signal interrupted: its stack may be another one, its registers are known. */
walk_inline int walk_into_interrupted(struct walk *walk)
{
	walk->window_bytes = 0;
	if (walk_by_signal_frame(walk))
		return 1;
	if (walk->ip == 0)
		return walk_stop(walk, STOKE_WALK_BAD_CFA);
	walk->narrow = 0;
	walk->interrupted = 1;
	walk->known = 1;
	walk->lost = 0;
	return 0;
}

/* The CFA of the frame where the walk stands; 0: *ret is it. */
walk_inline int walk_find_cfa(struct walk *walk, const struct unwind_rule *rule, __u64 *ret)
{
	__u32 kind = rule->cfa;
	__s64 offset = rule->cfa_offset;
	__u64 base = walk->sp, word = 0;

	if (kind == UNWIND_CFA_FP || kind == UNWIND_CFA_DEREF_FP) {
		if (walk->lost)
			return walk_stop(walk, STOKE_WALK_UNSUPPORTED);
		base = walk->fp;
	}
	if (kind == UNWIND_CFA_PLT) {
		*ret = base + 8 + ((__s64)(walk->ip & 15) >= offset ? 8 : 0);
		return 0;
	}
	if (kind == UNWIND_CFA_DEREF_SP || kind == UNWIND_CFA_DEREF_FP) {
		if (walk_read(walk, &word, sizeof(word),
			    base + (__s64)unwind_inner(rule->cfa_offset)))
			return walk_stop(walk, STOKE_WALK_UNREADABLE);
		*ret = word + (__s64)unwind_outer(rule->cfa_offset);
		return 0;
	}
	if (kind >= UNWIND_CFA_REGISTER && kind < UNWIND_CFA_REGISTER_END) {
		word = walk->registers[(kind - UNWIND_CFA_REGISTER) & (WALK_REGISTERS - 1)];
		if (!walk->known &&
			(kind != UNWIND_CFA_REGISTER + UNWIND_KEPT_REGISTER || !walk->kept))
			return walk_stop(walk, STOKE_WALK_UNSUPPORTED);
		if (!walk->known && walk->kept != WALK_KEPT_HERE &&
			walk_read(walk, &word, sizeof(word), walk->kept))
			return walk_stop(walk, STOKE_WALK_UNREADABLE);
		*ret = word + offset;
		return 0;
	}
	if (kind != UNWIND_CFA_SP && kind != UNWIND_CFA_FP)
		return walk_stop(walk, STOKE_WALK_UNSUPPORTED);
	*ret = base + offset;
	return 0;
}

walk_inline int walk_find_fp(
	struct walk *walk, const struct unwind_rule *rule, __u64 cfa, __u64 *ret)
{
	__u64 at;

	if (rule->fp == UNWIND_FP_SAME) {
		*ret = walk->fp;
		return 0;
	}
	if (rule->fp == UNWIND_FP_UNKNOWN || (rule->fp == UNWIND_FP_AT_FP && walk->lost)) {
		walk->lost = 1;
		*ret = 0;
		return 0;
	}
	at = (rule->fp == UNWIND_FP_AT_FP ? walk->fp : cfa) + (__s64)rule->fp_offset;
	walk->lost = 0;
	return walk_load(walk, at, ret);
}

/* Where the caller's rbx is. */
walk_inline __u64 walk_find_kept(const struct walk *walk, const struct unwind_rule *rule, __u64 cfa)
{
	if (rule->kept == UNWIND_KEPT_SAME)
		return walk->known ? WALK_KEPT_HERE : walk->kept;
	return rule->kept == UNWIND_KEPT_UNKNOWN ? 0 : cfa - 8ull * rule->kept;
}

/* A return address that no memory holds, nor need the frame be of any size. */
walk_inline int walk_by_register(
	struct walk *walk, const struct unwind_rule *rule, __u64 cfa, __u32 number)
{
	__u64 fp = 0, ip;

	if (!walk->known)
		return walk_stop(walk, STOKE_WALK_UNSUPPORTED);
	if (cfa < walk->sp)
		return walk_stop(walk, STOKE_WALK_BAD_CFA);
	if (walk_find_fp(walk, rule, cfa, &fp))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	ip = walk->registers[number & (WALK_REGISTERS - 1)] & WALK_ADDRESS_MASK;
	return ip ? walk_move(walk, ip, cfa, fp) : walk_stop(walk, STOKE_WALK_FIRST);
}

walk_inline int walk_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	__u64 cfa = 0, fp = 0, ip = 0, kept, at;

	walk->guessed = 0;
	if (rule->cfa == UNWIND_CFA_STOP)
		return walk_stop(walk, STOKE_WALK_FIRST);
	if (rule->cfa == UNWIND_CFA_SIGNAL)
		return walk_into_interrupted(walk);
	if (walk_find_cfa(walk, rule, &cfa))
		return 1;
	if (rule->ra != UNWIND_RA_AT_CFA)
		return walk_by_register(walk, rule, cfa,
			rule->ra == UNWIND_RA_LINK ? WALK_LINK_REGISTER
						   : rule->ra - UNWIND_RA_REGISTER);
	if (cfa <= walk->sp)
		return walk_stop(walk, STOKE_WALK_BAD_CFA);
	at = cfa + (__s64)rule->ra_offset;
	if (walk_find_fp(walk, rule, cfa, &fp) || walk_load(walk, at, &ip))
		return walk_stop(walk, STOKE_WALK_UNREADABLE);
	ip &= WALK_ADDRESS_MASK;
	if (ip == 0)
		return walk_stop(walk, STOKE_WALK_FIRST);
	kept = walk_find_kept(walk, rule, cfa);
	(void)walk_move(walk, ip, cfa, fp);
	walk->kept = kept;
	return 0;
}

walk_inline int walk_by_table(struct walk *walk)
{
	/* A return address belongs to the call before it, which may be a function's last. */
	__u64 address = walk->ip - (walk->interrupted ? 0 : 1);
	const struct stoke_rule *rule = 0;

	if (!walk_locate(walk, address)) {
		walk->size = 0;
		return walk_stop(walk, STOKE_WALK_NO_MAPPING);
	}
	/* A guess might look right and leave callers out; the table will tell. But no walk over a
	 * copy gets through Java code, and libjvm.so, the largest, is built with frame pointers. */
	if (walk->kind == STOKE_MAPPING_PENDING && !walk->java)
		return walk_stop(walk, STOKE_WALK_PENDING);
	if (walk->kind == STOKE_MAPPING_TABLE)
		rule = walk_find_rule(walk, address);
	else if (walk->kind == STOKE_MAPPING_UNIFORM && !walk->interrupted)
		rule = walk_rule_at(walk, walk->page);
	/* V8 keeps its builtins in node's own file, with frame pointers and no rules. */
	if (!rule || rule->rule.cfa == UNWIND_CFA_NONE)
		return walk_by_frame_pointer(walk);
	return walk_by_rule(walk, &rule->rule);
}

/* One frame more, unless that is too many. */
walk_inline int walk_count(struct walk *walk)
{
	if (walk->nr >= STOKE_MAX_USER_FRAMES)
		return walk_stop(walk, STOKE_WALK_DEPTH);
	walk->nr++;
	return 0;
}

/* Moves on to the caller. 0: walk->ip is it; 1: there is none, walk->end says why. */
walk_inline int walk_step(struct walk *walk)
{
	if (walk->nr_mappings ? walk_by_table(walk) : walk_by_frame_pointer(walk))
		return 1;
	return walk_count(walk);
}

#endif
