/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unit/test.h"

extern const struct runtime runtime_perfmap;

#define PID   4242
#define INNER 17

/* The root of a process, with nothing but /tmp. */
static char root[] = "/tmp/stoke-test-XXXXXX";
static int root_fd = -1;
static struct host host;
static struct process process;
static void *state;

static void setup(void)
{
	cr_assert(ne(ptr, mkdtemp(root), NULL));
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert(eq(int, mkdirat(root_fd, "tmp", 0755), 0));
	cr_assert(eq(int, host_open(TEST_DATA "/proc", NULL, &host), 0));
	process = (struct process){
		.pid = PID, .ns_pid = INNER, .euid = geteuid(), .root_fd = root_fd};
	cr_assert(eq(int, runtime_perfmap.claim(&host, &process, &state, NULL), 0));
}

static void teardown(void)
{
	char command[64];

	runtime_perfmap.close(state);
	host_close(&host);
	(void)close(root_fd);
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	cr_assert(eq(int, system(command), 0));
	check_leaks();
}

TestSuite(perfmap, .init = setup, .fini = teardown);

static void write_at(const char *path, const char *text, int flags)
{
	int fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, (int)write(fd, text, strlen(text)), (int)strlen(text)));
	(void)close(fd);
}

static void put(const char *text)
{
	write_at("tmp/perf-17.map", text, O_TRUNC);
}

static void append(const char *text)
{
	write_at("tmp/perf-17.map", text, O_APPEND);
}

/* One reading to its end: a call blocks for a while only. */
static int observe(uint64_t now)
{
	int r;

	do
		r = runtime_perfmap.observe(state, OBSERVE_TICK, now);
	while (r == -EAGAIN);
	return r;
}

/* "name", "?" unknown, "..." wait, "!name" stale; good until the next call. */
static const char *owner(uint64_t time, uint64_t address)
{
	static char text[8192];
	struct symbol symbol = {0};
	int r = runtime_perfmap.lookup(state, (struct span){time, time}, address, &symbol, 1);

	if (r == -EAGAIN)
		return "...";
	if (r == 0)
		return "?";
	(void)snprintf(text, sizeof(text), "%s%.*s", r == -ESTALE ? "!" : "", (int)symbol.name_size,
		symbol.name);
	return text;
}

static const char *explanation(void)
{
	static struct runtime_findings findings;

	runtime_perfmap.explain(state, &findings);
	return findings.text;
}

static uint64_t nr_bad(void)
{
	struct runtime_findings findings;

	runtime_perfmap.explain(state, &findings);
	return findings.nr_bad_lines;
}

Test(perfmap, prefixes_zeros_and_capitals_are_numbers)
{
	put("0x00007f6c00001000 0x0000000000000100 java.lang.String com.acme.Shop.price(int, "
	    "long)\n"
	    "0x7f6c00002000 0x80 py::charge:/srv/app/shop.py\n"
	    "7f6c00003000 40 Interpreter\n"
	    "7F6C00004000 C0 UPPER::hex_digits\n"
	    "0X7F6C00005000 0X20 UpperPrefix\n");
	cr_assert(eq(int, observe(10), 1));
	cr_assert(eq(str, explanation(), ""));
	cr_assert(eq(
		str, owner(5, 0x7f6c000010ff), "java.lang.String com.acme.Shop.price(int, long)"));
	cr_assert(eq(str, owner(5, 0x7f6c00001100), "?"));
	cr_assert(eq(str, owner(5, 0x7f6c0000207f), "py::charge:/srv/app/shop.py"));
	cr_assert(eq(str, owner(5, 0x7f6c00003020), "Interpreter"));
	cr_assert(eq(str, owner(5, 0x7f6c000040bf), "UPPER::hex_digits"));
	cr_assert(eq(str, owner(5, 0x7f6c00005000), "UpperPrefix"));
	cr_assert(eq(str, owner(5, 0), "?"));
	cr_assert(eq(u64, nr_bad(), 0));
}

