/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/canonical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(canonical, .fini = check_leaks);

static void assert_name(struct canonical *canonical, const char *raw, size_t size,
	enum stoke_names level, const char *want, size_t want_size)
{
	const char *text;
	size_t n;
	_cleanup_free_ char *once = NULL;

	cr_assert(zero(int, canonical_name(canonical, raw, size, level, &text, &n)));
	cr_assert(n == want_size && memcmp(text, want, n) == 0, "%.*s: %.*s, not %.*s", (int)size,
		raw, (int)n, text, (int)want_size, want);
	once = malloc(n + 1);
	cr_assert(once != NULL);
	memcpy(once, text, n);
	cr_assert(zero(int, canonical_name(canonical, once, n, level, &text, &n)));
	cr_assert(n == want_size && memcmp(text, want, n) == 0, "%.*s becomes %.*s", (int)want_size,
		want, (int)n, text);
}

/* Lines "raw TAB build TAB jdk"; a field "=" is as the one before it. How many there were. */
static size_t check_lines(FILE *in)
{
	struct canonical canonical = {0};
	_cleanup_free_ char *line = NULL;
	size_t room = 0, nr = 0;
	ssize_t n;

	while ((n = getline(&line, &room, in)) > 0) {
		char *field[3], *rest = line;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < 3; i++) {
			field[i] = strsep(&rest, "\t");
			cr_assert(field[i] != NULL, "no three fields: %s", line);
			if (i && strcmp(field[i], "=") == 0)
				field[i] = field[i - 1];
		}
		assert_name(&canonical, field[0], strlen(field[0]), STOKE_NAMES_NONE, field[0],
			strlen(field[0]));
		assert_name(&canonical, field[0], strlen(field[0]), STOKE_NAMES_BUILD, field[1],
			strlen(field[1]));
		assert_name(&canonical, field[0], strlen(field[0]), STOKE_NAMES_JDK, field[2],
			strlen(field[2]));
		nr++;
	}
	canonical_done(&canonical);
	return nr;
}

Test(canonical, names_become_what_the_table_says)
{
	FILE *in = fopen(TEST_DATA "/names/canonical.tsv", "re");

	cr_assert(in != NULL);
	cr_assert(check_lines(in) > 100);
	(void)fclose(in);
}

Test(canonical, names_become_what_the_worked_cases_say)
{
	FILE *in = fopen(DIFF_EXAMPLES "/07-names.tsv", "re");

	if (!in)
		cr_skip_test("the worked cases are not here");
	cr_assert(eq(sz, check_lines(in), 56));
	(void)fclose(in);
}

Test(canonical, names_are_bytes_of_any_kind)
{
	struct canonical canonical = {0};

	assert_name(&canonical, "", 0, STOKE_NAMES_JDK, "", 0);
	assert_name(&canonical, "a\0b.isra.0", 10, STOKE_NAMES_JDK, "a\0b", 3);
	assert_name(&canonical, "\xff\xfe.cold", 7, STOKE_NAMES_JDK, "\xff\xfe", 2);
	assert_name(&canonical, "[", 1, STOKE_NAMES_JDK, "[", 1);
	canonical_done(&canonical);
}

/* Pieces that rules look for, put together by chance: nothing is read behind the name, and what is
 * canonical stays. */
Test(canonical, what_is_canonical_stays)
{
	static const char *const pieces[] = {"$$Lambda", "$14", "/0x7f12", ".0x7f", "+0x12", "/77",
		"LambdaForm$", "MH", ".run", "L", ";::", ":::", "::", "com/", "foo.", "Bar", "(",
		")", " ", "int ", "[", "]", "_[j]", "$Proxy", "12", "jdk.proxy2.", "com.sun.proxy.",
		"app//", "java.base/", "@", "@@GLIBC_2.14", "@plt", ".isra.0", ".cold", ".clone",
		" [clone .part.0]", " (.part.0)", "[abi:x]",
		"std::__1::", "::__cxx11::", "[go.shape.", "$fn", "__9", "Script3",
		"$HibernateProxy$", "$auxiliary$", "_$$_jvst", "sun.misc.", "Unsafe.",
		"sun.reflect.", "lambda$", "LazyCompile:~", "JS:*", "0x", "unknown",
		"$$EnhancerByCGLIB$$1f", "::h0123456789abcdef", "[846817f741e54dfd]", "bpf_prog_",
		"\0", "\xc3\xa4", "lib.so"};
	struct canonical canonical = {0};
	uint64_t seed = 42;

	for (int i = 0; i < 20000; i++) {
		char raw[256], once[512];
		size_t size = 0, n, again;
		const char *text;

		for (seed = seed * 6364136223846793005u + 1; size < 120;) {
			const char *piece;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			piece = pieces[(seed >> 33) % ARRAY_SIZE(pieces)];
			memcpy(raw + size, piece, strlen(piece));
			size += strlen(piece);
			if ((seed >> 60) < 2)
				break;
		}
		for (enum stoke_names l = STOKE_NAMES_BUILD; l <= STOKE_NAMES_JDK; l++) {
			_cleanup_free_ char *exact = malloc(size ? size : 1);

			cr_assert(exact != NULL);
			memcpy(exact, raw, size); /* so that a byte behind it is found out */
			cr_assert(zero(int, canonical_name(&canonical, exact, size, l, &text, &n)));
			cr_assert(n < sizeof(once));
			memcpy(once, text, n);
			cr_assert(zero(int, canonical_name(&canonical, once, n, l, &text, &again)));
			cr_assert(again == n && memcmp(text, once, n) == 0, "%.*s: %.*s, then %.*s",
				(int)size, raw, (int)n, once, (int)again, text);
		}
	}
	canonical_done(&canonical);
}

/* Bounded work: a name made so that each rule looks far ahead of itself. */
Test(canonical, long_names_take_time_by_their_length)
{
	static const char *const pieces[] = {" [clone ", "[go.shape.", "$$Lambda", "a__1", "@",
		".cold", "$$FastClassBy", "$$", "/0x", "_[", "lambda$", "std::__", "(", "."};
	struct canonical canonical = {0};
	const size_t size = 1 << 16;
	_cleanup_free_ char *raw = malloc(size);

	cr_assert(raw != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t n = strlen(pieces[i]), text_size;
		const char *text;

		for (size_t at = 0; at < size; at++)
			raw[at] = pieces[i][at % n];
		cr_assert(zero(int,
			canonical_name(&canonical, raw, size, STOKE_NAMES_JDK, &text, &text_size)));
	}
	canonical_done(&canonical);
}
