/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assemble.c: from a raw stack to a row. An address is believed only if it lies in an executable
 * mapping of its process as of the sample's time; the first that does not ends the stack.
 */
#include "capture/assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/dictionary.h"
#include "capture/ends.h"
#include "capture/generated.h"
#include "capture/labels.h"
#include "capture/unwinder.h"

#define READING_INTERVAL_NS 1000000000ull
#define MAX_SEEN_STACKS	    65536
/* Leaf side first while it grows: kernel, user, and a mark. */
#define MAX_PLACES (STOKE_MAX_KERNEL_FRAMES + STOKE_MAX_USER_WORDS + 2)

/* What this process incarnation has generated; index: code_of. */
struct code {
	uint64_t incarnation;
	pid_t pid;
	struct generated *generated;
};

struct assembler {
	const struct host *host;
	struct processes *processes;
	const struct unwinder *unwinder;
	struct stoke_profile *profile;
	struct dictionary *seen;
	struct labels labels;
	uint32_t *profile_modules; /* module of processes -> of the profile, 0: not yet */
	size_t nr_profile_modules, profile_modules_capacity;
	struct ends ends;
	struct code *codes;
	size_t nr_codes, codes_capacity;
	uint32_t kernel_module;
	int met_kernel;
	uint64_t start_ns, slice_ns, end_ns;
	int weight_is_ns;
	char unit[64];
	unsigned flags;
	uint64_t nr_samples, weight;
	struct place places[MAX_PLACES];
};

/* What is known of the sample at hand. */
struct sampled {
	const struct stoke_sample *record;
	const uint64_t *frames;
	struct process *process;
	uint32_t labels, slice;
	uint32_t end;
	size_t nr_places; /* of assembler->places, leaf first */
	int nr_generated; /* places without a frame yet */
};

int assembler_new(const struct assembler_options *options, struct assembler **ret)
{
	struct assembler *assembler = calloc(1, sizeof(*assembler));
	int r;

	if (!assembler)
		return -ENOMEM;
	assembler->host = options->host;
	assembler->processes = options->processes;
	assembler->unwinder = options->unwinder;
	assembler->start_ns = options->start_ns;
	assembler->slice_ns = options->slice_ns;
	assembler->end_ns = options->end_ns;
	assembler->weight_is_ns = options->weight_is_ns;
	assembler->flags = options->flags;
	(void)snprintf(assembler->unit, sizeof(assembler->unit), "%s",
		options->unit ? options->unit : "events");
	r = dictionary_new(MAX_SEEN_STACKS, &assembler->seen);
	if (r >= 0)
		r = labels_init(&assembler->labels);
	if (r < 0) {
		assembler_free(assembler);
		return r;
	}
	*ret = assembler;
	return 0;
}

void assembler_free(struct assembler *assembler)
{
	if (!assembler)
		return;
	for (size_t i = 0; i < assembler->nr_codes; i++)
		generated_free(assembler->codes[i].generated);
	dictionary_free(assembler->seen);
	labels_done(&assembler->labels);
	free(assembler->profile_modules);
	ends_done(&assembler->ends);
	free(assembler->codes);
	free(assembler);
}

void assembler_set_start(struct assembler *assembler, uint64_t start_ns)
{
	assembler->start_ns = start_ns;
}

int assembler_met_kernel(const struct assembler *assembler)
{
	return assembler->met_kernel;
}

uint64_t assembler_samples(const struct assembler *assembler)
{
	return assembler->nr_samples;
}

uint64_t assembler_weight(const struct assembler *assembler)
{
	return assembler->weight;
}

int assembler_use(struct assembler *assembler, struct stoke_profile *profile)
{
	struct module kernel = {.kind = MODULE_KERNEL,
		.path = (char *)"[kernel.kallsyms]" /* copied */,
		.fd = -1,
		.root_fd = -1};
	unsigned column;
	int r;

	assembler->profile = profile;
	dictionary_clear(assembler->seen);
	labels_done(&assembler->labels);
	r = labels_init(&assembler->labels);
	if (r < 0)
		return r;
	assembler->nr_profile_modules = 0;
	assembler->nr_samples = assembler->weight = 0;
	r = profile_value(profile, "samples", "count", &column);
	if (r >= 0 && assembler->weight_is_ns)
		r = profile_value(profile, "cpu", "nanoseconds", &column);
	else if (r >= 0)
		r = profile_value(profile, assembler->unit, "count", &column);
	if (r < 0)
		return r;
	profile->default_value = column;
	r = profile_module(profile, &kernel, &assembler->kernel_module);
	if (r >= 0)
		r = ends_use(&assembler->ends, profile);
	for (size_t i = 0; i < assembler->nr_codes; i++)
		generated_new_profile(assembler->codes[i].generated);
	return r < 0 ? r : 0;
}

