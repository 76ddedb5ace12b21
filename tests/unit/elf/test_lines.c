/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "unit/elf/inlined.h"

TestSuite(lines, .fini = check_leaks);

static struct elf_file *file;
static struct lines *lines;

static void begin(int fd)
{
	int r;

	cr_assert(eq(int, elf_file_open(fd, &file), 0));
	r = lines_open(file, &lines);
	if (r == -EOPNOTSUPP)
		cr_skip("built without libdw");
	cr_assert(eq(int, r, 0));
}

static void end(void)
{
	lines_close(lines);
	elf_file_close(file);
	lines = NULL;
	file = NULL;
}

static int is_named(const struct symbol *symbol, const char *name)
{
	return symbol->name_size == strlen(name) &&
	       memcmp(symbol->name, name, symbol->name_size) == 0;
}

static int is_of_source(const struct symbol *symbol)
{
	static const char own[] = "/inlined.c";

	return symbol->file && symbol->file_size > strlen(own) &&
	       memcmp(symbol->file + symbol->file_size - strlen(own), own, strlen(own)) == 0;
}

/* Is this the work of innermost, at its line, in the lines that lead to it? */
static int is_whole_chain(const struct symbol *s, int n)
{
	return n == 3 && is_named(&s[0], "innermost") && s[0].line == line_with("/* work */") &&
	       is_named(&s[1], "middle") && s[1].line == line_with("/* into middle */") &&
	       s[2].line == line_with("/* into outer */");
}

/* Every address of outer, and how many are inside what was inlined twice. */
static unsigned count_chains(const char *name)
{
	uint64_t size, start = function_in(name, "outer", &size), vaddr;
	struct symbol s[LINES_MAX];
	unsigned nr = 0;

	cr_assert(eq(int, elf_file_vaddr(file, start, &vaddr), 0));
	for (uint64_t i = 0; i < size; i++) {
		int n = lines_find(lines, vaddr + i, s, LINES_MAX);

		cr_assert(ge(int, n, 1), "byte %u of outer", (unsigned)i);
		cr_assert(is_named(&s[n - 1], "outer"));
		cr_assert(eq(int, s[n - 1].kind, FUNCTION_NATIVE));
		for (int k = 0; k < n; k++)
			cr_assert(is_of_source(&s[k]));
		for (int k = 0; k + 1 < n; k++)
			cr_assert(eq(int, s[k].kind, FUNCTION_INLINED));
		nr += (unsigned)is_whole_chain(s, n);
	}
	return nr;
}

Test(lines, tells_what_was_inlined_and_from_which_lines)
{
	static const char *const names[] = {
		"inlined-gcc.so", "inlined-clang.so", "inlined-packed.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		begin(open_elf(names[i]));
		cr_assert(gt(uint, count_chains(names[i]), 3));
		end();
	}
}

Test(lines, function_that_nothing_is_inlined_into_is_one)
{
	uint64_t size, vaddr;
	struct symbol s[LINES_MAX];

	begin(open_elf("inlined-gcc.so"));
	cr_assert(eq(int,
		elf_file_vaddr(file, function_in("inlined-gcc.so", "alone", &size), &vaddr), 0));
	cr_assert(eq(int, lines_find(lines, vaddr + size - 1, s, LINES_MAX), 1));
	cr_assert(is_named(&s[0], "alone"));
	cr_assert(eq(int, lines_find(lines, vaddr, s, 0), 0));
	end();
}

Test(lines, knows_nothing_of_other_places)
{
	struct symbol s[LINES_MAX];

	begin(open_elf("inlined-gcc.so"));
	cr_assert(eq(int, lines_find(lines, 0, s, LINES_MAX), 0));
	cr_assert(eq(int, lines_find(lines, UINT64_MAX, s, LINES_MAX), 0));
	end();
}

Test(lines, file_without_debug_information_has_none)
{
	cr_assert(eq(int, elf_file_open(open_elf("stripped.so"), &file), 0));
	int r = lines_open(file, &lines);
	cr_assert(r == -ENOENT || r == -EOPNOTSUPP);
	end();
}

/* A copy of a file in memory, so that it can be damaged. */
static int copy_of(const char *name, size_t *ret_size)
{
	_cleanup_close_ int from = open_elf(name);
	int to = memfd_create(name, MFD_CLOEXEC);
	char buffer[4096];
	ssize_t n;

	*ret_size = 0;
	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		cr_assert(eq(long, write(to, buffer, (size_t)n), n));
		*ret_size += (size_t)n;
	}
	return to;
}

/* Bytes of debug information turned about, here and there: an answer or an error, and no harm. */
Test(lines, damaged_debug_information_harms_nobody)
{
	uint64_t length, start = function_in("inlined-gcc.so", "outer", &length), vaddr;
	struct symbol s[LINES_MAX];
	unsigned seed = 1;

	for (unsigned round = 0; round < 60; round++) {
		size_t size;
		int fd = copy_of("inlined-gcc.so", &size);

		begin(fd);
		for (size_t i = 1; i < file->nr_sections; i++) {
			const struct elf_section *section = &file->sections[i];

			for (unsigned k = 0; k < 4 && !strncmp(section->name, ".debug", 6); k++) {
				uint8_t byte;

				seed = seed * 1103515245 + 12345;
				byte = (uint8_t)(seed >> 16);
				(void)pwrite(fd, &byte, 1,
					(off_t)(section->offset + (seed >> 8) % section->size));
			}
		}
		lines_close(lines); /* begun before the damage */
		cr_assert(eq(int, lines_open(file, &lines), 0));
		cr_assert(eq(int, elf_file_vaddr(file, start, &vaddr), 0));
		for (uint64_t i = 0; i < length; i++) {
			int n = lines_find(lines, vaddr + i, s, LINES_MAX);

			cr_assert(n <= LINES_MAX);
			for (int k = 0; k < n; k++)
				cr_assert(gt(sz, s[k].name_size, 0));
		}
		end();
	}
}

/* The file shrinks while it is read: whoever has it mapped ends by SIGBUS, and that is not us. */
Test(lines, file_that_shrinks_ends_only_its_reader)
{
	size_t size;
	int fd = copy_of("inlined-gcc.so", &size), n = 0;
	struct symbol s[LINES_MAX];

	begin(fd);
	cr_assert(eq(int, ftruncate(fd, 64), 0));
	for (uint64_t vaddr = 0x1000; n >= 0 && vaddr < 0x2000; vaddr++)
		n = lines_find(lines, vaddr, s, LINES_MAX);
	cr_assert(eq(int, n, -EBADMSG));
	cr_assert(eq(int, lines_find(lines, 0x1000, s, LINES_MAX), -EBADMSG));
	end();
}
