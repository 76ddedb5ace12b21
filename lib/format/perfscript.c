/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfscript.c: the text of perf script, sample by sample. As in a recording each sample has its
 * thread and its time; in front of its stack stands the command, as in every flame graph of perf's
 * data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "format/format.h"
#include "format/perfscript/line.h"
#include "profile/unite.h"

#define LINE_MAX_BYTES (1u << 20)
#define MAX_DEPTH      (UINT16_MAX - 1) /* the command is a frame too */
#define SLICE_NS       20000000
#define MAX_ROWS       (4u << 20) /* more, and slices become twice as wide */
#define START_MAX_NS   (400ull * 86400 * 1000000000) /* of a slice: what u32 holds is more */

struct reader {
	struct stoke_profile *profile;
	struct input *input;
	struct stoke_error *err;
	uint32_t run;
	unsigned samples, cpu; /* columns; cpu: of clock events with a period */
	int has_cpu;
	uint64_t slice_ns, start_ns, end_ns; /* times of the first and the last sample */
	uint64_t nr_lines, nr_bad, first_bad;
	const char *first_reason;
	char *event; /* of the first sample: others are another profile */
	char *other_event;
	uint64_t nr_samples, nr_others;
	/* the sample being read: its head is a copy, frames are innermost first */
	int in_sample;
	uint32_t *frames;
	size_t nr_frames, frames_capacity;
	uint32_t root, labels, slice;
	uint64_t period;
};

static void bad_line(struct reader *reader, const char *reason)
{
	if (!reader->nr_bad++) {
		reader->first_bad = reader->nr_lines;
		reader->first_reason = reason;
	}
}

static int is_clock(struct perfscript_text event)
{
	return (event.size >= 9 && memcmp(event.text, "cpu-clock", 9) == 0) ||
	       (event.size >= 10 && memcmp(event.text, "task-clock", 10) == 0);
}

/* Too many rows for their slices: twice as wide ones. */
static int widen_slices(struct reader *reader)
{
	struct rows *rows = &reader->profile->rows;
	int r = 0;

	while (r >= 0 && rows->nr > MAX_ROWS && reader->slice_ns < UINT64_MAX / 2) {
		size_t nr = rows->nr;

		for (size_t i = 0; i < rows->nr; i++)
			rows->slice[i] /= rows->run[i] == reader->run ? 2 : 1;
		reader->slice_ns *= 2;
		profile_renumbered(reader->profile);
		r = profile_settle(reader->profile);
		if (rows->nr > nr - nr / 64)
			break; /* they are of different stacks: nothing is gained */
	}
	return r;
}

static int end_sample(struct reader *reader)
{
	struct stoke_profile *profile = reader->profile;
	uint64_t values[PROFILE_MAX_VALUES] = {0};
	uint32_t node;
	int r;

	if (!reader->in_sample)
		return 0;
	reader->in_sample = 0;
	r = stacks_child(&profile->stacks, 0, reader->root, &node);
	for (size_t i = reader->nr_frames; r >= 0 && i-- > 0;)
		r = stacks_child(&profile->stacks, node, reader->frames[i], &node);
	if (r < 0)
		return r;
	values[reader->samples] = 1;
	if (reader->has_cpu)
		values[reader->cpu] = reader->period;
	reader->nr_samples++;
	r = profile_row(profile, reader->run, node, reader->labels, reader->slice, values);
	if (r >= 0 && profile->rows.nr > MAX_ROWS)
		r = widen_slices(reader);
	return r;
}

static int add_label(struct stoke_profile *profile, const char *key, int64_t number,
	struct label *labels, size_t *nr)
{
	if (number < 0)
		return 0;
	labels[*nr] = (struct label){.num = number};
	return profile_text(profile, key, &labels[(*nr)++].key);
}

static int make_labels(struct reader *reader, const struct perfscript_head *head)
{
	struct stoke_profile *profile = reader->profile;
	struct label labels[3] = {{0}};
	size_t nr = 1;
	int r = profile_text(profile, "thread", &labels[0].key);

	if (r >= 0)
		r = profile_string(profile, head->comm.text, head->comm.size, &labels[0].str);
	if (r >= 0)
		r = add_label(profile, "pid", head->pid, labels, &nr);
	if (r >= 0)
		r = add_label(profile, "tid", head->tid, labels, &nr);
	return r < 0 ? r : profile_labels(profile, labels, nr, &reader->labels);
}

