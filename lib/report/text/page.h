/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_TEXT_PAGE_H
#define STOKE_REPORT_TEXT_PAGE_H

/*
 * The sections of the text report: each writes its lines, or none when there is nothing to say.
 * 0 or -ENOMEM; errors of the stream stick to it.
 */

#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "view/table.h"

#define PAGE_LINES  8 /* of a table, unless said */
#define PAGE_FIGURE 8 /* columns of "   81 %" */
#define PAGE_MORE   20 /* columns that lines of names may be wider than tables */
#define PAGE_AMOUNT 12 /* columns of cores, samples or the share before the last */

struct text_params {
	uint64_t n, width;
	unsigned summary, tree, threads, packages, all, plan;
	char *callers, *sides, *options, *budget;
};

/* What every section needs. */
struct page {
	const struct stoke_profile *profile;
	const struct text_params *params;
	struct tree *tree;
	FILE *out;
	uint64_t cpu_ns, duration_ns; /* CPU time of all samples, over how long; 0: not known */
	size_t width; /* in columns */
};

int page_init(struct page *page, const struct stoke_profile *profile,
	const struct text_params *params, FILE *out);
void page_done(struct page *page);

/* "quality   ", where a line's content begins. */
void page_title(const struct page *page, const char *word);
/* A table's headline: its name, and over the figures what they are. */
void page_headline(
	const struct page *page, const char *word, const char *first, const char *second);
/* "   76 %    6 %" and the end of the line. */
void page_shares(const struct page *page, uint64_t first, uint64_t second, uint64_t whole);
/* A function's name, shortened and filled up to width. */
void page_function(
	const struct page *page, const char *name, size_t size, unsigned kind, size_t width);

void page_say_what(const struct page *page);
/* What the machine did meanwhile, and what the target was allowed. */
void page_say_load(const struct page *page);
void page_say_process(const struct page *page);
int page_say_quality(const struct page *page);

int page_say_processes(const struct page *page); /* when there are several */
int page_say_pools(const struct page *page);
int page_say_threads(const struct page *page);
int page_say_groups(const struct page *page); /* in one line */
int page_say_all_groups(const struct page *page);
int page_say_functions(const struct page *page);
int page_say_callers(const struct page *page);

int page_say_path(const struct page *page);
int page_say_tree(const struct page *page);

#endif
