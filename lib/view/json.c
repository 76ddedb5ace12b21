/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c: what is printable needs but two escapes. */
#include "view/json.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

void json_text(FILE *out, const char *text, size_t size)
{
	putc('"', out);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"' || text[i] == '\\')
			putc('\\', out);
		putc(text[i], out);
	}
	putc('"', out);
}

void json_puts(FILE *out, const char *text)
{
	json_text(out, text, strlen(text));
}

void json_raw(FILE *out, const char *text)
{
	char printable[6 * JSON_TEXT_MAX];
	size_t n = text_printable(printable, sizeof(printable), text, strnlen(text, JSON_TEXT_MAX));

	json_text(out, printable, n == SIZE_MAX ? 0 : n);
}
