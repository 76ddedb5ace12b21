/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/perfmap/lines.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(lines, .fini = check_leaks);

static int parse(const char *text, struct perfmap_line *ret)
{
	return perfmap_parse_line(text, strlen(text), ret);
}

static void expect(const char *text, uint64_t start, uint32_t size, const char *name)
{
	struct perfmap_line line = {0};

	cr_assert(eq(int, parse(text, &line), 0), "%s", text);
	cr_assert(eq(u64, line.start, start), "%s", text);
	cr_assert(eq(u32, line.size, size), "%s", text);
	cr_assert(eq(sz, line.name_size, strlen(name)), "%s", text);
	cr_assert(eq(int, memcmp(line.name, name, line.name_size), 0), "%s", text);
}

Test(lines, numbers_of_every_producer_are_read)
{
	expect("0x00007f6c00001000 0x0000000000000100 java.lang.String com.acme.Shop.price(int, "
	       "long)",
		0x7f6c00001000, 0x100, "java.lang.String com.acme.Shop.price(int, long)");
	expect("0x7f6c00002000 0x80 py::charge:/srv/app/shop.py", 0x7f6c00002000, 0x80,
		"py::charge:/srv/app/shop.py");
	expect("7f6c00003000 40 Interpreter", 0x7f6c00003000, 0x40, "Interpreter");
	expect("7F6C00004000 C0 UPPER::hex_digits", 0x7f6c00004000, 0xc0, "UPPER::hex_digits");
	expect("0X7F6C00005000 0X20 UpperPrefix", 0x7f6c00005000, 0x20, "UpperPrefix");
	expect("00007EFF0C1D0000 07 void [System.Private.CoreLib] X::.cctor()[PreJIT]",
		0x7eff0c1d0000, 7, "void [System.Private.CoreLib] X::.cctor()[PreJIT]");
}

Test(lines, the_name_is_the_rest_of_the_line)
{
	expect("7f6d00001000 80 LazyCompile:*handle request /srv/app/a b/server.js:12",
		0x7f6d00001000, 0x80, "LazyCompile:*handle request /srv/app/a b/server.js:12");
	expect("7f6d00003000 80 name  with   runs of blanks", 0x7f6d00003000, 0x80,
		"name  with   runs of blanks");
	expect("7f6d00004000 80 tab\there", 0x7f6d00004000, 0x80, "tab\there");
	expect("7f6d00005000 80 RegExp: ^a b$ ", 0x7f6d00005000, 0x80, "RegExp: ^a b$ ");
	expect("7f6d00006000  80  two blanks between fields", 0x7f6d00006000, 0x80,
		"two blanks between fields");
	expect("7f6d00007000 80 42 7", 0x7f6d00007000, 0x80, "42 7");
	expect("10 0 point", 0x10, 0, "point");
	expect("10 1 a;b\x1b[31m\xff", 0x10, 1, "a;b\x1b[31m\xff");
}

Test(lines, what_is_no_line_of_a_map_is_refused)
{
	static const char *const bad[] = {"", " ", " orphan tail of a line", "7f7000002000",
		"7f7000003000 40", "7f7000004000 40 ", "7f7000005000 4", "zzzz 40 not_hex",
		"7f7000006000 qq not_hex_size", "0x 40 x", "40 0x x", "-40 10 x", "40", "40 ",
		"0x"};
	struct perfmap_line line;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_assert(eq(int, parse(bad[i], &line), -EINVAL), "%s", bad[i]);
}

Test(lines, numbers_that_no_code_can_have_are_refused)
{
	static const char *const bad[] = {"ffffffffffffffff 1 x", "8000000000000000 1 x",
		"7fffffffffffffff 2 x", "1000 100000000 x", "10000000000000000 1 x",
		"1000 10000000000000000 x"};
	struct perfmap_line line;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_assert(eq(int, parse(bad[i], &line), -ERANGE), "%s", bad[i]);
	expect("7fffffffffffffff 1 x", 0x7fffffffffffffff, 1, "x");
	expect("1000 ffffffff x", 0x1000, 0xffffffff, "x");
}

Test(lines, long_names_are_cut_between_characters)
{
	static char text[8192] = "1000 10 ";
	struct perfmap_line line;

	memset(text + 8, 'a', PERFMAP_NAME_MAX_BYTES);
	cr_assert(eq(int, parse(text, &line), 0));
	cr_assert(eq(int, line.cut, 0));
	memcpy(text + 8 + PERFMAP_NAME_MAX_BYTES - 2, "\xf0\x9f\x98\x80 and more", 13);
	cr_assert(eq(int, parse(text, &line), 0));
	cr_assert(eq(int, line.cut, 1));
	cr_assert(eq(sz, line.name_size, PERFMAP_NAME_MAX_BYTES - 2));
	memset(text + 8, 0x80, sizeof(text) - 9); /* continuation bytes only */
	cr_assert(eq(int, parse(text, &line), 0));
	cr_assert(gt(sz, line.name_size, PERFMAP_NAME_MAX_BYTES - 5));
}
