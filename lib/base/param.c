/* SPDX-License-Identifier: BSD-2-Clause */
/* param.c: "key=value,flag" over a table of what may be said. */
#include "base/param.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A word of the text: key and value, '\' before ',' and '\' taken off. */
struct word {
	char *key, *value; /* value: NULL without '='; both in one allocation that key owns */
};

static void *slot_of(void *values, const struct param *param)
{
	return (char *)values + param->offset;
}

void params_free(const struct param *params, void *values)
{
	if (!values)
		return;
	for (; params && params->name; params++) {
		if (params->type == PARAM_TEXT)
			free(*(char **)slot_of(values, params));
	}
	free(values);
}

static int parse_number(const char *text, const struct param *param, uint64_t *ret)
{
	uint64_t number = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, *text - '0', &number))
			return -ERANGE;
	}
	if (number < param->min || (param->max && number > param->max))
		return -ERANGE;
	*ret = number;
	return 0;
}

/* Not strtod(): that reads a comma where the locale does. */
static int parse_share(const char *text, double *ret)
{
	double share = 0, unit = 1;
	int digits = 0;

	for (; isdigit((unsigned char)*text); text++, digits++)
		share = share * 10 + (*text - '0');
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++, digits++) {
			unit /= 10;
			share += unit * (*text - '0');
		}
	}
	if (!digits || digits > 18)
		return -EINVAL;
	if (*text == '%') {
		share /= 100;
		text++;
	}
	if (*text)
		return -EINVAL;
	if (share > 1)
		return -ERANGE;
	*ret = share;
	return 0;
}

static int set_text(const char *text, char **slot)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

static int set(void *values, const struct param *param, const char *value)
{
	switch (param->type) {
	case PARAM_FLAG:
		*(unsigned *)slot_of(values, param) = 1;
		return 0;
	case PARAM_NUMBER:
		return parse_number(value, param, slot_of(values, param));
	case PARAM_SHARE:
		return parse_share(value, slot_of(values, param));
	case PARAM_TEXT:
		return set_text(value, slot_of(values, param));
	}
	return -EINVAL;
}

/* "width, flame", cut where room ends. */
static void list_names(const struct param *params, char *out, size_t room)
{
	size_t used = 0;

	out[0] = '\0';
	for (const struct param *p = params; p && p->name && used + 1 < room; p++) {
		int n = snprintf(out + used, room - used, "%s%s", p == params ? "" : ", ", p->name);

		if (n < 0)
			return;
		used += (size_t)n;
	}
}

static int refuse_value(const struct param *param, const char *plugin, const char *value, int why,
	struct stoke_error *err)
{
	if (param->type == PARAM_SHARE)
		return fail(err, -EINVAL, "%s:%s=%s: not a share such as 0.1%% or 0.001", plugin,
			param->name, value);
	if (why == -ERANGE && param->max)
		return fail(err, -EINVAL, "%s:%s=%s: not from %llu to %llu", plugin, param->name,
			value, (unsigned long long)param->min, (unsigned long long)param->max);
	if (why == -ERANGE)
		return fail(err, -EINVAL, "%s:%s=%s: out of range", plugin, param->name, value);
	return fail(err, -EINVAL, "%s:%s=%s: not a whole number", plugin, param->name, value);
}

static int apply(const struct param *params, void *values, const char *plugin,
	const struct word *word, struct stoke_error *err)
{
	const struct param *param = params;
	char known[256];
	int r;

	while (param && param->name && strcmp(param->name, word->key) != 0)
		param++;
	if (!param || !param->name) {
		list_names(params, known, sizeof(known));
		if (!known[0])
			return fail(err, -EINVAL, "%s has no options, so none called %s", plugin,
				word->key);
		return fail(
			err, -EINVAL, "%s has no option %s; it has: %s", plugin, word->key, known);
	}
	if (param->type == PARAM_FLAG && word->value)
		return fail(
			err, -EINVAL, "%s:%s is a switch and takes no value", plugin, param->name);
	if (param->type != PARAM_FLAG && !word->value)
		return fail(err, -EINVAL, "%s:%s needs a value: %s:%s=...", plugin, param->name,
			plugin, param->name);
	r = set(values, param, word->value);
	if (r == -EINVAL || r == -ERANGE)
		return refuse_value(param, plugin, word->value, r, err);
	return r;
}

/* Cuts one word off the front of *text. */
static int next_word(const char **text, struct word *ret)
{
	const char *from = *text;
	char *to = malloc(strlen(from) + 1);

	if (!to)
		return -ENOMEM;
	*ret = (struct word){.key = to};
	for (; *from && *from != ','; from++) {
		if (*from == '\\' && (from[1] == ',' || from[1] == '\\')) {
			*to++ = *++from;
		} else if (*from == '=' && !ret->value) {
			*to++ = '\0';
			ret->value = to;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	*text = *from ? from + 1 : from;
	return 0;
}

int params_parse(const struct param *params, size_t size, const char *plugin, const char *text,
	void **ret, struct stoke_error *err)
{
	void *values = calloc(1, size ? size : 1);
	int r;

	if (!values)
		return -ENOMEM;
	for (const struct param *p = params; p && p->name; p++) {
		r = p->initial ? set(values, p, p->initial) : 0;
		if (r < 0)
			goto fail;
	}
	while (text && *text) {
		struct word word;

		r = next_word(&text, &word);
		if (r < 0)
			goto fail;
		r = apply(params, values, plugin, &word, err);
		free(word.key);
		if (r < 0)
			goto fail;
	}
	*ret = values;
	return 0;

fail:
	params_free(params, values);
	return r;
}
