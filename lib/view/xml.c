/* SPDX-License-Identifier: BSD-2-Clause */
/* xml.c: one escape for all places of a picture, applied once. */
#include "view/xml.h"

#include <string.h>

void xml_text(FILE *out, const char *text, size_t size)
{
	size_t start = 0;

	for (size_t i = 0; i < size; i++) {
		const char *entity = text[i] == '&'   ? "&amp;"
				     : text[i] == '<' ? "&lt;"
				     : text[i] == '>' ? "&gt;"
				     : text[i] == '"' ? "&quot;"
						      : NULL;

		if (!entity)
			continue;
		/* The stream keeps its error for whoever closes it. */
		(void)fwrite(text + start, 1, i - start, out);
		fputs(entity, out);
		start = i + 1;
	}
	(void)fwrite(text + start, 1, size - start, out);
}

void xml_puts(FILE *out, const char *text)
{
	xml_text(out, text, strlen(text));
}
