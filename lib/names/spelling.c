/* SPDX-License-Identifier: BSD-2-Clause */
/* spelling.c: what tools and runtimes put around a name to say what it is. */
#include "names/rule.h"

/* "getNode_[j]": what kind of code it is. "_[k]" stays: the kernel's read() is not the library's.
 */
static size_t tier_mark(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	(void)rule;
	(void)ret;
	return at && ends_at(name, at + 4) && strchr("ij01", name->text[at + 2]) &&
			       byte_at(name, at + 3, ']')
		       ? 4
		       : 0;
}

static int is_module_byte(char c)
{
	return is_word(c) || c == '.';
}

static int is_version_byte(char c)
{
	return is_word(c) || c == '.' || c == '+' || c == '-';
}

/* Behind "my.module@1.0/", or `at`. */
static size_t skip_module(const struct part *name, size_t at)
{
	size_t end = skip_bytes(name, at, is_module_byte);

	if (end > at && byte_at(name, end, '@'))
		end = skip_bytes(name, end + 1, is_version_byte);
	return end > at && byte_at(name, end, '/') ? end + 1 : at;
}

static int is_class_start(const struct part *name, size_t at)
{
	return at < name->size && !is_digit(name->text[at]) &&
	       (is_word(name->text[at]) || name->text[at] == '$');
}

/* "java.base/java.lang.String.hashCode", "java.base@17.0.1/..." */
static size_t platform_module(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = at ? 0 : skip_module(name, 0);

	(void)rule;
	(void)ret;
	return is_class_start(name, end) ? end : 0;
}

/* "app//com.foo.Bar.baz", "app/my.module@1.0/com.foo.Bar.baz": class loader, module. */
static size_t class_loader(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t start = behind_word(rule, at), end;

	(void)ret;
	if (at)
		return 0;
	end = byte_at(name, start, '/') ? start + 1 : skip_module(name, start);
	return end > start && is_class_start(name, end) ? end : 0;
}

/* "LazyCompile:*parse /app/a.js:3:1", "JS:~parse ...": V8's tier changes as the code gets hot. */
static size_t script(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = behind_word(rule, at);

	if (at)
		return 0;
	if (end < name->size && strchr("~*^+", name->text[end]) && name->text[end])
		end++;
	else if (strcmp(rule->word, rule->with) == 0)
		return 0;
	*ret = part_of(rule->with);
	return end;
}

const struct rule spelling_rules[] = {
	{"_[", tier_mark, NULL},
	{"java.", platform_module, NULL},
	{"jdk.", platform_module, NULL},
	{"app/", class_loader, NULL},
	{"platform/", class_loader, NULL},
	{"LazyCompile:", script, "JS:"},
	{"Function:", script, "JS:"},
	{"JS:", script, "JS:"},
	{"Script:", script, "Script:"},
	{"Eval:", script, "Eval:"},
	{NULL, NULL, NULL},
};
