/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c: a profile under canonical names. Each function is normalised once; what it then is, with
 * its class, is an entry: one function and one frame of the new profile. Nodes follow in one loop
 * forwards, since parents come before children.
 */
#include "names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "names/alias.h"
#include "names/canonical.h"
#include "names/native.h"
#include "names/nodes.h"
#include "names/rule.h"
#include "profile/copy.h"

enum frame_class { CLASS_USER, CLASS_KERNEL, CLASS_MARK, CLASS_ROOT, NR_CLASSES };

#define DISAGREED UINT32_MAX /* of modules and files */

/* What a canonical name of a class becomes. Ids are of the old profile but for frame and function.
 */
struct entry {
	uint32_t name; /* of rewrite.names */
	uint32_t module, file; /* 0: nobody says; DISAGREED */
	uint32_t function; /* of the new one */
	struct nodes_frame becomes;
	uint8_t class, kind;
	uint8_t is_place; /* "[libc.so.6]", "[unknown]": nothing but where */
	struct names_spellings spellings; /* strings of the old profile until the end */
};

struct rewrite {
	const struct stoke_profile *from;
	const struct names_options *options;
	struct copy *copy;
	struct strings names; /* canonical ones */
	uint32_t *name_of; /* function -> id of names */
	uint8_t *is_vm; /* function is HotSpot's own */
	uint32_t *entry_of; /* class * names + name -> entry, 0: none yet */
	uint8_t *seen; /* class * strings + string: this raw name is counted */
	struct entry *entries; /* [0] is none */
	size_t nr_entries, entries_capacity;
	struct nodes_frame *frame_of; /* by frame of the old profile */
	uint32_t *node_of; /* node -> node of the new profile */
	size_t nr_raw;
};

static void rewrite_done(struct rewrite *rewrite)
{
	copy_free(rewrite->copy);
	strings_done(&rewrite->names);
	free(rewrite->name_of);
	free(rewrite->is_vm);
	free(rewrite->entry_of);
	free(rewrite->seen);
	free(rewrite->entries);
	free(rewrite->frame_of);
	free(rewrite->node_of);
}

void names_merged_free(struct names_merged *merged)
{
	if (!merged)
		return;
	free(merged->of);
	free(merged);
}

/* "[unknown]", "[libc.so.6]": code without a name, or a mark. Text does not say which. */
static int is_bracketed(const struct strings *strings, uint32_t name)
{
	const char *text = strings_text(strings, name);
	size_t size = strings_size(strings, name);

	return size > 2 && text[0] == '[' && text[size - 1] == ']';
}

static uint32_t kind_of(const struct rewrite *rewrite, size_t function)
{
	uint32_t kind = rewrite->from->functions[function].kind;

	return kind == FUNCTION_ROOT && (rewrite->options->flags & NAMES_PLAIN_ROOTS)
		       ? FUNCTION_NATIVE
		       : kind;
}

static enum frame_class class_of(
	const struct rewrite *rewrite, const struct frame *frame, uint32_t function)
{
	uint32_t kind = kind_of(rewrite, function);

	if (kind == FUNCTION_ROOT)
		return CLASS_ROOT;
	if (kind == FUNCTION_MARK)
		return is_bracketed(&rewrite->names, rewrite->name_of[function]) ? CLASS_USER
										 : CLASS_MARK;
	return (frame->flags & FRAME_KERNEL) || kind == FUNCTION_KERNEL ? CLASS_KERNEL : CLASS_USER;
}

/* Names of marks and roots are ours or those of threads: no rule is for them. */
static int is_code(uint32_t kind)
{
	return kind != FUNCTION_MARK && kind != FUNCTION_ROOT;
}

static const char *file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* Which functions are HotSpot's own, as far as the profile knows modules. */
static void find_vm(struct rewrite *rewrite)
{
	const struct stoke_profile *from = rewrite->from;

	for (size_t i = 1; i < from->nr_frames; i++) {
		const struct frame *frame = &from->frames[i];

		if (!frame->module ||
			strcmp(file_name(from->modules[frame->module].path), "libjvm.so") != 0)
			continue;
		for (unsigned f = 0; f < frame->nr_functions; f++)
			rewrite->is_vm[frame_function(from, frame, f)] = 1;
	}
}