/* The first sample says what the profile is of. */
static int first_sample(struct reader *reader, const struct perfscript_head *head)
{
	struct stoke_profile *profile = reader->profile;
	int r = 0;

	reader->event = strndup(head->event.size ? head->event.text : "", head->event.size);
	if (!reader->event)
		return -ENOMEM;
	reader->start_ns = reader->end_ns = head->time_ns;
	if (*reader->event) {
		r = profile_text(profile, reader->event, &profile->runs[reader->run].event);
		if (r >= 0)
			r = profile_fact(profile, reader->run, "event", reader->event);
	}
	reader->has_cpu = is_clock(head->event) && head->period;
	if (r >= 0 && reader->has_cpu) {
		r = profile_value(profile, "cpu", "nanoseconds", &reader->cpu);
		if (r >= 0 && profile->nr_runs == 1)
			profile->default_value = reader->cpu;
	}
	return r;
}

static int is_other_event(const struct reader *reader, const struct perfscript_head *head)
{
	return head->event.size != strlen(reader->event) ||
	       (head->event.size && memcmp(head->event.text, reader->event, head->event.size) != 0);
}

static int start_sample(struct reader *reader, const struct perfscript_head *head)
{
	int r = reader->event ? 0 : first_sample(reader, head);

	if (r < 0)
		return r;
	reader->nr_frames = 0;
	if (is_other_event(reader, head)) {
		if (!reader->nr_others++)
			reader->other_event =
				strndup(head->event.size ? head->event.text : "", head->event.size);
		return reader->other_event ? 0 : -ENOMEM;
	}
	reader->in_sample = 1;
	reader->period = head->period;
	if (head->time_ns > reader->end_ns)
		reader->end_ns = head->time_ns;
	reader->slice = 0;
	if (head->time_ns > reader->start_ns && head->time_ns - reader->start_ns < START_MAX_NS)
		reader->slice = (uint32_t)((head->time_ns - reader->start_ns) / reader->slice_ns);
	r = make_labels(reader, head);
	if (r < 0)
		return r;
	return profile_named_frame(
		reader->profile, head->comm.text, head->comm.size, FUNCTION_ROOT, &reader->root);
}

static int push_frame(struct reader *reader, struct frame *frame, const char *name, size_t size,
	enum function_kind kind)
{
	int r = profile_function(reader->profile, name, size, kind, 0, 0, &frame->function);

	frame->nr_functions = 1;
	frame->flags = kind == FUNCTION_KERNEL ? FRAME_KERNEL : 0;
	if (r >= 0)
		r = array_reserve(&reader->frames, &reader->frames_capacity, reader->nr_frames, 1);
	if (r >= 0)
		r = profile_frame(reader->profile, frame, &reader->frames[reader->nr_frames]);
	reader->nr_frames += r >= 0;
	return r;
}

/* perf-map-agent spells inlined methods as "Lfoo;::caller->Lfoo;::callee": outermost first. */
static int push_generated(
	struct reader *reader, struct frame *frame, const struct perfscript_text *name)
{
	const char *end = name->text + name->size, *at;
	int r = 0;

	while (r >= 0 && (at = memrchr(name->text, '>', (size_t)(end - name->text))) &&
		at > name->text + 1 && at[-1] == '-' && at + 1 < end &&
		reader->nr_frames < MAX_DEPTH) {
		r = push_frame(reader, frame, at + 1, (size_t)(end - at - 1), FUNCTION_INLINED);
		end = at - 1;
	}
	return r < 0 ? r
		     : push_frame(
			       reader, frame, name->text, (size_t)(end - name->text), FUNCTION_JIT);
}

static int find_module(struct reader *reader, const struct perfscript_text *file, uint32_t *ret)
{
	struct module module = {.kind = MODULE_FOREIGN, .fd = -1, .root_fd = -1};
	_cleanup_free_ char *path = NULL;

	if (!file->size)
		return 0;
	module.path = path = strndup(file->text, file->size);
	return path ? profile_module(reader->profile, &module, ret) : -ENOMEM;
}

