/* SPDX-License-Identifier: BSD-2-Clause */
#include "stoke.h"

#include <errno.h>
#include <string.h>

#include "unit/place.h"
#include "unit/test.h"

TestSuite(find, .fini = check_leaks);

#define ID    "3f9c1b2a77d0aaaabbbbccccddddeeeeffff00001111222233334444555566aa"
#define OTHER "3f9c1b2a77d0bbbbbbbbccccddddeeeeffff00001111222233334444555566aa"

static void add(const char *place, int pid, const char *comm, const char *cmdline, size_t size)
{
	char name[64], path[128];
	FILE *file;

	(void)snprintf(name, sizeof(name), "%d/task/%d/comm", pid, pid);
	place_write(place, name, comm);
	(void)snprintf(name, sizeof(name), "%d/cmdline", pid);
	place_write(place, name, "");
	(void)snprintf(path, sizeof(path), "%s/%s", place, name);
	file = fopen(path, "w");
	cr_assert(ne(ptr, file, NULL));
	(void)fwrite(cmdline, 1, size, file);
	(void)fclose(file);
}

#define ADD(place, pid, comm, cmdline) add(place, pid, comm, cmdline, sizeof(cmdline) - 1)

static size_t found(const char *place, const char *text, pid_t *ret_first)
{
	struct stoke_match matches[4] = {0};
	size_t nr = 0;
	int r = stoke_find_named(text, place, matches, ARRAY_SIZE(matches), &nr, NULL);

	cr_assert(r == 0 || r == -ESRCH || r == -EINVAL);
	*ret_first = matches[0].pid;
	return nr;
}

Test(find, a_name_is_that_of_a_command_a_main_class_or_a_jar)
{
	_cleanup_place_ char *place = place_new();
	pid_t pid;

	ADD(place, 10, "java\n", "/usr/bin/java\0-cp\0x\0com.acme.Shop\0secret\0");
	ADD(place, 11, "java\n", "java\0-jar\0/opt/jenkins.war\0");
	ADD(place, 12, "nginx\n", "nginx: worker\0");
	cr_assert(eq(u64, found(place, "com.acme.Shop", &pid), 1));
	cr_assert(eq(int, pid, 10));
	cr_assert(eq(u64, found(place, "Shop", &pid), 1));
	cr_assert(eq(int, pid, 10));
	cr_assert(eq(u64, found(place, "jenkins.war", &pid), 1));
	cr_assert(eq(int, pid, 11));
	cr_assert(
		eq(u64, found(place, "jenk", &pid), 1), "a part of it, when nothing is called so");
	cr_assert(eq(u64, found(place, "nginx", &pid), 1));
	cr_assert(eq(int, pid, 12));
	cr_assert(eq(u64, found(place, "java", &pid), 2));
	cr_assert(eq(u64, found(place, "secret", &pid), 0), "arguments are nobody's name");
	cr_assert(eq(u64, found(place, "", &pid), 0));
}

Test(find, what_is_called_so_goes_before_what_only_holds_it)
{
	_cleanup_place_ char *place = place_new();
	pid_t pid;

	ADD(place, 20, "spinner\n", "spinner\0");
	ADD(place, 21, "spin\n", "spin\0");
	ADD(place, 22, "spin2\n", "spin2\0");
	cr_assert(eq(u64, found(place, "spin", &pid), 1));
	cr_assert(eq(int, pid, 21));
	cr_assert(eq(u64, found(place, "pin", &pid), 3));
}

static int container(const char *place, const char *id, struct stoke_error *err)
{
	struct stoke_container found = {.pid = 0};

	return stoke_find_container(id, place, &found, err);
}

Test(find, a_container_that_cannot_be_told_from_another_is_none)
{
	_cleanup_place_ char *place = place_new();
	struct stoke_error err = {0};

	place_write(place, "30/cgroup", "0::/docker/" ID "\n");
	place_write(place, "31/cgroup", "0::/docker/" OTHER "\n");
	place_write(place, "32/cgroup", "0::/user.slice\n");
	cr_assert(eq(int, container(place, "3f9c1b2a77d0", &err), -EEXIST));
	cr_assert(ne(ptr, strstr(err.text, "several"), NULL));
	cr_assert(eq(int, container(place, "3f9c1b2a77d1", &err), -ESRCH));
	cr_assert(eq(int, container(place, "3f9c1b2a77d", &err), -EINVAL));
	cr_assert(eq(int, container(place, "3F9C1B2A77D0", &err), -EINVAL));
	cr_assert(eq(int, container(place, "", &err), -EINVAL));
}
