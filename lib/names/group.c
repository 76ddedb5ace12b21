/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.c: whose code is it. Producers of generated code say what they are by the shape of their
 * names ("JS:*fn file:1:2", "py::qualname:file", "void a.b.C.m()"); text formats say nothing, so
 * there the shape has to be beyond doubt.
 */
#include "names/group.h"

#include <string.h>

#include "base/cleanup.h"
#include "names/java.h"
#include "names/native.h"
#include "names/whole.h"

#define NAME_MAX_BYTES 1024 /* of a Java name that is looked at */

static size_t give(const char *text, size_t size, char *out, size_t room)
{
	size_t n = size < room ? size : room;

	memcpy(out, text, n);
	return n < size ? whole_characters(out, n) : n;
}

static size_t give_word(const char *word, char *out, size_t room)
{
	return give(word, strlen(word), out, room);
}

static int begins(const char *text, size_t size, const char *word)
{
	size_t n = strlen(word);

	return size >= n && memcmp(text, word, n) == 0;
}

/* What stands behind the last `word` in text, or NULL. */
static const char *behind(const char *text, size_t size, const char *word, size_t *ret_size)
{
	const char *found = NULL, *at = text;

	while ((at = memmem(at, size - (size_t)(at - text), word, strlen(word))) != NULL) {
		at += strlen(word);
		found = at;
	}
	if (found)
		*ret_size = size - (size_t)(found - text);
	return found;
}

static size_t until(const char *text, size_t size, char c)
{
	const char *at = memchr(text, c, size);

	return at ? (size_t)(at - text) : size;
}

/* The last two words of a path: "lib/b.js". */
static size_t path_tail(const char *path, size_t size, char *out, size_t room)
{
	size_t start = size, slashes = 0;

	while (start > 0 && (path[start - 1] != '/' || ++slashes < 2))
		start--;
	if (start < size && path[start] == '/')
		start++;
	return give(path + start, size - start, out, room);
}

/* "JS:*fn /srv/app/lib/b.js:1:78"; a name may hold blanks, so the file is the last word. */
static size_t node_group(const char *name, size_t size, char *out, size_t room)
{
	const char *blank = memrchr(name, ' ', size), *file, *package;
	size_t left, package_size, n;

	if (!blank)
		return give_word("[generated code]", out, room);
	file = blank + 1;
	left = size - (size_t)(file - name);
	for (int i = 0; i < 2; i++) {
		size_t end = left;

		while (end > 0 && file[end - 1] >= '0' && file[end - 1] <= '9')
			end--;
		if (end == left || end == 0 || file[end - 1] != ':')
			break;
		left = end - 1;
	}
	if (begins(file, left, "file://")) {
		file += 7;
		left -= 7;
	}
	if (left == 0)
		return give_word("[generated code]", out, room);
	if (begins(file, left, "node:"))
		return give(file, until(file, left, '/'), out, room);
	package = behind(file, left, "/node_modules/", &package_size);
	if (!package)
		return path_tail(file, left, out, room);
	n = until(package, package_size, '/');
	if (package[0] == '@' && n < package_size)
		n += 1 + until(package + n + 1, package_size - n - 1, '/');
	return give(package, n, out, room);
}

/* "py::JSONEncoder.encode:/usr/lib/python3.13/json/encoder.py", "py::site:<frozen site>" */
static size_t python_group(const char *name, size_t size, char *out, size_t room)
{
	static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
	const char *file = name + 4, *colon = memchr(file, ':', size - 4), *package;
	size_t left, package_size, n;

	if (!colon)
		return give_word("[generated code]", out, room);
	file = colon + 1;
	left = size - (size_t)(file - name);
	if (begins(file, left, "<frozen ")) {
		n = until(file + 8, left - 8, '>');
		return give(file + 8, until(file + 8, n, '.'), out, room);
	}
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		package = behind(file, left, roots[i], &package_size);
		if (package)
			return give(package, until(package, until(package, package_size, '/'), '.'),
				out, room);
	}
	package = behind(file, left, "/python3.", &package_size);
	if (package) {
		n = until(package, package_size, '/');
		if (n < package_size) {
			package += n + 1;
			package_size -= n + 1;
			return give(package, until(package, until(package, package_size, '/'), '.'),
				out, room);
		}
	}
	return path_tail(file, left, out, room);
}

/* Names of runtimes that say what they are. SIZE_MAX: none of them. */
static size_t runtime_group(const char *name, size_t size, char *out, size_t room)
{
	static const char *const scripts[] = {
		"JS:",
		"LazyCompile:",
		"Function:",
		"Script:",
		"Eval:",
	};
	static const char *const builtins[] = {
		"Builtin:",
		"BytecodeHandler:",
		"Handler:",
		"Stub:",
		"RegExp:",
	};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		if (begins(name, size, scripts[i]))
			return node_group(name, size, out, room);
	}
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (begins(name, size, builtins[i]))
			return give_word("[v8]", out, room);
	}
	if (begins(name, size, "py::"))
		return python_group(name, size, out, room);
	return SIZE_MAX;
}

static size_t java_group(
	const char *name, size_t size, enum function_kind kind, char *out, size_t room)
{
	char text[NAME_MAX_BYTES];
	size_t n = java_short(name, size, kind, text, sizeof(text));

	return n > 0 ? give(text, java_package(text, n), out, room) : 0;
}

/* "net/http.(*conn).serve", "github.com/user/repo/pkg.Func" */
static size_t go_group(const char *name, size_t size, char *out, size_t room)
{
	const char *slash = memrchr(name, '/', until(name, size, '('));
	size_t start = slash ? (size_t)(slash + 1 - name) : 0;
	size_t n = until(name + start, size - start, '.');

	if (!slash || start + n == size || n == 0 || name[0] == '/' || memchr(name, ' ', size))
		return 0;
	return give(name, start + n, out, room);
}

static size_t native_group(
	const char *name, size_t size, const char *module, char *out, size_t room)
{
	const char *text, *space;
	size_t n = native_short(name, size, &text);

	n = native_namespace(text, n, &space);
	if (n > 0)
		return give(space, n, out, room);
	n = go_group(name, size, out, room);
	if (n > 0)
		return n;
	return module ? give_word(module, out, room) : 0;
}

size_t group_of(const char *name, size_t size, enum function_kind kind, const char *module,
	char *out, size_t room)
{
	const char *plus = memmem(name, size, "+0x", 3);
	size_t n;

	if (size == 0 || kind == FUNCTION_MARK || kind == FUNCTION_ROOT)
		return 0;
	if (kind == FUNCTION_KERNEL)
		return give_word("[kernel]", out, room);
	/* The name of a place without one: "[libfoo.so+0x1a2b]", "[unknown]". */
	if (name[0] == '[') {
		if (module && *module)
			return give_word(module, out, room);
		if (!plus && memmem(name, size, ".so", 3))
			plus = memchr(name, ']', size); /* its canonical form: "[libfoo.so]" */
		return plus ? give(name + 1, (size_t)(plus - name - 1), out, room) : 0;
	}
	if (kind != FUNCTION_NATIVE && kind != FUNCTION_CPP) {
		n = runtime_group(name, size, out, room);
		if (n != SIZE_MAX)
			return n;
		n = java_group(name, size, kind, out, room);
		if (n > 0)
			return n;
	}
	if (kind == FUNCTION_JIT || kind == FUNCTION_INTERPRETED)
		return give_word("[generated code]", out, room);
	return native_group(name, size, module, out, room);
}
