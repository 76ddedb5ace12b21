/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_JSON_H
#define STOKE_VIEW_JSON_H

/* JSON strings inside of pictures; the whole is escaped for XML where it is put. */

#include <stddef.h>
#include <stdio.h>

#define JSON_TEXT_MAX 1024 /* raw bytes of what json_raw() takes */

/* Printable text (base/text.h: no control characters) in quotes. */
void json_text(FILE *out, const char *text, size_t size);
void json_puts(FILE *out, const char *text);
/* Raw text of a profile, made printable and cut. */
void json_raw(FILE *out, const char *text);

#endif
