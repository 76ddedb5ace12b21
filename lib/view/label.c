/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * label.c: the end of a long name tells more than its start, so a name loses first what surrounds
 * the function (return type, arguments, package, template arguments, class) and only then its own
 * letters. Each form is a piece of, or shorter than, the one before it.
 */
#include "view/label.h"

#include <string.h>

#include "base/text.h"
#include "names/java.h"
#include "names/native.h"
#include "view/palette.h"
#include "view/utf8.h"

#define MAX_FORMS   6
#define FORM_ROOM   1024 /* longer names have one form: themselves */
#define ELLIPSIS    "\xe2\x80\xa6"
#define MIN_LETTERS 3 /* before an ellipsis */

/* Advances of U+0020 to U+007E in DejaVu Sans, in 1/1000 em. */
static const unsigned short advance[95] = {318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500,
	838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838,
	838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748,
	787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500,
	613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411,
	521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};
#define ADVANCE_OTHER	 620
#define ADVANCE_WIDE	 1020 /* from U+1100 on, punctuation and arrows apart */
#define ADVANCE_ELLIPSIS 1000

struct forms {
	struct {
		const char *text;
		size_t size;
	} form[MAX_FORMS];
	unsigned nr;
	char buffer[3][FORM_ROOM];
};

static unsigned advance_of(uint32_t c)
{
	if (c >= 0x20 && c <= 0x7e)
		return advance[c - 0x20];
	if (c == 0x2026)
		return ADVANCE_ELLIPSIS;
	return c < 0x1100 || (c >= 0x2000 && c < 0x2e80) ? ADVANCE_OTHER : ADVANCE_WIDE;
}

double label_width(const char *text, size_t size, double font_px)
{
	double sum = 0;

	for (size_t i = 0; i < size;)
		sum += advance_of(utf8_next(text, size, &i));
	return sum * font_px / 1000;
}

/* Bytes up to the limit, no character in two. Raw names may be anything: four steps suffice. */
static size_t whole_size(const char *text, size_t size, size_t limit)
{
	size_t end = limit;

	if (size <= limit)
		return size;
	while (limit - end < 4 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	return end;
}

static size_t printable(const char *text, size_t size, char out[LABEL_NAME_ROOM])
{
	size_t end = whole_size(text, size, LABEL_NAME_MAX);
	size_t n = text_printable(out, LABEL_NAME_ROOM - 3, text, end);

	if (n == SIZE_MAX)
		return 0; /* cannot be: six bytes for each are there */
	if (end < size) {
		memcpy(out + n, ELLIPSIS, 3);
		n += 3;
	}
	return n;
}

size_t label_name(const struct tree *tree, uint32_t name, char out[LABEL_NAME_ROOM])
{
	size_t size;
	const char *text = tree_text(tree, name, &size);

	return printable(text, size, out);
}

size_t label_module(const struct tree *tree, uint32_t name, char out[LABEL_NAME_ROOM])
{
	size_t size;
	const char *text = tree_module(tree, name, &size);

	return printable(text, size, out);
}

static void add(struct forms *forms, const char *text, size_t size)
{
	if (!size || forms->nr == MAX_FORMS)
		return;
	if (forms->nr && forms->form[forms->nr - 1].size == size)
		return; /* nothing was taken away */
	forms->form[forms->nr].text = text;
	forms->form[forms->nr].size = size;
	forms->nr++;
}

/* "io.netty.X$Y.m" -> "i.n.X$Y.m", "X$Y.m", "m" */
static void add_java(struct forms *forms, const char *text, size_t size)
{
	char *out = forms->buffer[1];
	size_t method = size, class, n = 0, at = 0;

	add(forms, text, size);
	while (method > 0 && text[method - 1] != '.')
		method--;
	if (!method)
		return;
	class = method - 1;
	while (class > 0 && text[class - 1] != '.')
		class --;
	while (at < class) {
		size_t next = at;

		utf8_next(text, size, &next);
		memcpy(out + n, text + at, next - at);
		n += next - at;
		out[n++] = '.';
		while (text[next] != '.')
			next++;
		at = next + 1;
	}
	memcpy(out + n, text + class, size - class);
	if (n < class)
		add(forms, out, n + size - class);
	add(forms, text + class, size - class);
	add(forms, text + method, size - method);
}

static int ends_with_operator(const char *text, size_t size)
{
	return size >= 8 && memcmp(text + size - 8, "operator", 8) == 0;
}

/* Takes template arguments out. 0: brackets that do not match. */
static size_t without_templates(const char *text, size_t size, char *out)
{
	size_t depth = 0, n = 0;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (c == '<' && ends_with_operator(text, i)) {
			memcpy(out + n, text + i, size - i);
			return depth ? 0 : n + size - i;
		}
		if (c == '<')
			depth++;
		else if (c == '>' && depth && text[i - 1] != '-')
			depth--;
		else if (!depth)
			out[n++] = c;
	}
	return depth ? 0 : n;
}

