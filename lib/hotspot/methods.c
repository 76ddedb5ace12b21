/* SPDX-License-Identifier: BSD-2-Clause */
/* methods.c: from Method to ConstMethod to the constant pool and its symbols. Pool slots are words
 * behind the ConstantPool; the lowest bit of one is a mark of the VM's. */
#include "hotspot/methods.h"

#include <errno.h>
#include <string.h>

#define ALIGNED(pointer) ((pointer) >= 4096 && ((pointer)&7) == 0)
#define LINES_PART_BYTES 512
#define MAX_DIMENSIONS	 255 /* of an array; JVMS 4.3.2 */
#define ESCAPED_LINE	 0xff

/* A method and what it hangs on, all looked at once. */
struct parts {
	uint64_t constants, pool, holder;
	uint32_t name, signature, code_size, flags;
};

static int get(struct pages *pages, uint64_t at, const struct hotspot_field *field, uint64_t *ret)
{
	uint64_t value = 0;
	int r;

	if (!field->size)
		return -EINVAL;
	r = pages_read(pages, at + field->offset, &value, field->size);
	if (r == 0)
		*ret = value;
	return r == -EFAULT ? -EINVAL : r;
}

static int get_pointer(
	struct pages *pages, uint64_t at, const struct hotspot_field *field, uint64_t *ret)
{
	uint64_t value = 0;
	int r = get(pages, at, field, &value);

	if (r == 0 && !ALIGNED(value))
		return -EINVAL;
	if (r == 0)
		*ret = value;
	return r;
}

static int look_at(
	struct pages *pages, const struct hotspot_structs *s, uint64_t method, struct parts *ret)
{
	struct parts parts = {0};
	uint64_t name = 0, signature = 0, code_size = 0, flags = 0;
	int r;

	if (!ALIGNED(method))
		return -EINVAL;
	r = get_pointer(pages, method, &s->method.constants, &parts.constants);
	if (r == 0)
		r = get_pointer(pages, parts.constants, &s->method.pool, &parts.pool);
	if (r == 0)
		r = get_pointer(pages, parts.pool, &s->method.holder, &parts.holder);
	if (r == 0)
		r = get(pages, parts.constants, &s->method.name, &name);
	if (r == 0)
		r = get(pages, parts.constants, &s->method.signature, &signature);
	if (r == 0 && s->method.code_size.size)
		r = get(pages, parts.constants, &s->method.code_size, &code_size);
	if (r == 0 && s->method.flags.size)
		r = get(pages, parts.constants, &s->method.flags, &flags);
	if (r < 0)
		return r;
	parts.name = (uint32_t)name & 0xffff;
	parts.signature = (uint32_t)signature & 0xffff;
	parts.code_size = (uint32_t)code_size & 0xffff;
	parts.flags = (uint32_t)flags;
	*ret = parts;
	return 0;
}

static ssize_t read_symbol(struct pages *pages, const struct hotspot_structs *s, uint64_t symbol,
	char *ret, size_t room)
{
	uint64_t length = 0;
	int r;

	if (symbol < 4096)
		return -EINVAL;
	r = get(pages, symbol, &s->method.symbol_length, &length);
	if (r < 0)
		return r;
	length = length < room ? length : room;
	r = pages_read(pages, symbol + s->method.symbol_body, ret, length);
	return r < 0 ? (r == -EFAULT ? -EINVAL : r) : (ssize_t)length;
}

static ssize_t read_slot(struct pages *pages, const struct hotspot_structs *s, uint64_t pool,
	uint32_t index, char *ret, size_t room)
{
	uint64_t symbol;
	int r;

	if (!index)
		return -EINVAL;
	r = pages_read(pages, pool + s->method.slots + 8ull * index, &symbol, sizeof(symbol));
	if (r < 0)
		return r == -EFAULT ? -EINVAL : r;
	return read_symbol(pages, s, symbol & ~1ull, ret, room);
}

