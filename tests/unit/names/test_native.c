/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/native.h"

#include <string.h>

#include "unit/test.h"

TestSuite(native, .fini = check_leaks);

static const struct {
	const char *name, *text, *space;
} cases[] = {
	{"main", "main", ""},
	{"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"std::vector<int, std::allocator<int> >::push_back", "std"},
	{"void std::sort<int*>(int*, int*)", "std::sort<int*>", "std"},
	{"std::enable_if<true, int>::type boost::detail::f<int>(int) const",
		"boost::detail::f<int>", "boost"},
	{"JavaThread::thread_main_inner()", "JavaThread::thread_main_inner", ""},
	{"v8::internal::Heap::CollectGarbage(v8::internal::AllocationSpace)",
		"v8::internal::Heap::CollectGarbage", "v8"},
	{"(anonymous namespace)::worker(void*)", "(anonymous namespace)::worker", ""},
	{"foo::(anonymous namespace)::worker(void*)", "foo::(anonymous namespace)::worker", "foo"},
	{"std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <char>",
		"std"},
	{"app::less::operator()(int, int) const", "app::less::operator()", "app"},
	{"app::main()::{lambda(int)#1}::operator()(int) const", "app::main", "app"},
	{"operator new(unsigned long)", "operator new", ""},
	{"bool geo::operator<(geo::P const&, geo::P const&)", "geo::operator<", "geo"},
	{"a::P::operator->() const", "a::P::operator->", "a"},
	{"core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place", "core"},
	{"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
		"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "alloc"},
	{"<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt", "core"},
	{"<&mut std::io::Lines as Iterator>::next", "<&mut std::io::Lines as Iterator>::next",
		"std"},
	{"net/http.(*conn).serve", "net/http.(*conn).serve", ""},
	{"vtable chunks", "vtable chunks", ""},
	{"a>b", "a>b", ""},
	{"(", "(", ""},
	{"operator", "operator", ""},
	{"::", "::", ""},
	{"", "", ""},
};

Test(native, a_name_is_found_among_types_and_arguments)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = "", *space = "";
		size_t n = native_short(cases[i].name, strlen(cases[i].name), &text);
		size_t m = native_namespace(text, n, &space);

		cr_expect(n == strlen(cases[i].text) && memcmp(text, cases[i].text, n) == 0,
			"of \"%s\": \"%.*s\"", cases[i].name, (int)n, text);
		cr_expect(m == strlen(cases[i].space) && memcmp(space, cases[i].space, m) == 0,
			"of \"%s\": \"%.*s\"", cases[i].name, (int)m, space);
	}
}

Test(native, no_start_of_a_name_is_read_past_its_end)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t size = 0; size <= strlen(cases[i].name); size++) {
			const char *text = NULL, *space;
			char *name = malloc(size + 1);
			size_t n;

			cr_assert(ne(ptr, name, NULL));
			memcpy(name, cases[i].name, size);
			n = native_short(name, size, &text);
			cr_expect(le(sz, n, size));
			cr_expect(le(sz, native_namespace(text, n, &space), n));
			free(name);
		}
	}
}
