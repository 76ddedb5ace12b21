/* SPDX-License-Identifier: BSD-2-Clause */
/* What profilers of the usual kind do at each tick: two bpf_get_stackid() calls and a count. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct key {
	__u32 pid;
	__s32 kernel, user;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 127 * sizeof(__u64));
	__uint(max_entries, 16384);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct key);
	__type(value, __u64);
	__uint(max_entries, 65536);
} counts SEC(".maps");

const volatile __u32 target;
__u64 samples;

SEC("perf_event")
int stackid_tick(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct key key = {.pid = pid};
	__u64 one = 1, *count;

	if (pid != target)
		return 0;
	(void)bpf_get_current_comm(key.comm, sizeof(key.comm));
	key.kernel = bpf_get_stackid(ctx, &stacks, 0);
	key.user = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	count = bpf_map_lookup_elem(&counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		(void)bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST);
	__sync_fetch_and_add(&samples, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
