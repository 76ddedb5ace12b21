/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_STACK_H
#define STOKE_BPF_STACK_H

/*
 * User and kernel stack of the current task, in one record a sample. Addresses are taken as they
 * stand: whether one lies in executable memory is judged in user space, where the maps are.
 */

#include "bpf/maps.h"
#include "bpf/target.h"

struct walk;

static __always_inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	return bpf_probe_read_user(to, size, (void *)from) != 0;
}

static __always_inline const struct stoke_mapping *walk_mapping_at(
	const struct walk *walk, __u32 index)
{
	return bpf_map_lookup_elem(&mappings, &index);
}

static __always_inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 index)
{
	return bpf_map_lookup_elem(&pages, &index);
}

static __always_inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 index)
{
	void *shard = bpf_map_lookup_elem(&shards, &index);
	__u32 zero = 0;

	return shard ? bpf_map_lookup_elem(shard, &zero) : NULL;
}

static __always_inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 index)
{
	return bpf_map_lookup_elem(&rules, &index);
}

#include "bpf/java.h"

/* Kernel frames, then words of the user part. */
#define FRAME_SLOTS (STOKE_MAX_KERNEL_FRAMES + STOKE_MAX_USER_WORDS)

#define URGENT_INTERVAL_NS 20000000ull
/* Copies for walks that a guess led astray, perhaps each time: not for every sample. */
#define COPY_INTERVAL_NS 10000000ull

/* Of where a program's first thread begins: its number of arguments, and the first of them. */
#define START_BYTES 64

/* Of a walk at a time. */
#define STEPS 32

_Static_assert(STOKE_MAX_USER_FRAMES % STEPS == 0, "rounds of steps must make a whole walk");

struct scratch {
	struct walk walk;
	struct java java;
	__u32 nr_kernel;
	__u32 nr_user; /* words */
	__u64 urged_ns; /* when user space was last woken for want of tables */
	__u64 copied_ns; /* when a walk that went astray was last copied */
	__u64 registers[WALK_REGISTERS]; /* of the interrupted frame */
	struct stoke_sample sample;
	__u64 frames[FRAME_SLOTS]; /* follows the sample without a gap: one record */
};

/* perf_event programs do not nest on a CPU (bpf_prog_active), so one is enough for each. State
 * lives here and not on the BPF stack: values the verifier does not follow keep loading fast. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct copied {
	struct stoke_copy head;
	__u8 memory[STOKE_COPY_BYTES]; /* follows the head without a gap: one record */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copied);
} copies SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* The compiler passes whatever it likes for an argument that it sees unused; the verifier wants a
 * number. */
#define argument_used(argument) asm volatile("" : : "r"(argument))

static __always_inline void put_word(struct scratch *scratch, __u64 word)
{
	__u64 index = scratch->nr_kernel + scratch->nr_user;

	barrier_var(index);
	if (index >= FRAME_SLOTS)
		return;
	scratch->frames[index] = word;
	scratch->nr_user++;
}

/* A function of its own, global and with a scalar argument: so the verifier looks at it once, not
 * once for each of 1024 rounds, also on 5.10. */
__attribute__((noinline)) int stack_java(__u32 unused)
{
	struct scratch *scratch = scratch_get();
	struct stoke_java *vm;
	int r;

	argument_used(unused);
	if (!scratch)
		return 1;
	vm = bpf_map_lookup_elem(&javas, &scratch->java.index);
	if (!vm)
		return 1;
	scratch->java.note = 0;
	r = java_step(&scratch->walk, &scratch->java, vm);
	if (scratch->java.note)
		put_word(scratch, scratch->java.note);
	return r;
}

