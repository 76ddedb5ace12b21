/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>
#include <stdarg.h>

extern const struct format format_pprof, format_folded;

TestSuite(pprof, .fini = check_leaks);

/* A message being made: fields one behind the other. */
struct message {
	uint8_t bytes[2048];
	size_t size;
};

static void put_varint(struct message *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		to->bytes[to->size++] = (uint8_t)value | 0x80;
	to->bytes[to->size++] = (uint8_t)value;
}

static void put_number(struct message *to, unsigned field, uint64_t value)
{
	put_varint(to, field << 3);
	put_varint(to, value);
}

static void put_bytes(struct message *to, unsigned field, const void *bytes, size_t size)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, size);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

static void put_text(struct message *to, const char *text)
{
	put_bytes(to, 6, text, strlen(text));
}

/* A sub-message of number fields: field, value, ..., 0. */
static void put_numbers(struct message *to, unsigned field, ...)
{
	struct message inner = {.size = 0};
	unsigned number;
	va_list args;

	va_start(args, field);
	while ((number = va_arg(args, unsigned)))
		put_number(&inner, number, va_arg(args, unsigned));
	va_end(args);
	put_bytes(to, field, inner.bytes, inner.size);
}

/* Location 1 with a line in function 1. */
static void put_location(struct message *to, unsigned id, unsigned mapping, unsigned function)
{
	struct message inner = {.size = 0};

	put_number(&inner, 1, id);
	if (mapping)
		put_number(&inner, 2, mapping);
	put_numbers(&inner, 4, 1, function, 0);
	put_bytes(to, 4, inner.bytes, inner.size);
}

/* samples/count; main calls leaf; strings last, as Go writes them. */
static struct message sound(void)
{
	struct message to = {.size = 0};

	put_numbers(&to, 1, 1, 1, 2, 2, 0);
	put_numbers(&to, 2, 1, 8, 1, 7, 2, 5, 0); /* locations unpacked: leaf 8, root 7 */
	put_location(&to, 7, 0, 70);
	put_location(&to, 8, 0, 80);
	put_numbers(&to, 5, 1, 70, 2, 3, 0);
	put_numbers(&to, 5, 1, 80, 2, 4, 0);
	put_text(&to, "");
	put_text(&to, "samples");
	put_text(&to, "count");
	put_text(&to, "main");
	put_text(&to, "leaf");
	return to;
}

static int read_message(const struct message *message, char **ret_folded, struct stoke_error *err)
{
	struct stoke_profile *profile;
	int r;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	r = read_bytes(profile, &format_pprof, message->bytes, message->size, NULL, err);
	if (ret_folded)
		*ret_folded = r < 0 ? NULL : write_bytes(profile, &format_folded, NULL);
	stoke_profile_free(profile);
	return r;
}

static void accept(const struct message *message, const char *folded)
{
	struct stoke_error err = {0};
	char *text;

	cr_assert(zero(int, read_message(message, &text, &err)), "%s", err.text);
	cr_assert(eq(str, text, (char *)folded));
	free(text);
}

static void refuse(const struct message *message, const char *why)
{
	struct stoke_error err = {0};
	char sentence[256];

	(void)snprintf(sentence, sizeof(sentence), "in is not a sound pprof file: %s", why);
	cr_assert(eq(int, read_message(message, NULL, &err), -EINVAL));
	cr_assert(eq(str, err.text, sentence));
}

Test(pprof, ids_are_any_numbers_and_lists_need_not_be_packed)
{
	struct message message = sound();

	accept(&message, "main;leaf 5\n");
}

Test(pprof, lists_may_be_packed)
{
	struct message message = sound(), inner = {.size = 0};

	put_bytes(&inner, 1, "\x08\x07", 2);
	put_bytes(&inner, 2, "\x03", 1);
	put_bytes(&message, 2, inner.bytes, inner.size);
	accept(&message, "main;leaf 8\n");
}

Test(pprof, what_is_not_there_is_refused)
{
	struct message message = sound();

	put_numbers(&message, 5, 1, 90, 2, 5, 0); /* the name is one past the end */
	refuse(&message, "a string that it does not have");
	message = sound();
	put_numbers(&message, 2, 1, 9, 2, 5, 0);
	refuse(&message, "a sample at a location that it does not have");
	message = sound();
	put_location(&message, 9, 0, 99);
	refuse(&message, "a line of a function that it does not have");
	message = sound();
	put_location(&message, 9, 5, 70);
	refuse(&message, "a location in a mapping that it does not have");
}

