/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve.c: each nameless frame named once, module by module, and each that stays without a name
 * marked and counted by what was missing. Also the table of resolvers.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "lists.h"
#include "resolver/ahead.h"
#include "resolver/resolver.h"

#define DECLARE(name) extern const struct resolver resolver_##name;
STOKE_RESOLVERS(DECLARE)

#define ENTRY(name) &resolver_##name,
const struct resolver *const resolvers[] = {STOKE_RESOLVERS(ENTRY)};
const size_t nr_resolvers = ARRAY_SIZE(resolvers);

#define MAX_NOTES   4
#define MAX_SYMBOLS 64 /* functions inlined into each other at one place */
#define VSYSCALL    0xffffffffff600000u /* its one page, on x86-64, in no file */

struct nameless {
	uint64_t address;
	uint32_t module, frame;
};

/* What is open while the frames of one module are named. */
struct opened {
	const struct resolver *resolver; /* NULL: no resolver could */
	void *state;
	enum resolver_miss miss; /* then */
};

static int compare(const void *left, const void *right)
{
	const struct nameless *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

/* All frames without a name, in the order in which they are looked up. */
static int collect(const struct stoke_profile *profile, struct nameless **ret, size_t *ret_nr)
{
	struct nameless *list;
	size_t nr = 0;

	for (size_t i = 1; i < profile->nr_frames; i++)
		nr += !profile->frames[i].nr_functions;
	list = calloc(nr ? nr : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 1; i < profile->nr_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (!frame->nr_functions)
			list[nr++] = (struct nameless){frame->address, frame->module, (uint32_t)i};
	}
	qsort(list, nr, sizeof(*list), compare);
	*ret = list;
	*ret_nr = nr;
	return 0;
}

static int open_module(const struct host *host, const struct module *module,
	struct resolve_ahead *ahead, struct opened *ret)
{
	*ret = (struct opened){.miss = MISS_UNREADABLE};
	if (ahead && module->kind == MODULE_KERNEL) {
		ret->state = resolve_ahead_take(ahead);
		ret->resolver = ret->state ? &resolver_kernel : NULL;
		if (ret->resolver)
			return 0;
	}
	for (size_t i = 0; host && i < nr_resolvers; i++) {
		int r = resolvers[i]->open(host, module, &ret->state);

		if (r == -ENOENT)
			continue;
		if (r == 0)
			ret->resolver = resolvers[i];
		return r == -ENOMEM ? r : 0;
	}
	return 0;
}

static void close_module(struct opened *opened)
{
	if (opened->resolver)
		opened->resolver->close(opened->state);
}

/*
 * "[libfoo.so+0x1a2b]". The number is the virtual address, which objdump -d and addr2line take, of
 * the function if the file's unwind tables tell where it starts, else of the place itself; in a
 * file that could not be read, the offset in the file.
 */
static int mark_file(struct stoke_profile *profile, uint32_t frame, const struct module *module,
	const struct opened *opened)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;
	const char *base = slash ? slash + 1 : module->path;
	uint64_t address = profile->frames[frame].address, vaddr;
	char text[NAME_MAX + 32];
	struct symbol symbol = {.name = text, .kind = FUNCTION_NATIVE};
	int n;

	if (module->kind == MODULE_FOREIGN && address >= module->start && address < module->limit)
		address = address - module->start + module->offset;
	if (opened->resolver && opened->resolver->locate) {
		int r = opened->resolver->locate(opened->state, address, &vaddr);

		if (r == -ENOMEM)
			return r;
		if (r == 0)
			address = vaddr;
	}
	if (!base || !*base)
		n = snprintf(text, sizeof(text), "[unknown]");
	else if (*base == '[')
		n = snprintf(text, sizeof(text), "%.*s", NAME_MAX, base); /* "[vdso]" */
	else
		n = snprintf(text, sizeof(text), "[%.*s+0x%" PRIx64 "]", NAME_MAX, base, address);
	symbol.name_size = (size_t)n;
	return profile_name_frame(profile, frame, &symbol, 1);
}

static int mark(
	struct stoke_profile *profile, uint32_t frame, const char *name, enum function_kind kind)
{
	const struct symbol symbol = {.name = name, .name_size = strlen(name), .kind = kind};

	return profile_name_frame(profile, frame, &symbol, 1);
}

/* Gives a frame the best name that can be had without knowing it; returns the count it goes to. */
static int mark_unknown(struct stoke_profile *profile, const struct nameless *item,
	const struct opened *opened, enum resolver_miss miss)
{
	static const enum quality_count counts[] = {
		[MISS_NO_SYMBOLS] = QUALITY_UNNAMED_NO_SYMBOLS,
		[MISS_GAP] = QUALITY_UNNAMED_GAP,
		[MISS_UNREADABLE] = QUALITY_UNNAMED_UNREADABLE,
		[MISS_HIDDEN] = QUALITY_UNNAMED_KERNEL,
	};
	const struct module *module = &profile->modules[item->module];
	uint16_t flags = profile->frames[item->frame].flags;
	int r, count = (int)counts[miss];

	/* What it is, its code has told already: as good as a name, and no reason to complain. */
	if (flags & FRAME_THREAD_START)
		return mark(profile, item->frame, "[thread start]", FUNCTION_NATIVE);
	if (flags & FRAME_PROGRAM_START)
		return mark(profile, item->frame, "[program start]", FUNCTION_NATIVE);
	switch (module->kind) {
	case MODULE_KERNEL:
		r = mark(profile, item->frame, "[kernel]", FUNCTION_KERNEL);
		break;
	case MODULE_JIT:
		r = mark(profile, item->frame, "[jit]", FUNCTION_JIT);
		count = QUALITY_UNNAMED_JIT;
		break;
	case MODULE_NONE:
		if (flags & FRAME_KERNEL)
			r = mark(profile, item->frame, "[kernel]", FUNCTION_KERNEL);
		else if ((item->address & ~(uint64_t)0xfff) == VSYSCALL)
			r = mark(profile, item->frame, "[vsyscall]", FUNCTION_NATIVE);
		else
			r = mark(profile, item->frame, "[unknown]", FUNCTION_UNKNOWN);
		break;
	default:
		r = mark_file(profile, item->frame, module, opened);
	}
	return r < 0 ? r : count;
}

