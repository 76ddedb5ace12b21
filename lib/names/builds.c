/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * builds.c: what compilers, linkers and loaders add to a name, and what differs from one build to
 * the next. A word behind a dot is one of theirs only where the name itself can have no dot: never
 * in Java's "Object.clone" or Go's "strings.clone".
 */
#include "base/cleanup.h"
#include "names/native.h"
#include "names/rule.h"

#define MAX_MARK  256 /* of " [clone ...]" */
#define MAX_SHAPE 4096 /* of Go's "[go.shape...]" */

/* gcc and clang: " [clone .part.0]"; LLVM's demangler: " (.part.0)" */
static size_t clone_mark(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t left = name->size - at;
	const char *end = memchr(name->text + at, rule->with[0], left < MAX_MARK ? left : MAX_MARK);

	(void)ret;
	return at && end ? (size_t)(end + 1 - name->text) - at : 0;
}

/* "[abi:cxx11]" */
static size_t abi_tag(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_word);

	(void)ret;
	return end > word && byte_at(name, end, ']') ? end + 1 - at : 0;
}

/* "std::__1::vector", "std::__ndk1::", "std::__8::": namespaces that only hold a version */
static size_t version_space(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = behind_word(rule, at);

	if (at && is_word(name->text[at - 1]))
		return 0;
	*ret = part_of("std::");
	if (text_at(name, end, "ndk"))
		end += 3;
	end = skip_bytes(name, end, is_digit);
	return is_digit(name->text[end - 1]) && text_at(name, end, "::") ? end + 2 - at : 0;
}

/* "std::__cxx11::basic_string", "std::filesystem::__cxx11::path" */
static size_t drop_colons(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	(void)name;
	*ret = part_of(rule->with);
	return behind_word(rule, at) - at;
}

/* "main.Map[go.shape.int]", "main.Map[go.shape.[]int]": how Go shares code between types. */
static size_t go_shape(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t depth = 0, most = name->size - at < MAX_SHAPE ? name->size : at + MAX_SHAPE;

	*ret = part_of(rule->with);
	for (size_t i = at; i < most; i++) {
		depth += name->text[i] == '[';
		depth -= name->text[i] == ']';
		if (!depth)
			return i + 1 - at;
	}
	return 0;
}

/* Rust: "core[846817f741e54dfd]::slice::sort" */
static size_t crate_id(
	const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_lower_hex);

	(void)ret;
	return at && is_word(name->text[at - 1]) && end - word >= 15 && end - word <= 17 &&
			       byte_at(name, end, ']')
		       ? end + 1 - at
		       : 0;
}

/* "bpf_prog_6deef7357e7b4530_sd_fw_egress": a hash of its code */
static size_t bpf_tag(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t word = behind_word(rule, at), end = skip_bytes(name, word, is_lower_hex);

	*ret = part_of(rule->with);
	return !at && end - word == 16 && (ends_at(name, end) || byte_at(name, end, '_')) ? end : 0;
}

size_t rule_renames(const struct rule *rule, const struct part *name, size_t at, struct part *ret)
{
	size_t end = behind_word(rule, at);

	*ret = part_of(rule->with);
	return !at && ends_at(name, end) ? end : 0;
}

const struct rule build_rules[] = {
	/* What a libc without symbols is seen to begin with. */
	{"start_thread", rule_renames, "[thread start]"},
	{"__clone3", rule_renames, "[thread start]"},
	{"clone3", rule_renames, "[thread start]"},
	{"__libc_start_call_main", rule_renames, "[program start]"},
	{"__libc_start_main_impl", rule_renames, "[program start]"},
	{"__libc_start_main", rule_renames, "[program start]"},
	{"_start", rule_renames, "[program start]"},
	{" [clone ", clone_mark, "]"},
	{" (.", clone_mark, ")"},
	{"[abi:", abi_tag, NULL},
	{"std::__", version_space, NULL},
	{"::__cxx11::", drop_colons, "::"},
	{"[", crate_id, NULL},
	{"[go.shape.", go_shape, "[...]"},
	{"bpf_prog_", bpf_tag, "bpf_prog"},
	{NULL, NULL, NULL},
};

/* The size without what these words add at the end, with or without a number. */
static size_t without_words(
	const struct part *name, const char *const *words, size_t nr, int needs_number)
{
	size_t end = name->size;

	while (end && is_digit(name->text[end - 1]))
		end--;
	if (end == name->size || !end || name->text[end - 1] != '.') {
		if (needs_number)
			return name->size;
		end = name->size;
	} else {
		end--;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t n = strlen(words[i]);

		if (end > n && memcmp(name->text + end - n, words[i], n) == 0)
			return end - n;
	}
	return name->size;
}

/*
 * "do_work.constprop.0.isra.0" -> "do_work". Only where what is left has no dot and no '$' (a class
 * of Java in no package), or was C++ or Rust before its first dot.
 */
static size_t without_clones(const char *text, size_t size)
{
	static const char *const numbered[] = {".isra", ".constprop", ".part", ".llvm", ".lto_priv",
		".__uniq", ".specialized", ".clone"};
	static const char *const bare[] = {".cold", ".localalias", ".argprom", ".argelim"};
	struct part name = {text, size};
	const char *dot;
	size_t before;

	do {
		before = name.size;
		name.size = without_words(&name, numbered, ARRAY_SIZE(numbered), 1);
		name.size = without_words(&name, bare, ARRAY_SIZE(bare), 0);
	} while (name.size < before);
	dot = memchr(text, '.', name.size);
	if (!dot)
		return memchr(text, '$', name.size) ? size : name.size;
	before = (size_t)(dot - text);
	return memmem(text, before, "::", 2) || memchr(text, '(', before) ? name.size : size;
}

/* "memcpy@@GLIBC_2.14", "free@GLIBC_2.2.5", "malloc@plt" */
static size_t without_version(const char *text, size_t size)
{
	const char *at = memrchr(text, '@', size), *line;
	struct part rest;

	if (!at || at == text)
		return size;
	rest = (struct part){at + 1, size - (size_t)(at + 1 - text)};
	if (at > text + 1 && at[-1] == '@')
		at--;
	if (rest.size == 3 && memcmp(rest.text, "plt", 3) == 0)
		return (size_t)(at - text);
	line = memrchr(rest.text, '_', rest.size);
	if (!line || !is_upper(rest.text[0]) || line + 1 == rest.text + rest.size)
		return size;
	for (size_t i = 0; i < rest.size; i++) {
		int digit = is_digit(rest.text[i]) || rest.text[i] == '.';

		if (rest.text + i > line ? !digit : !is_word(rest.text[i]))
			return size;
	}
	return (size_t)(at - text);
}

size_t build_stem(const char *text, size_t size)
{
	size = without_clones(text, size);
	size = without_version(text, size);
	return native_without_hash(text, size);
}