Test(pprof, ids_stand_once_and_are_not_zero)
{
	struct message message = sound();

	put_location(&message, 8, 0, 70);
	refuse(&message, "an id that stands for two things");
	message = sound();
	put_numbers(&message, 5, 2, 3, 0);
	refuse(&message, "an id that is 0");
}

Test(pprof, a_sample_has_a_value_for_each_type)
{
	struct message message = sound();

	put_numbers(&message, 2, 1, 7, 2, 1, 2, 1, 0);
	refuse(&message, "a sample with more or fewer values than there are types");
	message = (struct message){.size = 0};
	put_text(&message, "");
	refuse(&message, "it has no type of values");
}

Test(pprof, differences_are_no_profiles)
{
	struct message message = sound(), inner = {.size = 0};
	struct stoke_error err = {0};

	put_number(&inner, 1, 7);
	put_number(&inner, 2, (uint64_t)-3);
	put_bytes(&message, 2, inner.bytes, inner.size);
	cr_assert(eq(int, read_message(&message, NULL, &err), -EINVAL));
	cr_assert(eq(str, err.text,
		"in holds negative values: it is the difference of two profiles, not one"));
}

Test(pprof, strings_begin_with_the_empty_one)
{
	struct message message = {.size = 0};

	put_text(&message, "x");
	refuse(&message, "its first string is not empty");
}

