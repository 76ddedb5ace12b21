/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * releases.c: classes and methods of the JDK that are the same code under another name in another
 * release, and the bridges that each release builds differently. The newest name is the canonical
 * one.
 */
#include "base/cleanup.h"
#include "names/rule.h"

#define VM "[libjvm.so]"

/* What begins with the word begins with another one now. */
static size_t moved(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	/* These packages never moved. */
	static const char *const stayed[] = {
		"sun.reflect.annotation.", "sun.reflect.generics.", "sun.reflect.misc."};

	for (size_t i = 0; i < ARRAY_SIZE(stayed); i++) {
		if (text_at(name, at, stayed[i]))
			return 0;
	}
	*ret = part_of(rule->with);
	return at ? 0 : strlen(rule->word);
}

/* One of the VM's functions by which it enters Java, or one whose name begins so
 * ("JavaCalls::call_helper"). */
static size_t enters(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = skip_bytes(name, behind_word(rule, at), is_word);

	*ret = part_of(rule->with);
	return !at && (ends_at(name, end) || byte_at(name, end, '(')) ? name->size : 0;
}

static size_t stubs(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	*ret = part_of(rule->with);
	return !at && byte_at(name, name->size - 1, ')') ? name->size : 0;
}

/* "lambda$main$2": javac numbers them anew when one is added. */
static size_t lambda_number(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t start = behind_word(rule, at), word = skip_bytes(name, start, is_word), end;

	if (word == start || is_digit(name->text[start]) || !byte_at(name, word, '$'))
		return 0;
	end = skip_bytes(name, word + 1, is_digit);
	*ret = (struct part){name->text + at, word - at};
	return end > word + 1 && ends_at(name, end) ? end - at : 0;
}

const struct rule release_rules[] = {
	/* JDK 9 */
	{"sun.reflect.", moved, "jdk.internal.reflect."},
	{"sun.misc.Unsafe.", moved, "jdk.internal.misc.Unsafe."},
	{"sun.misc.VM.", moved, "jdk.internal.misc.VM."},
	{"sun.misc.Signal", moved, "jdk.internal.misc.Signal"},
	{"sun.misc.Cleaner.", moved, "jdk.internal.ref.Cleaner."},
	{"sun.misc.Perf.", moved, "jdk.internal.perf.Perf."},
	{"sun.misc.FloatingDecimal", moved, "jdk.internal.math.FloatingDecimal"},
	{"sun.misc.FormattedFloatingDecimal", moved, "jdk.internal.math.FormattedFloatingDecimal"},
	{"sun.misc.URLClassPath", moved, "jdk.internal.loader.URLClassPath"},
	{"sun.misc.Resource.", moved, "jdk.internal.loader.Resource."},
	/* JDK 12 */
	{"sun.misc.SharedSecrets.", moved, "jdk.internal.access.SharedSecrets."},
	{"jdk.internal.misc.SharedSecrets.", moved, "jdk.internal.access.SharedSecrets."},
	/* JDK 19: a method that was native or did the work itself got a part of it below. */
	{"java.lang.Thread.runWith", rule_renames, "java.lang.Thread.run"},
	{"java.lang.Object.wait0", rule_renames, "java.lang.Object.wait"},
	{"java.lang.Thread.sleep0", rule_renames, "java.lang.Thread.sleep"},
	{"java.lang.Thread.yield0", rule_renames, "java.lang.Thread.yield"},
	/* JDK 21: the launcher looks for one of four kinds of main(). */
	{"invokeStaticMainWithArgs", rule_renames, "JavaMain"},
	{"invokeStaticMainWithoutArgs", rule_renames, "JavaMain"},
	{"invokeInstanceMainWithArgs", rule_renames, "JavaMain"},
	{"invokeInstanceMainWithoutArgs", rule_renames, "JavaMain"},
	/*
	 * How a VM is started and enters Java is other code in each release, and a place where its
	 * symbols are stripped: one frame, as that is.
	 */
	{"[libjli.so]", rule_renames, VM},
	{"ThreadJavaMain", rule_renames, VM},
	{"JavaMain", rule_renames, VM},
	{"jni_CallStaticVoidMethod", enters, VM},
	{"jni_invoke_static", enters, VM},
	{"os::os_exception_wrapper", enters, VM},
	{"JavaCalls::call", enters, VM},
	{"java_start", enters, VM},
	{"thread_native_entry", enters, VM},
	{"Thread::call_run", enters, VM},
	{"JavaThread::run", enters, VM},
	{"JavaThread::thread_main_inner", enters, VM},
	{"thread_entry", enters, VM},
	/* JDK 22 */
	{"java.util.ArrayList.sortRange", rule_renames, "java.util.ArrayList.sort"},
	/* "StubRoutines (1)" of 17 is "(initial stubs)" of 21, and below each call of Java. */
	{"StubRoutines (", stubs, "StubRoutines"},
	{"lambda$", lambda_number, NULL},
	{NULL, NULL, NULL},
};

/* "...Accessor.", "...AccessorImpl.", "...Accessor$NativeAccessor." */
static int is_accessor(const struct part *name, size_t at)
{
	static const char *const kinds[] = {"Native", "Delegating", "Generated", "Direct"};
	size_t end = skip_bytes(name, at, is_word), size;

	size = end - at;
	if (size > 4 && memcmp(name->text + end - 4, "Impl", 4) == 0)
		size -= 4;
	if (size < 8 || memcmp(name->text + at + size - 8, "Accessor", 8) != 0)
		return 0;
	if (byte_at(name, end, '$'))
		end = skip_bytes(name, end + 1, is_word);
	if (!byte_at(name, end, '.'))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (text_at(name, at, kinds[i]))
			return 1;
	}
	return 0;
}

int release_is_bridge(const char *text, size_t size)
{
	static const char *const invokers[] = {"LambdaForm$", "DirectMethodHandle$Holder",
		"BoundMethodHandle$Holder", "DelegatingMethodHandle$Holder", "Invokers$Holder",
		"MethodHandle.invokeBasic", "MethodHandle.linkTo"};
	struct part name = {text, size};
	size_t at = strlen("java.lang.invoke.");

	if (text_at(&name, 0, "jdk.internal.reflect."))
		return is_accessor(&name, strlen("jdk.internal.reflect."));
	if (!text_at(&name, 0, "java.lang.invoke."))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(invokers); i++) {
		if (text_at(&name, at, invokers[i]))
			return 1;
	}
	return 0;
}
