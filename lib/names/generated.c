/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generated.c: classes that a JVM or a framework makes as the program runs. Their numbers and
 * addresses come in the order of events. Numbers that a compiler gave ("Foo$1", Scala's "$anon$11",
 * "lambda$main$2") are in the class file and stay.
 */
#include "names/rule.h"

#define MAX_SYMBOL 256 /* of Clojure's that is looked at */

static int is_address_mark(char c)
{
	return c == '/' || c == '.' || c == '+';
}

static int is_lambda_byte(char c)
{
	return !is_address_mark(c) && c != '(' && c != ')';
}

size_t skip_addresses(const struct part *name, size_t at)
{
	while (at < name->size && is_address_mark(name->text[at])) {
		size_t end = skip_number(name, at + 1);

		if (end == at + 1)
			break;
		at = end;
	}
	return at;
}

/* JDK 8 "$$Lambda$14/1283928880", 11 "$$Lambda$14/0x0800c03000", 21 "$$Lambda/0x7f..",
 * "$$Lambda.0x7f..", class data sharing "$$Lambda$38/0x800000049". */
static size_t lambda(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = word;

	if (byte_at(name, end, '$'))
		end = skip_bytes(name, end, is_lambda_byte);
	end = skip_addresses(name, end);
	*ret = part_of(rule->word);
	return end > word ? end - at : 0;
}

/* "LambdaForm$MH/0x7f..", "LambdaForm$DMH/603742814" */
static size_t lambda_form(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t kind = behind_word(rule, at), end = skip_bytes(name, kind, is_word), addresses;

	if (end == kind || !is_upper(name->text[kind]))
		return 0;
	addresses = skip_addresses(name, end);
	*ret = (struct part){name->text + at, end - at};
	return addresses > end && byte_at(name, addresses, '.') ? addresses - at : 0;
}

/* "Foo/0x7f12.bar", "Foo+0x7f12/578866604.bar": any other hidden class */
static size_t hidden(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = skip_bytes(name, behind_word(rule, at), is_hex), number;

	(void)ret;
	if (!at || (!is_word(name->text[at - 1]) && name->text[at - 1] != '$') ||
		end == behind_word(rule, at))
		return 0;
	if (byte_at(name, end, '/')) {
		number = skip_bytes(name, end + 1, is_digit);
		if (number > end + 1)
			end = number;
	}
	return ends_at(name, end) || byte_at(name, end, '.') ? end - at : 0;
}

/* The word stays, digits behind it go. */
static size_t numbered(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_digit);

	*ret = part_of(rule->with);
	return end > word ? end - at : 0;
}

/* "jdk.proxy2.$Proxy45": each class loader has a package of its own */
static size_t proxy_package(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_digit);

	(void)ret;
	return end > word && text_at(name, end, ".$Proxy") && !(at && is_word(name->text[at - 1]))
		       ? end + 1 - at
		       : 0;
}

static size_t old_proxy_package(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = behind_word(rule, at);

	(void)ret;
	return text_at(name, end, "$Proxy") && !(at && is_word(name->text[at - 1])) ? end - at : 0;
}

/* Behind "1a2b3c4d" or "1a2b3c4d_2", or `at`. */
static size_t skip_key(const struct part *name, size_t at)
{
	size_t end = skip_bytes(name, at, is_lower_hex), digits;

	if (end == at || !byte_at(name, end, '_'))
		return end;
	digits = skip_bytes(name, end + 1, is_digit);
	return digits > end + 1 ? digits : end;
}

/* "$$EnhancerBySpringCGLIB$$1a2b3c4d", "$$EnhancerByGuiceCGLIB$$9f",
 * "$$FastClassBySpringCGLIB$$1a2b3c4d" */