__attribute__((noinline)) int stack_step(__u32 unused)
{
	struct scratch *scratch = scratch_get();
	__u64 ip;

	argument_used(unused);
	if (!scratch)
		return 1;
	/* Whoever reads them takes one off all but the first, as off return addresses: an
	 * interrupted frame's address would then be the one before. */
	ip = scratch->walk.ip + (scratch->walk.interrupted && scratch->walk.nr > 1);
	put_word(scratch, stoke_note_of(ip) ? STOKE_NO_ADDRESS : ip);
	if (java_covers(&scratch->java, scratch->walk.ip))
		return stack_java(0);
	return walk_step(&scratch->walk);
}

/* A function of its own for the same reason: a loop of STOKE_MAX_USER_FRAMES rounds is proven round
 * by round, which took most of the time that loading takes. */
__attribute__((noinline)) int stack_steps(__u32 unused)
{
	argument_used(unused);
#pragma clang loop unroll(disable)
	for (int i = 0; i < STEPS; i++)
		if (stack_step(0))
			return 1;
	return 0;
}

static __always_inline void *ring_of(__u32 cpu)
{
	__u32 index = cpu / STOKE_CPUS_PER_RING;

	return bpf_map_lookup_elem(&rings, &index);
}

/* A program's first thread begins where its arguments lie, which no walk needs: most of a young
 * one's stack. 0: it is another thread, or deeper. */
static __always_inline __u64 copy_short(struct copied *copied, __u64 at)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 bytes = BPF_CORE_READ(task, mm, start_stack) + START_BYTES - at;

	barrier_var(bytes);
	if (bytes == 0 || bytes > STOKE_COPY_BYTES)
		return 0;
	return bpf_probe_read_user(copied->memory, bytes, (void *)at) ? 0 : bytes;
}

/* Whole pages from this one on, as far as they can be read. */
static __always_inline __u64 copy_pages(struct copied *copied, __u64 at)
{
	__u64 bytes = 0;

#pragma unroll
	for (int i = 0; i < STOKE_COPY_PAGES; i++) {
		if (bpf_probe_read_user(copied->memory + i * STOKE_COPY_PAGE_BYTES,
			    STOKE_COPY_PAGE_BYTES, (void *)(at + i * STOKE_COPY_PAGE_BYTES)))
			break;
		bytes += STOKE_COPY_PAGE_BYTES;
	}
	return bytes;
}

/* Puts the sampled task's stack and registers into the ring, as far as there is room to spare. 1:
 * they are there. A function of its own for the same reason. */
__attribute__((noinline)) int stack_copy(__u32 unused)
{
	struct scratch *scratch = scratch_get();
	__u32 zero = 0;
	struct copied *copied = bpf_map_lookup_elem(&copies, &zero);
	__u64 bytes, at;
	void *ring;

	argument_used(unused);
	if (!scratch || !copied)
		return 0;
	ring = ring_of(scratch->sample.cpu);
	if (!ring || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > 7ull * config.wake_bytes)
		return 0;
	at = scratch->sample.sp & ~7ull;
	bytes = copy_short(copied, at);
	if (!bytes) {
		at &= ~(__u64)(STOKE_COPY_PAGE_BYTES - 1);
		bytes = copy_pages(copied, at);
	}
	barrier_var(bytes);
	if (!bytes || bytes > STOKE_COPY_BYTES)
		return 0;
	copied->head.type = STOKE_RECORD_COPY;
	copied->head.cpu = scratch->sample.cpu;
	copied->head.time_ns = scratch->sample.time_ns;
	copied->head.start = at;
	copied->head.bytes = bytes;
	copied->head.cut = bytes == STOKE_COPY_BYTES;
	__builtin_memcpy(
		copied->head.registers, scratch->registers, sizeof(copied->head.registers));
	if (bpf_ringbuf_output(ring, copied, sizeof(copied->head) + bytes, BPF_RB_NO_WAKEUP))
		return 0;
	scratch->sample.flags |= STOKE_SAMPLE_COPIED;
	return 1;
}

