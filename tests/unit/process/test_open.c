/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/module.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scan.h"
#include "process/maps.h"
#include "process/note.h"
#include "unit/test.h"

/* Two programs that differ, and a folder to put them in. */
#define ONE "/bin/sleep"
#define TWO "/bin/cat"

static char directory[] = "/tmp/stoke-test-XXXXXX";
static char prog[64];
static struct host host;
static pid_t child;

static void setup(void)
{
	cr_assert(ne(ptr, mkdtemp(directory), NULL));
	(void)snprintf(prog, sizeof(prog), "%s/prog", directory);
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
}

static void teardown(void)
{
	char command[64];

	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	host_close(&host);
	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	cr_assert(eq(int, system(command), 0));
	check_leaks();
}

TestSuite(open, .init = setup, .fini = teardown);

static void copy(const char *from, const char *to)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "rm -f %s; cp %s %s", to, from, to);
	cr_assert(eq(int, system(command), 0));
}

/* Runs prog as "sleep 1000", returns once it is that program. */
static void run(int (*prepare)(void))
{
	int gate[2];
	char byte;

	cr_assert(eq(int, pipe2(gate, O_CLOEXEC), 0));
	child = fork();
	if (child == 0) {
		if (prepare && prepare() < 0)
			_exit(1);
		(void)execl(prog, "sleep", "1000", NULL);
		_exit(1);
	}
	(void)close(gate[1]);
	cr_assert(eq(int, (int)read(gate[0], &byte, 1), 0)); /* closed by exec */
	(void)close(gate[0]);
}

/* The line of its code in a reading of its maps, as a module is seen then; 0 where there is none.
 */
static int find_code(const char *text, size_t size, struct module_sight *ret)
{
	struct scan scan = scan_of(text, size), line;
	struct map_line map;

	while (scan_line(&scan, &line)) {
		if (maps_parse_line(line.at, scan_left(&line), &map) == 0 && (map.prot & 4) &&
			map.path_size >= strlen(prog) &&
			memcmp(map.path + map.path_size - strlen(prog), prog, strlen(prog)) == 0) {
			*ret = (struct module_sight){
				.pid = child,
				.start = map.start,
				.end = map.end,
				.path = prog,
				.path_size = strlen(prog),
				.dev = map.dev,
				.ino = map.ino,
			};
			return 1;
		}
	}
	return 0;
}

/* Where this test itself runs in a chroot, the path of a file in another mount namespace has the
 * chroot's own path in front. exec closes files before it maps the program, so the first readings
 * may come too early. */
static struct module_sight sight_of_code(char **ret_text)
{
	struct module_sight sight;
	char path[64];
	size_t size;

	(void)snprintf(path, sizeof(path), "%d/maps", child);
	for (int i = 0; i < 10000; i++) {
		cr_assert(eq(int, file_read_text(host.proc_fd, path, 1 << 20, ret_text, &size), 0));
		if (find_code(*ret_text, size, &sight))
			return sight;
		free(*ret_text);
		*ret_text = NULL;
		(void)usleep(1000);
	}
	cr_fatal("%s is not mapped", prog);
}