/* "a::B::m" -> "B::m", "m"; scopes inside of brackets are none. */
static void add_scopes(struct forms *forms, const char *text, size_t size)
{
	size_t last = 0, before = 0, depth = 0;

	for (size_t i = 0; i + 1 < size; i++) {
		if (strchr("({[", text[i]))
			depth++;
		else if (strchr(")}]", text[i]) && depth)
			depth--;
		else if (!depth && text[i] == ':' && text[i + 1] == ':') {
			before = last;
			last = i + 2;
			i++;
		}
	}
	add(forms, text + before, size - before);
	add(forms, text + last, size - last);
}

static void add_native(struct forms *forms, const char *name, size_t size)
{
	const char *text;
	size_t n;

	add(forms, name, size);
	n = native_short(name, size, &text);
	add(forms, text, n);
	size = without_templates(text, n, forms->buffer[2]);
	if (size > 1) {
		text = forms->buffer[2];
		n = size;
		if (n > 2 && memcmp(text, "::", 2) == 0) { /* Rust: "<T as Trait>::f" */
			text += 2;
			n -= 2;
		}
		add(forms, text, n);
	}
	add_scopes(forms, text, n);
}

/* "JS:*fn /srv/app.js:1:2" -> "fn"; "py::Class.fn:/srv/app.py" -> "Class.fn". 0: neither. */
static int add_script(struct forms *forms, const char *name, size_t size)
{
	const char *colon = memchr(name, ':', size), *end;
	size_t start;

	if (size > 4 && memcmp(name, "py::", 4) == 0) {
		end = memchr(name + 4, ':', size - 4);
		start = 4;
	} else {
		if (!colon || colon == name || name[0] < 'A' || name[0] > 'Z')
			return 0;
		for (const char *p = name; p < colon; p++) {
			if (!((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')))
				return 0;
		}
		start = (size_t)(colon + 1 - name);
		if (start < size && name[start] == ':')
			return 0;
		while (start < size && strchr("*~+^", name[start]) && name[start])
			start++;
		end = memrchr(name, ' ', size);
	}
	add(forms, name, size);
	if (!end || end < name + start)
		end = name + size;
	add(forms, name + start, (size_t)(end - name) - start);
	return 1;
}

static void make_forms(struct forms *forms, const char *name, size_t size, char letter)
{
	int generated = letter == 'j' || letter == 'l' || letter == 'i';
	size_t n = 0;

	forms->nr = 0;
	if (size > FORM_ROOM) {
		add(forms, name, size);
		return;
	}
	if (generated && add_script(forms, name, size))
		return;
	if (generated)
		n = java_short(name, size, palette_kind_of(letter), forms->buffer[0], FORM_ROOM);
	if (n) {
		add_java(forms, forms->buffer[0], n);
	} else if (letter == 'c' || (letter != 'k' && memmem(name, size, "::", 2))) {
		add_native(forms, name, size);
	} else {
		const char *slash = letter != 'k' ? memrchr(name, '/', size) : NULL;

		add(forms, name, size);
		if (slash)
			add(forms, slash + 1, size - (size_t)(slash + 1 - name));
	}
}

/* As much of text as leaves room for an ellipsis, in 1/1000 px of advance * font. */
static size_t cut(const char *text, size_t size, double px, char *out, size_t room)
{
	double left = px * 1000 / LABEL_FONT_PX - ADVANCE_ELLIPSIS;
	unsigned letters = 0;
	size_t end = 0;

	while (end < size) {
		size_t next = end;

		left -= advance_of(utf8_next(text, size, &next));
		if (left < 0 || next + 3 > room)
			break;
		end = next;
		letters++;
	}
	if (letters < MIN_LETTERS)
		return 0;
	memcpy(out, text, end);
	memcpy(out + end, ELLIPSIS, 3);
	return end + 3;
}

size_t label_fit(const char *name, size_t size, char letter, double px, char *out, size_t room)
{
	struct forms forms = {0};

	make_forms(&forms, name, size, letter);
	for (unsigned i = 0; i < forms.nr; i++) {
		if (forms.form[i].size <= room &&
			label_width(forms.form[i].text, forms.form[i].size, LABEL_FONT_PX) <= px) {
			memcpy(out, forms.form[i].text, forms.form[i].size);
			return forms.form[i].size;
		}
	}
	if (!forms.nr)
		return 0;
	return cut(forms.form[forms.nr - 1].text, forms.form[forms.nr - 1].size, px, out, room);
}
