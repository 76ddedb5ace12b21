/* SPDX-License-Identifier: BSD-2-Clause */
/* alias.c: the text that people write, and what matches first. */
#include "names/alias.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/scan.h"

struct alias {
	const char *glob, *name; /* into text */
	size_t glob_size, name_size;
};

struct aliases {
	char *text; /* own copy */
	struct alias *items;
	size_t nr, capacity;
};

void aliases_free(struct aliases *aliases)
{
	if (!aliases)
		return;
	free(aliases->text);
	free(aliases->items);
	free(aliases);
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(struct scan *text)
{
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
	while (text->at < text->end && is_blank(text->end[-1]))
		text->end--;
}

/* The arrow has blanks around it, since names may hold one: "operator=>". */
static const char *find_arrow(const struct scan *line)
{
	for (const char *at = line->at + 1; line->end - at > 2; at++) {
		if (at[0] == '=' && at[1] == '>' && is_blank(at[-1]) && is_blank(at[2]))
			return at;
	}
	return NULL;
}

static int parse_line(struct aliases *aliases, struct scan line, const char *path, size_t nr,
	struct stoke_error *err)
{
	struct scan glob = line, name = line;
	const char *arrow;
	int r;

	trim(&line);
	if (line.at == line.end || *line.at == '#')
		return 0;
	arrow = find_arrow(&line);
	if (!arrow)
		return fail(err, -EINVAL, "%s:%zu: an alias is written GLOB => NAME", path, nr);
	glob = (struct scan){line.at, arrow};
	name = (struct scan){arrow + 2, line.end};
	trim(&glob);
	trim(&name);
	if (glob.at == glob.end || name.at == name.end)
		return fail(err, -EINVAL, "%s:%zu: an alias is written GLOB => NAME", path, nr);
	if (aliases->nr == ALIASES_MAX_GLOBS)
		return fail(
			err, -E2BIG, "%s:%zu: more than %d aliases", path, nr, ALIASES_MAX_GLOBS);
	r = array_reserve(&aliases->items, &aliases->capacity, aliases->nr, 1);
	if (r < 0)
		return fail(err, r, "out of memory");
	aliases->items[aliases->nr++] =
		(struct alias){glob.at, name.at, scan_left(&glob), scan_left(&name)};
	return 0;
}

int aliases_parse(const char *text, size_t size, const char *path, struct aliases **ret,
	struct stoke_error *err)
{
	struct aliases *aliases;
	struct scan rest, line;
	int r = 0;

	if (size > ALIASES_MAX_BYTES)
		return fail(
			err, -E2BIG, "%s: more than %u bytes of aliases", path, ALIASES_MAX_BYTES);
	aliases = calloc(1, sizeof(*aliases));
	if (!aliases)
		return fail(err, -ENOMEM, "out of memory");
	aliases->text = malloc(size + 1);
	if (!aliases->text) {
		r = fail(err, -ENOMEM, "out of memory");
		goto fail;
	}
	if (size)
		memcpy(aliases->text, text, size);
	aliases->text[size] = '\n'; /* the last line may have none */
	rest = scan_of(aliases->text, size + 1);
	for (size_t nr = 1; r >= 0 && scan_line(&rest, &line); nr++)
		r = parse_line(aliases, line, path, nr, err);
	if (r < 0)
		goto fail;
	*ret = aliases;
	return 0;

fail:
	aliases_free(aliases);
	return r;
}

/* 1: one byte of the glob, which is not '*', takes this byte. *ret: bytes of the glob that were it.
 */
static int byte_matches(const char *glob, size_t left, char byte, size_t *ret)
{
	*ret = 1;
	if (glob[0] == '\\' && left > 1) {
		*ret = 2;
		return glob[1] == byte;
	}
	return glob[0] == '?' || glob[0] == byte;
}

/* Goes back to the last '*' only: each one further on makes those before it final. */
static int matches(const struct alias *alias, const char *name, size_t size)
{
	size_t at = 0, i = 0, star = SIZE_MAX, star_at = 0, n;

	while (i < size) {
		if (at < alias->glob_size && alias->glob[at] == '*') {
			star = at++;
			star_at = i;
		} else if (at < alias->glob_size &&
			   byte_matches(alias->glob + at, alias->glob_size - at, name[i], &n)) {
			at += n;
			i++;
		} else if (star != SIZE_MAX) {
			at = star + 1;
			i = ++star_at;
		} else {
			return 0;
		}
	}
	while (at < alias->glob_size && alias->glob[at] == '*')
		at++;
	return at == alias->glob_size;
}

int aliases_find(const struct aliases *aliases, const char *name, size_t size, const char **ret,
	size_t *ret_size)
{
	for (size_t i = 0; i < aliases->nr; i++) {
		if (!matches(&aliases->items[i], name, size))
			continue;
		*ret = aliases->items[i].name;
		*ret_size = aliases->items[i].name_size;
		return 1;
	}
	return 0;
}
