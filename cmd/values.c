/* SPDX-License-Identifier: BSD-2-Clause */
/* values.c: how the value of an option is read: times, numbers, lists, words. */
#include "cmd/values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

#define NS_PER_S  1000000000ull
#define MAX_LIST  4096 /* items of a list */
#define SEPARATOR ", \t\r\n"

/* Digits at *text; moves *text behind them. -EINVAL without one or beyond UINT64_MAX. */
static int digits(const char **text, uint64_t *ret)
{
	uint64_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10u, &value) ||
			__builtin_add_overflow(value, (unsigned)(*p - '0'), &value))
			return -EINVAL;
	}
	*text = p;
	*ret = value;
	return 0;
}

/* Behind a dot: ".25" of unit. Digits beyond the ninth say nothing. */
static uint64_t fraction(const char **text, uint64_t unit)
{
	const char *p = *text;
	uint64_t value = 0, scale = 1;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (scale < NS_PER_S) {
			scale *= 10;
			value = value * 10 + (unsigned)(*p - '0');
		}
	}
	*text = p;
	return (uint64_t)((unsigned __int128)value * unit / scale);
}

int time_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {{"", NS_PER_S}, {"s", NS_PER_S}, {"ms", 1000000}, {"us", 1000},
		{"m", 60 * NS_PER_S}, {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}};
	const char *p = text;
	uint64_t whole, ns;

	if (digits(&p, &whole) < 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const char *end = p;

		if (*end == '.') {
			end++;
			ns = fraction(&end, units[i].ns);
		} else {
			ns = 0;
		}
		if (strcmp(end, units[i].word))
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, &whole) ||
			__builtin_add_overflow(whole, ns, &ns))
			return -EINVAL;
		*ret_ns = ns;
		return 0;
	}
	return -EINVAL;
}

char *time_format(char *buffer, uint64_t ns)
{
	uint64_t tenths = (ns + NS_PER_S / 20) / (NS_PER_S / 10);

	if (ns < NS_PER_S)
		(void)snprintf(buffer, 32, "%" PRIu64 " ms", ns / 1000000);
	else if (tenths % 10)
		(void)snprintf(buffer, 32, "%" PRIu64 ".%" PRIu64 " s", tenths / 10, tenths % 10);
	else if (tenths < 6000)
		(void)snprintf(buffer, 32, "%" PRIu64 " s", tenths / 10);
	else
		(void)snprintf(buffer, 32, "%" PRIu64 " min", tenths / 600);
	return buffer;
}

static int numbers_add(struct numbers *numbers, uint64_t value, struct stoke_error *err)
{
	if (array_reserve(&numbers->items, &numbers->capacity, numbers->nr, 1) < 0)
		return fail(err, -ENOMEM, "out of memory");
	numbers->items[numbers->nr++] = (unsigned)value;
	return 0;
}

static int store_number(const struct option *option, struct amount *into, const char *spelled,
	const char *value, struct stoke_error *err)
{
	const char *p = value;
	uint64_t number = 0;

	if (option->has_max && !strcmp(value, "max"))
		number = option->max;
	else if (digits(&p, &number) < 0 || *p)
		return fail(err, -EINVAL, "%s: \"%s\" is not a whole number", spelled, value);
	if (number < option->min || (option->max && number > option->max)) {
		if (!option->max)
			return fail(err, -EINVAL, "%s: %" PRIu64 " is under %" PRIu64, spelled,
				number, option->min);
		return fail(err, -EINVAL,
			"%s: %" PRIu64 " is out of range: %" PRIu64 " to %" PRIu64, spelled, number,
			option->min, option->max);
	}
	into->value = number;
	into->given = 1;
	return 0;
}

static int store_ids(
	struct numbers *into, const char *spelled, const char *value, struct stoke_error *err)
{
	const char *p = value + strspn(value, SEPARATOR);

	if (!*p)
		return fail(err, -EINVAL, "%s: the list is empty", spelled);
	while (*p) {
		uint64_t id;
		int r;

		if (digits(&p, &id) < 0 || (*p && !strchr(SEPARATOR, *p)) || !id || id > INT_MAX)
			return fail(err, -EINVAL,
				"%s: \"%s\" is not a list of ids; names: -p \"$(pgrep NAME)\"",
				spelled, value);
		if (into->nr >= MAX_LIST)
			return fail(err, -EINVAL, "%s: more than %d ids; -a takes every process",
				spelled, MAX_LIST);
		r = numbers_add(into, id, err);
		if (r < 0)
			return r;
		p += strspn(p, SEPARATOR);
	}
	return 0;
}