Test(perfmap, torn_lines_are_left_out_and_good_ones_stay)
{
	put("7f7000001000 40 first_good\n"
	    " orphan tail of a line written by another thread\n"
	    "\n"
	    "7f7000002000\n"
	    "7f7000003000 40\n"
	    "7f7000004000 40 \n"
	    "3200 20 low_but_fine\n"
	    "7f7000005000 4\n"
	    "zzzz 40 not_hex\n"
	    "7f7000006000 qq not_hex_size\n"
	    "7f7000007000 40 last_good\n"
	    "7f7000008000 4");
	cr_assert(eq(int, observe(10), 1));
	cr_assert(ne(ptr, strstr(explanation(), "8 of 11 lines"), NULL));
	cr_assert(eq(str, owner(5, 0x7f7000001000), "first_good"));
	cr_assert(eq(str, owner(5, 0x7f7000002000), "?"));
	cr_assert(eq(str, owner(5, 0x7f7000003010), "?"));
	cr_assert(eq(str, owner(5, 0x7f7000004010), "?"));
	cr_assert(eq(str, owner(5, 0x3210), "low_but_fine"));
	cr_assert(eq(str, owner(5, 0x7f7000005002), "?"));
	cr_assert(eq(str, owner(5, 0x7f7000006000), "?"));
	cr_assert(eq(str, owner(5, 0x7f700000703f), "last_good"));
	cr_assert(eq(str, owner(5, 0x7f7000008000), "?"));
	cr_assert(eq(u64, nr_bad(), 8));
}

Test(perfmap, a_torn_last_line_is_read_when_it_is_whole)
{
	put("1000 10 one\n2000 10 tw");
	cr_assert(eq(int, observe(10), 1));
	cr_assert(eq(str, owner(5, 0x2000), "?"));
	append("o\n3000 10 three\n");
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(str, owner(15, 0x1000), "one"));
	cr_assert(eq(str, owner(15, 0x2000), "two"));
	cr_assert(eq(str, owner(5, 0x3000), "three")); /* late, but nobody else's */
	cr_assert(eq(u64, nr_bad(), 0));
}

Test(perfmap, an_unchanged_map_is_a_reading)
{
	put("1000 10 one\n");
	cr_assert(eq(int, observe(10), 1));
	cr_assert(eq(str, owner(15, 0x1000), "..."));
	cr_assert(eq(int, observe(20), 0));
	cr_assert(eq(str, owner(15, 0x1000), "one"));
}

Test(perfmap, a_map_that_comes_late_names_what_was_before)
{
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	put("1000 10 one\n");
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(str, owner(5, 0x1000), "one"));
}

Test(perfmap, an_address_used_again_is_stale_between_and_right_after)
{
	put("1000 10 one\n");
	cr_assert(eq(int, observe(10), 1));
	append("1000 10 two\n");
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(int, observe(30), 0));
	cr_assert(eq(str, owner(10, 0x1000), "one"));
	cr_assert(eq(str, owner(15, 0x1000), "!two"));
	cr_assert(eq(str, owner(25, 0x1000), "two"));
}

Test(perfmap, a_map_written_anew_is_read_anew)
{
	put("1000 10 one\n2000 10 two\n");
	cr_assert(eq(int, observe(10), 1));
	put("1000 10 uno\n3000 10 three\n4000 10 four\n"); /* longer: only its content tells */
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 20), 1));
	cr_assert(eq(str, owner(5, 0x1000), "one"));
	cr_assert(eq(str, owner(15, 0x1000), "!uno"));
	cr_assert(eq(str, owner(25, 0x2000), "?"));
	cr_assert(eq(str, owner(25, 0x4000), "four"));

	put("1000 10 one\n"); /* shorter */
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 30), 1));
	cr_assert(eq(str, owner(35, 0x1000), "one"));
	cr_assert(eq(str, owner(35, 0x4000), "?"));
	cr_assert(eq(int, unlinkat(root_fd, "tmp/perf-17.map", 0), 0));
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 40), 0));
	cr_assert(eq(str, owner(45, 0x1000), "one")); /* code does not go with its map */
}

Test(perfmap, a_map_being_written_anew_is_waited_for)
{
	struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}};

	put("1000 10 one\n2000 10 two\n");
	cr_assert(eq(int, observe(10), 1));
	put("1000 10 one\n"); /* not all of it yet */
	now[1].tv_sec = time(NULL) + 1000;
	cr_assert(eq(int, utimensat(root_fd, "tmp/perf-17.map", now, 0), 0));
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_TICK, 20), -EAGAIN));
	cr_assert(eq(str, owner(15, 0x2000), "..."));
}

