/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_KERNEL_H
#define STOKE_BPF_KERNEL_H

/*
 * The fields of kernel structures that stoke's programs read, and how registers look. Offsets are
 * relocated by the running kernel's own BTF, so the fields stand here without what is between them
 * and no generated vmlinux.h is needed.
 */

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

#ifndef barrier_var
#define barrier_var(var) asm volatile("" : "+r"(var))
#endif

#define relocated __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} relocated;

struct pid_namespace {
	struct ns_common ns;
} relocated;

struct upid {
	int nr;
	struct pid_namespace *ns;
} relocated;

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
} relocated;

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
} relocated;

struct mm_struct {
	unsigned long start_stack;
} relocated;

struct cgroup;

struct kernfs_node {
	__u64 id; /* the inode number of its directory */
} relocated;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} relocated;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} relocated;

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* one a controller */
} relocated;

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct css_set *cgroups;
	__u64 start_boottime;
} relocated;

/*
 * Interrupted registers, as perf_event programs and the top of a kernel stack hold them. Own
 * structures of whole words, not relocated: the kernel narrowed cs to 16 bits in 6.7, and the
 * verifier wants loads from the context whole.
 */
#if defined(__TARGET_ARCH_x86)

struct registers {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 ip, cs, flags, sp, ss;
};

#define THREAD_SIZE 16384

#define registers_ip(r)	  ((r)->ip)
#define registers_sp(r)	  ((r)->sp)
#define registers_fp(r)	  ((r)->bp)
#define registers_mode(r) ((r)->cs)
#define mode_is_user(m)	  (((m)&3) == 3)
#define mode_is_compat(m) (((m)&0xffff) == 0x23) /* __USER32_CS */

/* In the order of DWARF numbers. */
static __always_inline void registers_put(__u64 *ret, const struct registers *r)
{
	ret[0] = r->ax;
	ret[1] = r->dx;
	ret[2] = r->cx;
	ret[3] = r->bx;
	ret[4] = r->si;
	ret[5] = r->di;
	ret[6] = r->bp;
	ret[7] = r->sp;
	ret[8] = r->r8;
	ret[9] = r->r9;
	ret[10] = r->r10;
	ret[11] = r->r11;
	ret[12] = r->r12;
	ret[13] = r->r13;
	ret[14] = r->r14;
	ret[15] = r->r15;
}

#define NR_REGISTERS 16

#elif defined(__TARGET_ARCH_arm64)

struct registers {
	__u64 regs[31], sp, pc, pstate;
};

#define THREAD_SIZE 16384

#define registers_ip(r)	  ((r)->pc)
#define registers_sp(r)	  ((r)->sp)
#define registers_fp(r)	  ((r)->regs[29])
#define registers_mode(r) ((r)->pstate)
#define mode_is_user(m)	  (((m)&0xf) == 0) /* EL0, of either width */
#define mode_is_compat(m) ((m)&0x10)

static __always_inline void registers_put(__u64 *ret, const struct registers *r)
{
#pragma unroll
	for (int i = 0; i < 31; i++)
		ret[i] = r->regs[i];
}

#define NR_REGISTERS 31

#else
#error "stoke knows the registers of x86-64 and aarch64 only"
#endif

static __always_inline void registers_copy(__u64 *ret, const __u64 *from)
{
#pragma unroll
	for (int i = 0; i < NR_REGISTERS; i++)
		ret[i] = from[i];
}

/* Only its size is asked for, which is the kernel's own. */
struct pt_regs {
	__u64 first;
};

#endif
