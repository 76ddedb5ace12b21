/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * palette.c: colours, chosen in OKLCH so that any two kinds differ by 6 (100 dE) for normal,
 * protan, deutan and tritan eyes alike, and labels keep a contrast of 4.9 and more. Dark is light
 * with L - 0.085 and C * 0.92; shades differ by (L, H) of (0, 0), (.018, 4), (-.014, -4), (.006,
 * -8).
 */
#include "view/palette.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "names/java.h"
#include "view/utf8.h"

const struct palette_kind palette[] = {
	{'j', "Java / JIT", {"#8ad695", "#89dda1", "#8dd08b", "#99d68c"},
		{"#75b97f", "#75c08a", "#77b476", "#83b977"}},
	{'l', "inlined", {"#cbf8da", "#ceffe3", "#c9f3d3", "#d2f9d6"},
		{"#b2dbc0", "#b6e1c8", "#b0d6b9", "#b9dcbd"}},
	{'i', "interpreter", {"#bf8fca", "#c893cc", "#b78bc9", "#ba93d3"},
		{"#a277ac", "#ab7bae", "#9b74aa", "#9e7bb4"}},
	{'c', "C++ / Rust", {"#f7eb94", "#f8f29c", "#f7e48e", "#ffe994"},
		{"#dacf81", "#dbd688", "#dac87b", "#e4cd81"}},
	{'n', "native", {"#81b7f4", "#8bbbfb", "#77b4ee", "#78bcf3"},
		{"#6b9cd2", "#76a0d9", "#6299cd", "#63a1d2"}},
	{'k', "kernel", {"#e78561", "#eb8c61", "#e37f63", "#eb846f"},
		{"#c56e4e", "#ca754e", "#c1694f", "#c96e5a"}},
	{'u', "unknown", {"#afafaf", "#b5b5b5", "#ababab", "#b1b1b1"},
		{"#959595", "#9b9b9b", "#919191", "#979797"}},
	{'m', "mark", {"#afafaf", "#b5b5b5", "#ababab", "#b1b1b1"},
		{"#959595", "#9b9b9b", "#919191", "#979797"}},
	{'r', "thread", {"#d4dae1", "#dadfe7", "#cfd5dc", "#d5dce3"},
		{"#b9bec5", "#bfc4cb", "#b4bac0", "#bac0c6"}},
	{PALETTE_LEFT_OUT, "left out", {"#d9dde2", "#d9dde2", "#d9dde2", "#d9dde2"},
		{"#2a3038", "#2a3038", "#2a3038", "#2a3038"}},
	{0},
};

static int is_address(const char *name, size_t size)
{
	size_t digits;

	if (size > 2 && name[0] == '0' && name[1] == 'x') {
		name += 2;
		size -= 2;
	} else if (size < 8) {
		return 0;
	}
	digits = 0;
	while (digits < size && strchr("0123456789abcdefABCDEF", name[digits]) && name[digits])
		digits++;
	return digits == size;
}

/* For files that give names and nothing else. */
static char letter_of_text(const char *name, size_t size)
{
	char java[1024];

	if (!size || is_address(name, size) ||
		(size >= 2 && name[0] == '[' && name[size - 1] == ']'))
		return 'u';
	if (size == 7 && memcmp(name, "unknown", 7) == 0)
		return 'u';
	if (size >= 11 && memcmp(name, "Interpreter", 11) == 0)
		return 'i';
	if (size <= sizeof(java) && java_short(name, size, FUNCTION_UNKNOWN, java, sizeof(java)))
		return 'j';
	return memmem(name, size, "::", 2) ? 'c' : 'n';
}

char palette_letter_of(enum function_kind kind, const char *name, size_t size)
{
	switch (kind) {
	case FUNCTION_NATIVE:
		return 'n';
	case FUNCTION_CPP:
		return 'c';
	case FUNCTION_KERNEL:
		return 'k';
	case FUNCTION_JIT:
		return 'j';
	case FUNCTION_INLINED:
		return 'l';
	case FUNCTION_INTERPRETED:
		return 'i';
	case FUNCTION_MARK:
		return 'm';
	case FUNCTION_ROOT:
		return 'r';
	default:
		return letter_of_text(name, size);
	}
}

char palette_letter(const struct tree *tree, uint32_t name)
{
	const struct tree_name *entry = &tree->names[name];
	const char *text;
	size_t size;

	if (entry->name == TREE_LEFT_OUT)
		return PALETTE_LEFT_OUT;
	/* Whatever kind a file gave it: the class keeps it apart from a user's of the same name. */
	if (entry->class == TREE_KERNEL)
		return 'k';
	text = tree_text(tree, name, &size);
	return palette_letter_of((enum function_kind)entry->kind, text, size);
}