Test(pprof, numbers_longer_than_64_bits_are_refused)
{
	struct message message = sound();

	memcpy(message.bytes + message.size, "\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11);
	message.size += 11;
	refuse(&message, "a broken number");
	message = sound();
	memcpy(message.bytes + message.size, "\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		12);
	message.size += 12;
	refuse(&message, "a broken number");
}

Test(pprof, unknown_fields_are_skipped)
{
	struct message message = sound();

	put_number(&message, 99, 5);
	put_bytes(&message, 98, "abc", 3);
	memcpy(message.bytes + message.size,
		"\xf9\x07"
		"8bytes!!"
		"\xfd\x07"
		"4by!",
		16);
	message.size += 16;
	accept(&message, "main;leaf 5\n");
}

static void read_or_refuse(const struct message *message, size_t at)
{
	int r = read_message(message, NULL, NULL);

	cr_assert(eq(int, r == 0 || r == -EINVAL, 1), "%d at %zu", r, at);
}

Test(pprof, cut_or_changed_at_any_byte_it_is_read_or_refused)
{
	struct message whole = sound(), changed;

	for (size_t size = 0; size < whole.size; size++) {
		changed = whole;
		changed.size = size;
		read_or_refuse(&changed, size);
	}
	for (size_t i = 0; i < 8 * whole.size; i++) {
		changed = whole;
		changed.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		read_or_refuse(&changed, i);
	}
}

Test(pprof, the_default_is_what_the_file_says_or_its_last_type)
{
	struct message message = {.size = 0};
	struct stoke_profile *profile;

	put_numbers(&message, 1, 1, 1, 2, 2, 0);
	put_numbers(&message, 1, 1, 3, 2, 4, 0);
	put_text(&message, "");
	put_text(&message, "samples");
	put_text(&message, "count");
	put_text(&message, "cpu");
	put_text(&message, "nanoseconds");
	for (unsigned named = 0; named < 2; named++) {
		if (named)
			put_number(&message, 14, 1);
		cr_assert(zero(int, stoke_profile_new(&profile)));
		cr_assert(zero(int, read_bytes(profile, &format_pprof, message.bytes, message.size,
					    NULL, NULL)));
		cr_assert(eq(uint, profile->default_value, named ? 0 : 1));
		stoke_profile_free(profile);
	}
}

Test(pprof, recognised_by_its_fields)
{
	struct message message = sound();

	cr_assert(gt(int, format_pprof.recognise(message.bytes, message.size), 90));
	cr_assert(gt(int, format_pprof.recognise(message.bytes, message.size - 3), 90));
	cr_assert(zero(int, format_pprof.recognise((const uint8_t *)"java;main 5\n", 12)));
	cr_assert(zero(int, format_pprof.recognise((const uint8_t *)"\x7f"
								    "ELF\2\1\1\0",
				    8)));
	cr_assert(zero(int, format_pprof.recognise((const uint8_t *)"", 0)));
}

/* Everything that a recording can hold. */
static struct stoke_profile *full_profile(void)
{
	struct module file = {.kind = MODULE_FILE,
		.path = "/usr/lib/libx.so.6",
		.fd = -1,
		.root_fd = -1,
		.build_id = {0xde, 0xad, 0xbe, 0xef},
		.build_id_size = 4,
		.dev = 1,
		.ino = 2};
	struct module kernel = {.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1};
	struct module jit = {
		.kind = MODULE_JIT, .pid = 42, .pid_start = 1, .fd = -1, .root_fd = -1};
	struct symbol inlined[2] = {{.name = "inner",
					    .name_size = 5,
					    .file = "a.c",
					    .file_size = 3,
					    .line = 10,
					    .kind = FUNCTION_INLINED},
		{.name = "ns::outer()",
			.name_size = 11,
			.file = "a.c",
			.file_size = 3,
			.line = 20,
			.kind = FUNCTION_CPP}};
	struct frame frames[4] = {{.address = 0x1234},
		{.address = 0xffffffff81000010, .flags = FRAME_KERNEL},
		{.address = 0x7f0000001000, .flags = FRAME_STALE}, {.address = 0x99}};
	struct symbol names[4] = {{0},
		{.name = "vfs_read", .name_size = 8, .kind = FUNCTION_KERNEL},
		{.name = "Foo.bar", .name_size = 7, .kind = FUNCTION_JIT},
		{.name = "[libx.so.6+0x99]", .name_size = 16, .kind = FUNCTION_NATIVE}};
	struct label labels[3] = {0};
	struct stoke_profile *profile;
	uint32_t ids[4], run, root, node = 0, set;
	unsigned value;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "target", &run)));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	cr_assert(zero(int, profile_value(profile, "cpu", "nanoseconds", &value)));
	profile->default_value = value;
	cr_assert(zero(int, profile_module(profile, &file, &frames[0].module)));
	cr_assert(zero(int, profile_module(profile, &kernel, &frames[1].module)));
	cr_assert(zero(int, profile_module(profile, &jit, &frames[2].module)));
	frames[3].module = frames[0].module;
	cr_assert(zero(int, profile_named_frame(profile, "java", 4, FUNCTION_ROOT, &root)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, root, &node)));
	for (size_t i = 0; i < 4; i++) {
		cr_assert(zero(int, profile_frame(profile, &frames[i], &ids[i])));
		cr_assert(zero(int,
			profile_name_frame(profile, ids[i], i ? &names[i] : inlined, i ? 1 : 2)));
		cr_assert(zero(int, stacks_child(&profile->stacks, node, ids[i], &node)));
	}
	cr_assert(zero(int, profile_text(profile, "thread", &labels[0].key)));
	cr_assert(zero(int, profile_text(profile, "worker \xe6\xbc\xa2", &labels[0].str)));
	cr_assert(zero(int, profile_text(profile, "tid", &labels[1].key)));
	labels[1].num = 77;
	cr_assert(zero(int, profile_text(profile, "bytes", &labels[2].key)));
	cr_assert(zero(int, profile_text(profile, "kb", &labels[2].unit)));
	labels[2].num = -5;
	cr_assert(zero(int, profile_labels(profile, labels, 3, &set)));
	cr_assert(zero(int, profile_row(profile, run, node, set, 3, (uint64_t[]){2, 20})));
	cr_assert(zero(int, profile_row(profile, run, profile->stacks.parent[node], 0, 70,
				    (uint64_t[]){1, 10})));
	cr_assert(zero(int, profile_fact(profile, run, "kernel", "6.18.1")));
	cr_assert(zero(int, profile_fact(profile, run, "event", "cpu-clock")));
	cr_assert(zero(int, profile_fact(profile, run, "warning", "something = odd")));
	cr_assert(zero(int, profile_text(profile, "cpu-clock", &profile->runs[run].event)));
	profile->runs[run].start_ns = 1700000000000000000;
	profile->runs[run].duration_ns = 2000000000;
	profile->runs[run].period = 10101010;
	profile->runs[run].period_type = profile->values[value];
	profile->runs[run].slice_ns = 20000000;
	profile->runs[run].quality.count[QUALITY_SAMPLES] = 3;
	profile->runs[run].quality.count[QUALITY_LOST_RING] = 12345678901;
	return profile;
}

