/* SPDX-License-Identifier: BSD-2-Clause */
/* findings.c: a list that remembers its own failure, so that whoever tells need not look each time.
 */
#include "base/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define SENTENCE_BYTES 1024

/* A copy for a terminal; newlines stay. */
static char *copy_lines(const char *text)
{
	const size_t size = strlen(text);
	char *copy = malloc(6 * size + 1);
	size_t used = 0;

	if (!copy)
		return NULL;
	for (size_t at = 0; at < size;) {
		const size_t line = strcspn(text + at, "\n");

		used += text_printable(copy + used, 6 * line, text + at, line); /* fits */
		at += line;
		if (at < size)
			copy[used++] = text[at++];
	}
	copy[used] = '\0';
	return copy;
}

void findings_add(struct stoke_findings *findings, enum stoke_finding_state state,
	const char *subject, const char *cure, const char *format, ...)
{
	struct stoke_finding finding = {.state = state, .subject = subject};
	char text[SENTENCE_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long: a sentence still */
	va_end(args);
	if (array_reserve(&findings->items, &findings->capacity, findings->nr, 1) < 0) {
		findings->error = -ENOMEM;
		return;
	}
	finding.text = copy_lines(text);
	finding.cure = cure ? copy_lines(cure) : NULL;
	if (!finding.text || (cure && !finding.cure)) {
		free((char *)finding.text);
		free((char *)finding.cure);
		findings->error = -ENOMEM;
		return;
	}
	findings->items[findings->nr++] = finding;
	findings->nr_no += state == STOKE_FINDING_NO;
}

void findings_done(struct stoke_findings *findings)
{
	for (size_t i = 0; i < findings->nr; i++) {
		free((char *)findings->items[i].text);
		free((char *)findings->items[i].cure);
	}
	free(findings->items);
	*findings = (struct stoke_findings){0};
}
