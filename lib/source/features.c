/* SPDX-License-Identifier: BSD-2-Clause */
/* features.c: what kernel and rights allow, and the sentences for when they do not. */
#include "source/features.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* linux/capability.h of old distributions does not have these. */
#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF	   39

#define CYCLES_PROBE_PERIOD 100000
#define CYCLES_PROBE_NS	    5000000

/* The start of a small file as text, NUL-terminated; its size, or -errno. */
static ssize_t read_small(const char *folder, const char *name, char *buffer, size_t size)
{
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buffer, size - 1);
	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return n;
}

static uint64_t status_field(const char *status, const char *field, int base)
{
	const char *at = strstr(status, field);

	return at ? strtoull(at + strlen(field), NULL, base) : 0;
}

static void read_link(const char *folder, const char *name, char *ret, size_t size)
{
	char path[PATH_MAX];
	ssize_t n = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path))
		n = readlink(path, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
}

void rights_read(const char *proc, const char *sys, struct rights *ret)
{
	struct utsname names;
	char text[8192], path[PATH_MAX];
	struct stat status;

	memset(ret, 0, sizeof(*ret));
	ret->uid = geteuid();
	if (read_small(proc, "self/status", text, sizeof(text)) > 0) {
		ret->capabilities = status_field(text, "\nCapEff:", 16);
		ret->bounding = status_field(text, "\nCapBnd:", 16);
		ret->seccomp = status_field(text, "\nSeccomp:", 10) == 2;
	}
	ret->paranoid = INT_MIN;
	if (read_small(proc, "sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0)
		ret->paranoid = (int)strtol(text, NULL, 10);
	(void)snprintf(path, sizeof(path), "%s/self/ns/pid", proc);
	ret->container = stat(path, &status) == 0 && status.st_ino != INITIAL_PID_NAMESPACE;
	(void)snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", sys);
	ret->btf = access(path, F_OK) == 0;
	if (read_small(sys, "kernel/security/lockdown", text, sizeof(text)) > 0)
		ret->lockdown = strstr(text, "[confidentiality]") != NULL;
	if (uname(&names) == 0)
		(void)snprintf(ret->release, sizeof(ret->release), "%s", names.release);
	read_link(proc, "self/exe", ret->executable, sizeof(ret->executable));
}

static int has(const struct rights *rights, unsigned capability)
{
	return (rights->capabilities >> capability & 1) != 0;
}

static int explain_permission(
	const struct rights *rights, const char *what, struct stoke_error *err)
{
	const char *executable = *rights->executable ? rights->executable : "stoke";
	int administrator = has(rights, CAP_SYS_ADMIN);

	if (rights->lockdown)
		return fail(err, -EPERM,
			"cannot %s: kernel lockdown=confidentiality forbids BPF to read memory; "
			"only a boot option changes it",
			what);
	if (has(rights, CAPABILITY_PERFMON) && !administrator && rights->paranoid > 2)
		return fail(err, -EPERM,
			"cannot %s: kernel.perf_event_paranoid is %d: this kernel ignores "
			"CAP_PERFMON. sudo sysctl kernel.perf_event_paranoid=2, or run as root",
			what, rights->paranoid);
	if (rights->container && rights->capabilities == 0 && rights->uid != 0 &&
		(rights->bounding >> CAP_SYS_ADMIN & 1))
		return fail(err, -EPERM,
			"cannot %s: privileged container but user %u holds no capability: set "
			"runAsUser: 0 (kubectl debug --custom), or use kubectl debug node/...",
			what, (unsigned)rights->uid);
	if (rights->container || (rights->seccomp && (administrator || rights->uid == 0)))
		return fail(err, -EPERM,
			"cannot %s: refused in this container (Docker: --cap-add PERFMON "
			"--cap-add BPF --cap-add SYS_PTRACE; Podman: SYS_ADMIN too), or record "
			"from the host",
			what);
	return fail(err, -EPERM,
		"cannot %s: permission denied. Run with sudo, or once: sudo setcap "
		"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search,"
		"cap_checkpoint_restore+ep %s",
		what, executable);
}

int rights_explain(const struct rights *rights, const char *what, int code, struct stoke_error *err)
{
	if (code == -EPERM || code == -EACCES)
		return explain_permission(rights, what, err);
	if (!rights->btf)
		return fail(err, -EOPNOTSUPP,
			"cannot %s: kernel %s has no BTF (CONFIG_DEBUG_INFO_BTF, Linux 5.10 or "
			"a backport): cannot record here",
			what, rights->release);
	if (code == -ENOSYS)
		return fail(err, -EOPNOTSUPP,
			"cannot %s: kernel %s was built without it, or a seccomp filter hides it",
			what, rights->release);
	if (code == -EMFILE)
		return fail(err, code,
			"cannot %s: too many open files; raise the limit: ulimit -n 65536", what);
	return fail(
		err, code, "cannot %s on kernel %s: %s", what, rights->release, strerror(-code));
}

int refusal_explain(const char *what, int code, struct stoke_error *err)
{
	struct rights rights;

	rights_read("/proc", "/sys", &rights);
	return rights_explain(&rights, what, code, err);
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int64_t cycles_per_second(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = CYCLES_PROBE_PERIOD,
		.sample_type = PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
	};
	long page = sysconf(_SC_PAGESIZE);
	_cleanup_close_ int fd = -1;
	struct perf_event_mmap_page *ring;
	uint64_t count = 0;
	int64_t start, spent = 0;
	int interrupts;

	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Counting is not enough: some machines count and never interrupt. */
	ring = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return -errno;
	for (start = now_ns(); spent < CYCLES_PROBE_NS; spent = now_ns() - start)
		;
	interrupts = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) != 0;
	(void)munmap(ring, 2 * (size_t)page); /* its own mapping: cannot fail */
	if (read(fd, &count, sizeof(count)) != sizeof(count) || !interrupts)
		return 0;
	return (int64_t)(count * 1e9 / (double)spent);
}

int sysctl_read(const char *path, int64_t *ret)
{
	char text[32];
	ssize_t n = read_small("/proc/sys", path, text, sizeof(text));

	if (n <= 0)
		return n < 0 ? (int)n : -ENODATA;
	*ret = strtoll(text, NULL, 10);
	return 0;
}

uint64_t tasks_now(const char *proc)
{
	char text[128];
	const char *slash;

	/* "0.20 0.18 0.12 1/80 11206": running and all. */
	if (read_small(proc, "loadavg", text, sizeof(text)) <= 0)
		return 0;
	slash = strchr(text, '/');
	return slash ? strtoull(slash + 1, NULL, 10) : 0;
}
