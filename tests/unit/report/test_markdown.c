/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/compared.h"

TestSuite(markdown, .fini = check_leaks);

Test(markdown, names_become_neither_tags_nor_cells_nor_mentions)
{
	struct compared c = compared(5, "main;<b>a|`c`@d#1 %\nidle %\n", (unsigned[]){1000, 9000},
		(unsigned[]){1500, 8500}, "");
	char *text = compared_report(&c, "md"), *fence;

	fence = strstr(text, "```");
	cr_expect(fence && strstr(text, "<b>") > fence); /* where nothing is a tag */
	cr_expect(ne(ptr, strstr(text, "<code>&lt;b&gt;a\\|\\`c\\`&#64;d&#35;1</code>"), NULL));
	cr_expect(ne(ptr, strstr(text, "## stoke check: regression"), NULL));
	free(text);
	compared_done(&c);
}

Test(markdown, is_cut_between_lines_where_the_host_takes_no_more)
{
	char lines[4096] = "", *text;
	unsigned before[41], after[41];
	struct compared c;
	size_t used = 0;

	for (unsigned i = 0; i < 40; i++) {
		used += (size_t)snprintf(
			lines + used, sizeof(lines) - used, "f%u_with_a_longer_name %%\n", i);
		before[i] = 1000;
		after[i] = 1500;
	}
	(void)snprintf(lines + used, sizeof(lines) - used, "rest %%\n");
	before[40] = 60000;
	after[40] = 40000;
	c = compared(5, lines, before, after, "");
	text = compared_report(&c, "md:bytes=3000");
	cr_expect(lt(sz, strlen(text), 3100));
	cr_expect(ne(ptr, strstr(text, "\n\n(cut here: the host takes no more)\n"), NULL));
	free(text);
	text = compared_report(&c, "md:n=5");
	cr_expect(eq(ptr, strstr(text, "f9\\_with"), NULL));
	free(text);
	compared_done(&c);
}

Test(markdown, tells_a_diff_too)
{
	struct compared c = compared(5, "main;a %\nb %\nc %\n", (unsigned[]){1000, 3000, 6000},
		(unsigned[]){2000, 2000, 6000}, NULL);
	char *text = compared_report(&c, "md");

	cr_expect(ne(ptr, strstr(text, "## stoke diff\n"), NULL));
	cr_expect(ne(ptr, strstr(text, "### Grew"), NULL));
	cr_expect(ne(ptr, strstr(text, "### Shrank"), NULL));
	free(text);
	compared_done(&c);
}
