/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/xml.h"

#include <stdlib.h>

#include "unit/test.h"

TestSuite(xml, .fini = check_leaks);

static char *escaped(const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *stream = open_memstream(&out, &size);

	xml_puts(stream, text);
	cr_assert(eq(int, fclose(stream), 0));
	return out;
}

Test(xml, markup_becomes_entities_once_and_nothing_else_changes)
{
	_cleanup_free_ char *a = escaped("a & b <c> \"d\" 'e' ]]> &amp; %3C ${x}");
	_cleanup_free_ char *b = escaped("\xc3\xa9\\x1b");

	cr_assert(eq(str, a, "a &amp; b &lt;c&gt; &quot;d&quot; 'e' ]]&gt; &amp;amp; %3C ${x}"));
	cr_assert(eq(str, b, "\xc3\xa9\\x1b"));
}
