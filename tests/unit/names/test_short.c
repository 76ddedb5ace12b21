/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/short.h"

#include <string.h>

#include "unit/test.h"

TestSuite(short_, .fini = check_leaks);

static const struct {
	const char *name;
	enum function_kind kind;
	const char *text;
} cases[] = {
	{"void com.Foo.bar(int)", FUNCTION_JIT, "com.Foo.bar"},
	{"com/foo/Bar.baz", FUNCTION_UNKNOWN, "com.foo.Bar.baz"},
	{"JS:*get twice /srv/b.js:1:78", FUNCTION_JIT, "JS:*get twice /srv/b.js:1:78"},
	{"StubRoutines (2)", FUNCTION_JIT, "StubRoutines (2)"},
	{"void std::sort<int*>(int*, int*)", FUNCTION_CPP, "std::sort<int*>"},
	{"std::sort<int*>(int*, int*)", FUNCTION_UNKNOWN, "std::sort<int*>"},
	{"runtime main (1)", FUNCTION_UNKNOWN, "runtime main (1)"},
	{"tcp_sendmsg", FUNCTION_KERNEL, "tcp_sendmsg"},
	{"[truncated]", FUNCTION_MARK, "[truncated]"},
	{"worker (3)", FUNCTION_ROOT, "worker (3)"},
};

Test(short_, tables_show_what_people_call_a_function)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[128];
		size_t n = short_name(
			cases[i].name, strlen(cases[i].name), cases[i].kind, out, sizeof(out) - 1);

		out[n] = '\0';
		cr_expect(eq(str, out, (char *)cases[i].text));
	}
}

Test(short_, what_does_not_fit_is_cut_between_characters)
{
	const char *name = "a\xe5\xb7\xa5";
	char out[8];

	cr_assert(eq(sz, short_name(name, 4, FUNCTION_NATIVE, out, 3), 1));
	cr_assert(eq(sz, short_name(name, 4, FUNCTION_NATIVE, out, 4), 4));
}
