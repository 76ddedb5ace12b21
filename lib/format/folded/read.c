/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c: text is sorted, not looked up. While lines come in order they are appended as they are;
 * once they do not, windows of up to 256 MB are sorted, appended and united. So is what the
 * profile had before with what this file brings.
 */
#include "format/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "format/folded/append.h"
#include "format/folded/sort.h"
#include "profile/prune.h"
#include "profile/unite.h"

#define LINE_MAX_BYTES	 (64u << 20)
#define WINDOW_MIN_BYTES ((size_t)1 << 20)
#define WINDOW_MAX_BYTES ((size_t)256 << 20)
#define WINDOW_MAX_LINES ((size_t)4 << 20)
#define MAX_PARTS	 40 /* each is at least twice the next, and ids are u32 */
#define CUT_NODES	 (1u << 22) /* of unsorted text, before it may be cut */

struct reader {
	struct stoke_profile *profile;
	struct input *input;
	struct stoke_error *err;
	struct append append;
	int as_bytes, as_tree; /* the order of the lines so far may be this one */
	int broken; /* it is none: the line that was read last belongs to what follows */
	uint64_t nr_lines, nr_good, nr_bad, first_bad;
	const char *first_reason;
	struct folded_line *lines; /* of a window */
	size_t nr_in_window, lines_capacity;
	struct profile_part parts[MAX_PARTS]; /* [0]: what was there before this run */
	unsigned nr_parts;
	double min_share;
	uint64_t *times; /* of the slices, in the order of the lines; [0] is before the first */
	size_t nr_times, times_capacity;
};

static void bad_line(struct reader *reader, const char *reason)
{
	if (!reader->nr_bad++) {
		reader->first_bad = reader->nr_lines;
		reader->first_reason = reason;
	}
}

static int set_slice(struct reader *reader, uint64_t time_ns)
{
	int r;

	if (reader->times[reader->append.slice] == time_ns)
		return 0;
	r = array_reserve(&reader->times, &reader->times_capacity, reader->nr_times, 1);
	if (r < 0)
		return r;
	reader->append.slice = (uint32_t)reader->nr_times;
	reader->times[reader->nr_times++] = time_ns;
	return 0;
}

/* The first of a kind counts. A rate is said as recordings say it: "99 Hz". */
static int add_comment(struct reader *reader, const struct folded_comment *comment)
{
	static const char *const keys[] = {
		[FOLDED_WORK] = "work", [FOLDED_RATE] = "rate", [FOLDED_EVENT] = "event"};
	struct stoke_profile *profile = reader->profile;
	uint32_t run = reader->append.run;
	size_t size = comment->size;
	char text[128];
	int r = 0;

	if (comment->kind == FOLDED_SLICE)
		return set_slice(reader, comment->time_ns);
	if (comment->kind == FOLDED_NOTHING || profile_fact_find(profile, run, keys[comment->kind]))
		return 0;
	if (comment->kind == FOLDED_RATE) {
		if (size < 3 || memcmp(comment->text + size - 2, "Hz", 2) != 0)
			return 0;
		size -= 2;
	}
	if (comment->kind == FOLDED_EVENT)
		r = profile_string(profile, comment->text, size, &profile->runs[run].event);
	if (r < 0)
		return r;
	/* Fits: a comment is shorter. */
	(void)snprintf(text, sizeof(text), "%.*s%s", (int)size, comment->text,
		comment->kind == FOLDED_RATE ? " Hz" : "");
	return profile_fact(profile, run, keys[comment->kind], text);
}

static int read_comment(struct reader *reader, const char *line, size_t size)
{
	struct folded_comment comment;
	const char *reason = folded_comment(line, size, &comment);

	if (!reason)
		return add_comment(reader, &comment);
	bad_line(reader, reason);
	return 0;
}

