/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c: folded text is not looked up but compared: what a line shares with the line before
 * keeps its nodes, the rest is appended. Only when the lines turn out to be in no order, nodes are
 * searched for.
 */
#include "format/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/prune.h"

#define LINE_MAX_BYTES (64u << 20)
#define MAX_DEPTH      UINT16_MAX
#define MEMO_SETS      (1u << 13)
#define MEMO_WAYS      4 /* a set is a cache line */
#define PRUNE_NODES    (1u << 18) /* more than these, and twice what stayed, are pruned */
#define BATCH	       16 /* frames looked up together, so that their cache misses overlap */

/* A frame of the line before: where its name ends there, and its node. */
struct level {
	size_t end;
	uint32_t node;
};

/*
 * Sorted as bytes, "a 1" comes before "a.x 1" and only then "a;b 1", since '.' is below ';'. So a
 * leaf whose name goes on in the next line is held until the lines stop beginning with it.
 */
struct held {
	size_t end; /* the lines since share this many bytes with it */
	size_t depth;
	uint32_t node;
};

/* A name seen lately and its frame; the text is that of the profile's strings. */
struct memo {
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
	struct memo *set;
	const struct memo *likely; /* the entry of this hash, or NULL */
};

struct reader {
	struct stoke_profile *profile;
	struct input *input;
	struct stoke_error *err;
	uint32_t run;
	unsigned samples, cpu; /* columns */
	uint64_t period_ns; /* 0: not known, no cpu column */
	struct level *levels;
	size_t nr_levels, levels_capacity;
	struct held *held;
	size_t nr_held, held_capacity;
	const char *last; /* stack of the line before; in the window or in copy */
	size_t last_size;
	char *copy;
	size_t copy_capacity;
	int sorted_as_bytes, sorted_as_tree, append;
	uint64_t nr_lines, nr_good, nr_bad, first_bad;
	const char *first_reason;
	struct memo *memo;
	double min_share; /* 0: nothing is cut */
	uint64_t total;
	size_t prune_at; /* nodes */
};

static void bad_line(struct reader *reader, const char *reason)
{
	if (!reader->nr_bad++) {
		reader->first_bad = reader->nr_lines;
		reader->first_reason = reason;
	}
}

static size_t common_prefix(const char *a, const char *b, size_t max)
{
	uint64_t x, y;
	size_t i = 0;

	for (; i + 8 <= max; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
	}
	while (i < max && a[i] == b[i])
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
static int intern_frame(struct reader *reader, const struct name *name, uint32_t *ret)
{
	struct stoke_profile *profile = reader->profile;
	uint64_t text;
	int r = profile_named_frame(
		profile, name->text, name->size, (enum function_kind)name->kind, ret);

	if (r < 0)
		return r;
	text = profile->strings.start[profile->functions[profile->frames[*ret].function].name];
	if (text > UINT32_MAX)
		return 0;
	memmove(name->set + 1, name->set, (MEMO_WAYS - 1) * sizeof(*name->set));
	name->set[0] = (struct memo){name->hash, *ret, name->size_kind, (uint32_t)text};
	return 0;
}

/* What a frame is called, and where the memo would know it. */
static struct name parse_name(struct reader *reader, const char *text, size_t size, size_t stop)
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
	}
	/* A line has at most 2^26 bytes. */
	name.size_kind = (uint32_t)name.size << 4 | name.kind;
	name.hash = hash_name(name.text, name.size);
	name.set = reader->memo + (size_t)(name.hash % MEMO_SETS) * MEMO_WAYS;
	__builtin_prefetch(name.set);
	return name;
}

static void guess_name(const struct reader *reader, struct name *name)
{
	for (unsigned i = 0; i < MEMO_WAYS; i++) {
		if (name->set[i].hash == name->hash && name->set[i].size_kind == name->size_kind) {
			name->likely = &name->set[i];
			__builtin_prefetch(reader->profile->strings.bytes + name->set[i].text);
			return;
		}
	}
}

static int find_frame(struct reader *reader, const struct name *name, uint32_t *ret)
{
	const struct stoke_profile *profile = reader->profile;
	const struct memo *memo = name->likely;

	if (memo && memo->size_kind == name->size_kind && memo->hash == name->hash &&
		memcmp(profile->strings.bytes + memo->text, name->text, name->size) == 0) {
		*ret = memo->frame;
		return 0;
	}
	return intern_frame(reader, name, ret);
}

