/* SPDX-License-Identifier: BSD-2-Clause */
/* spelling.c: stored values back into words. What was not given is not spelled. */
#include "cmd/spelling.h"

#include <inttypes.h>
#include <string.h>

#define NS_PER_S 1000000000u

void spell_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+=:@%,";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
	fputc('\'', out);
}

void spell_operand(FILE *out, const char *operand)
{
	if (operand[0] == '-' && operand[1])
		fputs("./", out);
	spell_word(out, operand);
}

/* "1.5": seconds, exactly. */
static void put_time(FILE *out, uint64_t ns)
{
	char digits[16];
	size_t size;

	fprintf(out, "%" PRIu64, ns / NS_PER_S);
	if (!(ns % NS_PER_S))
		return;
	(void)snprintf(digits, sizeof(digits), "%09" PRIu64, ns % NS_PER_S); /* fits */
	for (size = 9; digits[size - 1] == '0'; size--)
		;
	fprintf(out, ".%.*s", (int)size, digits);
}

static void put_list(FILE *out, const struct option *option, const struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->nr; i++) {
		fputs(i ? "," : "", out);
		if (option->words)
			fputs(option->words[numbers->items[i]], out);
		else
			fprintf(out, "%u", numbers->items[i]);
	}
}

static void put_name(FILE *out, const struct option *option)
{
	fprintf(out, " --%s%s", option->name, option->value ? " " : "");
}

static void put_amount(FILE *out, const struct option *option, const struct amount *amount)
{
	if (!amount->given)
		return;
	put_name(out, option);
	if (option->type == OPTION_TIME)
		put_time(out, amount->value);
	else
		fprintf(out, "%" PRIu64, amount->value);
}

static void put_option(FILE *out, const struct option *option, const void *from)
{
	const struct texts *texts = from;
	const struct numbers *numbers = from;

	switch (option->type) {
	case OPTION_FLAG:
		if ((*(const unsigned *)from & option->bits) == option->bits)
			put_name(out, option);
		break;
	case OPTION_TEXT:
		if (!*(const char *const *)from)
			break;
		put_name(out, option);
		spell_word(out, *(const char *const *)from);
		break;
	case OPTION_TEXTS:
		for (size_t i = 0; i < texts->nr; i++) {
			put_name(out, option);
			spell_word(out, texts->items[i]);
		}
		break;
	case OPTION_TIME:
	case OPTION_NUMBER:
		put_amount(out, option, from);
		break;
	case OPTION_IDS:
	case OPTION_RANGES:
	case OPTION_WORDS:
		if (!numbers->nr)
			break;
		put_name(out, option);
		put_list(out, option, numbers);
		break;
	case OPTION_LATER:
	case OPTION_HEADING:
	case OPTION_TABLE:
		break;
	}
}

static int is_one_of(const char *name, const char *const *names)
{
	for (; names && *names; names++) {
		if (!strcmp(name, *names))
			return 1;
	}
	return 0;
}

void spell_options(
	FILE *out, const struct option *options, const void *stored, const char *const *but)
{
	for (; options->name || options->type == OPTION_HEADING; options++) {
		if (options->name && !is_one_of(options->name, but))
			put_option(out, options, (const char *)stored + options->offset);
	}
}