/* 1: there is a stack and a count in this line, which is counted one way or the other. */
static int parse_line(struct reader *reader, const char *line, size_t size, struct folded_line *ret)
{
	const char *reason = NULL;
	size_t stack_size;

	reader->nr_lines++;
	if (size > LINE_MAX_BYTES) {
		bad_line(reader, "longer than 64 MiB");
		return 0;
	}
	while (size && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	if (!size)
		return 0;
	if (line[0] == '#')
		return read_comment(reader, line, size);
	reason = folded_split(line, size, &stack_size, &ret->count);
	if (reason) {
		bad_line(reader, reason);
		return 0;
	}
	ret->stack = line;
	ret->size = (uint32_t)stack_size;
	ret->slice = reader->append.slice;
	return 1;
}

/*
 * Lines may be sorted as bytes (sort, most collapsers) or as a tree (';' below all): either way no
 * node is ever come back to, but for those held. shared: bytes in common with the line before.
 */
static int is_in_order(struct reader *reader, const struct folded_line *line, size_t shared)
{
	const struct append *append = &reader->append;
	int before_ends = shared == append->last_size, ends = shared == line->size;
	int before = before_ends ? ' ' : (unsigned char)append->last[shared];
	int now = ends ? ' ' : (unsigned char)line->stack[shared];

	if (before_ends && ends)
		return 1;
	/* What stands behind the blank that ends a stack is a count: no order to be had there. */
	if (now < before && !(ends && before <= ' ') && !(before_ends && now <= ' '))
		reader->as_bytes = 0;
	before = before_ends ? 0 : before == ';' ? 1 : before + 2;
	now = ends ? 0 : now == ';' ? 1 : now + 2;
	if (now < before)
		reader->as_tree = 0;
	return reader->as_bytes || reader->as_tree;
}

static int add_line(struct reader *reader, const struct folded_line *line, size_t shared)
{
	int r = append_stack(&reader->append, line->stack, line->size, shared, line->count);

	if (r == -EOVERFLOW) {
		bad_line(reader, "more than 65,535 frames");
		return 0;
	}
	reader->nr_good += r >= 0;
	return r;
}

/* In order. Sets broken when this line is not: then it was not read. */
static int read_line(struct reader *reader, const char *text, size_t size)
{
	struct folded_line line;
	size_t shared;
	int r;

	/* Stacks begin anew behind it. */
	if (size && text[0] == '#' && reader->nr_good && memmem(text, size, "#slice ", 7) == text) {
		reader->broken = 1;
		return 0;
	}
	r = parse_line(reader, text, size, &line);
	if (r <= 0)
		return r;
	shared = append_shared(&reader->append, line.stack, line.size);
	if (!is_in_order(reader, &line, shared)) {
		reader->broken = 1;
		reader->nr_lines--;
		return 0;
	}
	reader->append.as_bytes = reader->as_bytes;
	return add_line(reader, &line, shared);
}

/* Whole lines of [p, p + size) as far as they are in order. The bytes used, or -errno. */
static ssize_t read_whole_lines(struct reader *reader, const char *p, size_t size)
{
	const char *end = p + size, *line = p, *stop;
	int r;

	while (line < end && (stop = memchr(line, '\n', (size_t)(end - line)))) {
		r = read_line(reader, line, (size_t)(stop - line));
		if (r < 0)
			return r;
		if (reader->broken)
			break;
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

/* Lines as far as they are in order; what is not stays unread. */
static int read_in_order(struct reader *reader)
{
	size_t rest = 0, want;
	const uint8_t *p;
	ssize_t n, used;
	int r;

	for (;;) {
		r = append_keep(&reader->append);
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
		r = append_keep(&reader->append);
		if (r < 0)
			return r;
		input_skip(reader->input, (size_t)used);
		if (reader->broken)
			return 0;
		if (rest > LINE_MAX_BYTES) {
			r = skip_line(reader);
			if (r < 0)
				return r;
			rest = 0;
		}
	}
	return rest ? read_line(reader, (const char *)p, rest) : 0;
}

/* Fills the window as far as there is text. The bytes visible, or -errno. */
static ssize_t fill_window(struct reader *reader, const uint8_t **ret)
{
	size_t want = WINDOW_MIN_BYTES;
	ssize_t n;

	/* Step by step: a small file needs no large window. */
	for (;; want *= 2) {
		n = input_fill(reader->input, want, ret, reader->err);
		if (n < 0 || (size_t)n < want || want == WINDOW_MAX_BYTES)
			return n;
	}
}

/* Whole lines of a window. is_last: the line that ends with the text is whole too. */
static ssize_t parse_window(struct reader *reader, const char *p, size_t size, int is_last)
{
	const char *end = p + size, *line = p;

	reader->nr_in_window = 0;
	while (line < end && reader->nr_in_window < WINDOW_MAX_LINES) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		int r = array_reserve(
			&reader->lines, &reader->lines_capacity, reader->nr_in_window, 1);

		if (r < 0)
			return r;
		if (!stop && !is_last)
			break;
		if (!stop)
			stop = end;
		r = parse_line(
			reader, line, (size_t)(stop - line), &reader->lines[reader->nr_in_window]);
		if (r < 0)
			return r;
		reader->nr_in_window += (size_t)r;
		line = stop < end ? stop + 1 : end;
	}
	return line - p;
}

static int prune_run(struct reader *reader, double share)
{
	uint64_t nr_cut, below = (uint64_t)(share * (double)reader->append.total);
	int r = profile_prune(reader->profile, reader->append.samples, below, NULL, 0, &nr_cut);

	if (r >= 0)
		reader->append.nr_cut += nr_cut;
	return r;
}

/* Joins the profile's stacks with the parts that were put aside last, down to `keep` of them. */
static int unite_parts(struct reader *reader, unsigned keep)
{
	int r = 0;

	while (r >= 0 && reader->nr_parts > keep) {
		r = profile_part_unite(reader->profile, &reader->parts[reader->nr_parts - 1]);
		reader->nr_parts -= r >= 0;
	}
	return r;
}

static int read_window(struct reader *reader)
{
	int r = folded_sort(reader->lines, reader->nr_in_window);

	for (size_t i = 0; r >= 0 && i < reader->nr_in_window; i++) {
		const struct folded_line *line = &reader->lines[i];

		reader->append.slice = line->slice;
		r = add_line(reader, line, append_shared(&reader->append, line->stack, line->size));
	}
	return r < 0 ? r : append_close(&reader->append);
}

/*
 * A part is complete: makes room for the next. It is united with what is not much larger, so that
 * each node is moved a few times, however many windows there are.
 */
static int put_aside(struct reader *reader)
{
	struct stoke_profile *profile = reader->profile;
	unsigned nr = reader->nr_parts;
	int r = 0;

	for (; r >= 0 && nr > 1; nr--) {
		if (nr < MAX_PARTS && reader->parts[nr - 1].stacks.nr / 2 > profile->stacks.nr)
			break;
		r = unite_parts(reader, nr - 1);
	}
	/* What is narrow so far may still grow: cut only what has no chance to matter. */
	if (r >= 0 && reader->min_share > 0 && profile->stacks.nr > CUT_NODES)
		r = prune_run(reader, reader->min_share / 16);
	if (r >= 0)
		r = profile_part_take(profile, &reader->parts[reader->nr_parts]);
	reader->nr_parts += r >= 0;
	return r;
}

/* The rest of the text, which is in no order. */
static int read_windows(struct reader *reader)
{
	uint32_t slice = reader->append.slice;
	const uint8_t *p;
	ssize_t n, used;
	int r = append_close(&reader->append);

	reader->append.as_bytes = 0;
	reader->append.min_share = 0; /* of a window, what is narrow in it may be wide in all */
	reader->append.cutting = 0;
	while (r >= 0) {
		n = fill_window(reader, &p);
		if (n <= 0)
			return (int)n;
		if (reader->profile->stacks.nr > 1)
			r = put_aside(reader);
		if (r < 0)
			break;
		reader->append.slice = slice;
		used = parse_window(
			reader, (const char *)p, (size_t)n, (size_t)n < WINDOW_MAX_BYTES);
		if (used < 0)
			return (int)used;
		slice = reader->append.slice;
		if (!used) { /* no end of line in 256 MB */
			r = skip_line(reader);
			continue;
		}
		r = read_window(reader);
		input_skip(reader->input, (size_t)used);
	}
	return r;
}

static int start_run(struct reader *reader, const struct stoke_read_options *options)
{
	struct stoke_profile *profile = reader->profile;
	const char *name = options && options->name ? options->name : input_name(reader->input);
	uint64_t hz = options ? options->frequency_hz : 0;
	struct append *append = &reader->append;
	struct run *run;
	int r;

	r = profile_run(profile, name, &append->run);
	if (r < 0)
		return r;
	r = profile_value(profile, "samples", "count", &append->samples);
	if (r < 0 || !hz)
		return r;
	r = profile_value(profile, "cpu", "nanoseconds", &append->cpu);
	if (r < 0)
		return r;
	profile->default_value = append->cpu;
	append->period_ns = (1000000000 + hz / 2) / hz;
	run = &profile->runs[append->run];
	run->period = append->period_ns;
	run->period_type = profile->values[append->cpu];
	run->duration_ns = options->duration_ns;
	return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Slices were numbered as they came; now all are known, and with them how wide one is. */
static int number_slices(struct reader *reader)
{
	struct rows *rows = &reader->profile->rows;
	uint64_t width = 0, last = 0;

	for (size_t i = 0; i < reader->nr_times; i++) {
		width = common_divisor(width, reader->times[i]);
		last = reader->times[i] > last ? reader->times[i] : last;
	}
	if (width < last / UINT32_MAX + 1)
		width = last / UINT32_MAX + 1;
	if (!last) /* one slice says nothing of its width */
		return 0;
	for (size_t i = 0; i < rows->nr; i++)
		rows->slice[i] = (uint32_t)(reader->times[rows->slice[i]] / width);
	reader->profile->runs[reader->append.run].slice_ns = width;
	profile_renumbered(reader->profile);
	return profile_settle(reader->profile);
}

/* Counts and tells; a file of nothing but bad lines is none. */
static int end_run(struct reader *reader)
{
	const char *name = input_name(reader->input);
	struct run *run = &reader->profile->runs[reader->append.run];
	char text[128];

	run->quality.count[QUALITY_HIDDEN_NODES] += reader->append.nr_cut;
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
	return profile_fact(reader->profile, reader->append.run, "first-bad-line", text);
}

static int read_run(struct reader *reader)
{
	int r = read_in_order(reader);
	int unsorted = r >= 0 && reader->broken;

	if (r >= 0)
		r = unsorted ? read_windows(reader) : append_close(&reader->append);
	if (r >= 0)
		r = unite_parts(reader, 1);
	if (r >= 0 && unsorted && reader->min_share > 0 &&
		reader->profile->stacks.nr > APPEND_PRUNE_NODES)
		r = prune_run(reader, reader->min_share);
	if (r >= 0 && !unsorted)
		r = append_trim(&reader->append);
	if (r >= 0)
		r = number_slices(reader);
	if (r >= 0)
		r = end_run(reader);
	return r < 0 ? r : unite_parts(reader, 0);
}

int folded_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	struct reader reader = {.profile = into, .input = input, .err = err};
	const uint8_t *start;
	ssize_t n = input_fill(input, 3, &start, err);
	int r;

	if (n < 0)
		return (int)n;
	if (n >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0)
		input_skip(input, 3); /* the mark that Windows editors put in front of UTF-8 */
	reader.as_bytes = reader.as_tree = 1;
	reader.min_share = options ? options->min_share : 0;
	reader.append = (struct append){.profile = into, .min_share = reader.min_share};
	r = append_init(&reader.append);
	if (r >= 0)
		r = array_reserve(&reader.times, &reader.times_capacity, 0, 1);
	if (r >= 0)
		reader.times[reader.nr_times++] = 0;
	if (r >= 0)
		r = start_run(&reader, options);
	if (r >= 0)
		r = profile_part_take(into, &reader.parts[0]);
	reader.nr_parts = r >= 0;
	if (r >= 0)
		r = read_run(&reader);
	if (r < 0)
		profile_part_put(into, &reader.parts[0]);
	for (unsigned i = 0; i < reader.nr_parts; i++)
		profile_part_done(&reader.parts[i]);
	append_done(&reader.append);
	free(reader.lines);
	free(reader.times);
	if (r == -ENOMEM)
		return fail(err, r, "out of memory while reading %s", input_name(input));
	if (r == -E2BIG && err && err->code != r)
		return fail(err, r, "%s has too many stacks", input_name(input));
	return r;
}
