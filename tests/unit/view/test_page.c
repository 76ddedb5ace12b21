/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"
#include "view/json.h"

TestSuite(page, .fini = check_leaks);

static int write_facts(void *of, FILE *out)
{
	page_facts_json(of, out);
	return 0;
}

static int write_raw(void *of, FILE *out)
{
	json_raw(out, of);
	return 0;
}

static int fail(void *of, FILE *out)
{
	(void)of;
	fputs("half", out);
	return -E2BIG;
}

Test(page, facts_of_a_line_become_a_list)
{
	char *text = NULL;
	size_t size;

	cr_assert(eq(int,
		page_text("a \"b\"" PAGE_DOT "c" PAGE_DOT "d\\", write_facts, &text, &size), 0));
	cr_assert(eq(str, text, "[\"a \\\"b\\\"\",\"c\",\"d\\\\\"]"));
	cr_assert(eq(int, page_text("", write_facts, &text, &size), 0));
	cr_assert(eq(str, text, "[]"));
	/* What fails leaves the text that was there. */
	cr_assert(eq(int, page_text(NULL, fail, &text, &size), -E2BIG));
	cr_assert(eq(str, text, "[]"));
	cr_assert(eq(sz, size, 2));
	free(text);
}

Test(page, raw_text_is_made_printable_before_it_is_quoted)
{
	char *text = NULL;
	size_t size;

	cr_assert(eq(int, page_text("a\x01\"\xff", write_raw, &text, &size), 0));
	cr_assert(eq(str, text, "\"a\\\\x01\\\"\xef\xbf\xbd\""));
	free(text);
}

Test(page, data_keeps_its_least_room_whatever_the_rest_takes)
{
	struct page page = {.still_size = 100000};

	cr_assert(eq(sz, page_room(&page, 2000000) - page_room(&page, 1000000), 1000000));
	cr_assert(eq(sz, page_room(&page, 1000), 65536));
}