int palette_self(const struct tree *tree, uint64_t ret[128])
{
	/* By name first: a name is looked at once, however many nodes have it. */
	_cleanup_free_ uint64_t *self = calloc(tree->nr_names, sizeof(*self));

	if (!self)
		return -ENOMEM;
	for (size_t n = 0; n < tree->nr; n++)
		self[tree->name[n]] += tree->self[0][n];
	memset(ret, 0, 128 * sizeof(*ret));
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		if (self[i])
			ret[palette_letter(tree, i) & 127] += self[i];
	}
	return 0;
}

enum function_kind palette_kind_of(char letter)
{
	switch (letter) {
	case 'n':
		return FUNCTION_NATIVE;
	case 'c':
		return FUNCTION_CPP;
	case 'k':
		return FUNCTION_KERNEL;
	case 'j':
		return FUNCTION_JIT;
	case 'l':
		return FUNCTION_INLINED;
	case 'i':
		return FUNCTION_INTERPRETED;
	case 'm':
	case PALETTE_LEFT_OUT:
		return FUNCTION_MARK;
	case 'r':
		return FUNCTION_ROOT;
	default:
		return FUNCTION_UNKNOWN;
	}
}

/* The size of a name up to its last '.', '::' or '/', arguments not looked at; all of it if none.
 */
static size_t scope_size(const char *name, size_t size)
{
	const char *open = memchr(name, '(', size);

	if (open && open > name)
		size = (size_t)(open - name);
	for (size_t i = size; i-- > 1;) {
		if (name[i] == '.' || name[i] == '/')
			return i;
		if (name[i] == ':' && i + 1 < size && name[i + 1] == ':')
			return i;
	}
	return size;
}

unsigned palette_shade(const char *name, size_t size, const char *module, size_t module_size)
{
	const char *text = module_size ? module : name;
	size_t end = module_size ? module_size : scope_size(name, size);
	uint32_t h = 2166136261u;

	/* FNV-1a over UTF-16 units, since that is what the script has. */
	for (size_t i = 0; i < end;) {
		uint32_t c = utf8_next(text, end, &i);

		if (c >= 0x10000) {
			h = (h ^ (0xd800 + ((c - 0x10000) >> 10))) * 16777619u;
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		h = (h ^ c) * 16777619u;
	}
	return (h ^ h >> 15) & (PALETTE_SHADES - 1);
}

const char *palette_fill(char letter, unsigned shade)
{
	const struct palette_kind *kind = palette;

	while (kind->letter && kind->letter != letter)
		kind++;
	return kind->letter ? kind->light[shade % PALETTE_SHADES] : "#afafaf";
}

void palette_write_css(FILE *out)
{
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		unsigned nr = kind->letter == PALETTE_LEFT_OUT ? 1 : PALETTE_SHADES;

		for (unsigned i = 0; i < nr; i++)
			fprintf(out, ".stoke .k%c%u{fill:light-dark(%s,%s)}%s", kind->letter, i,
				kind->light[i], kind->dark[i], i + 1 < nr ? "" : "\n");
	}
}

const struct palette_change palette_changes[] = {
	{"dm4", "#5ca5ed", "#458ace"},
	{"dm3", "#8bc2f7", "#6aa0d4"},
	{"dm2", "#aed6fa", "#8fb2d2"},
	{"dm1", "#cee8ff", "#a6c1d9"},
	{"dx", "#ebedf0", "#323942"},
	{"dp1", "#ffdbc4", "#d9b5a2"},
	{"dp2", "#ffc5a6", "#d7a48b"},
	{"dp3", "#fea781", "#da8661"},
	{"dp4", "#f47b50", "#d6673f"},
	{"dv", "#d9cceb", "#a795bd"},
	{"ba", "#8a97a8", "#8593a6"},
	{"bb", "#28313d", "#eef1f5"},
	{0},
};

const char *palette_change_fill(const char *class)
{
	const struct palette_change *change = palette_changes;

	while (change->class && strcmp(change->class, class) != 0)
		change++;
	return change->class ? change->light : "#d9dde2";
}

void palette_write_changes_css(FILE *out)
{
	for (const struct palette_change *change = palette_changes; change->class; change++)
		fprintf(out, ".stoke .%s{fill:light-dark(%s,%s)}\n", change->class, change->light,
			change->dark);
}
