/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_XML_H
#define STOKE_VIEW_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Text into XML, between tags or inside of "attributes": & < > " become entities, nothing else is
 * touched. The text must be printable (base/text.h): valid UTF-8 without the control characters
 * that XML 1.0 has no way to write.
 */
void xml_text(FILE *out, const char *text, size_t size);
/* Same for a C string. */
void xml_puts(FILE *out, const char *text);

#endif