/* User registers of a task that was interrupted in the kernel. */
static __always_inline int read_user_registers(struct task_struct *task, struct registers *ret)
{
	void *from;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		from = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	else /* before 5.15, where nothing pads the top of the stack */
		from = BPF_CORE_READ(task, stack) + THREAD_SIZE -
		       bpf_core_type_size(struct pt_regs);
	return bpf_probe_read_kernel(ret, sizeof(*ret), from) != 0;
}

/* Fills in the user part's registers. STOKE_WALK_NONE when there is something to walk and *ret_walk
 * is 1. */
static __always_inline enum stoke_walk_end user_registers(struct task_struct *task,
	struct registers *interrupted, struct stoke_sample *sample, struct walk *walk,
	int *ret_walk)
{
	__u64 mode = registers_mode(interrupted);

	*ret_walk = 0;
	if (mode_is_user(mode)) {
		sample->flags |= STOKE_SAMPLE_USER_MODE;
		sample->ip = registers_ip(interrupted);
		sample->sp = registers_sp(interrupted);
		sample->fp = registers_fp(interrupted);
		registers_put(walk->registers, interrupted);
	} else {
		__u32 flags = BPF_CORE_READ(task, flags);
		struct registers user;

		if (flags & PF_KTHREAD)
			return STOKE_WALK_NONE;
		if (!BPF_CORE_READ(task, mm))
			return flags & PF_EXITING ? STOKE_WALK_EXIT : STOKE_WALK_NONE;
		if (read_user_registers(task, &user))
			return STOKE_WALK_UNREADABLE;
		mode = registers_mode(&user);
		/* io_uring workers have memory but were never in user code */
		if (!mode_is_user(mode) || registers_ip(&user) == 0)
			return STOKE_WALK_NONE;
		sample->ip = registers_ip(&user);
		sample->sp = registers_sp(&user);
		sample->fp = registers_fp(&user);
		registers_put(walk->registers, &user);
	}
	if (mode_is_compat(mode))
		return STOKE_WALK_COMPAT;
	*ret_walk = 1;
	return STOKE_WALK_NONE;
}

/* By the tables of the process, if it has any that are of this address space: an exec makes another
 * one before user space knows. */
static __always_inline void walk_choose(
	struct walk *walk, struct java *java, struct task_struct *task, struct stoke_sample *sample)
{
	struct stoke_space *space = bpf_map_lookup_elem(&spaces, &sample->pid);
	struct stoke_java *vm;
	__u32 index;

	walk_begin(walk, sample->ip, sample->sp, sample->fp);
	java_begin(java);
	walk->known = 1;
	sample->memory = (__u64)BPF_CORE_READ(task, mm);
	if (!space)
		return;
	if (!space->memory)
		space->memory = sample->memory; /* read before anything of it was sampled */
	if (space->memory != sample->memory || !walk_use(walk, space))
		return;
	sample->generation = space->generation;
	index = walk->java - 1;
	vm = walk->java ? bpf_map_lookup_elem(&javas, &index) : NULL;
	if (vm)
		java_use(java, vm, index);
}

static __always_inline void capture_kernel(void *ctx, struct scratch *scratch)
{
	long bytes;
	__u32 nr;

	/* What the interrupt itself put on the stack is no part of it, so user code has none. */
	if (!config.kernel || (scratch->sample.flags & STOKE_SAMPLE_USER_MODE))
		return;
	bytes = bpf_get_stack(ctx, scratch->frames, STOKE_MAX_KERNEL_FRAMES * 8, 0);
	if (bytes <= 0)
		return;
	nr = (__u32)bytes >> 3;
	if (nr > STOKE_MAX_KERNEL_FRAMES)
		nr = STOKE_MAX_KERNEL_FRAMES;
	scratch->nr_kernel = nr;
}

