/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/label.h"

#include "unit/folded.h"

TestSuite(label, .fini = check_leaks);

static char *fit(const char *name, char letter, double px)
{
	static char out[8192];
	size_t n = label_fit(name, strlen(name), letter, px, out, sizeof(out) - 1);

	out[n] = '\0';
	return out;
}

static double width(const char *text)
{
	return label_width(text, strlen(text), LABEL_FONT_PX);
}

/* Each form appears at its own width, the next one just below it. */
static void check_forms(const char *name, char letter, const char *const *forms)
{
	for (; *forms; forms++)
		cr_assert(eq(str, fit(name, letter, width(*forms) + 0.001), (char *)*forms), "%s",
			name);
}

Test(label, names_lose_what_surrounds_the_function_first)
{
	check_forms("java.lang.Object io.netty.channel.X$Y.read(int, int[])", 'j',
		(const char *const[]){
			"io.netty.channel.X$Y.read", "i.n.c.X$Y.read", "X$Y.read", "read", NULL});
	check_forms("Lio/netty/X;::m", 'j',
		(const char *const[]){"io.netty.X.m", "i.n.X.m", "X.m", NULL});
	check_forms("void ns::Box<int>::put(int const&) const", 'c',
		(const char *const[]){"void ns::Box<int>::put(int const&) const",
			"ns::Box<int>::put", "ns::Box::put", "Box::put", "put", NULL});
	check_forms("std::map<int, int>::operator[](int const&)", 'c',
		(const char *const[]){"std::map<int, int>::operator[]", "std::map::operator[]",
			"map::operator[]", "operator[]", NULL});
	check_forms("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 'c',
		(const char *const[]){
			"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "drop", NULL});
	check_forms("github.com/user/repo/pkg.(*T).Do", 'n',
		(const char *const[]){"github.com/user/repo/pkg.(*T).Do", "pkg.(*T).Do", NULL});
	check_forms("JS:*parse /srv/app/lib/b.js:10:3", 'j',
		(const char *const[]){"JS:*parse /srv/app/lib/b.js:10:3", "parse", NULL});
	check_forms("py::Encoder.encode:/usr/lib/python3.13/json/encoder.py", 'j',
		(const char *const[]){"Encoder.encode", NULL});
	check_forms("tcp_sendmsg_locked", 'k', (const char *const[]){"tcp_sendmsg_locked", NULL});
}

Test(label, what_is_still_too_wide_is_cut_between_characters)
{
	cr_assert(eq(str, fit("tcp_sendmsg", 'k', width("tcp_s\xe2\x80\xa6") + 0.001),
		"tcp_s\xe2\x80\xa6"));
	cr_assert(eq(str,
		fit("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe5\x90\x8d", 'n',
			width("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe2\x80\xa6") + 0.001),
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe2\x80\xa6"));
	/* Two letters say nothing. */
	cr_assert(eq(str, fit("tcp_sendmsg", 'k', width("tc\xe2\x80\xa6") + 0.001), ""));
	cr_assert(eq(str, fit("", 'k', 100), ""));
}

Test(label, a_label_is_never_wider_than_its_room)
{
	static const char *const names[] = {
		"void io.netty.channel.nio.NioEventLoop.run()",
		"operator<",
		"a<b<c>::d",
		"}}}>>>)))((((<<<::::",
		"..a..b..C..m",
		".",
		"::",
		"L;::",
		"JS:",
		"JS: ",
		"py::",
		"py:::",
		"(",
		"\xf0\x9f\x94\xa5\xf0\x9f\x94\xa5.X.\xf0\x9f\x94\xa5",
		"std::function<void ()>::operator()() const",
	};
	static const char letters[] = "rkncjliumd";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (const char *letter = letters; *letter; letter++) {
			for (double px = 0; px < 300; px += 1.5)
				cr_assert(le(dbl, width(fit(names[i], *letter, px)), px + 1e-9),
					"%s as %c in %g", names[i], *letter, px);
		}
	}
}

Test(label, room_is_kept_whatever_the_width)
{
	char out[8];

	cr_assert(eq(sz, label_fit("abcdefghijklmnop", 16, 'k', 1e9, out, sizeof(out)), 8));
	cr_assert(eq(int, memcmp(out, "abcde\xe2\x80\xa6", 8), 0));
}

Test(label, a_name_is_printable_and_bounded)
{
	struct stoke_profile *profile = NULL;
	char *out = malloc(LABEL_NAME_ROOM), *name = malloc(20000);
	struct tree *tree = NULL;
	uint32_t frame = 0, node = 0, run = 0;
	unsigned value = 0;
	size_t n;

	memset(name, 0x01, 20000);
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "r", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	cr_assert(eq(int, profile_named_frame(profile, name, 20000, FUNCTION_NATIVE, &frame), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, frame, &node), 0));
	cr_assert(eq(int, profile_row(profile, run, node, 0, 0, (uint64_t[]){1}), 0));
	cr_assert(eq(int, tree_build(profile, &(struct tree_options){0}, &tree), 0));

	n = label_name(tree, 1, out);
	cr_assert(eq(sz, n, 4 * LABEL_NAME_MAX + 3));
	cr_assert(eq(int, memcmp(out, "\\x01\\x01", 8), 0));
	cr_assert(eq(int, memcmp(out + n - 3, "\xe2\x80\xa6", 3), 0));
	tree_free(tree);
	stoke_profile_free(profile);
	free(out);
	free(name);
}
