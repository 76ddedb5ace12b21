/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_TARGET_H
#define STOKE_BPF_TARGET_H

/*
 * Is this task wanted? Tasks are numbered as stoke's own PID namespace numbers them, which is
 * config.level steps below the initial one. A number is reused; the start time beside it is not.
 */

#include "bpf/maps.h"

struct identity {
	__u32 pid, tid;
	__u64 start_ns; /* of the group leader; 0 until asked for */
};

/* A task's number as stoke sees it, 0 when stoke does not. Not for tasks that were released: they
 * have no struct pid any more. */
static __always_inline __u32 task_number(struct task_struct *task)
{
	struct pid *pid;
	struct upid *at;

	if (config.level == 0)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < config.level)
		return 0;
	at = (void *)__builtin_preserve_access_index(&pid->numbers) +
	     config.level * bpf_core_type_size(struct upid);
	if (BPF_CORE_READ(at, ns, ns.inum) != config.ns_inum)
		return 0;
	return BPF_CORE_READ(at, nr);
}

/* Does an entry speak of the task that started then? An entry made by user space, which cannot know
 * the kernel's own start time, learns it here; follow.bpf.c takes entries out before their number
 * can be given to someone else. */
static __always_inline int target_matches(struct stoke_target *target, __u64 start_ns)
{
	if (target->start_ns == 0)
		target->start_ns = start_ns;
	return target->start_ns == start_ns;
}

/* The set's entry of the thread group that task belongs to, held ones too. */
static __always_inline struct stoke_target *target_of(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	__u32 pid = task_number(leader);
	struct stoke_target *target;

	target = bpf_map_lookup_elem(&targets, &pid);
	if (!target || !target_matches(target, BPF_CORE_READ(leader, start_boottime)))
		return NULL;
	return target;
}

static __always_inline int identify(struct task_struct *task, struct identity *ret)
{
	if (config.level == 0) {
		__u64 both = bpf_get_current_pid_tgid();

		ret->pid = both >> 32;
		ret->tid = (__u32)both;
	} else {
		ret->pid = task_number(BPF_CORE_READ(task, group_leader));
		ret->tid = task_number(task);
	}
	return ret->pid != 0;
}

#define MAX_CGROUP_LEVELS 32

/* Version 1 has no helper: from the task's cgroup of that controller up. */
static __always_inline int is_under_directory(struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;
	struct cgroup *cgroup;

	bpf_probe_read_kernel(&state, sizeof(state),
		(void *)__builtin_preserve_access_index(&set->subsys) +
			config.subsystem * sizeof(state));
	for (int i = 0; i < MAX_CGROUP_LEVELS && state; i++) {
		cgroup = BPF_CORE_READ(state, cgroup);
		if (BPF_CORE_READ(cgroup, kn, id) == config.cgroup_inode)
			return 1;
		state = BPF_CORE_READ(cgroup, self.parent);
	}
	return 0;
}

static __always_inline int is_in_cgroup(struct task_struct *task)
{
	if (config.cgroup == 0)
		return 1;
	return config.cgroup == 2 ? bpf_current_task_under_cgroup(&cgroups, 0) == 1
				  : is_under_directory(task);
}

/* The current task's identity into *ret; 1 when it is to be sampled. Ordered so that the ticks that
 * hit other processes, which are most, cost one look-up or two. */
static __always_inline int current_is_wanted(struct task_struct *task, struct identity *ret)
{
	struct stoke_target *target, *thread = NULL;

	if (!is_in_cgroup(task) || !identify(task, ret))
		return 0;
	if (!config.all) {
		target = bpf_map_lookup_elem(&targets, &ret->pid);
		if (!target || target->pending) {
			thread = bpf_map_lookup_elem(&threads, &ret->tid);
			if (!thread || !target_matches(thread, BPF_CORE_READ(task, start_boottime)))
				return 0;
		}
	}
	ret->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	return config.all || thread || target_matches(target, ret->start_ns);
}

#endif