static struct stoke_profile *read_back(const struct stoke_profile *profile)
{
	struct stoke_read_options options = {.name = "target"};
	struct stoke_profile *back;
	struct stoke_error err = {0};
	size_t size;
	char *bytes = write_bytes(profile, &format_pprof, &size);

	cr_assert(zero(int, stoke_profile_new(&back)));
	cr_assert(zero(int, read_bytes(back, &format_pprof, bytes, size, &options, &err)), "%s",
		err.text);
	free(bytes);
	return back;
}

static const char *text_of(const struct stoke_profile *profile, uint32_t string)
{
	return strings_text(&profile->strings, string);
}

static void assert_same_label(
	const struct stoke_profile *a, const struct stoke_profile *b, uint32_t row, const char *key)
{
	const struct label *x = profile_label(a, a->rows.labels[row], key);
	const struct label *y = profile_label(b, b->rows.labels[row], key);

	cr_assert(eq(str, (char *)text_of(a, x->str), (char *)text_of(b, y->str)));
	cr_assert(eq(str, (char *)text_of(a, x->unit), (char *)text_of(b, y->unit)));
	cr_assert(eq(i64, x->num, y->num));
}

static void assert_same_stack(
	const struct stoke_profile *a, const struct stoke_profile *b, uint32_t row)
{
	uint32_t x = a->rows.stack[row], y = b->rows.stack[row];

	for (; x && y; x = a->stacks.parent[x], y = b->stacks.parent[y]) {
		const struct frame *f = &a->frames[a->stacks.frame[x]],
				   *g = &b->frames[b->stacks.frame[y]];
		const struct module *m = &a->modules[f->module], *n = &b->modules[g->module];

		cr_assert(eq(u64, f->address, g->address));
		cr_assert(eq(u16, f->flags, g->flags));
		cr_assert(eq(u32, f->line, g->line));
		cr_assert(eq(u16, f->nr_functions, g->nr_functions));
		cr_assert(zero(int, memcmp(m->build_id, n->build_id, sizeof(m->build_id))));
		if (m->kind == MODULE_FILE)
			cr_assert(eq(str, m->path, n->path));
		for (unsigned i = 0; i < f->nr_functions; i++) {
			const struct function *p = &a->functions[frame_function(a, f, i)];
			const struct function *q = &b->functions[frame_function(b, g, i)];

			cr_assert(
				eq(str, (char *)text_of(a, p->name), (char *)text_of(b, q->name)));
			cr_assert(
				eq(str, (char *)text_of(a, p->file), (char *)text_of(b, q->file)));
			cr_assert(eq(u32, p->kind, q->kind));
		}
	}
	cr_assert(eq(u32, x, y));
}