static int profile_module_of(struct assembler *assembler, uint32_t module, uint32_t *ret)
{
	int r;

	if (module >= assembler->nr_profile_modules) {
		size_t nr = assembler->nr_profile_modules;

		r = array_reserve(&assembler->profile_modules, &assembler->profile_modules_capacity,
			nr, module + 1 - nr);
		if (r < 0)
			return r;
		memset(assembler->profile_modules + nr, 0, (module + 1 - nr) * sizeof(uint32_t));
		assembler->nr_profile_modules = module + 1;
	}
	if (!assembler->profile_modules[module]) {
		r = profile_module(assembler->profile,
			processes_module(assembler->processes, module),
			&assembler->profile_modules[module]);
		if (r < 0)
			return r;
	}
	*ret = assembler->profile_modules[module];
	return 0;
}

static int add_frame(struct assembler *assembler, struct sampled *sampled, uint32_t module,
	uint64_t address, uint16_t flags, uint32_t *ret)
{
	struct frame key = {.address = address, .module = module, .flags = flags};
	int r;

	r = profile_frame(assembler->profile, &key, ret);
	if (r < 0)
		return r;
	assembler->places[sampled->nr_places++] = (struct place){.address = address, .frame = *ret};
	return 0;
}

static const struct mapping *locate(
	struct assembler *assembler, struct sampled *sampled, uint64_t address)
{
	const struct mapping *mapping = process_mapping(sampled->process, address);

	if (mapping)
		return mapping;
	/* Nothing records munmap or mremap: what is there now may explain it. */
	if (processes_rescan(assembler->processes, sampled->process, sampled->record->time_ns) < 0)
		return NULL;
	return process_mapping(sampled->process, address);
}

/* Did the walk take this mapping for one that had been there before? Then where it went from here
 * is no caller. */
static int is_stale(const struct assembler *assembler, const struct stoke_sample *record,
	uint64_t address, const struct mapping *mapping)
{
	return assembler->unwinder && record->generation &&
	       !unwinder_agrees(assembler->unwinder, record->generation, address, mapping);
}

/* How a stack ends whose last frame is in that module of processes (0: none), and looks like that
 * root. */
static int end_user(
	struct assembler *assembler, struct sampled *sampled, uint32_t last, enum root_kind root)
{
	sampled->end = STACK_WHOLE;
	switch (sampled->record->walk_end) {
	case STOKE_WALK_NONE:
	case STOKE_WALK_FIRST:
		return 0;
	case STOKE_WALK_DEPTH:
		sampled->end = STACK_TRUNCATED;
		return 0;
	case STOKE_WALK_EXIT:
		sampled->end = STACK_EXIT;
		return 0;
	case STOKE_WALK_NO_TABLE:
		if (root == ROOT_NONE)
			return ends_bare(&assembler->ends,
				processes_module(assembler->processes, last), &sampled->end);
		return 0;
	case STOKE_WALK_NO_CODE:
		return ends_named(
			&assembler->ends, "[gap: Java code without a header]", &sampled->end);
	case STOKE_WALK_NO_RETURN:
		return ends_named(&assembler->ends, "[gap: no return address in a Java frame]",
			&sampled->end);
	default:
		/* Frame pointer 0 alone proves nothing: code without frame pointers may hold a 0
		 * there. */
		if (root == ROOT_NONE)
			sampled->end = STACK_BROKEN;
		return 0;
	}
}

