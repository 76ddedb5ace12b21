/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.c: fields are told apart by what stands behind them, since a command's name may hold
 * blanks, digits and brackets, and perf prints as many fields as it was asked for.
 */
#include "format/perfscript/line.h"

#include <string.h>

/* The upper half of the address space, on x86-64 and aarch64 alike. */
#define KERNEL_START 0xffff800000000000

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int ends_in(struct perfscript_text text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size && memcmp(text.text + text.size - size, end, size) == 0;
}

static int begins_with(struct perfscript_text text, const char *start)
{
	size_t size = strlen(start);

	return text.size >= size && memcmp(text.text, start, size) == 0;
}

static int is_text(struct perfscript_text text, const char *other)
{
	return text.size && text.size == strlen(other) && memcmp(text.text, other, text.size) == 0;
}

/* "27409/28744" or "28744", then a blank. perf prints the thread when it prints one. */
static int scan_ids(struct scan *scan, struct perfscript_head *head)
{
	uint64_t first, second;
	int has_both;

	if (scan_decimal(scan, &first) < 0)
		return 0;
	has_both = scan_byte(scan, '/') >= 0;
	if (has_both && scan_decimal(scan, &second) < 0)
		return 0;
	if (!scan_blanks(scan))
		return 0;
	if (first > INT32_MAX || (has_both && second > INT32_MAX))
		return 0;
	head->pid = has_both ? (int64_t)first : -1;
	head->tid = has_both ? (int64_t)second : (int64_t)first;
	return 1;
}

/* "[002]"; moves only over the whole. */
static void scan_cpu(struct scan *scan, struct perfscript_head *head)
{
	struct scan at = *scan;
	uint64_t cpu;

	if (scan_byte(&at, '[') < 0 || scan_decimal(&at, &cpu) < 0 || scan_byte(&at, ']') < 0 ||
		cpu > INT32_MAX)
		return;
	head->cpu = (int64_t)cpu;
	(void)scan_blanks(&at); /* mostly one */
	*scan = at;
}

/* "2217.581638:", with three to nine places. */
static int scan_time(struct scan *scan, struct perfscript_head *head)
{
	struct scan at = *scan;
	uint64_t seconds, part = 0, digit_ns = 100000000;

	if (scan_decimal(&at, &seconds) < 0 || scan_byte(&at, '.') < 0 || at.at == at.end ||
		!is_digit(*at.at))
		return 0;
	for (; at.at < at.end && is_digit(*at.at); at.at++, digit_ns /= 10)
		part += digit_ns * (uint64_t)(*at.at - '0');
	if (scan_byte(&at, ':') < 0 || seconds > UINT64_MAX / 1000000000 - 1)
		return 0;
	head->time_ns = seconds * 1000000000 + part;
	(void)scan_blanks(&at); /* as many as make a column */
	*scan = at;
	return 1;
}

/* "250000 cpu-clock:uhH:": a number, and a word that ends in ':'. */
static int scan_event(struct scan *scan, struct perfscript_head *head)
{
	struct scan at = *scan, number = *scan;
	uint64_t period;

	if (scan_decimal(&number, &period) >= 0 && scan_blanks(&number)) {
		head->period = period;
		at = number;
	}
	head->event.size = scan_field(&at, &head->event.text);
	if (head->event.size < 2 || head->event.text[head->event.size - 1] != ':' ||
		is_digit(head->event.text[0]))
		return 0;
	head->event.size--;
	(void)scan_blanks(&at); /* mostly one, or none at the end */
	*scan = at;
	return 1;
}

/* Whether what follows a command's name fits. */
static int scan_fields(struct scan scan, struct perfscript_head *head)
{
	int has_time, has_event;

	if (!scan_ids(&scan, head))
		return 0;
	scan_cpu(&scan, head);
	has_time = scan_time(&scan, head);
	has_event = scan_event(&scan, head);
	head->rest = (struct perfscript_text){scan.at, scan_left(&scan)};
	if (has_event)
		/* Without a time only the whole line is proof enough. */
		return has_time || !head->rest.size;
	head->event = (struct perfscript_text){0};
	return has_time && !head->rest.size;
}

int perfscript_head(const char *line, size_t size, struct perfscript_head *ret)
{
	const char *end;

	while (size && (is_blank(line[size - 1]) || line[size - 1] == '\r'))
		size--;
	for (; size && is_blank(*line); size--)
		line++;
	end = line + size;
	for (const char *at = line; at + 1 < end; at++) {
		struct perfscript_head head = {.pid = -1, .tid = -1, .cpu = -1};
		const char *name_end = at;

		if (!is_blank(*at) || !is_digit(at[1]) ||
			!scan_fields(scan_of(at + 1, (size_t)(end - at - 1)), &head))
			continue;
		while (name_end > line && is_blank(name_end[-1]))
			name_end--;
		head.comm = (struct perfscript_text){line, (size_t)(name_end - line)};
		*ret = head;
		return 1;
	}
	return 0;
}

