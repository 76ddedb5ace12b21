/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c: where a word of a rule begins and ends. */
#include "diff/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define TOO_LONG "a word of more than 129 kB; globs make names shorter"

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Behind the opening quote. NULL, or what is wrong. */
static const char *take_quoted(struct scan *line, char *word, size_t *size)
{
	while (line->at < line->end && *line->at != '"') {
		if (*line->at == '\\' && scan_left(line) > 1 &&
			(line->at[1] == '"' || line->at[1] == '\\'))
			line->at++;
		if (*size == WORDS_MAX_SIZE)
			return TOO_LONG;
		word[(*size)++] = *line->at++;
	}
	if (line->at == line->end)
		return "a quote is not closed; names with blanks stand between two of them";
	line->at++;
	if (line->at < line->end && !is_blank(*line->at))
		return "something is glued to a closing quote; a blank parts words";
	return NULL;
}

static const char *take_plain(struct scan *line, char *word, size_t *size)
{
	while (line->at < line->end && !is_blank(*line->at)) {
		if (*line->at == '"')
			return "a quote in the middle of a word; quote all of it";
		if (*size == WORDS_MAX_SIZE)
			return TOO_LONG;
		word[(*size)++] = *line->at++;
	}
	return NULL;
}

int words_split(struct scan line, char **ret_words, size_t *ret_nr, const char **ret_complaint)
{
	/* No word is longer than its line. */
	_cleanup_free_ char *word = malloc(scan_left(&line) + 1);
	size_t nr = 0;
	int r = -EINVAL;

	*ret_complaint = NULL;
	if (!word)
		return -ENOMEM;
	for (;;) {
		size_t size = 0;

		while (line.at < line.end && is_blank(*line.at))
			line.at++;
		if (line.at == line.end || *line.at == '#') {
			*ret_nr = nr;
			return 0;
		}
		if (nr == WORDS_MAX)
			*ret_complaint = "more than 64 words; one rule a line";
		else if (*line.at == '"' && line.at++)
			*ret_complaint = take_quoted(&line, word, &size);
		else
			*ret_complaint = take_plain(&line, word, &size);
		if (!*ret_complaint && memchr(word, '\0', size))
			*ret_complaint = "a NUL byte; a budget is text";
		if (*ret_complaint)
			break;
		ret_words[nr] = strndup(word, size);
		if (!ret_words[nr]) {
			r = -ENOMEM;
			break;
		}
		nr++;
	}
	words_done(ret_words, &nr);
	return r;
}

double words_amount(const char *word, const char *unit)
{
	double value = 0, scale = 1;
	int digits = 0;

	for (; *word >= '0' && *word <= '9' && digits < 9; word++, digits++)
		value = value * 10 + (*word - '0');
	if (*word == '.') {
		for (word++; *word >= '0' && *word <= '9' && digits < 15; word++, digits++) {
			value = value * 10 + (*word - '0');
			scale *= 10;
		}
	}
	return digits && strcmp(word, unit) == 0 ? value / scale : NAN;
}

static int days_of(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int leaps = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leaps);
}

int words_is_date(const char *word)
{
	static const char form[] = "0000-00-00";
	int year = 0, month, day;

	for (size_t i = 0; i < sizeof(form); i++) {
		if (form[i] == '0' ? word[i] < '0' || word[i] > '9' : word[i] != form[i])
			return 0;
	}
	for (int i = 0; i < 4; i++)
		year = year * 10 + word[i] - '0';
	month = (word[5] - '0') * 10 + word[6] - '0';
	day = (word[8] - '0') * 10 + word[9] - '0';
	return month >= 1 && month <= 12 && day >= 1 && day <= days_of(year, month);
}

void words_done(char **words, size_t *nr)
{
	while (*nr > 0)
		free(words[--*nr]);
}