/* Nameless code is called after its file. */
static int push_nameless(
	struct reader *reader, struct frame *frame, const struct perfscript_frame *line)
{
	const char *slash = line->file.size ? memrchr(line->file.text, '/', line->file.size) : NULL;
	const char *file = slash ? slash + 1 : line->file.text;
	size_t size = line->file.size ? (size_t)(line->file.text + line->file.size - file) : 0;
	_cleanup_free_ char *name = NULL;
	int n;

	if (!size)
		return push_frame(reader, frame, "[unknown]", strlen("[unknown]"),
			line->kind == FUNCTION_KERNEL ? FUNCTION_KERNEL : FUNCTION_UNKNOWN);
	if (file[0] == '[') /* "[kernel.kallsyms]", "[vdso]" */
		return push_frame(reader, frame, file, size,
			line->kind == FUNCTION_KERNEL ? FUNCTION_KERNEL : FUNCTION_UNKNOWN);
	n = asprintf(&name, "[%.*s]", (int)size, file);
	return n < 0 ? -ENOMEM
		     : push_frame(reader, frame, name, (size_t)n,
			       line->kind == FUNCTION_KERNEL ? FUNCTION_KERNEL : FUNCTION_UNKNOWN);
}

static int add_frame(struct reader *reader, const struct perfscript_frame *line)
{
	struct frame frame = {0};
	int r;

	if (!reader->in_sample)
		return 0; /* of another event, or of a sample that was refused */
	if (reader->nr_frames >= MAX_DEPTH) {
		bad_line(reader, "more than 65,534 frames");
		reader->in_sample = 0;
		return 0;
	}
	r = find_module(reader, &line->file, &frame.module);
	if (r < 0)
		return r;
	if (!line->name.size)
		return push_nameless(reader, &frame, line);
	if (line->kind == FUNCTION_JIT)
		return push_generated(reader, &frame, &line->name);
	return push_frame(reader, &frame, line->name.text, line->name.size, line->kind);
}

static int read_head(struct reader *reader, const struct perfscript_head *head)
{
	struct perfscript_frame frame;
	int r = end_sample(reader);

	if (r >= 0)
		r = start_sample(reader, head);
	/* Without call chains the frame stands behind the event. */
	if (r >= 0 && head->rest.size && memchr(head->rest.text, '(', head->rest.size) &&
		perfscript_frame(head->rest.text, head->rest.size, &frame))
		r = add_frame(reader, &frame);
	return r;
}

/* "# os release : 6.1.0": what the header says and recordings say too. */
static int read_comment(struct reader *reader, const char *line, size_t size)
{
	static const char release[] = "# os release : ";
	_cleanup_free_ char *text = NULL;

	if (size <= strlen(release) || size > 256 || memcmp(line, release, strlen(release)) != 0)
		return 0;
	text = strndup(line + strlen(release), size - strlen(release));
	return text ? profile_fact(reader->profile, reader->run, "kernel", text) : -ENOMEM;
}