/* Text that grows up to room; what no longer fits is left out, and all behind it. */
struct text {
	char *to;
	size_t size, room;
};

static void put(struct text *text, const char *from, size_t size)
{
	if (size > text->room - text->size) {
		size = text->room - text->size;
		/* never half a character: its later bytes are 10xxxxxx */
		while (size && ((unsigned char)from[size] & 0xc0) == 0x80)
			size--;
		text->room = text->size + size;
	}
	memcpy(text->to + text->size, from, size);
	text->size += size;
}

static void put_word(struct text *text, const char *word)
{
	put(text, word, strlen(word));
}

/* As the VM prints a class: dots, and a slash before the address of a hidden one. */
static void put_class(struct text *text, char *name, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (name[i] == '/')
			name[i] = '.';
	}
	/* "A$$Lambda+0x00007f..." is how its symbol has it */
	for (size_t i = size; i-- > 2;) {
		if (memcmp(name + i - 2, "+0x", 3) == 0) {
			name[i - 2] = '/';
			break;
		}
	}
	put(text, name, size);
}

/* One type of a descriptor, from *at on. 0, or -EINVAL. */
static int put_type(struct text *text, char *signature, size_t size, size_t *at)
{
	static const char *const words[] = {
		['B'] = "byte",
		['C'] = "char",
		['D'] = "double",
		['F'] = "float",
		['I'] = "int",
		['J'] = "long",
		['S'] = "short",
		['V'] = "void",
		['Z'] = "boolean",
	};
	size_t nr_dimensions = 0, i = *at;

	while (i < size && signature[i] == '[' && nr_dimensions <= MAX_DIMENSIONS) {
		nr_dimensions++;
		i++;
	}
	if (i == size)
		return -EINVAL;
	if (signature[i] == 'L') {
		const char *end = memchr(signature + i, ';', size - i);

		if (!end)
			return -EINVAL;
		for (size_t k = i + 1; signature + k < end; k++) {
			if (signature[k] == '/')
				signature[k] = '.';
		}
		put(text, signature + i + 1, (size_t)(end - signature) - i - 1);
		i = (size_t)(end - signature);
	} else {
		const unsigned char letter = (unsigned char)signature[i];

		if (letter >= sizeof(words) / sizeof(words[0]) || !words[letter])
			return -EINVAL;
		put_word(text, words[letter]);
	}
	for (size_t k = 0; k < nr_dimensions; k++)
		put_word(text, "[]");
	*at = i + 1;
	return 0;
}

static int put_signature(struct text *text, char *signature, size_t size)
{
	size_t at = 1;
	int r = 0;

	put_word(text, "(");
	while (r == 0 && at < size && signature[at] != ')') {
		if (at > 1)
			put_word(text, ", ");
		r = put_type(text, signature, size, &at);
	}
	put_word(text, ")");
	return r;
}

ssize_t method_name(struct pages *pages, const struct hotspot_structs *s, uint64_t method,
	char *ret, size_t room)
{
	char name[METHOD_NAME_MAX], signature[METHOD_NAME_MAX];
	struct text text = {.to = ret, .room = room};
	ssize_t size, name_size;
	struct parts parts;
	uint64_t symbol = 0;
	const char *end;
	size_t at;
	int r;

	r = look_at(pages, s, method, &parts);
	if (r < 0)
		return r;
	size = read_slot(pages, s, parts.pool, parts.signature, signature, sizeof(signature));
	if (size < 0)
		return size;
	end = size ? memrchr(signature, ')', (size_t)size) : NULL;
	if (!end || signature[0] != '(')
		return -EINVAL;
	at = (size_t)(end - signature) + 1;
	r = put_type(&text, signature, (size_t)size, &at);
	if (r == 0)
		r = get_pointer(pages, parts.holder, &s->method.klass_name, &symbol);
	if (r < 0)
		return r;
	name_size = read_symbol(pages, s, symbol, name, sizeof(name));
	if (name_size < 0)
		return name_size;
	put_word(&text, " ");
	put_class(&text, name, (size_t)name_size);
	name_size = read_slot(pages, s, parts.pool, parts.name, name, sizeof(name));
	if (name_size < 0)
		return name_size;
	put_word(&text, ".");
	put(&text, name, (size_t)name_size);
	r = put_signature(&text, signature, (size_t)(end - signature) + 1);
	return r < 0 ? r : (ssize_t)text.size;
}

