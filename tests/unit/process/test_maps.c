/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "unit/test.h"

TestSuite(maps, .fini = check_leaks);

static int parse(const char *line, struct map_line *ret)
{
	return maps_parse_line(line, strlen(line), ret);
}

static void expect_path(const struct map_line *map, const char *path)
{
	cr_assert(eq(sz, map->path_size, strlen(path)));
	cr_assert(eq(int, memcmp(map->path, path, map->path_size), 0));
}

Test(maps, reads_a_line_of_a_file)
{
	struct map_line map;

	cr_assert(eq(int,
		parse("562cac04f000-562cac054000 r-xp 00002000 fe:1f 247134                     "
		      "/usr/bin/cat",
			&map),
		0));
	cr_assert(eq(u64, map.start, 0x562cac04f000));
	cr_assert(eq(u64, map.end, 0x562cac054000));
	cr_assert(eq(u64, map.offset, 0x2000));
	cr_assert(eq(u64, map.dev, makedev(0xfe, 0x1f)));
	cr_assert(eq(u64, map.ino, 247134));
	cr_assert(eq(u32, map.prot, PROT_READ | PROT_EXEC));
	cr_assert(eq(int, map.deleted, 0));
	expect_path(&map, "/usr/bin/cat");
}

Test(maps, deleted_is_never_part_of_a_path)
{
	struct map_line map;

	cr_assert(
		eq(int, parse("1000-2000 r-xp 00000000 00:01 7 /opt/my prog (deleted)", &map), 0));
	expect_path(&map, "/opt/my prog");
	cr_assert(eq(int, map.deleted, 1));
	cr_assert(eq(int, parse("1000-2000 r-xp 00000000 00:01 7 /opt/x (deleted) y", &map), 0));
	expect_path(&map, "/opt/x (deleted) y");
	cr_assert(eq(int, map.deleted, 0));
}

Test(maps, memory_without_a_name_has_an_empty_path)
{
	struct map_line map;

	cr_assert(eq(int, parse("1000-2000 rwxp 00000000 00:00 0 ", &map), 0));
	cr_assert(eq(sz, map.path_size, 0));
	cr_assert(eq(int, parse("1000-2000 rwxp 00000000 00:00 0", &map), 0));
	cr_assert(eq(sz, map.path_size, 0));
	cr_assert(eq(int, maps_anonymous(map.path, map.path_size), 1));
}

Test(maps, keeps_blanks_and_odd_bytes_of_a_path)
{
	struct map_line map;

	cr_assert(eq(int, parse("1000-2000 --xs 00000000 00:00 1   /a  b\\012\xff;c ", &map), 0));
	expect_path(&map, "/a  b\\012\xff;c ");
	cr_assert(eq(u32, map.prot, PROT_EXEC));
}

Test(maps, the_last_page_of_the_address_space_is_a_range)
{
	struct map_line map;

	cr_assert(eq(int,
		parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
		      "[vsyscall]",
			&map),
		0));
	cr_assert(eq(u64, map.start, 0xffffffffff600000));
}

Test(maps, refuses_lines_that_are_not_of_maps)
{
	static const char *const lines[] = {
		"",
		"1000",
		"1000-",
		"1000-2000",
		"2000-1000 r-xp 00000000 00:00 0",
		"1000-1000 r-xp 00000000 00:00 0",
		"1000-2000 r-x 00000000 00:00 0",
		"1000-2000 r-xpp 00000000 00:00 0",
		"1000-2000 r-xp zz 00:00 0",
		"1000-2000 r-xp 00000000 0000 0",
		"1000-2000 r-xp 00000000 00:00",
		"1000-2000 r-xp 00000000 00:00 0x",
		"1000-2000 r-xp 00000000 1ffffffff:00 0",
		"11111111111111111-2000 r-xp 00000000 00:00 0",
		"-2000 r-xp 00000000 00:00 0",
	};
	struct map_line map;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		cr_assert(eq(int, parse(lines[i], &map), -EINVAL), "%s", lines[i]);
}

Test(maps, knows_memory_that_is_named_like_a_file)
{
	static const char *const memory[] = {"//anon", "/memfd:v8", "/dev/zero", "/SYSV00000000",
		"/anon_hugepage", "[anon:jit]", "[anon_shmem:x]", "[heap]", "[stack]"};
	static const char *const files[] = {
		"/usr/lib/libc.so.6", "/dev/shm/x", "/dev/zeros", "[vdso]"};

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
		cr_assert(
			eq(int, maps_anonymous(memory[i], strlen(memory[i])), 1), "%s", memory[i]);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		cr_assert(eq(int, maps_anonymous(files[i], strlen(files[i])), 0), "%s", files[i]);
}