/* A walk that met what user space does not know yet: the sooner it hears, the fewer do. */
static __always_inline int is_urgent(struct scratch *scratch)
{
	const struct stoke_sample *sample = &scratch->sample;

	if (!sample->memory || (sample->generation && sample->walk_end != STOKE_WALK_NO_MAPPING) ||
		sample->time_ns - scratch->urged_ns < URGENT_INTERVAL_NS)
		return 0;
	scratch->urged_ns = sample->time_ns;
	return 1;
}

static __always_inline void emit(struct scratch *scratch, __u32 cpu)
{
	void *ring = ring_of(cpu);
	__u64 flags = BPF_RB_NO_WAKEUP, nr;

	if (!ring) {
		count_loss(busy);
		return;
	}
	nr = scratch->sample.nr_kernel + scratch->sample.nr_user;
	barrier_var(nr);
	if (nr > FRAME_SLOTS)
		return; /* never: put_word() */
	/* A wake-up a sample would cost more than the sample: the reader comes by itself, unless
	 * the ring fills faster than that. */
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > config.wake_bytes || is_urgent(scratch))
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(ring, &scratch->sample, sizeof(scratch->sample) + nr * 8, flags))
		count_loss(ring);
}

/* The user part: by tables; where there are none yet, by user space; else by frame pointers. */
static __always_inline void capture_user(struct scratch *scratch, struct task_struct *task)
{
	struct stoke_sample *sample = &scratch->sample;
	__u64 top;

	/* An exec has given up the memory that the registers speak of, and got other. */
	if (!(sample->flags & STOKE_SAMPLE_USER_MODE) &&
		bpf_probe_read_user(&top, sizeof(top), (void *)sample->sp)) {
		sample->walk_end = STOKE_WALK_EXIT;
		return;
	}
	registers_copy(scratch->registers, scratch->walk.registers);
	walk_choose(&scratch->walk, &scratch->java, task, sample);
	if (config.tables && !sample->generation && stack_copy(0)) {
		put_word(scratch, sample->ip);
		sample->nr_user = scratch->nr_user;
		sample->walk_end = STOKE_WALK_PENDING;
		return;
	}
#pragma clang loop unroll(disable)
	for (int i = 0; i < STOKE_MAX_USER_FRAMES / STEPS; i++)
		if (stack_steps(0))
			break;
	sample->nr_user = scratch->nr_user;
	sample->walk_end = scratch->walk.end;
	/* A copy of the stack says nothing of a Java VM's code. */
	if (!sample->generation || scratch->java.size)
		return;
	if (sample->walk_end == STOKE_WALK_PENDING) {
		stack_copy(0);
	} else if (sample->walk_end == STOKE_WALK_NO_MAPPING &&
		   (!scratch->walk.guessed ||
			   sample->time_ns - scratch->copied_ns >= COPY_INTERVAL_NS)) {
		scratch->copied_ns = sample->time_ns;
		stack_copy(0);
	}
}

/* Takes and emits a sample of the current task. */
static __always_inline void sample_take(void *ctx, struct task_struct *task,
	const struct identity *identity, __u32 cpu, __u64 time_ns, __u64 weight)
{
	struct scratch *scratch = scratch_get();
	struct stoke_sample *sample;
	struct registers *interrupted = ctx;
	int walk;

	if (!scratch) {
		count_loss(busy);
		return;
	}
	sample = &scratch->sample;
	__builtin_memset(sample, 0, sizeof(*sample));
	sample->type = STOKE_RECORD_SAMPLE;
	sample->time_ns = time_ns;
	sample->weight = weight;
	sample->start_ns = identity->start_ns;
	sample->pid = identity->pid;
	sample->tid = identity->tid;
	sample->cpu = cpu;
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));

	sample->walk_end = user_registers(task, interrupted, sample, &scratch->walk, &walk);
	scratch->nr_kernel = scratch->nr_user = 0;
	capture_kernel(ctx, scratch);
	sample->nr_kernel = scratch->nr_kernel;
	if (walk && config.user)
		capture_user(scratch, task);
	emit(scratch, cpu);
}

#endif