Test(pprof, a_recording_comes_back_as_it_was)
{
	struct stoke_profile *profile = full_profile(), *back = read_back(profile);
	const struct run *a = &profile->runs[0], *b = &back->runs[0];

	cr_assert(eq(sz, back->rows.nr, profile->rows.nr));
	for (uint32_t row = 0; row < profile->rows.nr; row++) {
		assert_same_stack(profile, back, row);
		cr_assert(eq(u32, profile->rows.slice[row], back->rows.slice[row]));
		for (unsigned v = 0; v < 2; v++)
			cr_assert(eq(u64, profile->rows.value[v][row], back->rows.value[v][row]));
	}
	assert_same_label(profile, back, 0, "thread");
	assert_same_label(profile, back, 0, "tid");
	assert_same_label(profile, back, 0, "bytes");
	cr_assert(eq(uint, back->default_value, 1));
	cr_assert(eq(u64, a->start_ns, b->start_ns));
	cr_assert(eq(u64, a->duration_ns, b->duration_ns));
	cr_assert(eq(u64, a->period, b->period));
	cr_assert(eq(u64, a->slice_ns, b->slice_ns));
	cr_assert(eq(str, (char *)text_of(back, b->event), "cpu-clock"));
	cr_assert(eq(str, (char *)text_of(back, b->period_type.unit), "nanoseconds"));
	cr_assert(eq(str, (char *)profile_fact_find(back, 0, "kernel"), "6.18.1"));
	cr_assert(eq(str, (char *)profile_fact_find(back, 0, "warning"), "something = odd"));
	cr_assert(eq(sz, a->nr_facts, b->nr_facts));
	cr_assert(zero(int, memcmp(&a->quality, &b->quality, sizeof(a->quality))));
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(pprof, the_program_is_the_first_mapping_and_the_kernel_the_last)
{
	static const struct module modules[3] = {
		{.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1},
		{.kind = MODULE_FILE,
			.path = "/usr/lib/libx.so.6",
			.fd = -1,
			.root_fd = -1,
			.ino = 1},
		{.kind = MODULE_FILE,
			.path = "/usr/bin/program",
			.fd = -1,
			.root_fd = -1,
			.ino = 2},
	};
	struct stoke_profile *profile, *back;
	uint32_t run, frame, node = 0;
	unsigned value;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, profile_run(profile, "target", &run)));
	cr_assert(zero(int, profile_value(profile, "samples", "count", &value)));
	for (size_t i = 0; i < 3; i++) {
		struct frame key = {.address = 0x1000};
		struct symbol name = {.name = "f", .name_size = 1, .kind = FUNCTION_NATIVE};

		cr_assert(zero(int, profile_module(profile, &modules[i], &key.module)));
		cr_assert(zero(int, profile_frame(profile, &key, &frame)));
		cr_assert(zero(int, profile_name_frame(profile, frame, &name, 1)));
		cr_assert(zero(int, stacks_child(&profile->stacks, node, frame, &node)));
	}
	cr_assert(zero(int, profile_row(profile, run, node, 0, 0, (uint64_t[]){1})));
	back = read_back(profile);
	cr_assert(eq(sz, back->nr_modules, 4));
	cr_expect(eq(str, back->modules[1].path, "/usr/bin/program"));
	cr_expect(eq(str, back->modules[2].path, "/usr/lib/libx.so.6"));
	stoke_profile_free(back);
	stoke_profile_free(profile);
}

Test(pprof, what_was_read_is_written_the_same)
{
	struct stoke_profile *profile = full_profile(), *once = read_back(profile),
			     *twice = read_back(once);
	size_t size, size_again;
	char *bytes = write_bytes(once, &format_pprof, &size),
	     *again = write_bytes(twice, &format_pprof, &size_again);

	cr_assert(eq(sz, size, size_again));
	cr_assert(zero(int, memcmp(bytes, again, size)));
	free(bytes);
	free(again);
	stoke_profile_free(profile);
	stoke_profile_free(once);
	stoke_profile_free(twice);
}

Test(pprof, names_leave_as_utf8_and_the_empty_string_stands_once)
{
	static const char text[] = "a\xff;;b\x1b 2\na;main 1\n";
	struct stoke_profile *profile, *back;
	char *folded;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(
		zero(int, read_bytes(profile, &format_folded, text, sizeof(text) - 1, NULL, NULL)));
	back = read_back(profile);
	for (uint32_t i = 1; i < back->strings.nr; i++)
		cr_assert(gt(sz, strings_size(&back->strings, i), 0));
	folded = write_bytes(back, &format_folded, NULL);
	cr_assert(eq(str, folded, "a;main 1\na\xef\xbf\xbd;[unknown];b\\x1b 2\n"));
	free(folded);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(pprof, an_empty_profile_is_a_sound_file)
{
	struct stoke_profile *profile, *back;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, "", 0, NULL, NULL)));
	back = read_back(profile);
	cr_assert(eq(sz, back->rows.nr, 0));
	cr_assert(eq(uint, back->nr_values, 1));
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(pprof, values_that_pprof_cannot_hold_saturate)
{
	static const char text[] = "a 18446744073709551615\n";
	struct stoke_profile *profile, *back;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(
		zero(int, read_bytes(profile, &format_folded, text, sizeof(text) - 1, NULL, NULL)));
	back = read_back(profile);
	cr_assert(eq(u64, back->rows.value[0][0], INT64_MAX));
	stoke_profile_free(profile);
	stoke_profile_free(back);
}
