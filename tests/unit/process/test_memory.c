/* SPDX-License-Identifier: BSD-2-Clause */
/* This process reads its own memory, of which a page can be taken away. */
#include "process/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/pages.h"
#include "unit/test.h"

TestSuite(memory, .fini = check_leaks);

#define NR_PARTS 3000 /* more than one call takes */

/* Two pages, and none behind them. */
static char *two_pages(void)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(pages != MAP_FAILED);
	cr_assert(eq(int, munmap(pages + 2 * 4096, 4096), 0));
	return pages;
}

Test(memory, reads_thousands_of_parts_and_marks_those_that_are_not_there)
{
	struct memory memory = memory_of(getpid());
	struct memory_part parts[NR_PARTS];
	char *pages = two_pages();
	char copies[NR_PARTS];
	int nr_missing = 0;

	memset(pages, 'x', 2 * 4096);
	memset(copies, 0, sizeof(copies));
	for (size_t i = 0; i < NR_PARTS; i++) {
		parts[i] = (struct memory_part){
			.address = (uintptr_t)(pages + (i % 7 ? i % 4096 : 2 * 4096)),
			.to = &copies[i],
			.size = 1,
		};
	}
	cr_assert(eq(int, memory.read(&memory, parts, NR_PARTS), 0));
	for (size_t i = 0; i < NR_PARTS; i++) {
		cr_assert(eq(int, parts[i].missing, i % 7 == 0));
		cr_assert(eq(chr, copies[i], i % 7 ? 'x' : '\0'));
		nr_missing += parts[i].missing;
	}
	cr_assert(eq(int, nr_missing, NR_PARTS / 7 + 1));
	(void)munmap(pages, 2 * 4096);
}

Test(memory, a_part_that_ends_beyond_the_last_page_is_missing_as_a_whole)
{
	struct memory memory = memory_of(getpid());
	char *pages = two_pages(), copy[100];

	cr_assert(eq(int, memory_read(&memory, (uintptr_t)pages + 2 * 4096 - 50, copy, 50), 0));
	cr_assert(
		eq(int, memory_read(&memory, (uintptr_t)pages + 2 * 4096 - 50, copy, 51), -EFAULT));
	cr_assert(eq(u64, memory_pointer(&memory, 8), 0));
	(void)munmap(pages, 2 * 4096);
}

Test(memory, says_when_there_is_no_such_process)
{
	struct memory memory = memory_of(0x7ffffffe);
	char copy;

	cr_assert(eq(int, memory_read(&memory, (uintptr_t)&copy, &copy, 1), -ESRCH));
}

Test(memory, pages_keep_what_was_read_until_they_are_told_to_forget)
{
	struct memory memory = memory_of(getpid());
	char *memory_pages = two_pages(), copy[16];
	struct pages pages;

	pages_init(&pages, &memory);
	memcpy(memory_pages + 4090, "across two pages", 17);
	cr_assert(eq(
		int, (int)pages_string(&pages, (uintptr_t)memory_pages + 4090, copy, 16), -E2BIG));
	cr_assert(eq(int, pages_read(&pages, (uintptr_t)memory_pages + 4090, copy, 16), 0));
	cr_assert(eq(int, memcmp(copy, "across two pages", 16), 0));
	memory_pages[4090] = 'A';
	cr_assert(eq(int, pages_read(&pages, (uintptr_t)memory_pages + 4090, copy, 1), 0));
	cr_assert(eq(chr, copy[0], 'a'));
	pages_forget(&pages);
	cr_assert(eq(int, pages_read(&pages, (uintptr_t)memory_pages + 4090, copy, 1), 0));
	cr_assert(eq(chr, copy[0], 'A'));
	pages_done(&pages);
	(void)munmap(memory_pages, 2 * 4096);
}

Test(memory, pages_are_bounded_whatever_is_asked_for)
{
	const size_t size = (PAGES_MAX + 100) * (size_t)PAGES_BYTES;
	char *much = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory memory = memory_of(getpid());
	struct pages pages;
	char byte;

	cr_assert(much != MAP_FAILED);
	pages_init(&pages, &memory);
	for (size_t at = 0; at < size; at += PAGES_BYTES)
		cr_assert(eq(int, pages_read(&pages, (uintptr_t)much + at, &byte, 1), 0));
	cr_assert(le(sz, pages.nr, PAGES_MAX));
	cr_assert(eq(int, pages_read(&pages, 4096, &byte, 1), -EFAULT));
	pages_done(&pages);
	(void)munmap(much, size);
}
