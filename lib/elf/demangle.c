/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.c: libiberty's demanglers with a bound on output, which they do not have: they print
 * through a callback, and it is left by longjmp when the room is used up. They hold no memory
 * while they print, but for one place, named below.
 */
#include "elf/demangle.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/*
 * The recursion limit refuses every name over 1,024 bytes, which templates do reach. A bounded name
 * bounds the stack as well: the worst 4,095 bytes found take 852 KB.
 */
#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)

struct output {
	char *text;
	size_t size;
	int full;
	jmp_buf leave;
};

static int is_ascii(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return 0;
	}
	return 1;
}

static void print(const char *text, size_t size, void *arg)
{
	struct output *output = arg;

	if (!size)
		return; /* with a null pointer even */
	if (!output->full && size <= DEMANGLE_MAX - output->size) {
		memcpy(output->text + output->size, text, size);
		output->size += size;
		return;
	}
	output->full = 1;
	/* rust_demangle() prints an identifier out of punycode from memory that it frees after the
	 * call. Such text always has a byte above 0x7f, nothing else it prints has: return then,
	 * and leave at the next call. */
	if (is_ascii(text, size))
		longjmp(output->leave, 1);
}

static int is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
	       strncmp(name, "_GLOBAL_", 8) == 0;
}

int demangle(const char *name, size_t size, char ret[DEMANGLE_MAX])
{
	char copy[DEMANGLE_INPUT_MAX + 1];
	struct output output = {.text = ret};
	int done;

	if (!size || size > DEMANGLE_INPUT_MAX || memchr(name, '\0', size))
		return 0;
	memcpy(copy, name, size);
	copy[size] = '\0';
	if (!is_mangled(copy))
		return 0;
	if (setjmp(output.leave))
		return -E2BIG;
	/* Rust first: its legacy names are C++ names too. */
	done = rust_demangle_callback(copy, 0, print, &output);
	if (!done) {
		output.size = 0;
		done = cplus_demangle_v3_callback(copy, OPTIONS, print, &output);
	}
	if (!done || !output.size)
		return 0;
	return output.full ? -E2BIG : (int)output.size;
}
