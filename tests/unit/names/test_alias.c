/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/alias.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(alias, .fini = check_leaks);

static struct aliases *parse(const char *text)
{
	struct stoke_error err = {0};
	struct aliases *aliases;

	cr_assert(zero(int, aliases_parse(text, strlen(text), "stoke.alias", &aliases, &err)), "%s",
		err.text);
	return aliases;
}

static void assert_finds(const struct aliases *aliases, const char *name, const char *want)
{
	const char *text = "";
	size_t size = 0;

	cr_assert(aliases_find(aliases, name, strlen(name), &text, &size) == (want != NULL), "%s",
		name);
	if (want)
		cr_assert(size == strlen(want) && memcmp(text, want, size) == 0, "%s: %.*s", name,
			(int)size, text);
}

Test(alias, the_first_line_that_matches_decides)
{
	struct aliases *aliases = parse("# ours\n\n  com.acme.v?.*  =>  com.acme.* \r\n"
					"com.acme.v1.Old.run => never\n*Parser.parse => parse");

	assert_finds(aliases, "com.acme.v1.Old.run", "com.acme.*");
	assert_finds(aliases, "com.acme.v12.Old.run", NULL);
	assert_finds(aliases, "org.JsonParser.parse", "parse");
	assert_finds(aliases, "Parser.parse", "parse");
	assert_finds(aliases, "Parser.parse2", NULL);
	assert_finds(aliases, "", NULL);
	aliases_free(aliases);
}

Test(alias, globs_go_back_to_their_last_star)
{
	struct aliases *aliases = parse("a*b*c => abc\n\\*x\\? => literal\n** => rest");

	assert_finds(aliases, "aXbXbXc", "abc");
	assert_finds(aliases, "abc", "abc");
	assert_finds(aliases, "*x?", "literal");
	assert_finds(aliases, "yx?", "rest");
	aliases_free(aliases);
}

Test(alias, an_arrow_has_blanks_around_it)
{
	struct aliases *aliases = parse("S::operator=>* => arrow\n");

	assert_finds(aliases, "S::operator=>()", "arrow");
	aliases_free(aliases);
}

static void assert_fails(const char *text, size_t size, int code, const char *sentence)
{
	struct stoke_error err = {0};
	struct aliases *aliases = NULL;

	cr_assert(eq(int, aliases_parse(text, size, "x.alias", &aliases, &err), code));
	cr_assert(eq(str, err.text, (char *)sentence));
	cr_assert(aliases == NULL);
}

Test(alias, wrong_lines_are_errors_with_their_number)
{
	const char *const wrong[] = {
		"a => b\nfoo\n", "a => b\n => b\n", "\na => \n", "a => b\na =>b"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_fails(wrong[i], strlen(wrong[i]), -EINVAL,
			"x.alias:2: an alias is written GLOB => NAME");
}

Test(alias, text_is_bounded)
{
	_cleanup_free_ char *text = calloc(1, ALIASES_MAX_BYTES + 1);
	size_t at = 0;

	cr_assert(text != NULL);
	assert_fails(
		text, ALIASES_MAX_BYTES + 1, -E2BIG, "x.alias: more than 1048576 bytes of aliases");
	for (int i = 0; i <= ALIASES_MAX_GLOBS; i++, at += 7)
		memcpy(text + at, "a => b\n", 7);
	assert_fails(text, at, -E2BIG, "x.alias:4097: more than 4096 aliases");
}
