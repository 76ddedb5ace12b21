/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/compared.h"

TestSuite(github, .fini = check_leaks);

static size_t nr_lines(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

Test(github, a_name_can_neither_end_a_property_nor_a_line)
{
	struct compared c = compared(5, "main;x::error title=a,b\r::warning:: %\nidle %\n",
		(unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, "");
	char *text = compared_report(&c, "github");

	cr_expect(eq(int,
			  strncmp(text,
				  "::error title=stoke%3A x%3A%3Aerror "
				  "title=a%2Cb\\x0d%3A%3Awarning%3A%3A total ",
				  76),
			  0),
		"%s", text);
	cr_expect(eq(sz, nr_lines(text), 1));
	free(text);
	compared_done(&c);
}

Test(github, ten_annotations_are_the_most)
{
	char lines[1024] = "", *text;
	unsigned before[14], after[14];
	struct compared c;
	size_t used = 0;

	for (unsigned i = 0; i < 13; i++) {
		used += (size_t)snprintf(lines + used, sizeof(lines) - used, "f%u %%\n", i);
		before[i] = 1000;
		after[i] = 1500;
	}
	(void)snprintf(lines + used, sizeof(lines) - used, "rest %%\n");
	before[13] = 30000;
	after[13] = 30000 - 13 * 500;
	c = compared(5, lines, before, after, "");
	text = compared_report(&c, "github");
	cr_expect(eq(sz, nr_lines(text), 10));
	cr_expect(ne(ptr, strstr(text, "::error title=stoke%3A 4 more::4 more"), NULL));
	free(text);
	compared_done(&c);
}

Test(github, what_cannot_be_told_is_a_warning)
{
	struct compared c =
		compared(2, "a %\nb %\n", (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, "");
	char *text = compared_report(&c, "github");

	cr_expect(eq(int, strncmp(text, "::warning title=stoke%3A cannot tell::", 38), 0));
	free(text);
	compared_done(&c);
}