/* What a walk noted on the frame before. */
static int place_note(struct assembler *assembler, struct sampled *sampled, uint64_t note)
{
	static const char gap[] = "[gap: frames of a virtual thread in the heap]";
	struct place *last = &assembler->places[sampled->nr_places - 1];
	uint32_t frame;
	int r;

	if (stoke_note_of(note) == STOKE_NOTE_METHOD) {
		last->note = note;
		return 0;
	}
	r = profile_named_frame(assembler->profile, gap, sizeof(gap) - 1, FUNCTION_MARK, &frame);
	if (r < 0)
		return r;
	assembler->places[sampled->nr_places++] = (struct place){.frame = frame};
	return 0;
}

/* User frames from leaf to root; sets end when the stack turns out to be whole or broken. */
static int place_user(struct assembler *assembler, struct sampled *sampled)
{
	const uint64_t *frames = sampled->frames + sampled->record->nr_kernel;
	enum root_kind root = ROOT_NONE;
	uint32_t last = 0;
	int astray = 0, r;

	for (size_t i = 0; i < sampled->record->nr_user; i++) {
		/* A return address belongs to the call before it, which may be a function's last.
		 */
		uint64_t address = frames[i] - (i ? 1 : 0), offset;
		const struct mapping *mapping;
		uint32_t module, frame;

		if (stoke_note_of(frames[i])) {
			r = place_note(assembler, sampled, frames[i]);
			if (r < 0)
				return r;
			continue;
		}
		mapping = locate(assembler, sampled, address);
		if (!mapping) {
			sampled->end = root == ROOT_NONE ? STACK_BROKEN : STACK_WHOLE;
			return 0;
		}
		astray = is_stale(assembler, sampled->record, address, mapping);
		if (mapping->kind == MAPPING_ANONYMOUS) {
			assembler->places[sampled->nr_places++] =
				(struct place){.address = address};
			sampled->nr_generated++;
			root = ROOT_NONE;
			if (astray)
				break;
			continue;
		}
		if (mapping->kind == MAPPING_VSYSCALL) {
			r = profile_named_frame(
				assembler->profile, "[vsyscall]", 10, FUNCTION_NATIVE, &frame);
			if (r < 0)
				return r;
			assembler->places[sampled->nr_places++] = (struct place){.frame = frame};
			continue;
		}
		offset = address - mapping->start + mapping->offset;
		last = mapping->module;
		r = profile_module_of(assembler, mapping->module, &module);
		if (r >= 0)
			r = add_frame(assembler, sampled, module, offset, 0, &frame);
		if (r < 0)
			return r;
		root = i ? ends_root(&assembler->ends, frame,
				   processes_module(assembler->processes, mapping->module),
				   offset + 1)
			 : ROOT_NONE;
		if (root == ROOT_THREAD || root == ROOT_PROGRAM) {
			sampled->end = STACK_WHOLE;
			return 0;
		}
		if (astray)
			break;
	}
	if (astray) {
		sampled->end = STACK_BROKEN;
		return 0;
	}
	return end_user(assembler, sampled, last, root);
}