ssize_t method_file(struct pages *pages, const struct hotspot_structs *s, uint64_t method,
	char *ret, size_t room)
{
	struct parts parts;
	uint64_t index = 0;
	int r;

	r = look_at(pages, s, method, &parts);
	if (r == 0 && s->method.source_file.size)
		r = get(pages, parts.pool, &s->method.source_file, &index);
	else if (r == 0 && s->method.klass_source_file.size)
		r = get(pages, parts.holder, &s->method.klass_source_file, &index);
	if (r < 0)
		return r;
	return index ? read_slot(pages, s, parts.pool, (uint32_t)index & 0xffff, ret, room) : 0;
}

int32_t method_bci(
	struct pages *pages, const struct hotspot_structs *s, uint64_t method, uint64_t bcp)
{
	struct parts parts;
	uint64_t code;

	if (look_at(pages, s, method, &parts) < 0)
		return -1;
	code = parts.constants + s->method.code;
	return bcp >= code && bcp - code < parts.code_size ? (int32_t)(bcp - code) : -1;
}

int method_number(const uint8_t *bytes, size_t size, size_t *at, unsigned excluded, uint32_t *ret)
{
	uint32_t sum;
	size_t i = *at;

	if (i >= size || bytes[i] < excluded)
		return 0;
	sum = bytes[i] - excluded;
	for (unsigned shift = 6; bytes[i] >= 192 && shift < 30; shift += 6) {
		if (++i >= size || bytes[i] < excluded)
			return 0;
		sum += (uint32_t)(bytes[i] - excluded) << shift;
	}
	*at = i + 1;
	*ret = sum;
	return 1;
}

static int signed_number(
	const uint8_t *bytes, size_t size, size_t *at, unsigned excluded, int32_t *ret)
{
	uint32_t value;

	if (!method_number(bytes, size, at, excluded, &value))
		return 0;
	*ret = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
	return 1;
}

/* The line of the last entry at or before bci. Entries are a byte each, mostly. */
static uint32_t search_lines(const uint8_t *bytes, size_t size, unsigned excluded, int32_t bci)
{
	int32_t at_bci = 0, at_line = 0, best = -1;
	uint32_t line = 0;
	size_t at = 0;

	while (at < size && bytes[at]) {
		int32_t by_bci = bytes[at] >> 3, by_line = bytes[at] & 7;

		if (bytes[at++] == ESCAPED_LINE &&
			(!signed_number(bytes, size, &at, excluded, &by_bci) ||
				!signed_number(bytes, size, &at, excluded, &by_line)))
			break;
		at_bci = (int32_t)((uint32_t)at_bci + (uint32_t)by_bci);
		at_line = (int32_t)((uint32_t)at_line + (uint32_t)by_line);
		if (at_bci <= bci && at_bci >= best) {
			best = at_bci;
			line = at_line > 0 ? (uint32_t)at_line : 0;
		}
	}
	return line;
}

uint32_t method_line(
	struct pages *pages, const struct hotspot_structs *s, uint64_t method, int32_t bci)
{
	uint8_t bytes[LINES_PART_BYTES * 8];
	struct parts parts;
	size_t size = 0;
	uint64_t at;

	if (bci < 0 || look_at(pages, s, method, &parts) < 0 || !(parts.flags & 1))
		return 0;
	at = parts.constants + s->method.code + parts.code_size;
	while (size < sizeof(bytes) &&
		pages_read(pages, at + size, bytes + size, LINES_PART_BYTES) == 0)
		size += LINES_PART_BYTES;
	return search_lines(bytes, size, s->excluded, bci);
}
