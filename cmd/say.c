/* SPDX-License-Identifier: BSD-2-Clause */
/* say.c: the one place from which stoke speaks to people. */
#include "cmd/say.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

#define MAX_MESSAGE 2048 /* bytes; longer ones are cut */

static void speak(const char *prefix, const char *color, const char *format, va_list args)
{
	char text[MAX_MESSAGE];

	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long: still a sentence */
	/* One buffer, one write: messages of two processes on one terminal do not mix. */
	fputs("stoke: ", stderr);
	if (*prefix && color)
		fprintf(stderr, "\033[%sm%s\033[0m", color, prefix);
	else
		fputs(prefix, stderr);
	text_print(stderr, text, strlen(text));
	fputc('\n', stderr);
	(void)fflush(stderr); /* nobody is left to be told */
}

void say(const struct voice *voice, const char *format, ...)
{
	va_list args;

	if (voice->quiet)
		return;
	va_start(args, format);
	speak("", NULL, format, args);
	va_end(args);
}

void say_more(const struct voice *voice, const char *format, ...)
{
	va_list args;

	if (!voice->verbose)
		return;
	va_start(args, format);
	speak("", NULL, format, args);
	va_end(args);
}

void say_warning(const struct voice *voice, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	speak("warning: ", voice->color ? "33" : NULL, format, args);
	va_end(args);
}

int say_error(const struct voice *voice, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	speak("", voice->color ? "31" : NULL, format, args);
	va_end(args);
	return status;
}