static int read_line(struct reader *reader, const char *line, size_t size)
{
	struct perfscript_frame frame;
	struct perfscript_head head;
	int is_sample = reader->event != NULL;

	reader->nr_lines++;
	while (size && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	if (!size)
		return 0; /* also inside of a stack: the next head ends it */
	if (line[0] == '#')
		return read_comment(reader, line, size);
	/* A head ends in ':' or has its frame behind it; what looks like both is a head. */
	if ((line[size - 1] == ':' || !is_sample) && perfscript_head(line, size, &head))
		return read_head(reader, &head);
	if (is_sample && perfscript_frame(line, size, &frame))
		return add_frame(reader, &frame);
	if (perfscript_head(line, size, &head))
		return read_head(reader, &head);
	if (!is_sample || !perfscript_is_source(line, size))
		bad_line(reader, is_sample ? "neither a sample nor a frame of one"
					   : "not the head of a sample");
	return 0;
}

static int skip_line(struct reader *reader)
{
	const uint8_t *p, *stop;
	ssize_t n;

	reader->nr_lines++;
	bad_line(reader, "longer than 1 MiB");
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
	size_t want = 1;
	const uint8_t *p, *stop;
	ssize_t n;
	int r = 0;

	while (r >= 0) {
		n = input_fill(reader->input, want, &p, reader->err);
		if (n <= 0)
			return (int)n;
		stop = memchr(p, '\n', (size_t)n);
		if (!stop && (size_t)n > LINE_MAX_BYTES) {
			r = skip_line(reader);
			want = 1;
		} else if (!stop && (size_t)n >= want) {
			want = (size_t)n + 1; /* more, if there is */
		} else {
			size_t size = stop ? (size_t)(stop - p) : (size_t)n;

			r = read_line(reader, (const char *)p, size);
			input_skip(reader->input, size + (stop != NULL));
			want = 1;
		}
	}
	return r;
}

/* Says what was left out, and of a file of nothing but bad lines that it is none. */
static int end_run(struct reader *reader)
{
	struct run *run = &reader->profile->runs[reader->run];
	char text[320];
	int r;

	if (reader->nr_bad && !reader->nr_samples)
		return fail(reader->err, -EINVAL,
			"%s is not the text of perf script: there is no sample in it; line "
			"%" PRIu64 ": %s",
			input_name(reader->input), reader->first_bad, reader->first_reason);
	if (reader->end_ns > reader->start_ns) {
		run->slice_ns = reader->slice_ns;
		run->duration_ns = reader->end_ns - reader->start_ns;
	}
	run->quality.count[QUALITY_LINES_BAD] += reader->nr_bad;
	if (reader->nr_bad) {
		(void)snprintf(text, sizeof(text), "line %" PRIu64 ": %s", reader->first_bad,
			reader->first_reason); /* fits */
		r = profile_fact(reader->profile, reader->run, "first-bad-line", text);
		if (r < 0)
			return r;
	}
	if (!reader->nr_others)
		return 0;
	(void)snprintf(text, sizeof(text), /* cut where events are called strangely */
		"%" PRIu64
		" samples of other events (%.64s) are not shown: only those of the first, "
		"%.64s; record events apart to see each",
		reader->nr_others, *reader->other_event ? reader->other_event : "unnamed",
		reader->event);
	return profile_fact(reader->profile, reader->run, "warning", text);
}

static int perfscript_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	struct reader reader = {.profile = into, .input = input, .err = err, .slice_ns = SLICE_NS};
	const char *name = options && options->name ? options->name : input_name(input);
	int r = profile_run(into, name, &reader.run);

	if (r >= 0)
		r = profile_value(into, "samples", "count", &reader.samples);
	if (r >= 0)
		r = read_lines(&reader);
	if (r >= 0)
		r = end_sample(&reader);
	if (r >= 0)
		r = end_run(&reader);
	free(reader.frames);
	free(reader.event);
	free(reader.other_event);
	if (r == -ENOMEM)
		return fail(err, r, "out of memory while reading %s", input_name(input));
	if (r == -E2BIG && err && err->code != r)
		return fail(err, r, "%s has too many stacks", input_name(input));
	return r;
}

/* The last one may be cut by the look, and not by the file: then it is none. */
static int next_line(struct scan *scan, size_t size, struct scan *ret)
{
	if (scan_line(scan, ret))
		return 1;
	if (!scan_left(scan) || size >= 4096)
		return 0;
	*ret = *scan;
	scan->at = scan->end;
	return 1;
}

/* By perf's header, or a head with a frame behind or below it. */
static int perfscript_recognise(const uint8_t *start, size_t size)
{
	struct scan scan = scan_of((const char *)start, size), line;
	struct perfscript_frame frame;
	struct perfscript_head head;
	int has_head = 0;

	while (next_line(&scan, size, &line)) {
		if (scan_left(&line) >= 14 && memcmp(line.at, "# captured on:", 14) == 0)
			return 95;
		if (!scan_left(&line) || *line.at == '#')
			continue;
		if (has_head)
			return perfscript_frame(line.at, scan_left(&line), &frame) ? 95 : 0;
		if (!perfscript_head(line.at, scan_left(&line), &head))
			return 0;
		if (head.rest.size && memchr(head.rest.text, '(', head.rest.size) &&
			perfscript_frame(head.rest.text, head.rest.size, &frame))
			return 95;
		has_head = 1;
	}
	return has_head ? 60 : 0;
}

const struct format format_perfscript = {
	.name = "perfscript",
	.summary = "what perf script prints (read only)",
	.suffixes = ".perfscript",
	.recognise = perfscript_recognise,
	.read = perfscript_read,
};
