/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/resolver.h"
#include "unit/elf/files.h"

TestSuite(resolve, .fini = check_leaks);

static struct stoke_profile *profile;
static struct host host;
static char proc[64];

static void make_host(const char *kallsyms)
{
	int fd;

	(void)snprintf(proc, sizeof(proc), "/tmp/stoke-proc-XXXXXX");
	cr_assert(mkdtemp(proc) != NULL);
	host = (struct host){.proc = proc, .proc_fd = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	if (!kallsyms)
		return;
	fd = openat(host.proc_fd, "kallsyms", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(eq(sz, (size_t)write(fd, kallsyms, strlen(kallsyms)), strlen(kallsyms)));
	(void)close(fd);
}

static void begin(const char *kallsyms)
{
	uint32_t run;
	unsigned value;

	make_host(kallsyms);
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "test", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
}

static void end(void)
{
	stoke_profile_free(profile);
	profile = NULL;
	(void)unlinkat(host.proc_fd, "kallsyms", 0);
	(void)close(host.proc_fd);
	(void)rmdir(proc);
}

static uint32_t add_module(const struct module *module)
{
	uint32_t id = 0;

	cr_assert(eq(int, profile_module(profile, module, &id), 0));
	return id;
}

static uint32_t add_file(const char *name)
{
	char path[64];
	struct module module = {
		.kind = MODULE_FILE, .path = path, .fd = open_elf(name), .root_fd = -1};
	uint32_t id;

	(void)snprintf(path, sizeof(path), "/opt/lib/%s", name);
	id = add_module(&module);
	(void)close(module.fd);
	return id;
}

static uint32_t add_frame(uint32_t module, uint64_t address, uint16_t flags)
{
	const struct frame key = {.module = module, .address = address, .flags = flags};
	uint32_t id = 0;

	cr_assert(eq(int, profile_frame(profile, &key, &id), 0));
	return id;
}

/* A stack of frames, root first, seen `samples` times in a run. */
static void add_stack(uint32_t run, uint64_t samples, const uint32_t *frames, size_t nr)
{
	uint32_t node = 0;

	for (size_t i = 0; i < nr; i++)
		cr_assert(eq(int, stacks_child(&profile->stacks, node, frames[i], &node), 0));
	cr_assert(eq(int, profile_row(profile, run, node, 0, 0, &samples), 0));
}

static char *name_of(uint32_t frame)
{
	uint32_t function = frame_function(profile, &profile->frames[frame], 0);

	return (char *)strings_text(&profile->strings, profile->functions[function].name);
}

static enum function_kind kind_of(uint32_t frame)
{
	return profile->functions[frame_function(profile, &profile->frames[frame], 0)].kind;
}

static uint64_t counted(uint32_t run, enum quality_count count)
{
	return profile->runs[run].quality.count[count];
}

Test(resolve, names_files_and_the_kernel)
{
	uint64_t hot = function_offset("lld.so", SECRET_HOT);
	uint32_t a, b, c;

	begin("ffffffff81000000 T do_work\nffffffff81000100 T other\n");
	a = add_frame(add_file("lld.so"), hot + 4, 0);
	b = add_frame(add_file("lld.so"), hot + 5, 0);
	c = add_frame(add_module(&(struct module){.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1}),
		0xffffffff81000010, FRAME_KERNEL);
	add_stack(0, 3, (uint32_t[]){a, b, c}, 3);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(str, name_of(a), "secret_hot"));
	cr_assert(eq(str, name_of(b), "secret_hot"));
	cr_assert(eq(str, name_of(c), "do_work"));
	cr_assert(eq(int, kind_of(a), FUNCTION_NATIVE));
	cr_assert(eq(int, kind_of(c), FUNCTION_KERNEL));
	cr_assert(eq(u64, counted(0, QUALITY_FRAMES), 9));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_GAP), 0));
	end();
}

/* The address in a mark is what objdump -d shows, not the offset in the file. */
Test(resolve, marks_a_gap_with_the_address_in_the_file)
{
	uint64_t hot = function_offset("stripped.so", SECRET_HOT);
	char expected[64];
	uint32_t a, b;

	begin(NULL);
	a = add_frame(add_file("stripped.so"), hot + 4, 0);
	b = add_frame(add_file("stripped.so"), hot + 9, 0);
	add_stack(0, 7, (uint32_t[]){a, b}, 2);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	(void)snprintf(expected, sizeof(expected), "[stripped.so+0x%" PRIx64 "]", hot);
	cr_assert(eq(str, name_of(a), expected)); /* linked by GNU ld: the same number */
	cr_assert(eq(str, name_of(b), expected)); /* one function, one name */
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_GAP), 14));
	end();
}

Test(resolve, marks_a_high_library_with_its_high_address)
{
	uint64_t start = function_offset("based.so", API_FIRST) & ~(uint64_t)0xfff;
	uint32_t a;

	begin(NULL);
	a = add_frame(add_file("based.so"), start + 1, 0); /* in _init, which has no size */
	add_stack(0, 1, &a, 1);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(int, strncmp(name_of(a), "[based.so+0x34fd20", 18), 0), "%s", name_of(a));
	end();
}

