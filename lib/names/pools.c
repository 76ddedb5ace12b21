/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pools.c: which part of a thread's name is its own and which is its pool's. A digit alone decides
 * nothing ("C2 CompilerThread0", "log4j2-async-3"), so words are looked at whole, and a few keep
 * their digit.
 */
#include "names/pools.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "names/whole.h"

#define UUID_SIZE	36
#define HEX_WORD	8 /* letters and digits from which a hexadecimal word is an id */
#define SEGMENT_LONGEST 24 /* of a path; a longer one is data */

/* Words whose digit is part of what they mean. */
static const char *const kept[] = {
	"c1",
	"c2",
	"g1",
	"java2d",
	"log4j",
	"log4j2",
	"http2",
	"http3",
	"h2",
	"k8s",
	"s3",
	"ec2",
	"v1",
	"v2",
	"v3",
	"v8",
	"ipv4",
	"ipv6",
	"oauth2",
	"base64",
	"utf8",
	"i18n",
	"x86",
	"db2",
	"neo4j",
};

static const char *const units[] = {
	"ns",
	"us",
	"ms",
	"s",
	"m",
	"min",
	"h",
	"d",
	"b",
	"k",
	"kb",
	"mb",
	"gb",
	"kib",
	"mib",
	"gib",
};

struct pool {
	char *text;
	size_t nr, room;
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Letters of any script count: what is not ASCII is a letter here. */
static int is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

static size_t word_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && is_word(text[n]))
		n++;
	return n;
}

static void put(struct pool *pool, const char *text, size_t size)
{
	size_t n = size < pool->room - pool->nr ? size : pool->room - pool->nr;

	memcpy(pool->text + pool->nr, text, n);
	pool->nr += n;
	if (n < size)
		pool->room = pool->nr; /* nothing behind a cut */
}

/* A star swallows the one before it, and a single separator between them: "10.0.0.1" is "*". */
static void put_star(struct pool *pool)
{
	size_t n = pool->nr;

	if (n == pool->room || (n >= 1 && pool->text[n - 1] == '*'))
		return;
	if (n >= 2 && pool->text[n - 2] == '*' && strchr("-._:/,@", pool->text[n - 1]) &&
		pool->text[n - 1]) {
		pool->nr--;
		return;
	}
	put(pool, "*", 1);
}

static int is_listed(const char *const *list, size_t nr, const char *text, size_t size)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(list[i]) == size && strncasecmp(list[i], text, size) == 0)
			return 1;
	}
	return 0;
}

static int is_kept(const char *word, size_t size)
{
	return is_listed(kept, ARRAY_SIZE(kept), word, size);
}

static size_t count_digits(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += is_digit(text[i]);
	return n;
}

static size_t count_hex(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && is_hex(text[n]))
		n++;
	return n;
}

/* Is the whole word a number, an address or a hash? */
static int is_id(const char *word, size_t size)
{
	size_t digits = 0;

	if (size > 2 && word[0] == '0' && (word[1] | 0x20) == 'x' &&
		count_hex(word + 2, size - 2) == size - 2)
		return 1;
	if (size >= HEX_WORD && count_hex(word, size) == size && count_digits(word, size) > 0)
		return 1;
	while (digits < size && is_digit(word[digits]))
		digits++;
	return digits > 0 && (digits == size || is_listed(units, ARRAY_SIZE(units), word + digits,
							size - digits));
}

/* Size of a UUID here, or 0. */
static size_t uuid_size(const char *text, size_t size)
{
	if (size < UUID_SIZE || (size > UUID_SIZE && is_word(text[UUID_SIZE])))
		return 0;
	for (size_t i = 0; i < UUID_SIZE; i++) {
		int dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !is_hex(text[i]))
			return 0;
	}
	return UUID_SIZE;
}

/* Size of an IPv6 address or a time of day here: groups of digits joined by two or more colons. */
static size_t groups_size(const char *text, size_t size)
{
	size_t n = 0, colons = 0;

	while (n < size && (is_hex(text[n]) || text[n] == ':' || text[n] == '.')) {
		colons += text[n] == ':';
		n++;
	}
	if (n < size && is_word(text[n]))
		return 0;
	while (n > 0 && (text[n - 1] == '.' || text[n - 1] == ':')) {
		n--;
		colons -= text[n] == ':';
	}
	return colons >= 2 && count_digits(text, n) > 0 ? n : 0;
}

static void put_word(struct pool *pool, const char *word, size_t size)
{
	if (is_kept(word, size)) {
		put(pool, word, size);
		return;
	}
	if (is_id(word, size)) {
		put_star(pool);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (is_digit(word[i]))
			put_star(pool);
		else
			put(pool, word + i, 1);
	}
}

static int ends_segment(char c)
{
	return c == '/' || c == ' ' || c == '?' || c == '"' || c == '\'' || c == ')' || c == ']';
}

/* The path of a URL: a segment with a number in it is data as a whole. */
static size_t put_path(struct pool *pool, const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && text[i] == '/') {
		size_t n = 0;
		const char *segment = text + ++i;

		put(pool, "/", 1);
		while (i + n < size && !ends_segment(segment[n]))
			n++;
		if ((n == 1 && *segment == '*') || n > SEGMENT_LONGEST ||
			(count_digits(segment, n) > 0 && !is_kept(segment, n)))
			put_star(pool);
		else
			put(pool, segment, n);
		i += n;
	}
	if (i + 1 < size && text[i] == '?') {
		put(pool, "?", 1);
		put_star(pool);
		while (i < size && text[i] != ' ')
			i++;
	}
	return i;
}

static int begins_path(const char *name, size_t size, size_t i)
{
	return name[i] == '/' && i + 1 < size && is_word(name[i + 1]) &&
	       (i == 0 || strchr(" \"'(=[", name[i - 1]) != NULL);
}

/* Writes what stands at name[i] and returns how much that was. */
static size_t put_next(struct pool *pool, const char *name, size_t size, size_t i)
{
	const char *text = name + i;
	size_t left = size - i, n;

	if (begins_path(name, size, i))
		return put_path(pool, text, left);
	if (*text == '*') {
		put_star(pool);
		return 1;
	}
	if (!is_word(*text)) {
		put(pool, text, 1);
		return 1;
	}
	n = uuid_size(text, left);
	if (n == 0)
		n = groups_size(text, left);
	if (n > 0) {
		put_star(pool);
		return n;
	}
	n = word_size(text, left);
	/* Object's identity hash: "Timer@6d06d69c", "acceptor-0@e3f". */
	if (i > 0 && name[i - 1] == '@' && n >= 3 && count_hex(text, n) == n)
		put_star(pool);
	else
		put_word(pool, text, n);
	return n;
}

size_t pool_of(const char *name, size_t size, char *out, size_t room)
{
	struct pool pool = {.text = out, .room = room};
	size_t i = 0;

	while (i < size)
		i += put_next(&pool, name, size, i);
	return pool.nr < size ? whole_characters(out, pool.nr) : pool.nr;
}
