/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/java.h"

#include <string.h>

#include "unit/test.h"

TestSuite(java, .fini = check_leaks);

static const struct {
	const char *name;
	enum function_kind kind;
	const char *text, *package; /* "": not Java */
} cases[] = {
	/* jcmd Compiler.perfmap of JDK 17, 21 and 25 */
	{"void com.foo.Bar.baz(int, java.lang.String[])", FUNCTION_JIT, "com.foo.Bar.baz",
		"com.foo"},
	{"java.lang.Object java.lang.Class.isArray()", FUNCTION_JIT, "java.lang.Class.isArray",
		"java.lang"},
	{"void java.util.stream.ReduceOps$5ReducingSink.begin(long)", FUNCTION_JIT,
		"java.util.stream.ReduceOps$5ReducingSink.begin", "java.util.stream"},
	{"java.lang.Object Names$$Lambda$8/0x00007fd4d0003000.apply(java.lang.Object)",
		FUNCTION_JIT, "Names$$Lambda$8.apply", "Names"},
	{"int java.util.stream.IntPipeline$$Lambda/0x00007f2c640474e8.applyAsInt(int, int)",
		FUNCTION_JIT, "java.util.stream.IntPipeline$$Lambda.applyAsInt",
		"java.util.stream"},
	{"java.lang.Object java.lang.invoke.LambdaForm$MH+0x00007f2c64000400.invoke()",
		FUNCTION_JIT, "java.lang.invoke.LambdaForm$MH.invoke", "java.lang.invoke"},
	{"void Names$Acc.<init>()", FUNCTION_JIT, "Names$Acc.<init>", "Names"},
	{"int $Proxy0.call(java.lang.String, int[], java.util.List)", FUNCTION_JIT, "$Proxy0.call",
		"$Proxy0"},
	{"byte[] io.netty.channel.nio.NioEventLoop.run()", FUNCTION_JIT,
		"io.netty.channel.nio.NioEventLoop.run", "io.netty.channel"},
	{"void Na\xc3\xafve.\xc3\xbc"
	 "ber()",
		FUNCTION_JIT,
		"Na\xc3\xafve.\xc3\xbc"
		"ber",
		"Na\xc3\xafve"},
	/* perf-map-agent */
	{"Lcom/foo/Bar;::baz", FUNCTION_JIT, "com.foo.Bar.baz", "com.foo"},
	{"Lnet/sf/json/JSONObject;::fromObject", FUNCTION_UNKNOWN,
		"net.sf.json.JSONObject.fromObject", "net.sf.json"},
	{"LNames$$Lambda$8/578866604;::apply", FUNCTION_UNKNOWN, "Names$$Lambda$8.apply", "Names"},
	{"Lsam/Sam;.getPermissionByUser", FUNCTION_JIT, "sam.Sam.getPermissionByUser", "sam"},
	/* folded text */
	{"com/foo/Bar.baz", FUNCTION_UNKNOWN, "com.foo.Bar.baz", "com.foo"},
	{"io/netty/channel/nio/NioEventLoop:.run", FUNCTION_UNKNOWN,
		"io.netty.channel.nio.NioEventLoop.run", "io.netty.channel"},
	{"java.lang.Thread.run", FUNCTION_UNKNOWN, "java.lang.Thread.run", "java.lang"},
	{"Socket$SocketInputStream.read", FUNCTION_INLINED, "Socket$SocketInputStream.read",
		"Socket"},
	/* what only looks like Java */
	{"I2C/C2I adapters(0xbbebab00)@0x00007fe558659000", FUNCTION_JIT, "", ""},
	{"StubRoutines (2)", FUNCTION_JIT, "", ""},
	{"Interpreter", FUNCTION_JIT, "", ""},
	{"StackOverflowError throw_exception", FUNCTION_JIT, "", ""},
	{"_new_array_Java", FUNCTION_JIT, "", ""},
	{"BytecodeHandler:CreateRegExpLiteral.ExtraWide", FUNCTION_JIT, "", ""},
	{"JavaThread::run", FUNCTION_UNKNOWN, "", ""},
	{"_$LT$core..option..Option$LT$T$GT$$GT$::map", FUNCTION_UNKNOWN, "", ""},
	{"Parse.cold", FUNCTION_UNKNOWN, "", ""},
	{"do_work.part.0", FUNCTION_UNKNOWN, "", ""},
	{"net/http.(*conn).serve", FUNCTION_UNKNOWN, "", ""},
	{"runtime.mallocgc", FUNCTION_UNKNOWN, "", ""},
	{"libc.so.6", FUNCTION_UNKNOWN, "", ""},
	{".", FUNCTION_JIT, "", ""},
	{"::", FUNCTION_JIT, "", ""},
	{"(", FUNCTION_JIT, "", ""},
	{"L;::", FUNCTION_JIT, "", ""},
	{"", FUNCTION_JIT, "", ""},
};

Test(java, every_spelling_of_a_method_is_one_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[256];
		size_t n = java_short(
			cases[i].name, strlen(cases[i].name), cases[i].kind, out, sizeof(out) - 1);

		out[n] = '\0';
		cr_expect(eq(str, out, (char *)cases[i].text), "of \"%s\"", cases[i].name);
		out[java_package(out, n)] = '\0';
		cr_expect(eq(str, out, (char *)cases[i].package), "of \"%s\"", cases[i].name);
	}
}

Test(java, no_start_of_a_name_is_read_past_its_end)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t size = 0; size <= strlen(cases[i].name); size++) {
			char out[256];
			char *name = malloc(size + 1); /* its end is what the sanitizer guards */

			cr_assert(ne(ptr, name, NULL));
			memcpy(name, cases[i].name, size);
			cr_expect(le(sz, java_short(name, size, cases[i].kind, out, 20), 20));
			free(name);
		}
	}
}
