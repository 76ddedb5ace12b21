/* SPDX-License-Identifier: BSD-2-Clause */
/* error.c: where an error gets its sentence. Everything else passes it up unchanged. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int fail(struct stoke_error *err, int code, const char *format, ...)
{
	char text[sizeof(err->text)];
	size_t out = 0;
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long: still a sentence */
	va_end(args);

	for (size_t i = 0; text[i] && out + 5 < sizeof(err->text); i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f)
			out += (size_t)snprintf(err->text + out, 5, "\\x%02x", c);
		else
			err->text[out++] = (char)c;
	}
	err->text[out] = '\0';
	err->code = code;
	return code;
}
