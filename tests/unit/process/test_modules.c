/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/modules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"

static struct host host;
static struct modules *modules;
static unsigned hangs;

static void setup(void)
{
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, modules_new(&host, &modules), 0));
}

static void teardown(void)
{
	modules_free(modules);
	host_close(&host);
	check_leaks();
}

TestSuite(modules, .init = setup, .fini = teardown);

/* Nothing is mapped there, so only an identity and a path can lead to the file. */
static struct module_sight sight(
	const char *path, const uint8_t *build_id, uint64_t dev, uint64_t ino)
{
	return (struct module_sight){
		.pid = getpid(),
		.start = 0x1000,
		.end = 0x2000,
		.path = path,
		.path_size = strlen(path),
		.build_id = build_id,
		.build_id_size = build_id ? 20 : 0,
		.dev = dev,
		.ino = ino,
	};
}

static uint32_t add(struct module_sight seen, int temporary)
{
	uint32_t id = 0;

	cr_assert(eq(int, modules_file(modules, &seen, temporary, &hangs, &id), 0));
	return id;
}

static const uint8_t build[2][20] = {{1}, {2}};

Test(modules, identity_is_the_build_id_or_the_inode)
{
	uint32_t a = add(sight("/no/a", build[0], 0, 0), 0),
		 b = add(sight("/no/a", build[1], 0, 0), 0);
	uint32_t c = add(sight("/no/a", NULL, 5, 6), 0);

	cr_assert(ne(u32, a, b));
	cr_assert(ne(u32, a, c));
	cr_assert(eq(u32, add(sight("/no/other", build[0], 0, 0), 0), a));
	cr_assert(eq(u32, add(sight("/no/other", NULL, 5, 6), 0), c));
	cr_assert(ne(u32, add(sight("/no/other", NULL, 5, 7), 0), c));
	cr_assert(eq(sz, modules_nr(modules), 4));
	cr_assert(eq(str, modules_at(modules, a)->path, "/no/a"));
	cr_assert(ne(int, modules_at(modules, a)->open_error, 0));
}

Test(modules, an_inode_and_its_build_id_are_one_module)
{
	const struct module *module;
	uint8_t build_id[20];
	struct stat stat_;
	uint32_t id;

	cr_assert(eq(int, stat("/bin/cat", &stat_), 0));
	id = add(sight("/bin/cat", NULL, stat_.st_dev, stat_.st_ino), 0);
	module = modules_at(modules, id);
	cr_assert(ge(int, module->fd, 0));
	cr_assert(eq(int, module->build_id_size, 20));
	memcpy(build_id, module->build_id, 20);
	cr_assert(eq(u32, add(sight("/elsewhere", build_id, 0, 0), 0), id));
	cr_assert(eq(sz, modules_nr(modules), 1));
}

Test(modules, a_module_known_by_build_id_only_is_found_by_inode)
{
	const struct module *module;
	uint8_t build_id[20];
	struct stat stat_;
	uint32_t id;

	cr_assert(eq(int, stat("/bin/cat", &stat_), 0));
	id = add(sight("/bin/cat", NULL, stat_.st_dev, stat_.st_ino), 0);
	memcpy(build_id, modules_at(modules, id)->build_id, 20);
	modules_free(modules);
	cr_assert(eq(int, modules_new(&host, &modules), 0));

	id = add(sight("/not/there", build_id, 0, 0), 0);
	cr_assert(eq(int, modules_at(modules, id)->fd, -1));
	cr_assert(eq(u32, add(sight("/bin/cat", NULL, stat_.st_dev, stat_.st_ino), 0), id));
	module = modules_at(modules, id);
	cr_assert(ge(int, module->fd, 0)); /* opened at last */
	cr_assert(eq(int, module->open_error, 0));
	cr_assert(eq(sz, modules_nr(modules), 1));
}

Test(modules, a_nameless_file_without_elf_is_generated_code)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);
	struct stat stat_;
	struct module_sight seen;
	char *code;

	cr_assert(eq(int, ftruncate(fd, 4096), 0));
	cr_assert(eq(int, fstat(fd, &stat_), 0));
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	seen = sight("/memfd:jit", NULL, stat_.st_dev, stat_.st_ino);
	seen.start = (uintptr_t)code;
	seen.end = seen.start + 4096;
	cr_assert(eq(u32, add(seen, 1), MODULES_GENERATED));
	cr_assert(eq(u32, add(seen, 1), MODULES_GENERATED));
	cr_assert(eq(sz, modules_nr(modules), 0));

	/* Not temporary: an odd file, but a file. */
	cr_assert(ne(u32, add(seen, 0), MODULES_GENERATED));
	cr_assert(eq(int, munmap(code, 4096), 0));
	(void)close(fd);
}

Test(modules, after_hanging_file_systems_nothing_is_opened)
{
	struct stat stat_;
	uint32_t id;

	cr_assert(eq(int, stat("/bin/cat", &stat_), 0));
	hangs = MODULES_MAX_HANGS;
	id = add(sight("/bin/cat", NULL, stat_.st_dev, stat_.st_ino), 0);
	cr_assert(eq(int, modules_at(modules, id)->fd, -1));
	hangs = 0;
	cr_assert(eq(u32, add(sight("/bin/cat", NULL, stat_.st_dev, stat_.st_ino), 0), id));
	cr_assert(ge(int, modules_at(modules, id)->fd, 0));
}

Test(modules, ten_thousand_are_told_apart)
{
	for (uint64_t i = 1; i <= 10000; i++) {
		uint8_t id[20];

		memset(id, 0, sizeof(id));
		memcpy(id, &i, sizeof(i));
		hangs = MODULES_MAX_HANGS; /* none of them is to be looked for */
		cr_assert(eq(u32, add(sight("/no", id, 0, 0), 0), i));
	}
	cr_assert(eq(sz, modules_nr(modules), 10000));
}
