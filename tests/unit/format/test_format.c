/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include <errno.h>

TestSuite(format, .fini = check_leaks);

static int recognise(
	const void *bytes, size_t size, const struct format **ret, struct stoke_error *err)
{
	int fd = file_of(bytes, size), r;
	struct input *input;

	cr_assert(zero(int, input_open(fd, "x", &input, err)));
	r = format_recognise(input, ret, err);
	input_close(input);
	close(fd);
	return r;
}

static void refuse(const void *bytes, size_t size, const char *sentence)
{
	const struct format *format = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, recognise(bytes, size, &format, &err), -EINVAL));
	cr_assert(eq(str, err.text, (char *)sentence));
	cr_assert(eq(ptr, (void *)format, NULL));
}

#define REFUSE(bytes, sentence) refuse(bytes, sizeof(bytes) - 1, sentence)

Test(format, words_find_their_format_and_nothing_else_does)
{
	for (size_t i = 0; i < nr_formats; i++)
		cr_assert(eq(ptr, (void *)format_find(formats[i]->name, strlen(formats[i]->name)),
			(void *)formats[i]));
	cr_assert(eq(ptr, (void *)format_find("folde", 5), NULL));
	cr_assert(eq(ptr, (void *)format_find("foldedx", 7), NULL));
}

Test(format, every_format_says_what_it_is_and_has_a_suffix)
{
	for (size_t i = 0; i < nr_formats; i++) {
		cr_assert(gt(sz, strlen(formats[i]->summary), 0));
		cr_assert(eq(chr, formats[i]->suffixes[0], '.'));
		cr_assert(ne(ptr,
			formats[i]->read ? (void *)formats[i]->recognise
					 : (void *)formats[i]->write,
			NULL));
	}
}

Test(format, content_decides)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"a;b 1\n", "folded"},
		{"java 42 [001] 10.5: 10101010 cpu-clock: \n\t  ffffffff8 f (/x)\n", "perfscript"},
		{"<?xml version=\"1.0\"?>\n<svg class=\"stoke\"></svg>\n", "svg"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct format *format = NULL;

		cr_assert(
			zero(int, recognise(cases[i].text, strlen(cases[i].text), &format, NULL)));
		cr_assert(eq(str, (char *)format->name, (char *)cases[i].name));
	}
}

Test(format, files_of_others_are_named_with_the_way_to_read_them)
{
	REFUSE("PERFILE2\x68\0\0\0\0\0\0\0", "x is perf's binary format: perf script -i x | "
					     "stoke flamegraph - -o x.svg");
	REFUSE("FLR\0\0\2",
		"x is a recording of Java Flight Recorder: jfrconv -o collapsed x x.folded");
	REFUSE("\xff\xfe"
	       "a\0;\0",
		"x is UTF-16 text: iconv -f UTF-16 -t UTF-8 x >x.folded");
	REFUSE("  <!DOCTYPE HTML><p>login</p>\n",
		"x is a web page, not a profile: was the download of x refused by a login page?");
	REFUSE("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"}",
		"x is JSON, which this version does not read: the tool that wrote x can write "
		"folded text or pprof instead");
	REFUSE("a\0;\0b\0 \0"
	       "1\0\n\0",
		"x is UTF-16 text: iconv -f UTF-16 -t UTF-8 x >x.folded");
	REFUSE("\0a\0;\0b\0 \0"
	       "1\0\n",
		"x is UTF-16 text: iconv -f UTF-16 -t UTF-8 x >x.folded");
	REFUSE("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0",
		"x is a CPU profile in gperftools' old format: pprof -proto x >x.pb.gz");
	REFUSE("--- contentionz 1 ---\na b 1\n",
		"x is a profile in gperftools' old format: pprof -proto x >x.pb.gz");
	REFUSE("\0\0\0\0",
		"x is no profile that stoke knows: it reads folded text, the text of perf "
		"script, pprof and pictures that it drew");
}
