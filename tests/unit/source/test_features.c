/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/features.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/test.h"

TestSuite(features, .fini = check_leaks);

#define ALL_CAPABILITIES ((1ull << 41) - 1)
#define PERFMON		 (1ull << 38)
#define BPF		 (1ull << 39)

static const struct rights user = {
	.uid = 1000,
	.bounding = ALL_CAPABILITIES,
	.paranoid = 2,
	.btf = 1,
	.release = "6.1.0",
	.executable = "/usr/bin/stoke",
};

static void expect(const struct rights *rights, int code, int want, const char *words)
{
	struct stoke_error err = {0};

	cr_assert(eq(int, rights_explain(rights, "open events", code, &err), want), "%s", err.text);
	cr_assert(eq(int, err.code, want));
	cr_assert(ne(ptr, strstr(err.text, words), NULL), "\"%s\" is not in: %s", words, err.text);
	cr_assert(eq(ptr, strchr(err.text, '\n'), NULL));
}

Test(features, tells_a_user_to_become_root_or_to_set_capabilities)
{
	expect(&user, -EACCES, -EPERM, "permission denied. Run with sudo, or once: sudo setcap ");
	expect(&user, -EPERM, -EPERM, "cap_checkpoint_restore+ep /usr/bin/stoke");
}

Test(features, names_the_sysctl_that_ignores_capabilities)
{
	struct rights rights = user;

	rights.capabilities = PERFMON | BPF;
	rights.paranoid = 4;
	expect(&rights, -EACCES, -EPERM, "kernel.perf_event_paranoid is 4: this kernel ignores");
	rights.paranoid = 2;
	expect(&rights, -EACCES, -EPERM, "permission denied");
}

Test(features, tells_containers_apart)
{
	struct rights rights = user;

	rights.container = 1;
	expect(&rights, -EPERM, -EPERM, "privileged container but user 1000 holds no capability");
	rights.bounding = 0xa80425fb; /* Docker's */
	expect(&rights, -EPERM, -EPERM, "Docker: --cap-add PERFMON");
	rights.uid = 0;
	rights.capabilities = 0xa80425fb;
	rights.seccomp = 1;
	expect(&rights, -EPERM, -EPERM, "Docker: --cap-add PERFMON");
}

Test(features, says_that_lockdown_forbids_it)
{
	struct rights rights = user;

	rights.uid = 0;
	rights.capabilities = ALL_CAPABILITIES;
	rights.lockdown = 1;
	expect(&rights, -EPERM, -EPERM, "lockdown=confidentiality forbids BPF to read memory");
}

Test(features, says_that_the_kernel_is_too_old)
{
	struct rights rights = user;

	rights.btf = 0;
	expect(&rights, -ESRCH, -EOPNOTSUPP, "kernel 6.1.0 has no BTF");
	rights.btf = 1;
	expect(&rights, -ENOSYS, -EOPNOTSUPP, "kernel 6.1.0");
	expect(&rights, -EINVAL, -EINVAL, "Invalid argument");
	expect(&rights, -EMFILE, -EMFILE, "ulimit -n");
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	cr_assert(ne(ptr, file, NULL), "%s", path);
	(void)fputs(text, file);
	(void)fclose(file);
}

Test(features, reads_what_the_machine_says)
{
	char folder[] = "/tmp/stoke-features-XXXXXX";
	char remove[64];
	struct rights rights;

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	write_file(folder, "self/status",
		"Name:\tx\nCapInh:\t0000000000000000\nCapEff:\t000000c000000000\n"
		"CapBnd:\t000001ffffffffff\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	write_file(folder, "sys/kernel/perf_event_paranoid", "3\n");
	write_file(folder, "kernel/security/lockdown", "none integrity [confidentiality]\n");
	write_file(folder, "kernel/btf/vmlinux", "types");
	rights_read(folder, folder, &rights);
	cr_assert(eq(u64, rights.capabilities, PERFMON | BPF));
	cr_assert(eq(u64, rights.bounding, ALL_CAPABILITIES));
	cr_assert(eq(int, rights.seccomp, 1));
	cr_assert(eq(int, rights.paranoid, 3));
	cr_assert(eq(int, rights.lockdown, 1));
	cr_assert(eq(int, rights.btf, 1));
	(void)snprintf(remove, sizeof(remove), "%s/self/status", folder);
	cr_assert(eq(int, unlink(remove), 0));
	rights_read(folder, "/nowhere", &rights);
	cr_assert(eq(u64, rights.capabilities, 0));
	cr_assert(eq(int, rights.btf, 0));
	cr_assert(eq(int, rights.lockdown, 0));
}
