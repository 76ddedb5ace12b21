/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/palette.h"

#include "unit/folded.h"

TestSuite(palette, .fini = check_leaks);

Test(palette, a_letter_and_its_kind_are_each_others)
{
	for (int kind = FUNCTION_NATIVE; kind < NR_FUNCTION_KINDS; kind++) {
		char letter = palette_letter_of((enum function_kind)kind, "f", 1);

		cr_assert(eq(int, palette_kind_of(letter), kind), "%c", letter);
	}
	cr_assert(eq(int, palette_kind_of('u'), FUNCTION_UNKNOWN));
	cr_assert(eq(int, palette_kind_of('?'), FUNCTION_UNKNOWN));
}

Test(palette, where_a_file_does_not_say_the_name_tells_the_kind)
{
	static const struct {
		const char *name;
		char letter;
	} cases[] = {
		{"main", 'n'},
		{"[unknown]", 'u'},
		{"unknown", 'u'},
		{"0x7f1234", 'u'},
		{"00007f12abcd", 'u'},
		{"deadbee", 'n'}, /* seven letters may be a name */
		{"", 'u'},
		{"std::sort<int*>(int*, int*)", 'c'},
		{"JavaThread::run", 'c'},
		{"_$LT$core..option..Option$LT$T$GT$$GT$::map::h0123456789abcdef", 'c'},
		{"java.lang.Thread.run", 'j'},
		{"void Spin.main(java.lang.String[])", 'j'},
		{"io/netty/channel/nio/NioEventLoop:.run", 'j'},
		{"net/http.(*conn).serve", 'n'},
		{"Interpreter", 'i'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char letter =
			palette_letter_of(FUNCTION_UNKNOWN, cases[i].name, strlen(cases[i].name));

		cr_assert(eq(chr, letter, cases[i].letter), "%s", cases[i].name);
	}
}

Test(palette, the_class_of_a_node_comes_before_its_kind)
{
	struct stoke_profile *profile = folded_profile("x 1\nx_[k] 1\nx_[m] 1\n");
	struct tree *tree = NULL;

	cr_assert(eq(int, tree_build(profile, &(struct tree_options){0}, &tree), 0));
	cr_assert(eq(chr, palette_letter(tree, 0), 'r'));
	cr_assert(eq(chr, palette_letter(tree, tree->name[1]), 'n'));
	cr_assert(eq(chr, palette_letter(tree, tree->name[2]), 'k'));
	cr_assert(eq(chr, palette_letter(tree, tree->name[3]), 'm'));
	tree_free(tree);
	stoke_profile_free(profile);
}

static unsigned shade(const char *name, const char *module)
{
	return palette_shade(name, strlen(name), module, strlen(module));
}

/* The script computes the same: values from FNV-1a over UTF-16 units by hand. */
Test(palette, a_shade_is_that_of_the_class_or_module)
{
	cr_assert(eq(uint, shade("a.b.C.m", ""), shade("a.b.C.other(a.b.D)", "")));
	cr_assert(eq(uint, shade("ns::f", ""), shade("ns::g", "")));
	cr_assert(eq(uint, shade("read", "libc.so.6"), shade("write", "libc.so.6")));
	cr_assert(eq(uint, shade("main", ""), 1));
	cr_assert(eq(uint, shade("vfs_read", ""), 2));
	cr_assert(eq(uint, shade("\xc3\xa9t\xc3\xa9", ""), 3));
	cr_assert(eq(uint, shade("\xf0\x9f\x94\xa5", ""), 2));
}

Test(palette, every_colour_has_a_class_for_both_themes)
{
	char *css = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&css, &size);

	palette_write_css(out);
	cr_assert(eq(int, fclose(out), 0));
	for (const struct palette_kind *kind = palette; kind->letter; kind++) {
		char rule[80];

		(void)snprintf(rule, sizeof(rule), ".stoke .k%c0{fill:light-dark(%s,%s)}",
			kind->letter, kind->light[0], kind->dark[0]);
		cr_assert(strstr(css, rule) != NULL, "%s", rule);
		cr_assert(eq(str, (char *)palette_fill(kind->letter, 0), (char *)kind->light[0]));
	}
	cr_assert(strstr(css, "]]>") == NULL);
	free(css);
}