static int ends_at(const char *stack, size_t size, size_t at)
{
	return at == size || (at < size && stack[at] == ';');
}

/*
 * Lines may be sorted as bytes (sort, most collapsers) or as a tree (';' below all): either way no
 * node is ever come back to, but for those held. shared: bytes in common with the line before.
 */
static void judge_order(struct reader *reader, const char *stack, size_t size, size_t shared)
{
	int before_ends = shared == reader->last_size, ends = shared == size;
	int before = before_ends ? ' ' : (unsigned char)reader->last[shared];
	int now = ends ? ' ' : (unsigned char)stack[shared];

	if (before_ends && ends)
		return;
	/* What stands behind the blank that ends a stack is a count: no order to be had there. */
	if (now < before && !(ends && before <= ' ') && !(before_ends && now <= ' '))
		reader->sorted_as_bytes = 0;
	before = before_ends ? 0 : before == ';' ? 1 : before + 2;
	now = ends ? 0 : now == ';' ? 1 : now + 2;
	if (now < before)
		reader->sorted_as_tree = 0;
	if (!reader->sorted_as_bytes && !reader->sorted_as_tree)
		reader->append = 0; /* from here on nodes are looked up */
}

static int push_level(struct reader *reader, size_t end, uint32_t node)
{
	int r = array_reserve(&reader->levels, &reader->levels_capacity, reader->nr_levels, 1);

	if (r < 0)
		return r;
	reader->levels[reader->nr_levels++] = (struct level){end, node};
	return 0;
}

/* Keeps the levels that this line shares with the one before. */
static int pop_levels(struct reader *reader, const char *stack, size_t size, size_t shared)
{
	size_t keep = reader->nr_levels;
	struct held *held;
	int r;

	while (reader->nr_held && reader->held[reader->nr_held - 1].end > shared)
		reader->nr_held--;
	if (keep && shared == reader->last_size && shared < size &&
		(unsigned char)stack[shared] < ';') {
		r = array_reserve(&reader->held, &reader->held_capacity, reader->nr_held, 1);
		if (r < 0)
			return r;
		reader->held[reader->nr_held++] =
			(struct held){shared, keep, reader->levels[keep - 1].node};
	}
	while (keep && (reader->levels[keep - 1].end > shared ||
			       !ends_at(stack, size, reader->levels[keep - 1].end)))
		keep--;
	reader->nr_levels = keep;
	held = reader->nr_held ? &reader->held[reader->nr_held - 1] : NULL;
	if (held && held->end == shared && held->depth == keep + 1 && ends_at(stack, size, shared))
		return push_level(reader, shared, held->node);
	return 0;
}

/* Up to BATCH frames from *start on, below *node; both move on. */
static int add_frames(
	struct reader *reader, const char *stack, size_t size, size_t *start, uint32_t *node)
{
	struct stacks *stacks = &reader->profile->stacks;
	struct name names[BATCH];
	uint32_t frame;
	size_t nr = 0;
	int r;

