/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * java.c: how producers of Java names spell them. jcmd: "void com.foo.Bar.baz(int)";
 * perf-map-agent: "Lcom/foo/Bar;::baz", "Lcom/foo/Bar;.baz(I)V"; folded text: "com/foo/Bar.baz";
 * hidden classes carry an address behind '/' or '+'.
 */
#include "names/java.h"

#include <string.h>

#include "names/rule.h"
#include "names/whole.h"

#define PACKAGE_WORDS 3

static int is_identifier(char c)
{
	return is_word(c) || c == '$' || c == '-';
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
	/* A descriptor: "Lcom/foo/Bar;"; in text where ';' parts frames "Lcom/foo/Bar:", and what
	 * FlameGraph makes of it: "com/foo/Bar:". */
	if (class->size > 1 && class->text[class->size - 1] == ';' && class->text[0] == 'L') {
		*class = (struct part){class->text + 1, class->size - 2};
	} else if (class->size > 1 && class->text[class->size - 1] == ':') {
		class->size--;
		if (class->text[0] == 'L' && (skip == 2 || memchr(class->text, '/', class->size)))
			*class = (struct part){class->text + 1, class->size - 1};
	}
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
		if (i == 0 || i + 1 == class->size || class->text[i + 1] == '.' ||
			class->text[i + 1] == '/')
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

/* "int com.foo.Bar.baz(int, long[])": a method with its arguments and, perhaps, its return type. */
static int is_signature(const struct part *name)
{
	const char *open = memchr(name->text, '(', name->size), *close, *blank;
	size_t before;

	if (!open || !byte_at(name, name->size - 1, ')'))
		return 0;
	before = (size_t)(open + 1 - name->text);
	close = memchr(open, ')', name->size - before);
	if ((close && close < name->text + name->size - 1) ||
		memchr(open + 1, '(', name->size - before))
		return 0;
	blank = memchr(name->text, ' ', before);
	for (const char *type = name->text; blank && type < blank; type++) {
		if (!is_word(*type) && !strchr(".$[]", *type))
			return 0;
	}
	return !blank ||
	       (blank > name->text && !memchr(blank + 1, ' ', (size_t)(open - blank - 1)));
}

/* "Lcom/foo/Bar;.baz(Ljava/lang/Object;I)V", which perf-map-agent writes when it is asked for
 * signatures, cut at 127 bytes or so; ':' for ';' in text where that parts frames. */
static int has_descriptor(const struct part *name)
{
	const char *open = memchr(name->text, '(', name->size);
	struct part head, class, method;

	if (!open || name->text[0] != 'L')
		return 0;
	head = (struct part){name->text, (size_t)(open - name->text)};
	return split_method(&head, &class, &method) && class.text == name->text + 1;
}

/* Nothing but addresses follow the class: "/0x7f498c001228", "+0x7f8177090218/543846639". */
static int is_hidden(const struct part *class, size_t at)
{
	return skip_addresses(class, at) == class->size;
}

/* Slashes between the words of a class, as in its file: Go's packages have them too, but no class
 * behind them. */
static int is_slashed(const struct part *class)
{
	const char *slash = memrchr(class->text, '/', class->size);
	size_t last = slash ? (size_t)(slash + 1 - class->text) : 0;

	return slash && !memchr(class->text, '.', last) &&
	       (is_upper(class->text[last]) || (class->text[last] & 0x80) ||
		       memchr(class->text + last, '$', class->size - last));
}

/* How sure a tool wrote this for a Java method, by what stands between class and method. */
static int is_spelling(const struct part *whole, const struct part *class,
	const struct part *method, int has_signature)
{
	const char *between = class->text + class->size;
	size_t nr = (size_t)(method->text - between);

	if (*between == ';' || (*between == ':' && (nr == 3 || between[1] == '.')))
		return 1; /* "Lcom/foo/Bar;::baz", "com/foo/Bar:.baz" */
	if (has_signature)
		return memchr(class->text, '.', class->size) != NULL ||
		       memchr(class->text, '$', class->size) != NULL || class->text > whole->text;
	if (nr == 2)
		return memchr(class->text, '.', class->size) != NULL ||
		       memchr(class->text, '/', class->size) != NULL;
	return 0;
}

size_t java_spelling(const char *name, size_t size, char *out)
{
	struct part whole = {name, size}, class, method, plain;
	int has_signature = is_signature(&whole) || has_descriptor(&whole);
	size_t nr = 0;

	if (has_signature ? !strip_signature(&whole) : memchr(name, '(', size) != NULL)
		return 0;
	if (!split_method(&whole, &class, &method))
		return 0;
	plain = (struct part){class.text, hidden_class(&class)};
	if (!is_method(&method) || !is_class(&plain) || is_digit(plain.text[0]) ||
		!is_hidden(&class, plain.size))
		return 0;
	if (!is_spelling(&(struct part){name, size}, &class, &method, has_signature) &&
		!is_slashed(&plain))
		return 0;
	/* "java.base/java.lang.String" has one behind its module. */
	if (memchr(plain.text, '.', plain.size))
		plain.size = 0;
	for (; nr < class.size; nr++)
		out[nr] = nr < plain.size && class.text[nr] == '/' ? '.' : class.text[nr];
	out[nr++] = '.';
	memcpy(out + nr, method.text, method.size);
	return nr + method.size;
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