/* The canonical name of a function, borrowed until the next. */
static int name_function(struct rewrite *rewrite, struct canonical *canonical, size_t id,
	const char **ret, size_t *ret_size)
{
	const struct stoke_profile *from = rewrite->from;
	const struct names_options *options = rewrite->options;
	const struct function *function = &from->functions[id];
	int r;

	*ret = strings_text(&from->strings, function->name);
	*ret_size = strings_size(&from->strings, function->name);
	if (!is_code(kind_of(rewrite, id)))
		return 0;
	/* Its functions get and lose parameters with each release, mostly "JavaThread *". */
	if (options->level == STOKE_NAMES_JDK && rewrite->is_vm[id])
		*ret_size = native_short(*ret, *ret_size, ret);
	r = canonical_name(canonical, *ret, *ret_size,
		options->level ? options->level : STOKE_NAMES_BUILD, ret, ret_size);
	if (r >= 0 && options->aliases)
		(void)aliases_find(options->aliases, *ret, *ret_size, ret, ret_size);
	return r;
}

/* A frame without a name is unknown. */
static int name_functions(struct rewrite *rewrite)
{
	struct canonical canonical = {0};
	int r = strings_add(&rewrite->names, "[unknown]", 9, &rewrite->name_of[0]);

	find_vm(rewrite);
	for (size_t i = 1; r >= 0 && i < rewrite->from->nr_functions; i++) {
		const char *text;
		size_t size;

		r = name_function(rewrite, &canonical, i, &text, &size);
		if (r >= 0)
			r = strings_add(&rewrite->names, text, size, &rewrite->name_of[i]);
	}
	canonical_done(&canonical);
	return r;
}

static int add_entry(struct rewrite *rewrite, uint32_t name, enum frame_class class, uint32_t *ret)
{
	const char *text = strings_text(&rewrite->names, name);
	struct entry *entry;
	int bridge = strcmp(text, RELEASE_BRIDGE) == 0;
	int r = array_reserve(
		&rewrite->entries, &rewrite->entries_capacity, rewrite->nr_entries, 1);

	if (r < 0)
		return r;
	entry = &rewrite->entries[rewrite->nr_entries];
	*entry = (struct entry){.name = name, .class = (uint8_t) class};
	entry->is_place = is_bracketed(&rewrite->names, name);
	/* A run of bridges is one thing, which nobody asks to see in parts. */
	entry->becomes.folds = (class == CLASS_USER || class == CLASS_KERNEL) &&
			       (bridge || !(rewrite->options->flags & NAMES_NO_FOLD));
	*ret = (uint32_t)rewrite->nr_entries++;
	return 0;
}

/* Of kinds that one name has in several places, the one that says most. */
static uint8_t better_kind(uint32_t a, uint32_t b)
{
	static const uint8_t rank[NR_FUNCTION_KINDS] = {
		[FUNCTION_MARK] = 0,
		[FUNCTION_UNKNOWN] = 1,
		[FUNCTION_INLINED] = 2,
		[FUNCTION_INTERPRETED] = 3,
		[FUNCTION_NATIVE] = 4,
		[FUNCTION_CPP] = 5,
		[FUNCTION_JIT] = 6,
		[FUNCTION_KERNEL] = 7,
		[FUNCTION_ROOT] = 7,
	};

	if (b >= NR_FUNCTION_KINDS)
		return (uint8_t)a;
	return (uint8_t)(rank[b] > rank[a] ? b : a);
}

/* Two builds have a library in two places, of two build ids: the file's name is what stays. */
static void agree_module(struct rewrite *rewrite, struct entry *entry, uint32_t module, int first)
{
	const struct module *modules = rewrite->from->modules;

	if (first)
		entry->module = module;
	if (entry->module == module || entry->module == DISAGREED)
		return;
	if (!module || !entry->module) {
		/* Text says no module: that is no other one. But a place is nothing else. */
		entry->module = entry->is_place ? DISAGREED : module ? module : entry->module;
		return;
	}
	if (strcmp(file_name(modules[entry->module].path), file_name(modules[module].path)) != 0)
		entry->module = DISAGREED;
}

static void agree_file(struct entry *entry, uint32_t file)
{
	if (!entry->file)
		entry->file = file;
	else if (file && entry->file != file)
		entry->file = DISAGREED;
}

/* Where the entry of the i-th function of a frame is noted. */
static uint32_t *entry_slot(struct rewrite *rewrite, const struct frame *frame, unsigned i)
{
	uint32_t function = frame_function(rewrite->from, frame, i);
	enum frame_class class = class_of(rewrite, frame, function);

	return &rewrite->entry_of[class * (size_t)rewrite->names.nr + rewrite->name_of[function]];
}

static void count_spelling(struct rewrite *rewrite, struct entry *entry, uint32_t raw)
{
	uint8_t *seen = &rewrite->seen[entry->class * (size_t)rewrite->from->strings.nr + raw];

	if (*seen)
		return;
	*seen = 1;
	if (entry->spellings.nr < NAMES_SPELLINGS)
		entry->spellings.first[entry->spellings.nr] = raw;
	entry->spellings.nr++;
	rewrite->nr_raw++;
}

