/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_MAPS_H
#define STOKE_BPF_MAPS_H

/*
 * The maps that all programs share, declared once. follow.bpf.c owns them; lib/source/objects.c
 * hands them to every other object by name, so that there is one target set however many sources
 * are open.
 */

#include "bpf/event.h"
#include "bpf/javavm.h"
#include "bpf/kernel.h"
#include "bpf/table.h"

/* Set before loading, the same in every object. */
const volatile struct stoke_config config = {};

/* Thread groups that are sampled, by their number in stoke's own PID namespace. Preallocated: older
 * kernels refuse other hashes in perf_event programs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STOKE_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct stoke_target);
} targets SEC(".maps");

/* Single threads that are sampled, likewise. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STOKE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct stoke_target);
} threads SEC(".maps");

/* The one cgroup of version 2 that is sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stoke_losses);
} losses SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

/* Where perf_event programs put samples, and they alone: an NMI must never meet another kind of
 * program inside a ring's reserve. A ring per STOKE_CPUS_PER_RING CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* Unwind tables (table.h). User space writes arrays through its mappings of them, not by calls: on
 * a CPU that is inside one, no sample can be taken. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STOKE_MAX_SPACES);
	__type(key, __u32); /* pid, as targets */
	__type(value, struct stoke_space);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STOKE_MAX_MAPPINGS);
	__type(key, __u32);
	__type(value, struct stoke_mapping);
} mappings SEC(".maps");

/* Java VMs, by the index that their spaces hold. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STOKE_MAX_JAVAS);
	__type(key, __u32);
	__type(value, struct stoke_java);
} javas SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STOKE_MAX_PAGES);
	__type(key, __u32);
	__type(value, struct stoke_page);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STOKE_MAX_RULES);
	__type(key, __u32);
	__type(value, struct stoke_rule);
} rules SEC(".maps");

/* Its value is larger than libbpf believes types to be. */
struct shard {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stoke_shard));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, STOKE_MAX_SHARDS);
	__type(key, __u32);
	__array(values, struct shard);
} shards SEC(".maps");

#define count_loss(field)                                                                          \
	({                                                                                         \
		__u32 zero_ = 0;                                                                   \
		struct stoke_losses *losses_ = bpf_map_lookup_elem(&losses, &zero_);               \
		if (losses_)                                                                       \
			losses_->field++;                                                          \
	})

#endif
