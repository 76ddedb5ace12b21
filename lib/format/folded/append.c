/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * append.c: the path of the line before, as levels. In nodes that come in order a closed subtree
 * is the tail of the arrays, its rows the tail of theirs: cutting it off is two assignments.
 */
#include "format/folded/append.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "format/folded.h"
#include "profile/prune.h"

#define MAX_DEPTH UINT16_MAX
#define MEMO_SETS (1u << 14)
#define MEMO_WAYS 4 /* a set is a cache line */
#define BATCH	  16 /* frames looked up together, so that their cache misses overlap */
#define NO_ROW	  UINT32_MAX

/* A frame of the line before. Of the empty stack only the last four are used. */
struct append_level {
	size_t end; /* where its name ends in the line */
	uint32_t node;
	uint32_t first_row; /* of its subtree, which is the tail; NO_ROW: it is not */
	uint32_t row; /* its own latest, or NO_ROW */
	uint32_t rest, rest_row; /* its "[left out]" child, where it has one */
	uint64_t total; /* of the closed part of its subtree */
	uint64_t hidden; /* cut off below, in no row yet */
};

/*
 * Sorted as bytes, "a 1" comes before "a.x 1" and only then "a;b 1", since '.' is below ';'. So a
 * leaf whose name goes on in the next line is held until the lines stop beginning with it.
 */
struct append_held {
	size_t end; /* the lines since share this many bytes with it */
	size_t depth;
	uint32_t node, row;
};

/* A name seen lately and its frame; the text is that of the profile's strings. */
struct append_memo {
	uint32_t hash, frame; /* frame 0: free */
	uint32_t size_kind; /* size << 4 | kind */
	uint32_t text; /* offset: names further out than 4 GiB are not remembered */
};

/* A frame of the line that is being read. */
struct name {
	const char *text;
	size_t size, stop; /* where it ends in the line */
	uint32_t hash, size_kind; /* as in the memo */
	uint32_t kind;
	struct append_memo *set;
	const struct append_memo *likely; /* the entry of this hash, or NULL */
};

int append_init(struct append *append)
{
	size_t size = (size_t)MEMO_SETS * MEMO_WAYS * sizeof(*append->memo);
	int r = array_reserve(&append->levels, &append->levels_capacity, 0, 1);

	append->memo = aligned_alloc(MEMO_WAYS * sizeof(*append->memo), size);
	if (r < 0 || !append->memo)
		return -ENOMEM;
	memset(append->memo, 0, size);
	append->last = "";
	append->levels[0] = (struct append_level){.row = NO_ROW, .first_row = NO_ROW};
	append->nr_levels = 1;
	append->prune_at = APPEND_PRUNE_NODES;
	if (append->min_share <= 0)
		return 0;
	return profile_named_frame(append->profile, PROFILE_LEFT_OUT, strlen(PROFILE_LEFT_OUT),
		FUNCTION_MARK, &append->left_out);
}

void append_done(struct append *append)
{
	free(append->levels);
	free(append->held);
	free(append->copy);
	free(append->memo);
}

size_t append_shared(const struct append *append, const char *stack, size_t size)
{
	size_t max = size < append->last_size ? size : append->last_size, i = 0;
	const char *last = append->last;
	uint64_t x, y;

	for (; i + 8 <= max; i += 8) {
		memcpy(&x, stack + i, 8);
		memcpy(&y, last + i, 8);
		if (x != y)
			break;
	}
	while (i < max && stack[i] == last[i])
		i++;
	return i;
}