/* The entry of the i-th function of a frame learns what this frame says of it. */
static int enter_function(struct rewrite *rewrite, const struct frame *frame, unsigned i)
{
	uint32_t id = frame_function(rewrite->from, frame, i);
	uint32_t *slot = entry_slot(rewrite, frame, i);
	const struct function *function = &rewrite->from->functions[id];
	uint32_t kind = kind_of(rewrite, id);
	struct entry *entry;
	int r, first = !*slot;

	if (first) {
		r = add_entry(rewrite, rewrite->name_of[id], class_of(rewrite, frame, id), slot);
		if (r < 0)
			return r;
	}
	entry = &rewrite->entries[*slot];
	entry->kind = first ? (uint8_t)kind : better_kind(entry->kind, kind);
	agree_module(rewrite, entry, frame->module, first);
	agree_file(entry, function->file);
	count_spelling(rewrite, entry, function->name);
	entry->becomes.alone = first;
	return 0;
}

static int enter_frames(struct rewrite *rewrite)
{
	const struct stoke_profile *from = rewrite->from;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < from->nr_frames; i++) {
		const struct frame *frame = &from->frames[i];
		unsigned nr = frame->nr_functions ? frame->nr_functions : 1;

		for (unsigned f = 0; r >= 0 && f < nr; f++)
			r = enter_function(rewrite, frame, f);
	}
	return r;
}

/* The function and the frame of an entry in the new profile. */
static int make_frame(struct rewrite *rewrite, struct entry *entry)
{
	struct stoke_profile *to = copy_profile(rewrite->copy);
	struct frame frame = {
		.nr_functions = 1, .flags = entry->class == CLASS_KERNEL ? FRAME_KERNEL : 0};
	uint32_t file = 0;
	int r = 0;

	if (entry->class == CLASS_KERNEL)
		entry->kind = FUNCTION_KERNEL;
	if (entry->module != DISAGREED)
		r = copy_module(rewrite->copy, entry->module, &frame.module);
	if (r >= 0 && entry->file != DISAGREED)
		r = copy_string(rewrite->copy, entry->file, &file);
	if (r >= 0)
		r = profile_function(to, strings_text(&rewrite->names, entry->name),
			strings_size(&rewrite->names, entry->name), (enum function_kind)entry->kind,
			file, 0, &frame.function);
	if (r >= 0)
		r = profile_frame(to, &frame, &entry->becomes.frame);
	entry->function = frame.function;
	return r;
}

/* The i-th function of a frame, from the outermost on. */
static const struct nodes_frame *expand(void *arg, uint32_t id, unsigned i)
{
	struct rewrite *rewrite = arg;
	const struct frame *frame = &rewrite->from->frames[id];
	unsigned nr = frame->nr_functions;

	return i < nr ? &rewrite->entries[*entry_slot(rewrite, frame, nr - 1 - i)].becomes : NULL;
}

static int make_frames(struct rewrite *rewrite)
{
	const struct stoke_profile *from = rewrite->from;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < rewrite->nr_entries; i++)
		r = make_frame(rewrite, &rewrite->entries[i]);
	for (size_t i = 1; r >= 0 && i < from->nr_frames; i++) {
		const struct frame *frame = &from->frames[i];

		rewrite->frame_of[i] = rewrite->entries[*entry_slot(rewrite, frame, 0)].becomes;
		rewrite->frame_of[i].several = frame->nr_functions > 1;
	}
	return r;
}

/* A row behind all that are there, in the order of their keys, is new for sure. */
static int is_behind(
	const struct rows *rows, uint32_t run, uint32_t stack, uint32_t labels, uint32_t slice)
{
	size_t last = rows->nr - 1;

	if (!rows->nr || rows->stack[last] != stack)
		return !rows->nr || rows->stack[last] < stack;
	if (rows->run[last] != run)
		return rows->run[last] < run;
	if (rows->labels[last] != labels)
		return rows->labels[last] < labels;
	return rows->slice[last] < slice;
}

static int make_rows(struct rewrite *rewrite)
{
	const struct rows *rows = &rewrite->from->rows;
	struct stoke_profile *to = copy_profile(rewrite->copy);
	int r = 0, sorted = 1;

	for (size_t i = 0; r >= 0 && i < rows->nr; i++) {
		uint32_t node = rewrite->node_of[rows->stack[i]], labels;
		uint64_t values[PROFILE_MAX_VALUES];

		for (unsigned v = 0; v < to->nr_values; v++)
			values[v] = rows->value[v][i];
		r = copy_labels(rewrite->copy, rows->labels[i], &labels);
		if (r < 0)
			break;
		sorted = sorted && is_behind(&to->rows, rows->run[i], node, labels, rows->slice[i]);
		r = (sorted ? profile_row_append : profile_row)(
			to, rows->run[i], node, labels, rows->slice[i], values);
	}
	return r;
}