static int place_kernel(struct assembler *assembler, struct sampled *sampled)
{
	int r;

	assembler->met_kernel |= sampled->record->nr_kernel != 0;
	for (size_t i = 0; i < sampled->record->nr_kernel; i++) {
		uint64_t address = sampled->frames[i] - (i ? 1 : 0);
		uint32_t frame;

		r = add_frame(assembler, sampled, assembler->kernel_module, address, FRAME_KERNEL,
			&frame);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_row(struct assembler *assembler, uint32_t stack, uint32_t end, uint32_t labels,
	uint32_t slice, uint64_t weight)
{
	const uint64_t values[2] = {1, weight};

	ends_count(&assembler->ends, end);
	return profile_row(assembler->profile, 0, stack, labels, slice, values);
}

/* From the root, which is last in places when leaf_first. */
static int add_stack(struct assembler *assembler, const struct place *places, size_t nr,
	uint32_t end, uint32_t *ret)
{
	uint32_t node = ends_node(&assembler->ends, end);
	int r;

	for (size_t i = 0; i < nr; i++) {
		r = stacks_child(
			&assembler->profile->stacks, node, places[nr - 1 - i].frame, &node);
		if (r < 0)
			return r;
	}
	*ret = node;
	return 0;
}

static int find_code(struct assembler *assembler, struct process *process, struct code **ret)
{
	struct code code = {.incarnation = process->incarnation, .pid = process->pid};
	int r;

	for (size_t i = assembler->nr_codes; i-- > 0;) {
		if (assembler->codes[i].incarnation == process->incarnation) {
			*ret = &assembler->codes[i];
			return 0;
		}
	}
	r = array_reserve(&assembler->codes, &assembler->codes_capacity, assembler->nr_codes, 1);
	if (r < 0)
		return r;
	r = generated_new(assembler->host, &code.generated);
	if (r < 0)
		return r;
	assembler->codes[assembler->nr_codes] = code;
	*ret = &assembler->codes[assembler->nr_codes++];
	return 0;
}

/* Names the generated frames of places; -EAGAIN when one has to wait. */
static int name_places(struct assembler *assembler, struct generated *generated, uint64_t time_ns,
	struct place *places, size_t nr)
{
	int waits = 0;

	for (size_t i = 0; i < nr; i++) {
		int r;

		if (places[i].frame)
			continue;
		r = generated_frame(
			generated, assembler->profile, time_ns, &places[i], &places[i].frame);
		/* Others need not wait: interpreted methods are best named while they are there. */
		waits |= r == -EAGAIN;
		if (r < 0 && r != -EAGAIN)
			return r;
	}
	return waits ? -EAGAIN : 0;
}

static int add_generated(struct assembler *assembler, struct sampled *sampled)
{
	const struct stoke_sample *record = sampled->record;
	struct code *code;
	uint32_t stack, module = 0;
	int r;

	r = find_code(assembler, sampled->process, &code);
	if (r >= 0 && sampled->process->jit_module)
		r = profile_module_of(assembler, sampled->process->jit_module, &module);
	if (r < 0)
		return r;
	generated_use_module(code->generated, module);
	r = name_places(
		assembler, code->generated, record->time_ns, assembler->places, sampled->nr_places);
	if (r == -EAGAIN) {
		const struct waiting waiting = {
			.time_ns = record->time_ns,
			.weight = record->weight,
			.labels = sampled->labels,
			.slice = sampled->slice,
			.end = sampled->end,
			.nr_places = (uint32_t)sampled->nr_places,
		};

		return generated_wait(code->generated, &waiting, assembler->places);
	}
	if (r >= 0)
		r = add_stack(
			assembler, assembler->places, sampled->nr_places, sampled->end, &stack);
	if (r < 0)
		return r;
	return add_row(
		assembler, stack, sampled->end, sampled->labels, sampled->slice, record->weight);
}

static int add_located(struct assembler *assembler, struct sampled *sampled)
{
	const struct stoke_sample *record = sampled->record;
	const uint64_t key[5] = {sampled->process->incarnation, sampled->process->version,
		(uint64_t)record->nr_kernel << 32 | record->nr_user, record->walk_end,
		record->generation};
	struct stack_hash hash = stack_hash(
		key, ARRAY_SIZE(key), sampled->frames, (size_t)record->nr_kernel + record->nr_user);
	const struct assembled *known = dictionary_find(assembler->seen, &hash);
	struct assembled assembled;
	int r;

	if (known)
		return add_row(assembler, known->stack, known->end, sampled->labels, sampled->slice,
			record->weight);
	r = place_kernel(assembler, sampled);
	if (r >= 0)
		r = place_user(assembler, sampled);
	if (r < 0)
		return r;
	if (sampled->nr_generated)
		return add_generated(assembler, sampled);
	r = add_stack(
		assembler, assembler->places, sampled->nr_places, sampled->end, &assembled.stack);
	if (r < 0)
		return r;
	assembled.end = sampled->end;
	/* A broken stack may be mended by the next reading of the mappings: not to be remembered.
	 */
	if (sampled->end != STACK_BROKEN)
		dictionary_add(assembler->seen, &hash, &assembled);
	return add_row(assembler, assembled.stack, sampled->end, sampled->labels, sampled->slice,
		record->weight);
}

int assembler_sample(
	struct assembler *assembler, const struct stoke_sample *record, const uint64_t *frames)
{
	struct sampled sampled = {.record = record, .frames = frames};
	int r;

	if (assembler->end_ns && record->time_ns > assembler->end_ns)
		return 0;
	/* Asked for the kernel alone, what ran in user code was not asked for. */
	if ((assembler->flags & STOKE_KERNEL_ONLY) && (record->flags & STOKE_SAMPLE_USER_MODE))
		return 0;
	assembler->nr_samples++;
	assembler->weight += record->weight;
	r = processes_get(assembler->processes, (pid_t)record->pid, &sampled.process);
	if (r < 0)
		return r;
	if (!sampled.process->start_ns)
		sampled.process->start_ns = record->start_ns;
	if (record->time_ns > assembler->start_ns && assembler->slice_ns)
		sampled.slice =
			(uint32_t)((record->time_ns - assembler->start_ns) / assembler->slice_ns);
	r = labels_find(&assembler->labels, assembler->profile, record, sampled.process,
		processes_text(assembler->processes, sampled.process->name), assembler->flags,
		&sampled.labels);
	if (r < 0)
		return r;
	return add_located(assembler, &sampled);
}

/* A sample that waited, after a reading. */
struct retaken {
	struct assembler *assembler;
	struct generated *generated;
};

static int retake(void *arg, const struct waiting *sample, const struct place *places)
{
	struct retaken *retaken = arg;
	struct assembler *assembler = retaken->assembler;
	uint32_t stack;
	int r;

	memcpy(assembler->places, places, sample->nr_places * sizeof(*places));
	r = name_places(assembler, retaken->generated, sample->time_ns, assembler->places,
		sample->nr_places);
	if (r == -EAGAIN) /* a sample of after this reading began */
		return generated_wait(retaken->generated, sample, assembler->places);
	if (r >= 0)
		r = add_stack(assembler, assembler->places, sample->nr_places, sample->end, &stack);
	if (r < 0)
		return r;
	return add_row(
		assembler, stack, sample->end, sample->labels, sample->slice, sample->weight);
}

static int read_code(
	struct assembler *assembler, struct code *code, enum observe why, uint64_t now_ns)
{
	struct process *process = processes_find(assembler->processes, code->pid);
	struct retaken retaken = {assembler, code->generated};

	if (process && process->incarnation != code->incarnation)
		process = NULL;
	return generated_read(
		code->generated, process, assembler->profile, why, now_ns, retake, &retaken);
}

int assembler_tick(struct assembler *assembler, uint64_t now_ns)
{
	for (size_t i = 0; i < assembler->nr_codes; i++) {
		struct code *code = &assembler->codes[i];
		uint64_t last = generated_last_reading(code->generated);
		int r;

		if (!generated_waiting_since(code->generated))
			continue;
		if (last && now_ns - last < READING_INTERVAL_NS)
			continue;
		r = read_code(assembler, code, last ? OBSERVE_TICK : OBSERVE_START, now_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

int assembler_exit(struct assembler *assembler, struct process *process, uint64_t now_ns)
{
	for (size_t i = 0; i < assembler->nr_codes; i++) {
		if (assembler->codes[i].incarnation == process->incarnation)
			return read_code(assembler, &assembler->codes[i], OBSERVE_END, now_ns);
	}
	return 0;
}

int assembler_finish(struct assembler *assembler, uint64_t now_ns)
{
	for (size_t i = 0; i < assembler->nr_codes; i++) {
		int r = read_code(assembler, &assembler->codes[i], OBSERVE_END, now_ns);

		if (r < 0)
			return r;
	}
	return 0;
}

void assembler_mark_roots(struct assembler *assembler)
{
	ends_mark_roots(&assembler->ends);
}

int assembler_judge(struct assembler *assembler, struct quality *quality)
{
	int r = ends_judge(&assembler->ends, quality);

	if (r < 0)
		return r;
	for (size_t i = 0; i < assembler->nr_codes; i++) {
		struct generated_findings findings;

		generated_explain(assembler->codes[i].generated, &findings);
		quality->count[QUALITY_STALE_JIT] += findings.nr_stale;
		quality->count[QUALITY_MAP_LINES_BAD] += findings.nr_bad_lines;
	}
	return 0;
}

const char *assembler_finding(const struct assembler *assembler, size_t i, pid_t *ret_pid,
	struct generated_findings *buffer)
{
	if (i >= assembler->nr_codes)
		return NULL;
	generated_explain(assembler->codes[i].generated, buffer);
	*ret_pid = assembler->codes[i].pid;
	return buffer->text;
}
