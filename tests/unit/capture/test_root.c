/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/root.h"

#include <string.h>

#include "unit/test.h"

TestSuite(root, .fini = check_leaks);

static enum root_kind kind_of(
	const char *before, size_t nr_before, const char *after, size_t nr_after)
{
	uint8_t code[32] = {0};

	memset(code, 0x90, 16);
	memcpy(code + 16 - nr_before, before, nr_before);
	memcpy(code + 16, after, nr_after);
	return root_by_bytes(code, code + 16);
}

#define KIND(before, after) kind_of(before, sizeof(before) - 1, after, sizeof(after) - 1)

Test(root, knows_where_glibc_starts_threads)
{
	/* call *0x638(%rbx); mov %rax,%fs:0x628 */
	cr_assert(eq(int, KIND("\xff\x93\x38\x06\x00\x00", "\x64\x48\x89\x04\x25\x28\x06\x00\x00"),
		ROOT_THREAD));
	/* call *0x638(%rax); cltq; mov %rax,%fs:0x628: C11 threads */
	cr_assert(eq(int,
		KIND("\xff\x90\x38\x06\x00\x00", "\x48\x98\x64\x48\x89\x04\x25\x28\x06\x00\x00"),
		ROOT_THREAD));
	/* call *%fs:0x640; mov %rax,%fs:0x630 */
	cr_assert(eq(int,
		KIND("\x64\xff\x14\x25\x40\x06\x00\x00", "\x64\x48\x89\x04\x25\x30\x06\x00\x00"),
		ROOT_THREAD));
	/* clone: call *%rax; mov %rax,%rdi; mov $60,%eax; syscall */
	cr_assert(
		eq(int, KIND("\xff\xd0", "\x48\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05"), ROOT_THREAD));
}

Test(root, knows_where_programs_start)
{
	/* call *%rax; mov %eax,%edi; call exit */
	cr_assert(eq(int, KIND("\xff\xd0", "\x89\xc7\xe8\x2f\x74\x01\x00"), ROOT_LIKELY_PROGRAM));
	/* call *rel32(%rip); hlt */
	cr_assert(eq(int, KIND("\xff\x15\x10\x20\x00\x00", "\xf4"), ROOT_PROGRAM));
}

Test(root, does_not_take_ordinary_calls_for_one)
{
	cr_assert(eq(int, KIND("\xe8\x00\x01\x00\x00", "\x89\xc7\xe8\x2f\x74\x01\x00"), ROOT_NONE),
		"f(g()) by a direct call");
	cr_assert(eq(int, KIND("\xff\xd0", "\x48\x83\xc4\x08\xc3"), ROOT_NONE));
	cr_assert(eq(int, KIND("\xe8\x00\x01\x00\x00", "\x64\x48\x89\x04\x25\x28\x06"), ROOT_NONE));
}

Test(root, knows_the_names_with_and_without_version)
{
	cr_assert(eq(int, root_by_name("start_thread", 12), ROOT_THREAD));
	cr_assert(eq(int, root_by_name("__libc_start_main@@GLIBC_2.34", 29), ROOT_PROGRAM));
	cr_assert(eq(int, root_by_name("start_threads", 13), ROOT_NONE));
	cr_assert(eq(int, root_by_name("", 0), ROOT_NONE));
}

Test(root, of_a_file_that_could_not_be_opened_is_not_known)
{
	const struct module module = {.kind = MODULE_FILE, .fd = -1};

	cr_assert(eq(int, root_by_code(&module, 4096), ROOT_NONE));
}

/* call *%rax; jmp +3; ...; mov %rax,%fs:0x628, as in glibc 2.41 */
Test(root, follows_a_jump_behind_the_call)
{
	static const uint8_t code[] = {0xff, 0xd0, 0xeb, 0x03, 0xcc, 0xcc, 0xcc, 0x64, 0x48, 0x89,
		0x04, 0x25, 0x28, 0x06, 0, 0};
	struct module module = {.kind = MODULE_FILE, .path = "/lib/libc.so.6"};
	FILE *file = tmpfile();

	cr_assert(not(zero(ptr, file)));
	cr_assert(eq(int, fseek(file, 64, SEEK_SET), 0));
	cr_assert(eq(sz, fwrite(code, 1, sizeof(code), file), sizeof(code)));
	cr_assert(eq(int, fflush(file), 0));
	module.fd = fileno(file);

	cr_assert(eq(int, root_by_code(&module, 66), ROOT_THREAD));
	cr_assert(eq(int, root_by_code(&module, 80), ROOT_NONE), "at the end of the file");
	(void)fclose(file);
}