/* Names one frame. The quality count that it goes to, or 0: named. (0 is QUALITY_SAMPLES, which
 * no miss goes to.) */
static int name_frame(
	struct stoke_profile *profile, const struct nameless *item, const struct opened *opened)
{
	enum resolver_miss miss = opened->miss;
	struct symbol symbols[MAX_SYMBOLS];
	int n = 0;

	if (opened->resolver)
		n = opened->resolver->lookup(
			opened->state, item->address, symbols, MAX_SYMBOLS, &miss);
	if (n > 0)
		return profile_name_frame(profile, item->frame, symbols, (size_t)n);
	return mark_unknown(profile, item, opened, miss);
}

/* What a resolver says of a module becomes a warning of the run; of many modules, the first. */
static int take_note(struct stoke_profile *profile, const struct opened *opened, unsigned *nr)
{
	const char *note = NULL;

	if (opened->resolver && opened->resolver->explain && profile->nr_runs && *nr < MAX_NOTES)
		note = opened->resolver->explain(opened->state);
	if (!note)
		return 0;
	++*nr;
	return profile_fact(profile, 0, "warning", note);
}

/* Names all of the list; causes[frame] becomes the count of each that stays unknown. */
static int name_all(struct stoke_profile *profile, const struct host *host,
	struct resolve_ahead *ahead, const struct nameless *list, size_t nr, uint8_t *causes)
{
	struct opened opened = {0};
	unsigned nr_notes = 0;
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++) {
		if (!i || list[i].module != list[i - 1].module) {
			close_module(&opened);
			r = open_module(host, &profile->modules[list[i].module], ahead, &opened);
			if (r >= 0)
				r = take_note(profile, &opened, &nr_notes);
			if (r < 0)
				break;
		}
		r = name_frame(profile, &list[i], &opened);
		if (r >= 0)
			causes[list[i].frame] = (uint8_t)r;
	}
	close_module(&opened);
	return r < 0 ? r : 0;
}

/* The value that counts samples; the first one where none does. */
static unsigned samples_value(const struct stoke_profile *profile)
{
	uint32_t samples = strings_find(&profile->strings, "samples", strlen("samples"));

	for (unsigned v = 0; v < profile->nr_values; v++) {
		if (profile->values[v].type == samples)
			return v;
	}
	return 0;
}

/* Counts the frames of one run, each as often as it was sampled. totals: a number a node. */
static void count_run(
	struct stoke_profile *profile, uint32_t run, const uint8_t *causes, uint64_t *totals)
{
	const uint64_t *values = profile->rows.value[samples_value(profile)];
	uint64_t *counts = profile->runs[run].quality.count;
	const struct stacks *stacks = &profile->stacks;

	memset(totals, 0, stacks->nr * sizeof(*totals));
	for (size_t i = 0; i < profile->rows.nr; i++) {
		uint32_t stack = profile->rows.stack[i];

		if (profile->rows.run[i] == run)
			totals[stack] = add_saturated(totals[stack], values[i]);
	}
	for (size_t i = stacks->nr; i-- > 1;) { /* parents come before children */
		uint32_t parent = stacks->parent[i], cause = causes[stacks->frame[i]];

		totals[parent] = add_saturated(totals[parent], totals[i]);
		counts[QUALITY_FRAMES] = add_saturated(counts[QUALITY_FRAMES], totals[i]);
		if (cause)
			counts[cause] = add_saturated(counts[cause], totals[i]);
	}
}

/* A run that was counted when it was recorded says so in its file, and is left as it is. */
static int count_all(struct stoke_profile *profile, const uint8_t *causes)
{
	_cleanup_free_ uint64_t *totals = NULL;

	if (!profile->nr_values || !profile->rows.nr)
		return 0;
	totals = calloc(profile->stacks.nr, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (size_t run = 0; run < profile->nr_runs; run++) {
		if (!profile->runs[run].quality.count[QUALITY_FRAMES])
			count_run(profile, (uint32_t)run, causes, totals);
	}
	return 0;
}

int resolve_profile(
	struct stoke_profile *profile, const struct host *host, struct resolve_ahead *ahead)
{
	_cleanup_free_ struct nameless *list = NULL;
	_cleanup_free_ uint8_t *causes = NULL;
	size_t nr;
	int r;

	r = collect(profile, &list, &nr);
	if (r < 0)
		return r;
	if (!nr && !host)
		return 0; /* text formats: every frame is a name, and memory is short */
	causes = calloc(profile->nr_frames, sizeof(*causes));
	if (!causes)
		return -ENOMEM;
	r = name_all(profile, host, ahead, list, nr, causes);
	if (r < 0)
		return r;
	return count_all(profile, causes);
}