/* "/tmp/perf-4711.map", "/tmp/jitted-4711-1.so" */
static int is_generated(struct perfscript_text file)
{
	const char *slash = file.size ? memrchr(file.text, '/', file.size) : NULL;
	struct perfscript_text name = file;

	if (slash) {
		name.text = slash + 1;
		name.size = (size_t)(file.text + file.size - slash - 1);
	}
	return (begins_with(name, "perf-") && ends_in(name, ".map")) ||
	       (begins_with(name, "jitted-") && ends_in(name, ".so"));
}

/* In brackets stand the kernel, its modules and programs; but not only these. */
static int is_kernel(struct perfscript_text file, uint64_t address)
{
	static const char *const others[] = {"[vdso]", "[vsyscall]", "[heap]", "[stack", "[anon",
		"[uprobes]", "[unknown]", "[jit"};
	const char *slash;

	if (!file.size)
		return address >= KERNEL_START;
	if (file.text[0] == '[') {
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			if (begins_with(file, others[i]))
				return 0;
		return 1;
	}
	slash = memrchr(file.text, '/', file.size);
	if (slash && (size_t)(file.text + file.size - slash) >= 8 && !memcmp(slash, "/vmlinux", 8))
		return 1;
	return ends_in(file, ".ko") || ends_in(file, ".ko.xz") || ends_in(file, ".ko.zst") ||
	       ends_in(file, ".ko.gz") || begins_with(file, "bpf_prog_") ||
	       is_text(file, "vmlinux");
}

/* " (/lib/libc.so.6)" at the end; " (deleted)" inside of it is not the name's. */
static void take_file(struct perfscript_text *name, struct perfscript_text *file)
{
	const char *open;
	size_t depth = 0;

	if (!name->size || name->text[name->size - 1] != ')')
		return;
	for (open = name->text + name->size - 1; open > name->text; open--) {
		depth += *open == ')';
		if (*open == '(' && !--depth)
			break;
	}
	if (*open != '(' || depth || (open > name->text && !is_blank(open[-1])))
		return;
	file->text = open + 1;
	file->size = (size_t)(name->text + name->size - open - 2);
	if (ends_in(*file, " (deleted)"))
		file->size -= strlen(" (deleted)");
	name->size = (size_t)(open - name->text);
	while (name->size && is_blank(name->text[name->size - 1]))
		name->size--;
}

/* "+0x1f", which perf prints when it is asked for. */
static void cut_offset(struct perfscript_text *name)
{
	size_t at = name->size;

	while (at && strchr("0123456789abcdef", name->text[at - 1]) && name->text[at - 1])
		at--;
	if (at > 3 && at < name->size && memcmp(name->text + at - 3, "+0x", 3) == 0)
		name->size = at - 3;
}

int perfscript_frame(const char *line, size_t size, struct perfscript_frame *ret)
{
	struct scan scan = scan_of(line, size);
	struct perfscript_frame frame = {.kind = FUNCTION_NATIVE};

	while (scan.at < scan.end && (is_blank(scan.end[-1]) || scan.end[-1] == '\r'))
		scan.end--;
	(void)scan_blanks(&scan); /* old versions print none */
	if (scan_hex(&scan, &frame.address) < 0 || (scan.at < scan.end && !scan_blanks(&scan)))
		return 0;
	frame.name = (struct perfscript_text){scan.at, scan_left(&scan)};
	take_file(&frame.name, &frame.file);
	cut_offset(&frame.name);
	if (is_text(frame.file, "[unknown]"))
		frame.file.size = 0;
	if (is_text(frame.name, "[unknown]"))
		frame.name.size = 0;
	if (is_text(frame.file, "inlined")) {
		frame.kind = FUNCTION_INLINED;
		frame.file.size = 0;
	} else if (is_kernel(frame.file, frame.address)) {
		frame.kind = FUNCTION_KERNEL;
	} else if (is_generated(frame.file)) {
		frame.kind = FUNCTION_JIT;
	} else if (frame.name.size && memmem(frame.name.text, frame.name.size, "::", 2)) {
		frame.kind = FUNCTION_CPP;
	}
	*ret = frame;
	return 1;
}

int perfscript_is_source(const char *line, size_t size)
{
	size_t digits = 0;
	int has_bracket;

	while (size && (is_blank(line[size - 1]) || line[size - 1] == '\r'))
		size--;
	if (size < 3 || !is_blank(*line))
		return 0;
	/* "file.c:12", and where there is none "libc.so.6[22fb]" */
	has_bracket = line[size - 1] == ']';
	size -= (size_t)has_bracket;
	for (; size && strchr("0123456789abcdef", line[size - 1]) && line[size - 1]; size--)
		digits++;
	return digits && size > 1 && line[size - 1] == (has_bracket ? '[' : ':') &&
	       !is_blank(line[size - 2]);
}
