// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * follow.bpf.c: keeps the target set true while processes fork, exec and go. Owns the shared maps.
 *
 * A process leaves the set when its leader is freed, not when it exits: exit comes before its
 * memory is torn down, and that work is its own too.
 */
#include "bpf/target.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Leaders on their way out by their number in the initial namespace, the only one left when they
 * are freed. Used inside PID namespaces only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STOKE_MAX_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} dying SEC(".maps");

/* Where stoke itself is. */
struct stoke_place place = {};

/* Run once by stoke, in its own context: no file in /proc tells the level of a PID namespace. */
SEC("raw_tp")
int locate(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *at;

	place.level = BPF_CORE_READ(pid, level);
	at = (void *)__builtin_preserve_access_index(&pid->numbers) +
	     place.level * bpf_core_type_size(struct upid);
	place.ns_inum = BPF_CORE_READ(at, ns, ns.inum);
	return 0;
}

/* Before the child first runs, so nothing of it is missed. New threads need nothing: the set is
 * keyed by group. */
SEC("raw_tp/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct stoke_target *target, added = {};
	__u32 pid;

	if (BPF_CORE_READ(child, tgid) == BPF_CORE_READ(parent, tgid))
		return 0;
	target = target_of(parent);
	if (!target || target->pending)
		return 0;
	pid = task_number(child);
	if (!pid)
		return 0; /* cannot be: a child of a visible process is visible */
	added.start_ns = BPF_CORE_READ(child, start_boottime);
	if (bpf_map_update_elem(&targets, &pid, &added, BPF_ANY))
		count_loss(targets);
	return 0;
}

/* A held command becomes a target with its own image, so that none of its launcher's samples are
 * taken for its own. */
SEC("raw_tp/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct stoke_target *target = target_of(task);

	if (target)
		target->pending = 0;
	return 0;
}

/* Loaded inside PID namespaces only. */
SEC("raw_tp/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 number, host = BPF_CORE_READ(task, tgid);

	if (BPF_CORE_READ(task, signal, live.counter) != 0 || !target_of(task))
		return 0;
	number = task_number(BPF_CORE_READ(task, group_leader));
	if (bpf_map_update_elem(&dying, &host, &number, BPF_ANY))
		count_loss(targets);
	return 0;
}

static __always_inline void forget(void *set, __u32 number, __u64 start_ns)
{
	struct stoke_target *target = bpf_map_lookup_elem(set, &number);

	/* The number may have a new owner already: freeing waits for RCU. */
	if (target && (target->start_ns == start_ns || target->start_ns == 0))
		bpf_map_delete_elem(set, &number);
}

SEC("raw_tp/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	__u64 start_ns = BPF_CORE_READ(task, start_boottime);
	__u32 pid = BPF_CORE_READ(task, pid), number = pid, *known;

	if (config.level != 0) {
		known = bpf_map_lookup_elem(&dying, &number);
		if (!known)
			return 0;
		number = *known;
		barrier_var(number);
		bpf_map_delete_elem(&dying, &pid);
	}
	forget(&threads, number, start_ns);
	if (pid == (__u32)BPF_CORE_READ(task, tgid))
		forget(&targets, number, start_ns);
	return 0;
}