Test(resolve, marks_and_counts_each_cause_by_samples)
{
	const struct module gone = {.kind = MODULE_FILE,
		.path = "/usr/lib/libgone.so",
		.ino = 1,
		.fd = -1,
		.open_error = ENOENT,
		.root_fd = -1};
	const struct module jit = {
		.kind = MODULE_JIT, .pid = 1, .path = NULL, .fd = -1, .root_fd = -1};
	uint32_t a, b, c, d, e, f;

	begin("0000000000000000 T hidden\n");
	a = add_frame(add_module(&gone), 0x1234, 0);
	b = add_frame(add_module(&jit), 0x7f0000001000, 0);
	c = add_frame(add_module(&jit), 0x7f0000002000, 0);
	d = add_frame(add_module(&(struct module){.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1}),
		0xffffffff81000010, FRAME_KERNEL);
	e = add_frame(0, 0xffffffffff600400, 0);
	f = add_frame(0, 0x42, 0);
	add_stack(0, 5, (uint32_t[]){a, b, c, d}, 4);
	add_stack(0, 2, (uint32_t[]){a, e, f}, 3);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(str, name_of(a), "[libgone.so+0x1234]"));
	cr_assert(eq(str, name_of(b), "[jit]"));
	cr_assert(eq(int, kind_of(b), FUNCTION_JIT));
	cr_assert(eq(u32, profile->frames[b].function, profile->frames[c].function));
	cr_assert(eq(str, name_of(d), "[kernel]"));
	cr_assert(eq(int, kind_of(d), FUNCTION_KERNEL));
	cr_assert(eq(str, name_of(e), "[vsyscall]"));
	cr_assert(eq(str, name_of(f), "[unknown]"));
	cr_assert(eq(u64, counted(0, QUALITY_FRAMES), 4 * 5 + 3 * 2));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_JIT), 10));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_KERNEL), 5));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_UNREADABLE), 7 + 2 + 2));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_GAP), 0));
	end();
}

Test(resolve, counts_each_run_once_and_apart)
{
	const struct module gone = {
		.kind = MODULE_FILE, .path = "/x", .fd = -1, .open_error = EACCES, .root_fd = -1};
	uint32_t a, run;

	begin(NULL);
	a = add_frame(add_module(&gone), 1, 0);
	add_stack(0, 5, &a, 1);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(int, profile_run(profile, "second", &run), 0));
	add_stack(run, 9, &a, 1);
	a = add_frame(add_module(&gone), 2, 0);
	add_stack(run, 1, &a, 1);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_UNREADABLE), 5));
	cr_assert(eq(u64, counted(0, QUALITY_FRAMES), 5));
	cr_assert(eq(u64, counted(run, QUALITY_FRAMES), 10));
	end();
}

/* A file was read: this machine's files say nothing about it. */
Test(resolve, without_a_host_only_marks_are_given)
{
	const struct module foreign = {.kind = MODULE_FOREIGN,
		.path = "/usr/bin/prog",
		.start = 0x400000,
		.limit = 0x500000,
		.offset = 0x1000,
		.fd = -1,
		.root_fd = -1};
	uint32_t a, b, c;

	begin(NULL);
	a = add_frame(add_module(&foreign), 0x400123, 0);
	b = add_frame(add_file("lld.so"), function_offset("lld.so", SECRET_HOT), 0);
	c = add_frame(0, 0xffffffff81000010, FRAME_KERNEL);
	add_stack(0, 1, (uint32_t[]){a, b, c}, 3);
	cr_assert(eq(int, resolve_profile(profile, NULL, NULL), 0));
	cr_assert(eq(str, name_of(a), "[prog+0x1123]"));
	cr_assert(eq(int, strncmp(name_of(b), "[lld.so+0x", 10), 0));
	cr_assert(eq(str, name_of(c), "[kernel]"));
	cr_assert(eq(u64, counted(0, QUALITY_UNNAMED_UNREADABLE), 3));
	end();
}

/* As in a stripped libc: the code of start_thread told what it is, no symbol does. */
Test(resolve, first_functions_without_a_symbol_are_no_gap)
{
	uint32_t frames[2];

	begin(NULL);
	frames[0] = add_frame(
		add_module(&(struct module){
			.kind = MODULE_FILE, .path = "/lib/libc.so.6", .fd = -1, .root_fd = -1}),
		0x89000, FRAME_THREAD_START);
	frames[1] = add_frame(profile->frames[frames[0]].module, 0x27249, FRAME_PROGRAM_START);
	add_stack(0, 7, frames, 2);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));

	cr_assert(eq(str, name_of(frames[0]), "[thread start]"));
	cr_assert(eq(str, name_of(frames[1]), "[program start]"));
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_UNNAMED_UNREADABLE], 0));
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_FRAMES], 14));
	end();
}

Test(resolve, names_that_are_there_stay)
{
	uint32_t a = 0;

	begin(NULL);
	cr_assert(eq(int, profile_named_frame(profile, "main", 4, FUNCTION_NATIVE, &a), 0));
	add_stack(0, 4, &a, 1);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(str, name_of(a), "main"));
	cr_assert(eq(u64, counted(0, QUALITY_FRAMES), 4));
	end();
}

Test(resolve, empty_profile_is_fine)
{
	begin(NULL);
	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(int, resolve_profile(profile, NULL, NULL), 0));
	end();
}
