/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/demangle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit/test.h"

TestSuite(demangle, .fini = check_leaks);

/* What a name stands for, or the name itself. */
static char *spelled(const char *name)
{
	static char text[DEMANGLE_MAX + 1];
	int r = demangle(name, strlen(name), text);

	if (r <= 0)
		return (char *)name;
	text[r] = '\0';
	return text;
}

Test(demangle, spells_out_cpp_and_rust)
{
	static const struct {
		const char *name, *spelled;
	} names[] = {
		{"_Z3addii", "add(int, int)"},
		{"_ZN4shop5priceERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
			"shop::price(std::__cxx11::basic_string<char, std::char_traits<char>, "
			"std::allocator<char> > const&)"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
		{"_ZN12_GLOBAL__N_14stepEv", "(anonymous namespace)::step()"},
		{"_RNvC4shop4main", "shop::main"},
		{"_ZN4shop4cart5total17h0123456789abcdefE", "shop::cart::total"},
		{"_Z4stepv.isra.0", "step() [clone .isra.0]"},
		{"_Z4stepv.cold", "step() [clone .cold]"},
		{"_Z", "_Z"},
		{"_ZN", "_ZN"},
		{"_R", "_R"},
		{"_Znot_really_mangled", "_Znot_really_mangled"},
		{"plain_c_name", "plain_c_name"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		cr_assert(eq(str, spelled(names[i].name), (char *)names[i].spelled));
}

Test(demangle, tells_a_plain_name_from_one_that_is_too_long)
{
	/* void boom<J<...>>(J<...>*, long), J<T, T> nested 23 deep: 218 MB spelled out. */
	static const char bomb[] =
		"_Z4boomI1JIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_"
		"IS0_IS0_IS0_IS0_IS0_I1SS1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ESA_ESB_ESC_ESD_ESE_ESF_"
		"ESG_ESH_ESI_ESJ_ESK_ESL_ESM_ESN_ESO_EEvPT_l";
	char text[DEMANGLE_MAX];

	cr_assert(eq(int, demangle("main", 4, text), 0));
	cr_assert(eq(int, demangle(bomb, strlen(bomb), text), -E2BIG));
}

/* libiberty prints an identifier out of punycode from memory of its own: leaving the callback then
 * would lose it. Here the room ends within the third of four such identifiers. */
Test(demangle, bounds_rust_names_and_loses_no_memory)
{
	char name[2048], text[DEMANGLE_MAX];
	size_t size = (size_t)snprintf(
		name, sizeof(name), "_RINvC1a1fNvC1bu1505%01500d_n29lB7_B7_B7_E", 0);

	memset(name + 20, 'a', 1500);
	/* Often, since one lost block may still be pointed to by what is left on the stack. */
	for (int i = 0; i < 100; i++)
		cr_assert(eq(int, demangle(name, size, text), -E2BIG));
}

Test(demangle, prints_empty_identifiers)
{
	cr_assert(eq(str, spelled("_RIC0aTNvC1au8gdev_5qaB7_B7_B7_B7_EE"),
		"_RIC0aTNvC1au8gdev_5qaB7_B7_B7_B7_EE"));
}

Test(demangle, spells_out_names_as_long_as_templates_make_them)
{
	char name[2048], text[DEMANGLE_MAX];
	size_t size = (size_t)snprintf(name, sizeof(name), "_Z1900%01900dv", 0);

	memset(name + 6, 'n', 1900);
	cr_assert(eq(int, demangle(name, size, text), 1902));
	cr_assert(eq(int, memcmp(text + 1898, "nn()", 4), 0));
}

Test(demangle, takes_no_name_with_a_nul_in_it)
{
	char text[DEMANGLE_MAX];

	cr_assert(eq(int, demangle("_Z3add\0i", 8, text), 0));
}

Test(demangle, takes_no_endless_name)
{
	static char name[100000];
	char text[DEMANGLE_MAX];

	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	cr_assert(eq(int, demangle(name, sizeof(name), text), 0));
	cr_assert(le(int, demangle(name, DEMANGLE_INPUT_MAX, text), 0));
	name[DEMANGLE_INPUT_MAX - 1] = 'i';
	cr_assert(le(int, demangle(name, DEMANGLE_INPUT_MAX, text), 0));
}
