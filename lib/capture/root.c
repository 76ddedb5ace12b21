/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root.c: what the start of a thread and of a program look like in machine code (x86-64), read off
 * glibc 2.31, 2.36 and 2.41:
 *
 *	start_thread            call *..; [cltq;] mov %rax,%fs:disp32     keeps the thread's result;
 *	                        2.41 jumps there: call *%rax; jmp
 *	clone, clone3           call *..; mov %rax,%rdi; mov $60,%eax; syscall
 *	__libc_start_call_main  call *..; mov %eax,%edi; call exit
 *	_start                  call ..; hlt                              nothing else has that
 *	musl's start            call *..; mov %rax,%rdi; call __pthread_exit
 *
 * The calls are indirect (the function came in as an argument), which tells them from f(g()). The
 * last and the third also look like f(object->g()), common in C++: outside of libc they prove
 * nothing by themselves.
 */
#include "capture/root.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* ff /2 in its forms with and without a displacement, ending at the return address. */
static int called_indirectly(const uint8_t before[16])
{
	if (before[14] == 0xff && (before[15] & 0xf8) == 0xd0)
		return 1; /* call *%reg */
	if (before[13] == 0xff && (before[14] & 0xf8) == 0x50)
		return 1; /* call *disp8(%reg) */
	if (before[12] == 0xff && before[13] == 0x54 && before[14] == 0x24)
		return 1; /* call *disp8(%rsp) */
	if (before[10] == 0xff && (before[11] & 0xf8) == 0x90)
		return 1; /* call *disp32(%reg) */
	return before[8] == 0x64 && before[9] == 0xff && before[10] == 0x14; /* call *%fs:disp32 */
}

static int begins_with(const uint8_t after[16], const void *code, size_t size)
{
	return memcmp(after, code, size) == 0;
}

enum root_kind root_by_bytes(const uint8_t before[16], const uint8_t after[16])
{
	static const uint8_t keep_result[] = {0x64, 0x48, 0x89, 0x04, 0x25};
	static const uint8_t exit_thread[] = {0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t call_exit[] = {0x89, 0xc7, 0xe8};
	static const uint8_t call_pthread_exit[] = {0x48, 0x89, 0xc7, 0xe8};

	/* call rel32 or call *rel32(%rip), hlt */
	if (after[0] == 0xf4 && (before[11] == 0xe8 || (before[10] == 0xff && before[11] == 0x15)))
		return ROOT_PROGRAM;
	if (!called_indirectly(before))
		return ROOT_NONE;
	if (begins_with(after, keep_result, sizeof(keep_result)))
		return ROOT_THREAD;
	if (after[0] == 0x48 && after[1] == 0x98 &&
		memcmp(after + 2, keep_result, sizeof(keep_result)) == 0)
		return ROOT_THREAD;
	if (begins_with(after, "\x89\xc7", 2) &&
		memcmp(after + 2, exit_thread, sizeof(exit_thread)) == 0)
		return ROOT_THREAD;
	if (begins_with(after, "\x48\x89\xc7", 3) &&
		memcmp(after + 3, exit_thread, sizeof(exit_thread)) == 0)
		return ROOT_THREAD;
	if (begins_with(after, call_exit, sizeof(call_exit)))
		return ROOT_LIKELY_PROGRAM;
	if (begins_with(after, call_pthread_exit, sizeof(call_pthread_exit)))
		return ROOT_LIKELY_THREAD;
	return ROOT_NONE;
}

/* libc.so.6, libc-2.31.so, ld-musl-x86_64.so.1 */
static int is_libc(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	base = base ? base + 1 : "";
	return strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-2", 6) == 0 ||
	       strncmp(base, "ld-musl", 7) == 0;
}

/* A short read leaves the end zero, which matches nothing. */
static ssize_t read_code(int fd, uint64_t offset, uint8_t *code, size_t size)
{
	memset(code, 0, size);
	return pread(fd, code, size, (off_t)offset);
}

/* jmp rel8, jmp rel32; within a segment file offsets are as far apart as addresses. */
static int jump_target(const uint8_t *code, uint64_t offset, uint64_t *ret)
{
	int32_t distance;

	if (code[0] == 0xeb) {
		*ret = offset + 2 + (uint64_t)(int64_t)(int8_t)code[1];
		return 1;
	}
	if (code[0] != 0xe9)
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	*ret = offset + 5 + (uint64_t)(int64_t)distance;
	return 1;
}

enum root_kind root_by_code(const struct module *module, uint64_t return_offset)
{
	enum root_kind kind;
	uint64_t target;
	uint8_t code[32];

	if (return_offset < 16)
		return ROOT_NONE;
	if (module->fd < 0 || module->kind != MODULE_FILE)
		return ROOT_NONE;
	if (read_code(module->fd, return_offset - 16, code, sizeof(code)) < 17)
		return ROOT_NONE;
	kind = root_by_bytes(code, code + 16);
	if (kind == ROOT_NONE && jump_target(code + 16, return_offset, &target) &&
		read_code(module->fd, target, code + 16, 16) > 0)
		kind = root_by_bytes(code, code + 16);
	if (kind == ROOT_LIKELY_PROGRAM && is_libc(module->path))
		return ROOT_PROGRAM;
	if (kind == ROOT_LIKELY_THREAD && is_libc(module->path))
		return ROOT_THREAD;
	return kind;
}

enum root_kind root_by_name(const char *name, size_t size)
{
	static const struct {
		char name[24];
		enum root_kind kind;
	} roots[] = {
		{"start_thread", ROOT_THREAD},
		{"clone", ROOT_THREAD},
		{"clone3", ROOT_THREAD},
		{"__clone", ROOT_THREAD},
		{"__clone3", ROOT_THREAD},
		{"_start", ROOT_PROGRAM},
		{"__libc_start_call_main", ROOT_PROGRAM},
		{"__libc_start_main", ROOT_PROGRAM},
		{"__libc_start_main_impl", ROOT_PROGRAM},
		{"runtime.goexit", ROOT_THREAD}, /* Go: every goroutine returns there */
		{"runtime.goexit.abi0", ROOT_THREAD},
		{"runtime.mstart", ROOT_THREAD}, /* and the scheduler's own stacks begin here */
		{"runtime.mstart.abi0", ROOT_THREAD},
	};
	const char *version = memchr(name, '@', size);

	if (version)
		size = (size_t)(version - name);
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		if (strlen(roots[i].name) == size && memcmp(roots[i].name, name, size) == 0)
			return roots[i].kind;
	}
	return ROOT_NONE;
}
