/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/group.h"

#include <string.h>

#include "unit/test.h"

TestSuite(group, .fini = check_leaks);

static const struct {
	const char *name;
	enum function_kind kind;
	const char *module, *group;
} cases[] = {
	/* Java */
	{"sun.security.ssl.ClientHandshaker.processMessage", FUNCTION_JIT, "", "sun.security.ssl"},
	{"sun.security.ssl.HandshakeContext.dispatch", FUNCTION_UNKNOWN, "", "sun.security.ssl"},
	{"Shop$$Lambda.apply", FUNCTION_JIT, "", "Shop"},
	{"[reflection]", FUNCTION_JIT, "", ""},
	{"[libfoo.so.1]", FUNCTION_UNKNOWN, "", "libfoo.so.1"},
	{"void com.foo.Bar.baz(int)", FUNCTION_JIT, "", "com.foo"},
	{"net.sf.json.JSONObject.fromObject", FUNCTION_UNKNOWN, "", "net.sf.json"},
	{"void sam.Sam.getPermissionByUser()", FUNCTION_INTERPRETED, NULL, "sam"},
	{"void Spin.work()", FUNCTION_JIT, "", "Spin"},
	{"Interpreter", FUNCTION_JIT, "", "[generated code]"},
	{"I2C/C2I adapters", FUNCTION_JIT, "", "[generated code]"},
	/* node */
	{"JS:*get twice /srv/app/lib/b.js:1:78", FUNCTION_JIT, "", "lib/b.js"},
	{"JS:~ /b.js:6:85", FUNCTION_JIT, "", "b.js"},
	{"JS:^handle /srv/node_modules/express/lib/router/index.js:136:34", FUNCTION_JIT, "",
		"express"},
	{"JS:*parse /srv/node_modules/a/node_modules/@babel/parser/lib/index.js:1:2",
		FUNCTION_UNKNOWN, "", "@babel/parser"},
	{"JS:~processPromiseRejections node:internal/process/promises:436:34", FUNCTION_JIT, "",
		"node:internal"},
	{"LazyCompile:*run file:///srv/app/x.mjs:9:1", FUNCTION_JIT, "", "app/x.mjs"},
	{"JS:*anonymous", FUNCTION_JIT, "", "[generated code]"},
	{"Builtin:RegExpPrototypeExec", FUNCTION_JIT, "", "[v8]"},
	/* Python */
	{"py::JSONEncoder.encode:/usr/lib/python3.13/json/encoder.py", FUNCTION_JIT, "", "json"},
	{"py::_shutdown:/usr/lib/python3.12/threading.py", FUNCTION_JIT, "", "threading"},
	{"py::<module>:/srv/app/b.py", FUNCTION_JIT, "", "app/b.py"},
	{"py::get:/usr/lib/python3.13/site-packages/requests/api.py", FUNCTION_JIT, "", "requests"},
	{"py::find_spec:<frozen importlib._bootstrap>", FUNCTION_JIT, "", "importlib"},
	/* native */
	{"std::sort<int*>(int*, int*)", FUNCTION_CPP, "libapp.so", "std"},
	{"JavaThread::run()", FUNCTION_CPP, "libjvm.so", "libjvm.so"},
	{"malloc", FUNCTION_NATIVE, "libc.so.6", "libc.so.6"},
	{"main", FUNCTION_UNKNOWN, "", ""},
	{"std::sort", FUNCTION_UNKNOWN, "", "std"},
	{"net/http.(*conn).serve", FUNCTION_NATIVE, "server", "net/http"},
	{"github.com/user/repo/pkg.Func", FUNCTION_UNKNOWN, "", "github.com/user/repo/pkg"},
	{"[libfoo.so+0x1a2b]", FUNCTION_NATIVE, "", "libfoo.so"},
	{"[libfoo.so+0x1a2b]", FUNCTION_NATIVE, "libfoo.so", "libfoo.so"},
	{"[unknown]", FUNCTION_UNKNOWN, "", ""},
	/* what has no owner, or the kernel */
	{"tcp_sendmsg", FUNCTION_KERNEL, "", "[kernel]"},
	{"[truncated]", FUNCTION_MARK, "", ""},
	{"java.lang.Main.x", FUNCTION_ROOT, "", ""},
	{"", FUNCTION_NATIVE, "libc.so.6", ""},
	{"py::", FUNCTION_JIT, "", "[generated code]"},
	{"JS: :1:2", FUNCTION_JIT, "", "[generated code]"},
};

Test(group, a_function_belongs_to_what_its_name_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[128];
		size_t n = group_of(cases[i].name, strlen(cases[i].name), cases[i].kind,
			cases[i].module, out, sizeof(out) - 1);

		out[n] = '\0';
		cr_expect(eq(str, out, (char *)cases[i].group), "of \"%s\"", cases[i].name);
	}
}

Test(group, no_start_of_a_name_is_read_past_its_end_nor_room_overrun)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t size = 0; size <= strlen(cases[i].name); size++) {
			char *name = malloc(size + 1), *out = malloc(8);

			cr_assert(name && out);
			memcpy(name, cases[i].name, size);
			cr_expect(le(sz,
				group_of(name, size, cases[i].kind, cases[i].module, out, 7), 7));
			free(name);
			free(out);
		}
	}
}