/* One raw name, and it is what the function is still called. */
static int is_unchanged(const struct rewrite *rewrite, const struct entry *entry)
{
	const struct strings *raw = &rewrite->from->strings, *names = &rewrite->names;
	size_t size = strings_size(names, entry->name);

	return entry->spellings.nr == 1 && strings_size(raw, entry->spellings.first[0]) == size &&
	       memcmp(strings_text(raw, entry->spellings.first[0]),
		       strings_text(names, entry->name), size) == 0;
}

static int tell_merged(struct rewrite *rewrite, struct names_merged **ret)
{
	struct stoke_profile *to = copy_profile(rewrite->copy);
	struct names_merged *merged = calloc(1, sizeof(*merged));
	int r = merged ? 0 : -ENOMEM;

	if (r >= 0) {
		merged->nr_functions = to->nr_functions;
		merged->nr_before = rewrite->nr_raw;
		merged->nr_after = rewrite->nr_entries - 1;
		merged->of = calloc(to->nr_functions, sizeof(*merged->of));
		if (!merged->of)
			r = -ENOMEM;
	}
	for (size_t i = 1; r >= 0 && i < rewrite->nr_entries; i++) {
		const struct entry *entry = &rewrite->entries[i];
		struct names_spellings *of = &merged->of[entry->function];

		if (is_unchanged(rewrite, entry))
			continue;
		merged->nr_merged += entry->spellings.nr > 1;
		of->nr = entry->spellings.nr;
		for (size_t k = 0; r >= 0 && k < NAMES_SPELLINGS && k < of->nr; k++)
			r = copy_string(rewrite->copy, entry->spellings.first[k], &of->first[k]);
	}
	if (r < 0) {
		names_merged_free(merged);
		return r;
	}
	*ret = merged;
	return 0;
}

static int make_room(struct rewrite *rewrite)
{
	const struct stoke_profile *from = rewrite->from;

	rewrite->name_of = calloc(from->nr_functions, sizeof(*rewrite->name_of));
	rewrite->is_vm = calloc(from->nr_functions, 1);
	rewrite->seen = calloc(from->strings.nr, NR_CLASSES);
	rewrite->frame_of = calloc(from->nr_frames, sizeof(*rewrite->frame_of));
	rewrite->node_of = array_new(from->stacks.nr, sizeof(*rewrite->node_of));
	rewrite->entries = calloc(1, sizeof(*rewrite->entries));
	rewrite->nr_entries = rewrite->entries_capacity = 1;
	return rewrite->name_of && rewrite->is_vm && rewrite->seen && rewrite->frame_of &&
			       rewrite->node_of && rewrite->entries
		       ? 0
		       : -ENOMEM;
}

static int rewrite_all(struct rewrite *rewrite)
{
	int r = name_functions(rewrite);

	if (r >= 0) {
		rewrite->entry_of =
			calloc((size_t)rewrite->names.nr * NR_CLASSES, sizeof(*rewrite->entry_of));
		r = rewrite->entry_of ? 0 : -ENOMEM;
	}
	if (r >= 0)
		r = enter_frames(rewrite);
	if (r >= 0)
		r = make_frames(rewrite);
	if (r >= 0)
		r = nodes_rewrite(&rewrite->from->stacks, rewrite->frame_of, expand, rewrite,
			&copy_profile(rewrite->copy)->stacks, rewrite->node_of);
	if (r >= 0)
		r = make_rows(rewrite);
	return r;
}

int names_rewrite(const struct stoke_profile *profile, const struct names_options *options,
	struct stoke_profile **ret, struct names_merged **ret_merged, struct stoke_error *err)
{
	struct rewrite rewrite = {.from = profile, .options = options};
	int r = strings_init(&rewrite.names);

	if (r >= 0)
		r = make_room(&rewrite);
	if (r >= 0)
		r = copy_new(profile, &rewrite.copy);
	if (r >= 0)
		r = rewrite_all(&rewrite);
	if (r >= 0 && ret_merged)
		r = tell_merged(&rewrite, ret_merged);
	if (r >= 0)
		*ret = copy_take(rewrite.copy);
	rewrite_done(&rewrite);
	if (r == -E2BIG)
		return fail(err, r, "too many frames for one comparison");
	return r < 0 ? fail(err, r, "out of memory") : 0;
}
