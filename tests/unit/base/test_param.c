/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/test.h"

#include <errno.h>
#include <stddef.h>

#include "base/param.h"

struct values {
	unsigned flame;
	uint64_t width;
	double share;
	char *title;
};

static const struct param table[] = {
	{"flame", PARAM_FLAG, offsetof(struct values, flame)},
	{"width", PARAM_NUMBER, offsetof(struct values, width), "1200", "pixels", 100, 10000},
	{"min-share", PARAM_SHARE, offsetof(struct values, share), "0.01%"},
	{"title", PARAM_TEXT, offsetof(struct values, title), "CPU"},
	{0},
};

TestSuite(param, .fini = check_leaks);

static void refuse(const char *text, const char *sentence)
{
	struct stoke_error err = {0};
	void *values = &err;

	cr_assert(eq(int, params_parse(table, sizeof(struct values), "svg", text, &values, &err),
		-EINVAL));
	cr_assert(eq(str, err.text, (char *)sentence));
	cr_assert(eq(ptr, values, &err), "output touched on failure");
}

Test(param, nothing_said_gives_the_defaults)
{
	struct values *values;

	cr_assert(zero(
		int, params_parse(table, sizeof(*values), "svg", NULL, (void **)&values, NULL)));
	cr_assert(eq(uint, values->flame, 0));
	cr_assert(eq(u64, values->width, 1200));
	cr_assert(epsilon_eq(dbl, values->share, 0.0001, 1e-12));
	cr_assert(eq(str, values->title, "CPU"));
	params_free(table, values);
}

Test(param, words_replace_defaults)
{
	struct values *values;

	cr_assert(zero(int, params_parse(table, sizeof(*values), "svg",
				    "flame,width=640,min-share=0.5,title=a\\, b\\\\=c",
				    (void **)&values, NULL)));
	cr_assert(eq(uint, values->flame, 1));
	cr_assert(eq(u64, values->width, 640));
	cr_assert(epsilon_eq(dbl, values->share, 0.5, 1e-12));
	cr_assert(eq(str, values->title, "a, b\\=c"));
	params_free(table, values);
}

Test(param, a_text_said_twice_is_the_last_and_leaks_nothing)
{
	struct values *values;

	cr_assert(zero(int, params_parse(table, sizeof(*values), "svg", "title=a,title=b",
				    (void **)&values, NULL)));
	cr_assert(eq(str, values->title, "b"));
	params_free(table, values);
}

Test(param, what_is_not_known_is_refused_with_what_is)
{
	refuse("colour=red", "svg has no option colour; it has: flame, width, min-share, title");
	refuse("title=kept,nonsense",
		"svg has no option nonsense; it has: flame, width, min-share, title");
}

Test(param, bad_values_are_refused)
{
	refuse("width=12x", "svg:width=12x: not a whole number");
	refuse("width=-5", "svg:width=-5: not a whole number");
	refuse("width=", "svg:width=: not a whole number");
	refuse("width=99", "svg:width=99: not from 100 to 10000");
	refuse("width=18446744073709551616",
		"svg:width=18446744073709551616: not from 100 to 10000");
	refuse("width", "svg:width needs a value: svg:width=...");
	refuse("flame=1", "svg:flame is a switch and takes no value");
	refuse("min-share=5%x", "svg:min-share=5%x: not a share such as 0.1% or 0.001");
	refuse("min-share=101%", "svg:min-share=101%: not a share such as 0.1% or 0.001");
	refuse("min-share=.", "svg:min-share=.: not a share such as 0.1% or 0.001");
}

Test(param, a_plugin_without_options_says_so)
{
	struct stoke_error err = {0};
	void *values = NULL;

	cr_assert(zero(int, params_parse(NULL, 0, "folded", "", &values, &err)));
	params_free(NULL, values);
	cr_assert(eq(int, params_parse(NULL, 0, "folded", "x", &values, &err), -EINVAL));
	cr_assert(eq(str, err.text, "folded has no options, so none called x"));
}