/* Spreads names over the memo. Nothing is lost to names that were chosen to meet: a set forgets. */
static uint32_t hash_name(const char *name, size_t size)
{
	uint64_t hash = size, word;

	for (; size >= 8; size -= 8, name += 8) {
		memcpy(&word, name, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, name, size);
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return (uint32_t)(hash >> 32);
}

/* Asks the profile for a frame, and remembers it first in its set. */
static int intern_frame(struct append *append, const struct name *name, uint32_t *ret)
{
	struct stoke_profile *profile = append->profile;
	uint64_t text;
	int r = profile_named_frame(
		profile, name->text, name->size, (enum function_kind)name->kind, ret);

	if (r < 0)
		return r;
	text = profile->strings.start[profile->functions[profile->frames[*ret].function].name];
	if (text > UINT32_MAX)
		return 0;
	memmove(name->set + 1, name->set, (MEMO_WAYS - 1) * sizeof(*name->set));
	name->set[0] = (struct append_memo){name->hash, *ret, name->size_kind, (uint32_t)text};
	return 0;
}

/* What a frame is called, and where the memo would know it. */
static struct name parse_name(struct append *append, const char *text, size_t size, size_t stop)
{
	const struct folded_suffix *suffix = folded_suffix(text, size);
	struct name name = {.text = text, .size = size, .stop = stop, .kind = FUNCTION_UNKNOWN};

	if (suffix) {
		name.kind = suffix->kind;
		name.size -= FOLDED_SUFFIX_BYTES;
	} else if (!size) {
		name.text = "[unknown]";
		name.size = strlen(name.text);
		name.kind = FUNCTION_MARK;
	} else if (text[0] == '[' && text[size - 1] == ']' && !memmem(text, size, "+0x", 3)) {
		name.kind = FUNCTION_MARK;
	} else if (text[0] == '-' && (size == 1 || (size == 2 && text[1] == '-'))) {
		name.kind = FUNCTION_MARK; /* bcc: between user and kernel code */
	}
	/* A line has at most 2^26 bytes. */
	name.size_kind = (uint32_t)name.size << 4 | name.kind;
	name.hash = hash_name(name.text, name.size);
	name.set = append->memo + (size_t)(name.hash % MEMO_SETS) * MEMO_WAYS;
	__builtin_prefetch(name.set);
	return name;
}

static void guess_name(const struct append *append, struct name *name)
{
	for (unsigned i = 0; i < MEMO_WAYS; i++) {
		if (name->set[i].hash == name->hash && name->set[i].size_kind == name->size_kind) {
			name->likely = &name->set[i];
			__builtin_prefetch(append->profile->strings.bytes + name->set[i].text);
			return;
		}
	}
}

static int find_frame(struct append *append, const struct name *name, uint32_t *ret)
{
	const struct stoke_profile *profile = append->profile;
	const struct append_memo *memo = name->likely;

	if (memo && memo->size_kind == name->size_kind && memo->hash == name->hash &&
		memcmp(profile->strings.bytes + memo->text, name->text, name->size) == 0) {
		*ret = memo->frame;
		return 0;
	}
	return intern_frame(append, name, ret);
}

static int ends_at(const char *stack, size_t size, size_t at)
{
	return at == size || (at < size && stack[at] == ';');
}

static int push_level(struct append *append, size_t end, uint32_t node, uint32_t first_row)
{
	struct append_level *level;

	if (append->nr_levels == append->levels_capacity) {
		int r = array_reserve(
			&append->levels, &append->levels_capacity, append->nr_levels, 1);

		if (r < 0)
			return r;
	}
	level = &append->levels[append->nr_levels++];
	*level = (struct append_level){
		.end = end, .node = node, .first_row = first_row, .row = NO_ROW};
	return 0;
}

static void fill_values(const struct append *append, uint64_t count, uint64_t *values)
{
	memset(values, 0, PROFILE_MAX_VALUES * sizeof(*values));
	values[append->samples] = count;
	if (append->period_ns &&
		__builtin_mul_overflow(count, append->period_ns, &values[append->cpu]))
		values[append->cpu] = UINT64_MAX;
}

static void add_to_row(struct append *append, uint32_t row, const uint64_t *values)
{
	struct stoke_profile *profile = append->profile;

	for (unsigned v = 0; v < profile->nr_values; v++)
		profile->rows.value[v][row] = add_saturated(profile->rows.value[v][row], values[v]);
}

/* What was cut off below a level that stays becomes a child of it. */
static int show_hidden(struct append *append, struct append_level *level)
{
	struct stoke_profile *profile = append->profile;
	uint64_t values[PROFILE_MAX_VALUES];
	int r;

	fill_values(append, level->hidden, values);
	level->hidden = 0;
	if (level->rest) {
		add_to_row(append, level->rest_row, values);
		return 0;
	}
	r = stacks_append(&profile->stacks, level->node, append->left_out, &level->rest);
	if (r < 0)
		return r;
	level->rest_row = (uint32_t)profile->rows.nr;
	return profile_row_append(profile, append->run, level->rest, 0, append->slice, values);
}

/* The innermost level ends: it stays, or goes to what its parent hides. */
static int close_level(struct append *append)
{
	struct append_level *level = &append->levels[--append->nr_levels], *parent = level - 1;
	struct stoke_profile *profile = append->profile;
	int r = 0;

	parent->total = add_saturated(parent->total, level->total);
	if (!append->cutting)
		return 0;
	if (level->first_row != NO_ROW &&
		(double)level->total < append->min_share * (double)append->total) {
		append->nr_cut += profile->stacks.nr - level->node;
		profile->stacks.nr = level->node;
		profile->rows.nr = level->first_row;
		parent->hidden = add_saturated(parent->hidden, level->total);
	} else if (level->hidden) {
		r = show_hidden(append, level);
	}
	return r;
}

static int hold(struct append *append, size_t shared)
{
	struct append_level *level = &append->levels[append->nr_levels - 1];
	int r = array_reserve(&append->held, &append->held_capacity, append->nr_held, 1);

	if (r < 0)
		return r;
	append->held[append->nr_held++] =
		(struct append_held){shared, append->nr_levels, level->node, level->row};
	level->first_row = NO_ROW; /* has to stay for what may still come */
	return 0;
}

/* Keeps the levels that this line shares with the one before. */
static int pop_levels(struct append *append, const char *stack, size_t size, size_t shared)
{
	const struct append_held *held;
	int r = 0;

	while (append->nr_held && append->held[append->nr_held - 1].end > shared)
		append->nr_held--;
	if (append->as_bytes && append->nr_levels > 1 && shared == append->last_size &&
		shared < size && (unsigned char)stack[shared] < ';')
		r = hold(append, shared);
	while (r >= 0 && append->nr_levels > 1) {
		size_t end = append->levels[append->nr_levels - 1].end;

		if (end <= shared && ends_at(stack, size, end))
			break;
		r = close_level(append);
	}
	held = append->nr_held ? &append->held[append->nr_held - 1] : NULL;
	if (r < 0 || !held || held->end != shared || held->depth != append->nr_levels + 1 ||
		!ends_at(stack, size, shared))
		return r;
	r = push_level(append, shared, held->node, NO_ROW);
	append->levels[append->nr_levels - 1].row = held->row;
	return r;
}

/* Up to BATCH frames from *start on, below *node; both move on. */
static int add_frames(
	struct append *append, const char *stack, size_t size, size_t *start, uint32_t *node)
{
	struct stacks *stacks = &append->profile->stacks;
	uint32_t frame, first_row = (uint32_t)append->profile->rows.nr;
	struct name names[BATCH];
	size_t nr = 0;
	int r;

	while (*start <= size && nr < BATCH) {
		const char *end = memchr(stack + *start, ';', size - *start);
		size_t stop = end ? (size_t)(end - stack) : size;

		names[nr++] = parse_name(append, stack + *start, stop - *start, stop);
		*start = stop + 1;
	}
	for (size_t i = 0; i < nr; i++)
		guess_name(append, &names[i]);
	for (size_t i = 0; i < nr; i++) {
		if (append->nr_levels > MAX_DEPTH)
			return -EOVERFLOW;
		r = find_frame(append, &names[i], &frame);
		if (r >= 0)
			r = stacks_append(stacks, *node, frame, node);
		if (r >= 0)
			r = push_level(append, names[i].stop, *node, first_row);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Makes the levels those of this stack. */
static int find_stack(struct append *append, const char *stack, size_t size, size_t shared)
{
	const struct append_level *level;
	uint32_t node;
	size_t start = 0;
	int r = pop_levels(append, stack, size, shared);

	if (r < 0)
		return r;
	append->last = stack;
	append->last_size = size;
	level = &append->levels[append->nr_levels - 1];
	node = level->node;
	if (append->nr_levels > 1)
		start = level->end + 1;
	while (start <= size) {
		r = add_frames(append, stack, size, &start, &node);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_row(struct append *append, uint64_t count)
{
	struct append_level *level = &append->levels[append->nr_levels - 1];
	struct stoke_profile *profile = append->profile;
	uint64_t values[PROFILE_MAX_VALUES];

	level->total = add_saturated(level->total, count);
	append->total = add_saturated(append->total, count);
	fill_values(append, count, values);
	if (level->row != NO_ROW && profile->rows.slice[level->row] == append->slice) {
		add_to_row(append, level->row, values);
		return 0;
	}
	level->row = (uint32_t)profile->rows.nr;
	return profile_row_append(profile, append->run, level->node, 0, append->slice, values);
}

/* After rows were moved: where those of the path are, and of what was cut below it. */
static int find_rows(struct append *append)
{
	const struct stoke_profile *profile = append->profile;
	_cleanup_free_ uint32_t *level_of = calloc(profile->stacks.nr, sizeof(*level_of));

	if (!level_of)
		return -ENOMEM;
	for (size_t i = 0; i < append->nr_levels; i++) {
		struct append_level *level = &append->levels[i];

		level_of[level->node] = (uint32_t)i + 1;
		level->row = level->first_row = NO_ROW; /* what was cut stands behind it now */
		level->rest = 0;
	}
	for (size_t i = 0; i < append->nr_held; i++)
		append->held[i].row = NO_ROW;
	for (size_t i = 0; i < profile->rows.nr; i++) {
		uint32_t node = profile->rows.stack[i], at = level_of[node];
		uint32_t above = level_of[profile->stacks.parent[node]];

		if (at)
			append->levels[at - 1].row = (uint32_t)i;
		if (above && profile->stacks.frame[node] == append->left_out) {
			append->levels[above - 1].rest = node;
			append->levels[above - 1].rest_row = (uint32_t)i;
		}
		for (size_t h = 0; h < append->nr_held; h++)
			if (append->held[h].node == node)
				append->held[h].row = (uint32_t)i;
	}
	return 0;
}

/* Cuts what is too narrow so far, but for the path of the line before and held leaves. */
static int prune(struct append *append)
{
	size_t nr_levels = append->nr_levels, nr = nr_levels + append->nr_held;
	_cleanup_free_ uint32_t *open = calloc(nr + 1, sizeof(*open));
	uint64_t nr_cut;
	int r;

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		open[i] = i < nr_levels ? append->levels[i].node : append->held[i - nr_levels].node;
	r = profile_prune(append->profile, append->samples,
		(uint64_t)(append->min_share * (double)append->total), open, nr, &nr_cut);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr_levels; i++)
		append->levels[i].node = open[i];
	for (size_t i = nr_levels; i < nr; i++)
		append->held[i - nr_levels].node = open[i];
	append->nr_cut += nr_cut;
	append->cutting = 1;
	append->prune_at = 2 * append->profile->stacks.nr;
	if (append->prune_at < APPEND_PRUNE_NODES)
		append->prune_at = APPEND_PRUNE_NODES;
	return find_rows(append);
}

int append_stack(
	struct append *append, const char *stack, size_t size, size_t shared, uint64_t count)
{
	int r = find_stack(append, stack, size, shared);

	if (r >= 0)
		r = add_row(append, count);
	if (r >= 0 && append->min_share > 0 && append->profile->stacks.nr > append->prune_at)
		r = prune(append);
	return r;
}

int append_keep(struct append *append)
{
	if (append->last == append->copy)
		return 0;
	if (append->copy_capacity < append->last_size) {
		char *grown = realloc(append->copy, append->last_size * 2);

		if (!grown)
			return -ENOMEM;
		append->copy = grown;
		append->copy_capacity = append->last_size * 2;
	}
	if (append->last_size)
		memcpy(append->copy, append->last, append->last_size);
	append->last = append->copy;
	return 0;
}

int append_close(struct append *append)
{
	int r = 0;

	append->nr_held = 0;
	while (r >= 0 && append->nr_levels > 1)
		r = close_level(append);
	if (r >= 0 && append->levels[0].hidden)
		r = show_hidden(append, &append->levels[0]);
	append->levels[0] = (struct append_level){.row = NO_ROW, .first_row = NO_ROW};
	append->last = "";
	append->last_size = 0;
	return r;
}

int append_trim(struct append *append)
{
	uint64_t nr_cut;
	int r;

	if (!append->cutting)
		return 0;
	r = profile_prune(append->profile, append->samples,
		(uint64_t)(append->min_share * (double)append->total), NULL, 0, &nr_cut);
	if (r >= 0)
		append->nr_cut += nr_cut;
	return r;
}