static void read_id(const char *path, uint8_t ret[MODULE_BUILD_ID_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t size = 0;

	cr_assert(eq(int, note_read_build_id(fd, ret, MODULE_BUILD_ID_MAX, &size), 0));
	cr_assert(eq(int, size, 20));
	(void)close(fd);
}

/* Opens; the build id must be that of a file, or (NULL) nothing may be opened. */
static int open_and_expect(const struct module_sight *sight, const char *same_as)
{
	struct module module = {.kind = MODULE_FILE, .fd = -1, .root_fd = -1};
	uint8_t expected[MODULE_BUILD_ID_MAX];
	int elf = 7, error;

	cr_assert(eq(int, module_open(&host, sight, &module, &elf), 0));
	error = module.open_error;
	if (same_as) {
		read_id(same_as, expected);
		cr_assert(ge(int, module.fd, 0), "errno %d", error);
		cr_assert(eq(int, elf, 1));
		cr_assert(eq(int, module.build_id_size, 20));
		cr_assert(eq(int, memcmp(module.build_id, expected, 20), 0));
	} else {
		cr_assert(eq(int, module.fd, -1));
		cr_assert(ne(int, error, 0));
	}
	module_done(&module);
	return error;
}

Test(open, a_running_program)
{
	_cleanup_free_ char *text = NULL;
	struct module_sight sight;

	copy(ONE, prog);
	run(NULL);
	sight = sight_of_code(&text);
	(void)open_and_expect(&sight, ONE);
}

Test(open, a_deleted_program_through_its_mapping)
{
	_cleanup_free_ char *text = NULL;
	struct module_sight sight;

	if (geteuid() != 0)
		cr_skip("map_files needs CAP_CHECKPOINT_RESTORE");
	copy(ONE, prog);
	run(NULL);
	cr_assert(eq(int, unlink(prog), 0));
	sight = sight_of_code(&text);
	(void)open_and_expect(&sight, ONE);
}

Test(open, a_replaced_program_is_the_one_that_runs)
{
	_cleanup_free_ char *text = NULL;
	struct module_sight sight;

	if (geteuid() != 0)
		cr_skip("map_files needs CAP_CHECKPOINT_RESTORE");
	copy(ONE, prog);
	run(NULL);
	copy(TWO, prog);
	sight = sight_of_code(&text);
	(void)open_and_expect(&sight, ONE);
}

Test(open, without_map_files_the_replacement_is_refused)
{
	_cleanup_free_ char *text = NULL;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	struct module_sight sight;

	copy(ONE, prog);
	run(NULL);
	copy(TWO, prog);
	sight = sight_of_code(&text);
	sight.end += 4096; /* no such entry */
	cr_assert(eq(int, open_and_expect(&sight, NULL), ESTALE));

	read_id(ONE, build_id);
	sight.build_id = build_id;
	sight.build_id_size = 20;
	cr_assert(eq(int, open_and_expect(&sight, NULL), ESTALE));
	copy(ONE, prog); /* another inode, the same build */
	(void)open_and_expect(&sight, ONE);
}

Test(open, a_path_alone_is_no_identity)
{
	_cleanup_free_ char *text = NULL;
	struct module_sight sight;

	copy(ONE, prog);
	run(NULL);
	sight = sight_of_code(&text);
	sight.end += 4096;
	sight.ino = 0;
	(void)open_and_expect(&sight, NULL);
}

/* Another program of that path, in a mount namespace of its own. */
static int contain(void)
{
	char command[256];

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", directory, "tmpfs", 0, NULL) < 0)
		return -1;
	(void)snprintf(command, sizeof(command), "cp %s %s", ONE, prog);
	return system(command) ? -1 : 0;
}

Test(open, the_file_of_a_container_and_never_ours_of_the_same_path)
{
	_cleanup_free_ char *text = NULL;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	struct module_sight sight;

	if (geteuid() != 0)
		cr_skip("mounting needs root");
	copy(TWO, prog);
	run(contain);
	sight = sight_of_code(&text);
	(void)open_and_expect(&sight, ONE); /* through map_files */
	sight.end += 4096;
	(void)open_and_expect(&sight, ONE); /* below its root, by inode */
	sight.dev = sight.ino = 0;
	read_id(ONE, build_id);
	sight.build_id = build_id;
	sight.build_id_size = 20;
	(void)open_and_expect(&sight, ONE); /* by build id */
	read_id(TWO, build_id);
	(void)open_and_expect(&sight, TWO); /* the only one that fits: ours */
}

Test(open, keeps_fds_for_others)
{
	_cleanup_free_ char *text = NULL;
	struct rlimit limit, before;
	struct module_sight sight;

	copy(ONE, prog);
	run(NULL);
	sight = sight_of_code(&text);
	cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &before), 0));
	limit = before;
	limit.rlim_cur = 66;
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
	cr_assert(eq(int, open_and_expect(&sight, NULL), EMFILE));
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &before), 0));
}

Test(open, a_file_system_that_never_answers_is_given_up)
{
	struct module_sight sight = {
		.pid = getpid(), .start = 0x1000, .end = 0x2000, .path = prog, .ino = 7, .dev = 1};
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", directory, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		cr_skip("mounting a file system needs root and /dev/fuse");
	sight.path_size = strlen(prog);
	cr_assert(eq(int, open_and_expect(&sight, NULL), ETIMEDOUT));
	(void)close(fd); /* lets the abandoned worker go */
	cr_assert(eq(int, umount2(directory, MNT_DETACH), 0));
}

/* The lower layer's file as maps shows it need not be what stat() of the upper one says. */
static int overlay(void)
{
	char options[512], command[512];

	(void)snprintf(command, sizeof(command),
		"mkdir -p %s/lower %s/upper %s/work %s/merged && cp %s %s/lower/prog", directory,
		directory, directory, directory, ONE, directory);
	(void)snprintf(options, sizeof(options),
		"lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", directory, directory,
		directory);
	(void)snprintf(prog, sizeof(prog), "%s/merged/prog", directory);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", directory, "tmpfs", 0, NULL) < 0 || system(command) != 0)
		return -1;
	(void)snprintf(command, sizeof(command), "%s/merged", directory);
	return mount("none", command, "overlay", 0, options);
}

Test(open, a_file_of_a_layered_file_system)
{
	_cleanup_free_ char *text = NULL;
	struct module_sight sight;

	if (geteuid() != 0 || overlay() < 0)
		cr_skip("mounting an overlay needs root");
	run(NULL);
	sight = sight_of_code(&text);
	(void)open_and_expect(&sight, ONE);
	sight.end += 4096;
	(void)open_and_expect(&sight, ONE);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	child = 0;
	cr_assert(eq(int, umount2(directory, MNT_DETACH), 0));
}
