// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* tick.bpf.c: a timer or counter fired on this CPU. */
#include "bpf/stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A slot a CPU, written by user space beside each change of an event's period: ctx->sample_period
 * keeps the value the event was opened with. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stoke_period);
} periods SEC(".maps");

static __always_inline __u64 weigh(__u32 cpu, __u64 now_ns)
{
	const struct stoke_period *period = bpf_map_lookup_elem(&periods, &cpu);

	if (!period)
		return 1;
	return now_ns < period->carry_until_ns ? period->period + period->carry : period->period;
}

SEC("perf_event")
int tick(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct identity identity;
	__u64 now_ns;
	__u32 cpu;

	/* First of all: most ticks hit somebody else. */
	if (!current_is_wanted(task, &identity))
		return 0;
	now_ns = bpf_ktime_get_ns(); /* before the stack is taken, which takes time itself */
	cpu = bpf_get_smp_processor_id();
	sample_take(ctx, task, &identity, cpu, now_ns, weigh(cpu, now_ns));
	return 0;
}
