/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * java.c: how producers of Java names spell them. jcmd: "void com.foo.Bar.baz(int)";
 * perf-map-agent: "Lcom/foo/Bar;::baz"; folded text: "com/foo/Bar.baz"; hidden classes carry an
 * address behind '/' or '+'.
 */
#include "names/java.h"

#include <string.h>

#include "names/whole.h"

#define PACKAGE_WORDS 3

/* A part of the name that is looked at. */
struct part {
	const char *text;
	size_t size;
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static int is_identifier(char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || (c & 0x80) || c == '_' ||
	       c == '$' || c == '-';
}

/* Takes off the return type in front and the arguments behind. 0: no method's name at all. */
static int strip_signature(struct part *part)
{
	const char *open = memchr(part->text, '(', part->size);
	const char *blank;

	if (open) {
		if (open + 1 < part->text + part->size && open[1] == '*')
			return 0; /* Go: "net/http.(*conn).serve" */
		part->size = (size_t)(open - part->text);
		blank = memrchr(part->text, ' ', part->size);
		if (blank) {
			part->size -= (size_t)(blank + 1 - part->text);
			part->text = blank + 1;
		}
	}
	return part->size > 0;
}

/* Splits at the last "::" or '.'. */
static int split_method(const struct part *part, struct part *class, struct part *method)
{
	size_t at = part->size, skip = 1;

	while (at > 0 && part->text[at - 1] != '.' && part->text[at - 1] != ':')
		at--;
	if (at == 0)
		return 0;
	if (part->text[at - 1] == ':') {
		if (at < 2 || part->text[at - 2] != ':')
			return 0;
		skip = 2;
	}
	*method = (struct part){part->text + at, part->size - at};
	*class = (struct part){part->text, at - skip};
	/* A descriptor: "Lcom/foo/Bar;". */
	if (class->size > 2 && class->text[0] == 'L' && class->text[class->size - 1] == ';') {
		class->text++;
		class->size -= 2;
	}
	/* The same in text where ';' parts frames: "com/foo/Bar:.baz". */
	if (skip == 1 && class->size > 1 && class->text[class->size - 1] == ':')
		class->size--;
	return class->size > 0 && method->size > 0;
}

static int is_method(const struct part *method)
{
	for (size_t i = 0; i < method->size; i++) {
		char c = method->text[i];

		if (!is_identifier(c) && c != '<' && c != '>')
			return 0;
	}
	return !is_digit(method->text[0]);
}

/* Where the address of a hidden class begins: "Foo$$Lambda/0x7f..", "Foo$$Lambda$8/578866604". */
static size_t hidden_class(const struct part *class)
{
	for (size_t i = 1; i + 1 < class->size; i++) {
		if ((class->text[i] == '/' || class->text[i] == '+') &&
			is_digit(class->text[i + 1]))
			return i;
	}
	return class->size;
}

static int is_class(const struct part *class)
{
	for (size_t i = 0; i < class->size; i++) {
		char c = class->text[i];

		if (!is_identifier(c) && c != '.' && c != '/')
			return 0;
		if (c != '.' && c != '/')
			continue;
		/* No word is empty: rustc's older names have "..". */
		if (i == 0 || i + 1 == class->size || class->text[i + 1] == '.')
			return 0;
	}
	return 1;
}

static int is_sure(const struct part *class, const struct part *method)
{
	size_t start = class->size;

	if (method->text[-1] == ':' && method->text[-3] != ';' &&
		!memchr(class->text, '/', class->size) && !memchr(class->text, '.', class->size))
		return 0; /* C++: "JavaThread::run" */
	if (method->size == 4 && memcmp(method->text, "cold", 4) == 0)
		return 0; /* gcc's "Parse.cold" */
	while (start > 0 && class->text[start - 1] != '.' && class->text[start - 1] != '/')
		start--;
	return is_upper(class->text[start]) || class->text[start] == '$';
}

static size_t append(char *out, size_t nr, size_t room, const struct part *part)
{
	for (size_t i = 0; i < part->size && nr < room; i++)
		out[nr++] = part->text[i] == '/' ? '.' : part->text[i];
	return nr;
}

size_t java_short(const char *name, size_t size, enum function_kind kind, char *out, size_t room)
{
	struct part whole = {name, size}, class, method;
	size_t nr;

	if (!strip_signature(&whole) || !split_method(&whole, &class, &method))
		return 0;
	class.size = hidden_class(&class);
	if (!is_method(&method) || !is_class(&class))
		return 0;
	if (kind != FUNCTION_JIT && kind != FUNCTION_INTERPRETED && !is_sure(&class, &method))
		return 0;
	nr = append(out, 0, room, &class);
	nr = append(out, nr, room, &(struct part){".", 1});
	nr = append(out, nr, room, &method);
	return nr < class.size + 1 + method.size ? whole_characters(out, nr) : nr;
}

size_t java_package(const char *name, size_t size)
{
	size_t dots = 0, cut = 0, nr = 0;

	for (size_t i = 0; i < size; i++)
		dots += name[i] == '.';
	/* The last dot stands before the method, the one before it before the class. */
	if (dots < 2) {
		while (nr < size && name[nr] != '.' && (name[nr] != '$' || nr == 0))
			nr++;
		return nr;
	}
	for (size_t i = 0; i < size; i++) {
		if (name[i] != '.')
			continue;
		cut = i;
		if (++nr == PACKAGE_WORDS || nr == dots - 1)
			break;
	}
	return cut;
}
