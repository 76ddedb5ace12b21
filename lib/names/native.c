/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * native.c: where in a demangled name the name itself stands. Brackets nest, and "operator<" and
 * "operator()" are names that look like brackets.
 */
#include "names/native.h"

#include <string.h>

#include "names/bytes.h"

#define OPERATOR      "operator"
#define OPERATOR_SIZE 8
#define HASH_SIZE     19 /* "::h" and 16 hexadecimal digits */

static int is_name_byte(char c)
{
	return is_word(c) || c == '$';
}

static int begins(const char *text, size_t size, const char *word)
{
	size_t n = strlen(word);

	return size >= n && memcmp(text, word, n) == 0;
}

/* Bytes of an operator's name here ("operator<<", "operator()", "operator new"), or 0. */
static size_t operator_size(const char *name, size_t size, size_t i)
{
	size_t n = OPERATOR_SIZE;

	if (!begins(name + i, size - i, OPERATOR) || (i > 0 && is_name_byte(name[i - 1])))
		return 0;
	if (i + n < size && is_name_byte(name[i + n]))
		return 0;
	if (begins(name + i + n, size - i - n, "()") || begins(name + i + n, size - i - n, "[]"))
		return n + 2;
	if (i + n < size && name[i + n] == ' ') {
		n++;
		while (i + n < size && name[i + n] != '(')
			n++;
		return n;
	}
	while (i + n < size && strchr("<>=!+-*/%^&|~,", name[i + n]) && name[i + n])
		n++;
	return n;
}

/* A bracket that belongs to the name: "(anonymous namespace)", Go's "(*conn)". */
static int is_named_bracket(const char *text, size_t size)
{
	return begins(text, size, "(anonymous") || begins(text, size, "(*") ||
	       begins(text, size, "(.");
}

size_t native_without_hash(const char *name, size_t size)
{
	const char *hash;

	if (size <= HASH_SIZE)
		return size;
	hash = name + size - HASH_SIZE;
	if (!begins(hash, HASH_SIZE, "::h"))
		return size;
	for (size_t i = 3; i < HASH_SIZE; i++) {
		if (!is_lower_hex(hash[i]))
			return size;
	}
	return size - HASH_SIZE;
}

size_t native_short(const char *name, size_t size, const char **ret)
{
	size_t start = 0, end = size, depth = 0;

	for (size_t i = 0; i < size; i++) {
		size_t n = operator_size(name, size, i);
		char c = name[i];

		if (n > 0) {
			i += n - 1;
		} else if (c == '(' && depth == 0 && i > start &&
			   !is_named_bracket(name + i, size - i)) {
			end = i;
			break;
		} else if (c == '<' || c == '(' || c == '{' || c == '[') {
			depth++;
		} else if ((c == '>' && (i == 0 || name[i - 1] != '-')) || c == ')' || c == '}' ||
			   c == ']') {
			if (depth == 0)
				break; /* no name that is understood */
			depth--;
		} else if (c == ' ' && depth == 0 && !begins(name + i, size - i, " <")) {
			start = i + 1;
		}
	}
	/* Blanks without arguments behind them part no return type: "vtable chunks". */
	if (end == size || end == start) {
		start = 0;
		end = native_without_hash(name, size);
	}
	*ret = name + start;
	return end - start;
}

size_t native_namespace(const char *name, size_t size, const char **ret)
{
	size_t start = 0;

	for (size_t i = 0; i < size; i++) {
		char c = name[i];

		if (c == ':' && i + 1 < size && name[i + 1] == ':') {
			if (i == start || (name[start] >= 'A' && name[start] <= 'Z'))
				return 0;
			*ret = name + start;
			return i - start;
		}
		if (is_name_byte(c))
			continue;
		/* Rust: "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<&mut T as ...". */
		if (name[0] != '<' || (c != '<' && c != '&' && c != ' ' && c != '*'))
			return 0;
		start = i + 1;
	}
	return 0;
}