Test(perfmap, after_the_end_nobody_waits)
{
	put("1000 10 one\n");
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 10), 1));
	cr_assert(eq(str, owner(99, 0x1000), "one"));
	cr_assert(eq(str, owner(99, 0x2000), "?"));
}

Test(perfmap, the_pid_of_the_target_comes_before_ours_and_nothing_else)
{
	write_at("tmp/perf-1.map", "1000 10 decoy\n", O_TRUNC);
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	write_at("tmp/perf-4242.map", "1000 10 outer\n", O_TRUNC);
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(str, owner(15, 0x1000), "outer"));
	put("1000 10 inner\n");
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 30), 1));
	cr_assert(eq(str, owner(35, 0x1000), "inner"));
}

Test(perfmap, what_is_not_a_plain_file_is_named_and_not_used)
{
	cr_assert(eq(int, mkfifoat(root_fd, "tmp/perf-17.map", 0600), 0));
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(
		str, explanation(), "/tmp/perf-17.map is not a regular file: ignored; delete it"));
	cr_assert(eq(int, unlinkat(root_fd, "tmp/perf-17.map", 0), 0));

	cr_assert(eq(int, symlinkat("/dev/zero", root_fd, "tmp/perf-17.map"), 0));
	cr_assert(eq(int, observe(20), 0));
	cr_assert(
		eq(str, explanation(), "/tmp/perf-17.map is a symbolic link: ignored; delete it"));
	cr_assert(eq(int, unlinkat(root_fd, "tmp/perf-17.map", 0), 0));

	cr_assert(eq(int, mkdirat(root_fd, "tmp/perf-17.map", 0700), 0));
	cr_assert(eq(int, observe(30), 0));
	cr_assert(ne(ptr, strstr(explanation(), "not there"), NULL));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
}

Test(perfmap, a_link_never_leads_out_of_the_target)
{
	write_at("secret", "1000 10 secret\n", O_TRUNC);
	cr_assert(eq(int, symlinkat("../secret", root_fd, "tmp/perf-17.map"), 0));
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
}

Test(perfmap, sizes_beyond_the_limit_are_not_read)
{
	int fd;

	put("1000 10 one\n");
	cr_assert(eq(int, observe(10), 1));
	fd = openat(root_fd, "tmp/perf-17.map", O_WRONLY | O_CLOEXEC);
	cr_assert(eq(int, ftruncate(fd, 1ll << 40), 0)); /* sparse */
	(void)close(fd);
	cr_assert(eq(int, observe(20), 0));
	cr_assert(eq(str, owner(15, 0x1000), "one"));
	cr_assert(eq(str, explanation(),
		"/tmp/perf-17.map is larger than 512 MiB: not read any further"));
}

Test(perfmap, a_file_of_a_third_user_is_ignored)
{
	if (geteuid() != 0)
		cr_skip("changing owners needs root");
	runtime_perfmap.close(state);
	process.euid = 998;
	cr_assert(eq(int, runtime_perfmap.claim(&host, &process, &state, NULL), 0));
	put("1000 10 one\n");
	cr_assert(eq(int, fchownat(root_fd, "tmp/perf-17.map", 1001, 0, 0), 0));
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	cr_assert(eq(str, explanation(),
		"/tmp/perf-17.map belongs to uid 1001, the process to 998: ignored (it could be "
		"anybody's). chown 998, or delete it"));
	cr_assert(eq(int, fchownat(root_fd, "tmp/perf-17.map", 0, 0, 0), 0));
	cr_assert(eq(int, observe(20), 1)); /* root's */
	cr_assert(eq(str, owner(5, 0x1000), "one"));
}

Test(perfmap, a_line_without_an_end_is_one_bad_line)
{
	const size_t size = 9 * 1024 * 1024;
	char *text = malloc(size);

	cr_assert(ne(ptr, text, NULL));
	memset(text, 'a', size);
	memcpy(text, "1000 10 one\n", 12);
	memcpy(text + size - 13, "\n2000 10 two\n", 13);
	text[size - 1] = '\0';
	put(text);
	append("\n3000 10 three\n");
	free(text);
	cr_assert(eq(int, observe(10), 1));
	cr_assert(eq(str, owner(5, 0x1000), "one"));
	cr_assert(eq(str, owner(5, 0x2000), "two"));
	cr_assert(eq(str, owner(5, 0x3000), "three"));
	cr_assert(eq(u64, nr_bad(), 1));
}