static size_t enhanced(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t start = behind_word(rule, at), end = skip_bytes(name, start, is_word), key;

	if (end - start < 7 || memcmp(name->text + end - 5, "CGLIB", 5) != 0 ||
		!memmem(name->text + start, end - 5 - start, "By", 2) || !text_at(name, end, "$$"))
		return 0;
	key = skip_key(name, end + 2);
	*ret = part_of(text_at(name, start, "FastClassBy") ? "$$CGLIB$$FastClass" : rule->with);
	return key > end + 2 ? key - at : 0;
}

/* "$HibernateProxy$aB3dE9xZ": the word stays, the random one behind it goes */
static size_t random_word(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_word);

	*ret = (struct part){name->text + at, word - 1 - at};
	return end > word && (ends_at(name, end) || byte_at(name, end, '.') ||
				     byte_at(name, end, '$'))
		       ? end - at
		       : 0;
}

/* "Foo_$$_jvst3f1_0", "Foo_$$_javassist_12" */
static size_t javassist(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = skip_bytes(name, behind_word(rule, at), is_word);

	*ret = part_of(rule->with);
	return ends_at(name, end) || byte_at(name, end, '.') ? end - at : 0;
}

/* Clojure: "core$fn__8523", "user$eval1234" */
static size_t clojure(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end;

	if (text_at(name, word, "__"))
		word += 2;
	end = skip_bytes(name, word, is_digit);
	*ret = part_of(rule->word);
	return end > word ? end - at : 0;
}

/*
 * Clojure's other invented symbols: "my.ns.G__1234", "my.ns$step__5851.invoke". In C, "step__2" is
 * what somebody wrote, and "step__2.cold" is that too.
 */
static size_t invented(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_digit), start = at;

	(void)ret;
	if (end == word ||
		!(ends_at(name, end) || byte_at(name, end, '.') || byte_at(name, end, '$')))
		return 0;
	while (start && at - start < MAX_SYMBOL && is_word(name->text[start - 1]))
		start--;
	if (start == at || at - start == MAX_SYMBOL)
		return 0;
	if (start ? name->text[start - 1] != '.' && name->text[start - 1] != '$'
		  : build_stem(name->text, name->size) <= end)
		return 0;
	return end - at;
}

/* Groovy: "Script14.run" */
static size_t groovy(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_digit);

	*ret = part_of(rule->word);
	return end > word && !(at && is_word(name->text[at - 1])) &&
			       (byte_at(name, end, '.') || byte_at(name, end, '$'))
		       ? end - at
		       : 0;
}

const struct rule generated_rules[] = {
	{"$$Lambda", lambda, NULL},
	{"LambdaForm$", lambda_form, NULL},
	{"/0x", hidden, NULL},
	{".0x", hidden, NULL},
	{"+0x", hidden, NULL},
	{"GeneratedMethodAccessor", numbered, "GeneratedMethodAccessor"},
	{"GeneratedConstructorAccessor", numbered, "GeneratedConstructorAccessor"},
	{"GeneratedSerializationConstructorAccessor", numbered,
		"GeneratedSerializationConstructorAccessor"},
	{"com.sun.proxy.", old_proxy_package, NULL},
	{"jdk.proxy", proxy_package, NULL},
	{"$Proxy", numbered, "$Proxy"},
	{"$$SpringCGLIB$$FastClass$$", numbered, "$$CGLIB$$FastClass"},
	{"$$SpringCGLIB$$", numbered, "$$CGLIB"},
	{"$$", enhanced, "$$CGLIB"},
	{"$auxiliary$", random_word, NULL},
	{"$ByteBuddy$", random_word, NULL},
	{"$HibernateProxy$", random_word, NULL},
	{"$MockitoMock$", random_word, NULL},
	{"$HibernateInstantiator$", random_word, NULL},
	{"_$$_jvst", javassist, "$$javassist"},
	{"_$$_javassist", javassist, "$$javassist"},
	{"$fn", clojure, NULL},
	{"$reify", clojure, NULL},
	{"$eval", clojure, NULL},
	{"__", invented, NULL},
	{"Script", groovy, NULL},
	{NULL, NULL, NULL},
};