static int store_ranges(
	struct numbers *into, const char *spelled, const char *value, struct stoke_error *err)
{
	const char *p = value + strspn(value, SEPARATOR);

	if (!*p)
		return fail(err, -EINVAL, "%s: the list is empty", spelled);
	while (*p) {
		uint64_t first, last;

		if (digits(&p, &first) < 0)
			goto fail;
		last = first;
		if (*p == '-') {
			p++;
			if (digits(&p, &last) < 0)
				goto fail;
		}
		if ((*p && !strchr(SEPARATOR, *p)) || last < first || last >= MAX_LIST)
			goto fail;
		for (; first <= last; first++) {
			if (into->nr >= MAX_LIST)
				goto fail;
			if (numbers_add(into, first, err) < 0)
				return -ENOMEM;
		}
		p += strspn(p, SEPARATOR);
	}
	return 0;
fail:
	return fail(err, -EINVAL, "%s: \"%s\" is not a list such as 0-3,5", spelled, value);
}

static int store_words(const struct option *option, struct numbers *into, const char *spelled,
	const char *value, struct stoke_error *err)
{
	const char *p = value + strspn(value, SEPARATOR);
	char known[128] = "";

	while (*p) {
		size_t size = strcspn(p, SEPARATOR), i = 0;

		while (option->words[i] &&
			(strlen(option->words[i]) != size || memcmp(option->words[i], p, size)))
			i++;
		if (!option->words[i])
			break;
		if (into->nr >= MAX_LIST || numbers_add(into, i, err) < 0)
			return fail(err, -ENOMEM, "%s: the list is too long", spelled);
		p += size;
		p += strspn(p, SEPARATOR);
	}
	if (!*p && into->nr)
		return 0;
	for (size_t i = 0, n = 0; option->words[i] && n < sizeof(known); i++)
		n += (size_t)snprintf(
			known + n, sizeof(known) - n, "%s%s", i ? ", " : "", option->words[i]);
	return fail(err, -EINVAL, "%s: \"%.*s\" is not one of %s", spelled,
		(int)strcspn(p, SEPARATOR), p, known);
}

static int store_text(struct texts *into, const char *value, struct stoke_error *err)
{
	if (array_reserve(&into->items, &into->capacity, into->nr, 1) < 0)
		return fail(err, -ENOMEM, "out of memory");
	into->items[into->nr++] = value;
	return 0;
}

int value_store(const struct option *option, void *into, const char *spelled, const char *value,
	struct stoke_error *err)
{
	struct amount *amount = into;

	switch (option->type) {
	case OPTION_FLAG:
		*(unsigned *)into |= option->bits;
		return 0;
	case OPTION_TEXT:
		*(const char **)into = value;
		return 0;
	case OPTION_TEXTS:
		return store_text(into, value, err);
	case OPTION_TIME:
		if (time_parse(value, &amount->value) < 0)
			return fail(err, -EINVAL, "%s: \"%s\" is not a time such as 30, 500ms, 5m",
				spelled, value);
		amount->given = 1;
		return 0;
	case OPTION_NUMBER:
		return store_number(option, into, spelled, value, err);
	case OPTION_IDS:
		return store_ids(into, spelled, value, err);
	case OPTION_RANGES:
		return store_ranges(into, spelled, value, err);
	case OPTION_WORDS:
		return store_words(option, into, spelled, value, err);
	case OPTION_LATER:
	case OPTION_HEADING:
	case OPTION_TABLE:
		break;
	}
	return fail(err, -EINVAL, "%s takes no value", spelled);
}

void value_done(const struct option *option, void *stored)
{
	if (option->type == OPTION_TEXTS)
		free(((struct texts *)stored)->items);
	else if (option->type == OPTION_IDS || option->type == OPTION_RANGES ||
		 option->type == OPTION_WORDS)
		free(((struct numbers *)stored)->items);
}