Test(perfmap, a_map_without_a_usable_line_is_told)
{
	put("nothing\nof\nuse\n");
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, explanation(),
		"/tmp/perf-17.map: none of its 3 lines is START SIZE NAME: not used"));
}

Test(perfmap, a_map_without_the_entry_asked_for_is_told)
{
	put("");
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 10), 0));
	cr_assert(eq(str, explanation(), ""));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	cr_assert(ne(
		ptr, strstr(explanation(), "no entry for some of the generated code (1 "), NULL));
	append("1000 10 one\n");
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 20), 1));
	cr_assert(eq(str, owner(5, 0x1000), "one"));
	cr_assert(eq(str, explanation(), ""));
}

Test(perfmap, names_stay_where_they_are)
{
	struct symbol symbol = {0};
	const char *name;
	char line[64];

	put("1000 10 one\n");
	cr_assert(eq(int, observe(10), 1));
	cr_assert(
		eq(int, runtime_perfmap.lookup(state, (struct span){5, 5}, 0x1000, &symbol, 1), 1));
	name = symbol.name;
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(line, sizeof(line), "%x 10 name number %d\n", 0x2000 + i * 16, i);
		append(line);
	}
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(int, memcmp(name, "one", 3), 0));
	cr_assert(eq(int, symbol.name_size, 3));
	cr_assert(eq(int, (int)symbol.kind, FUNCTION_JIT));
}

Test(perfmap, a_process_that_cannot_be_looked_into_says_so)
{
	struct stoke_error err = {0};
	void *other = NULL;

	process.root_fd = -1;
	cr_assert(eq(int, runtime_perfmap.claim(&host, &process, &other, &err), -EACCES));
	cr_assert(ne(ptr, strstr(err.text, "/tmp/perf-17.map"), NULL));
	process.euid = (uid_t)-1;
	cr_assert(eq(int, runtime_perfmap.claim(&host, &process, &other, &err), -ENOENT));
}

Test(perfmap, a_map_of_an_earlier_process_of_that_pid_is_not_used)
{
	struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct host machine;
	char path[64];

	cr_assert(eq(int, host_open(NULL, NULL, &machine), 0));
	runtime_perfmap.close(state);
	process.pid = process.ns_pid = getpid();
	cr_assert(eq(int, runtime_perfmap.claim(&machine, &process, &state, NULL), 0));
	(void)snprintf(path, sizeof(path), "tmp/perf-%d.map", getpid());
	write_at(path, "1000 10 one\n", O_TRUNC);
	cr_assert(eq(int, utimensat(root_fd, path, old, 0), 0));
	cr_assert(eq(int, observe(10), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	cr_assert(ne(ptr, strstr(explanation(), "earlier process"), NULL));
	write_at(path, "2000 10 two\n", O_APPEND);
	cr_assert(eq(int, observe(20), 1));
	cr_assert(eq(str, owner(15, 0x2000), "two"));
	host_close(&machine);
}

/* A FUSE mount without a server: whoever asks it anything waits until the fd is closed. */
static int mount_silence(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128], place[64];

	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	(void)snprintf(place, sizeof(place), "%s/tmp", root);
	if (fd < 0 || unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", place, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		cr_skip("mounting a file system needs root and /dev/fuse");
	(void)close(root_fd); /* of the namespace before */
	root_fd = process.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	runtime_perfmap.close(state);
	cr_assert(eq(int, runtime_perfmap.claim(&host, &process, &state, NULL), 0));
	return fd;
}

Test(perfmap, a_file_system_that_never_answers_is_given_up)
{
	char place[64];
	int fd = mount_silence();

	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_START, 10), -EAGAIN));
	cr_assert(eq(str, owner(5, 0x1000), "..."));
	cr_assert(eq(int, runtime_perfmap.observe(state, OBSERVE_END, 20), 0));
	cr_assert(eq(str, owner(5, 0x1000), "?"));
	cr_assert(ne(ptr, strstr(explanation(), "does not answer"), NULL));
	(void)close(fd); /* lets the abandoned worker go */
	(void)snprintf(place, sizeof(place), "%s/tmp", root);
	cr_assert(eq(int, umount2(place, MNT_DETACH), 0));
}
