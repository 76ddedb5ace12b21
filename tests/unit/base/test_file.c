/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/test.h"

/* A directory of its own for each test, as whoever profiles could be given. */
static char directory[] = "/tmp/stoke-test-XXXXXX";
static int directory_fd = -1;

static void setup(void)
{
	cr_assert(ne(ptr, mkdtemp(directory), NULL));
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(ge(int, directory_fd, 0));
}

static void teardown(void)
{
	char command[64];

	(void)close(directory_fd);
	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	cr_assert(eq(int, system(command), 0));
	check_leaks();
}

TestSuite(file, .init = setup, .fini = teardown);

static void put(const char *name, const char *text)
{
	int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, (int)write(fd, text, strlen(text)), (int)strlen(text)));
	(void)close(fd);
}

static int open_in_root(const char *path, uid_t owner)
{
	int found = file_find_in_root(directory_fd, path), fd;

	if (found < 0)
		return found;
	fd = file_open_found(found, owner, NULL);
	(void)close(found);
	return fd;
}

Test(file, opens_a_regular_file_of_the_owner)
{
	char text[16];
	int fd;

	put("map", "hello");
	fd = open_in_root("/map", getuid());
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, (int)file_read(fd, text, sizeof(text), 1), 4));
	cr_assert(eq(int, memcmp(text, "ello", 4), 0));
	(void)close(fd);
}

Test(file, refuses_what_is_not_a_regular_file_without_blocking)
{
	cr_assert(eq(int, mkfifoat(directory_fd, "fifo", 0644), 0));
	cr_assert(eq(int, mkdirat(directory_fd, "folder", 0755), 0));
	cr_assert(eq(int, open_in_root("fifo", FILE_ANY_OWNER), -EINVAL));
	cr_assert(eq(int, open_in_root("folder", FILE_ANY_OWNER), -EISDIR));
	cr_assert(eq(int, open_in_root("nothing", FILE_ANY_OWNER), -ENOENT));
}

Test(file, follows_no_link_at_the_end_and_none_that_leads_out)
{
	put("real", "x");
	cr_assert(eq(int, symlinkat("/dev/zero", directory_fd, "zero"), 0));
	cr_assert(eq(int, symlinkat("real", directory_fd, "link"), 0));
	cr_assert(eq(int, symlinkat("/etc", directory_fd, "out"), 0));
	cr_assert(eq(int, open_in_root("zero", FILE_ANY_OWNER), -ELOOP));
	cr_assert(eq(int, open_in_root("link", FILE_ANY_OWNER), -ELOOP));
	cr_assert(eq(int, open_in_root("out/passwd", FILE_ANY_OWNER), -ENOENT));
	cr_assert(eq(int, open_in_root("../../etc/passwd", FILE_ANY_OWNER), -ENOENT));
}

Test(file, follows_links_to_folders_as_the_target_would)
{
	int fd;

	cr_assert(eq(int, mkdirat(directory_fd, "private", 0755), 0));
	cr_assert(eq(int, symlinkat("/private", directory_fd, "tmp"), 0));
	put("private/map", "x");
	fd = open_in_root("/tmp/map", FILE_ANY_OWNER);
	cr_assert(ge(int, fd, 0));
	(void)close(fd);
}

Test(file, refuses_a_foreign_owner_but_not_root)
{
	int fd;

	if (getuid() != 0)
		cr_skip("changing owners needs root");
	put("map", "x");
	fd = open_in_root("map", 12345); /* root's file: fine */
	cr_assert(ge(int, fd, 0));
	(void)close(fd);
	cr_assert(eq(int, fchownat(directory_fd, "map", 54321, 0, 0), 0));
	cr_assert(eq(int, open_in_root("map", 12345), -EPERM));
}

Test(file, text_has_a_limit_and_ends_in_a_nul)
{
	char *text = NULL;
	size_t size = 0;

	put("short", "12345678");
	cr_assert(eq(int, file_read_text(directory_fd, "short", 7, &text, &size), -E2BIG));
	cr_assert(eq(int, file_read_text(directory_fd, "short", 8, &text, &size), 0));
	cr_assert(eq(sz, size, 8));
	cr_assert(eq(str, text, "12345678"));
	free(text);
}

Test(file, text_of_proc_is_read_whole_whatever_stat_says)
{
	char *text = NULL;
	size_t size = 0;

	cr_assert(eq(int, file_read_text(AT_FDCWD, "/proc/self/smaps", 1 << 24, &text, &size), 0));
	cr_assert(gt(sz, size, 4096));
	cr_assert(ne(ptr, strstr(text, "[stack]"), NULL));
	free(text);
}
