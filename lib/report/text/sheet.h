/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_TEXT_SHEET_H
#define STOKE_REPORT_TEXT_SHEET_H

/* The sections of the text report of a comparison. 0 or -ENOMEM; the stream keeps its errors. */

#include "report/said.h"
#include "report/text/page.h"

struct sheet {
	const struct stoke_comparison *comparison;
	const struct text_params *params;
	struct said_scale scale;
	FILE *out;
	size_t width; /* in columns */
};

/* "GREW      ", where a line's content begins. */
void sheet_title(const struct sheet *sheet, const char *word);
/* What the sides were, what they may be compared by, what chance and time could show. */
void sheet_say_head(const struct sheet *sheet);
/* How many repeats would see a growth of which size. */
void sheet_say_plan(const struct sheet *sheet);
/* What changed. */
int sheet_say_changes(const struct sheet *sheet);
/* All that changed, a line each. */
int sheet_say_all(const struct sheet *sheet);
/* What a budget says of it. */
int sheet_say_verdict(const struct sheet *sheet);
/* What an owner was made of, before and after. */
int sheet_say_parts(const struct sheet *sheet, const struct owner *owner);

#endif