	while (*start <= size && nr < BATCH) {
		const char *end = memchr(stack + *start, ';', size - *start);
		size_t stop = end ? (size_t)(end - stack) : size;

		names[nr++] = parse_name(reader, stack + *start, stop - *start, stop);
		*start = stop + 1;
	}
	for (size_t i = 0; i < nr; i++)
		guess_name(reader, &names[i]);
	for (size_t i = 0; i < nr; i++) {
		if (reader->nr_levels == MAX_DEPTH)
			return -EOVERFLOW;
		r = find_frame(reader, &names[i], &frame);
		if (r >= 0)
			r = reader->append ? stacks_append(stacks, *node, frame, node)
					   : stacks_child(stacks, *node, frame, node);
		if (r >= 0)
			r = push_level(reader, names[i].stop, *node);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The node of a stack, whose levels are then those of the line before. -E2BIG: too deep. */
static int find_stack(struct reader *reader, const char *stack, size_t size, uint32_t *ret)
{
	size_t max = size < reader->last_size ? size : reader->last_size;
	size_t shared = common_prefix(stack, reader->last, max), start = 0;
	uint32_t node = 0;
	int r;

	judge_order(reader, stack, size, shared);
	r = pop_levels(reader, stack, size, shared);
	if (r < 0)
		return r;
	reader->last = stack;
	reader->last_size = size;
	if (reader->nr_levels) {
		node = reader->levels[reader->nr_levels - 1].node;
		start = reader->levels[reader->nr_levels - 1].end + 1;
	}
	while (start <= size) {
		r = add_frames(reader, stack, size, &start, &node);
		if (r < 0)
			return r;
	}
	*ret = node;
	return 0;
}

/* Cuts what is too narrow so far, but for the path of the line before and held leaves. */
static int prune(struct reader *reader)
{
	size_t nr_levels = reader->nr_levels, nr = nr_levels + reader->nr_held;
	_cleanup_free_ uint32_t *open = calloc(nr + 1, sizeof(*open));
	struct quality *quality = &reader->profile->runs[reader->run].quality;
	uint64_t nr_cut;
	int r;

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		open[i] = i < nr_levels ? reader->levels[i].node : reader->held[i - nr_levels].node;
	r = profile_prune(reader->profile, reader->samples,
		(uint64_t)(reader->min_share * (double)reader->total), open, nr, &nr_cut);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr_levels; i++)
		reader->levels[i].node = open[i];
	for (size_t i = nr_levels; i < nr; i++)
		reader->held[i - nr_levels].node = open[i];
	quality->count[QUALITY_HIDDEN_NODES] += nr_cut;
	reader->prune_at = 2 * reader->profile->stacks.nr;
	if (reader->prune_at < PRUNE_NODES)
		reader->prune_at = PRUNE_NODES;
	return 0;
}

static int read_line(struct reader *reader, const char *line, size_t size)
{
	uint64_t values[PROFILE_MAX_VALUES] = {0}, count;
	size_t stack_size, nr_nodes = reader->profile->stacks.nr;
	const char *reason;
	uint32_t stack;
	int r;

	reader->nr_lines++;
	if (size > LINE_MAX_BYTES) {
		bad_line(reader, "longer than 64 MiB");
		return 0;
	}
	while (size && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	if (!size || line[0] == '#')
		return 0;
	reason = folded_split(line, size, &stack_size, &count);
	if (reason) {
		bad_line(reader, reason);
		return 0;
	}
	r = find_stack(reader, line, stack_size, &stack);
	if (r == -EOVERFLOW) {
		bad_line(reader, "more than 65,535 frames");
		return 0;
	}
	if (r < 0)
		return r;
	reader->nr_good++;
	values[reader->samples] = count;
	if (reader->period_ns &&
		__builtin_mul_overflow(count, reader->period_ns, &values[reader->cpu]))
		values[reader->cpu] = UINT64_MAX;
	/* A leaf that was just appended has no row yet. */
	r = stack >= nr_nodes
		    ? profile_row_append(reader->profile, reader->run, stack, 0, 0, values)
		    : profile_row(reader->profile, reader->run, stack, 0, 0, values);
	if (__builtin_add_overflow(reader->total, count, &reader->total))
		reader->total = UINT64_MAX;
	/* In unsorted text what is narrow so far may still grow. */
	if (r >= 0 && reader->min_share > 0 && reader->append &&
		reader->profile->stacks.nr > reader->prune_at)
		r = prune(reader);
	return r;
}

/* The window is about to move: the line before goes into a copy. */
static int keep_last(struct reader *reader)
{
	if (reader->last == reader->copy)
		return 0;
	if (reader->copy_capacity < reader->last_size) {
		char *grown = realloc(reader->copy, reader->last_size * 2);

		if (!grown)
			return -ENOMEM;
		reader->copy = grown;
		reader->copy_capacity = reader->last_size * 2;
	}
	if (reader->last_size)
		memcpy(reader->copy, reader->last, reader->last_size);
	reader->last = reader->copy;
	return 0;
}

/* Whole lines of [p, p + size). The number of bytes used, or -errno. */
static ssize_t read_whole_lines(struct reader *reader, const char *p, size_t size)
{
	const char *end = p + size, *line = p, *stop;
	int r;

	while (line < end && (stop = memchr(line, '\n', (size_t)(end - line)))) {
		r = read_line(reader, line, (size_t)(stop - line));
		if (r < 0)
			return r;
		line = stop + 1;
	}
	return line - p;
}

/* Skips the rest of a line that is too long to be one. */
static int skip_line(struct reader *reader)
{
	const uint8_t *p, *stop;
	ssize_t n;

	reader->nr_lines++;
	bad_line(reader, "longer than 64 MiB");
	while ((n = input_fill(reader->input, 1, &p, reader->err)) > 0) {
		stop = memchr(p, '\n', (size_t)n);
		input_skip(reader->input, stop ? (size_t)(stop - p) + 1 : (size_t)n);
		if (stop)
			return 0;
	}
	return (int)n;
}

static int read_lines(struct reader *reader)
{
	size_t rest = 0, want;
	const uint8_t *p;
	ssize_t n, used;
	int r;

	for (;;) {
		r = keep_last(reader);
		if (r < 0)
			return r;
		want = 2 * rest < LINE_MAX_BYTES ? 2 * rest + 1 : LINE_MAX_BYTES + 1;
		n = input_fill(reader->input, want, &p, reader->err);
		if (n < 0)
			return (int)n;
		if ((size_t)n == rest)
			break;
		used = read_whole_lines(reader, (const char *)p, (size_t)n);
		if (used < 0)
			return (int)used;
		rest = (size_t)(n - used);
		r = keep_last(reader);
		if (r < 0)
			return r;
		input_skip(reader->input, (size_t)used);
		if (rest > LINE_MAX_BYTES) {
			r = skip_line(reader);
			if (r < 0)
				return r;
			rest = 0;
		}
	}
	return rest ? read_line(reader, (const char *)p, rest) : 0;
}

static int start_run(struct reader *reader, const struct stoke_read_options *options)
{
	struct stoke_profile *profile = reader->profile;
	const char *name = options && options->name ? options->name : input_name(reader->input);
	uint64_t hz = options ? options->frequency_hz : 0;
	struct run *run;
	int r;

	r = profile_run(profile, name, &reader->run);
	if (r < 0)
		return r;
	r = profile_value(profile, "samples", "count", &reader->samples);
	if (r < 0 || !hz)
		return r;
	r = profile_value(profile, "cpu", "nanoseconds", &reader->cpu);
	if (r < 0)
		return r;
	profile->default_value = reader->cpu;
	reader->period_ns = (1000000000 + hz / 2) / hz;
	run = &profile->runs[reader->run];
	run->period = reader->period_ns;
	run->period_type = profile->values[reader->cpu];
	run->duration_ns = options->duration_ns;
	return 0;
}

/* Counts and tells; a file of nothing but bad lines is none. */
static int end_run(struct reader *reader)
{
	const char *name = input_name(reader->input);
	struct run *run = &reader->profile->runs[reader->run];
	char text[128];

	if (!reader->nr_bad)
		return 0;
	if (!reader->nr_good)
		return fail(reader->err, -EINVAL,
			"%s is not folded text: none of its lines is a stack and a count; line "
			"%" PRIu64 ": %s",
			name, reader->first_bad, reader->first_reason);
	run->quality.count[QUALITY_LINES_BAD] += reader->nr_bad;
	(void)snprintf(text, sizeof(text), "line %" PRIu64 ": %s", reader->first_bad,
		reader->first_reason); /* cut when too long: it is not */
	return profile_fact(reader->profile, reader->run, "first-bad-line", text);
}

static struct memo *memo_new(void)
{
	size_t size = (size_t)MEMO_SETS * MEMO_WAYS * sizeof(struct memo);
	struct memo *memo = aligned_alloc(MEMO_WAYS * sizeof(*memo), size);

	return memo ? memset(memo, 0, size) : NULL;
}

int folded_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	struct reader reader = {.profile = into,
		.input = input,
		.err = err,
		.last = "",
		.sorted_as_bytes = 1,
		.sorted_as_tree = 1,
		.append = into->stacks.nr == 1,
		.min_share = options ? options->min_share : 0,
		.prune_at = PRUNE_NODES};
	const uint8_t *start;
	ssize_t n = input_fill(input, 3, &start, err);
	int r;

	if (n < 0)
		return (int)n;
	if (n >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0)
		input_skip(input, 3); /* the mark that Windows editors put in front of UTF-8 */
	reader.memo = memo_new();
	r = reader.memo ? start_run(&reader, options) : -ENOMEM;
	if (r >= 0)
		r = read_lines(&reader);
	if (r >= 0)
		r = end_run(&reader);
	free(reader.memo);
	free(reader.levels);
	free(reader.held);
	free(reader.copy);
	if (r == -ENOMEM)
		return fail(err, r, "out of memory while reading %s", input_name(input));
	if (r == -E2BIG && err && err->code != r)
		return fail(err, r, "%s has too many stacks", input_name(input));
	return r;
}
