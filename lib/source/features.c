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

#include "process/cgroup.h"
#include "process/host.h"

/* Inode number of the initial user namespace (PROC_USER_INIT_INO). */
#define INITIAL_USER_NAMESPACE 0xEFFFFFFDu

/* Arguments of a size that is refused before anybody's rights are looked at. */
#define HUGE_SIZE	(1u << 20)
#define NO_SUCH_COMMAND 9999

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
	(void)snprintf(path, sizeof(path), "%s/self/ns/user", proc);
	ret->user_namespace = stat(path, &status) == 0 && status.st_ino != INITIAL_USER_NAMESPACE;
	(void)snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", sys);
	ret->btf = stat(path, &status) == 0 && status.st_size > 0;
	if (read_small(sys, "kernel/security/lockdown", text, sizeof(text)) > 0)
		ret->lockdown = strstr(text, "[confidentiality]") != NULL;
	if (uname(&names) == 0)
		(void)snprintf(ret->release, sizeof(ret->release), "%s", names.release);
	read_link(proc, "self/exe", ret->executable, sizeof(ret->executable));
}

/* What filters answer; the kernel's own answer to such a call is none of these. */
static int is_filtered(long result)
{
	return result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

void rights_probe(struct rights *rights)
{
	struct host host;

	rights->bpf_filtered =
		rights->seccomp && is_filtered(syscall(SYS_bpf, NO_SUCH_COMMAND, NULL, HUGE_SIZE));
	/* Unknown flags are the first thing that it looks at. */
	rights->perf_filtered =
		rights->seccomp && is_filtered(syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0ul));
	if (rights->container && host_open(NULL, NULL, &host) == 0) {
		char id[CONTAINER_ID_MAX] = "";

		/* A container that joined another's PID namespace is there for that one. */
		if (container_id_of(&host, 1, id) < 0 || !*id)
			(void)container_id_own(&host, id); /* else it stays empty */
		(void)snprintf(rights->container_id, sizeof(rights->container_id), "%.12s", id);
		host_close(&host);
	}
}

int rights_have(const struct rights *rights, unsigned capability)
{
	int by_administrator = capability == CAPABILITY_BPF || capability == CAPABILITY_PERFMON ||
			       capability == CAPABILITY_CHECKPOINT_RESTORE;

	if (capability == CAP_DAC_READ_SEARCH && rights->capabilities >> CAP_DAC_OVERRIDE & 1)
		return 1;
	if (by_administrator && rights->capabilities >> CAP_SYS_ADMIN & 1)
		return 1;
	return (rights->capabilities >> capability & 1) != 0;
}

int rights_may_lock(const struct rights *rights)
{
	return rights_have(rights, CAP_IPC_LOCK) || rights->paranoid == -1;
}

const char *rights_without_bpf(const struct rights *rights, int code)
{
	if (rights->lockdown)
		return "kernel lockdown=confidentiality";
	if (!rights->btf)
		return "this kernel has no BTF";
	if (code != -EPERM && code != -EACCES)
		return "this kernel refused stoke's programs";
	if (!rights_have(rights, CAP_SYS_ADMIN) && !rights_have(rights, CAPABILITY_BPF))
		return "CAP_BPF is missing";
	if (!rights_have(rights, CAP_SYS_ADMIN) && !rights_have(rights, CAPABILITY_PERFMON))
		return "CAP_PERFMON is missing";
	return rights->seccomp ? "a seccomp filter refuses it" : "it is refused";
}

static void say_refusal(struct refusal *ret, int code, const char *cause, const char *cure)
{
	ret->code = code;
	(void)snprintf(ret->cause, sizeof(ret->cause), "%s", cause); /* fits */
	(void)snprintf(ret->cure, sizeof(ret->cure), "%s", cure ? cure : "");
}

void rights_cure(const struct rights *rights, char *ret, size_t size)
{
	/* An engine has to be told. */
	if (rights->container)
		(void)snprintf(ret, size,
			"Docker: --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE; Podman: "
			"SYS_ADMIN too. From the host: stoke record --container %s",
			*rights->container_id ? rights->container_id : "ID");
	else if (rights->uid == 0)
		(void)snprintf(ret, size,
			"Start stoke with them (systemd: CapabilityBoundingSet=, "
			"AmbientCapabilities=)");
	else
		(void)snprintf(ret, size,
			"Run with sudo, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
			"cap_syslog,cap_dac_read_search,cap_checkpoint_restore+ep %s",
			*rights->executable ? rights->executable : "stoke");
}

static void filter_refusal(const struct rights *rights, struct refusal *ret)
{
	const char *both = rights->bpf_filtered && rights->perf_filtered ? " and " : "";

	say_refusal(ret, -EPERM, "", "Run stoke outside of the service that set this filter");
	(void)snprintf(ret->cause, sizeof(ret->cause), "seccomp refuses %s%s%s",
		rights->perf_filtered ? "perf_event_open" : "", both,
		rights->bpf_filtered ? "bpf" : "");
	if (rights->container)
		rights_cure(rights, ret->cure, sizeof(ret->cure));
}

static void missing_refusal(const struct rights *rights, struct refusal *ret)
{
	const int bpf = rights_have(rights, CAPABILITY_BPF);
	const int perfmon = rights_have(rights, CAPABILITY_PERFMON);
	const char *names = bpf	      ? perfmon ? "" : "CAP_PERFMON"
			    : perfmon ? "CAP_BPF"
				      : "CAP_BPF and CAP_PERFMON";

	say_refusal(ret, -EPERM, "", NULL);
	if (!*names) {
		say_refusal(ret, -EPERM, "permission denied, though every capability is there",
			"Look for a security module that forbids it: dmesg, journalctl");
		return;
	}
	(void)snprintf(ret->cause, sizeof(ret->cause), "%s lacks %s",
		rights->container ? "this container" : "uid 0", names);
	rights_cure(rights, ret->cure, sizeof(ret->cure));
}

static void user_refusal(const struct rights *rights, struct refusal *ret)
{
	say_refusal(ret, -EPERM, "permission denied", NULL);
	rights_cure(rights, ret->cure, sizeof(ret->cure));
}

static void permission_refusal(const struct rights *rights, struct refusal *ret)
{
	if (rights->lockdown) {
		say_refusal(ret, -EPERM,
			"kernel lockdown=confidentiality forbids BPF to read memory; only a boot "
			"option changes it",
			NULL);
	} else if (rights->bpf_filtered || rights->perf_filtered) {
		filter_refusal(rights, ret);
	} else if (rights->user_namespace && rights_have(rights, CAPABILITY_BPF)) {
		say_refusal(ret, -EPERM,
			"capabilities of a user namespace (a rootless container) do not count here",
			"Run the container as root, or record from the host");
	} else if (rights->paranoid > 2 && rights_have(rights, CAPABILITY_PERFMON) &&
		   !(rights->capabilities >> CAP_SYS_ADMIN & 1)) {
		say_refusal(ret, -EPERM, "",
			"sudo sysctl kernel.perf_event_paranoid=2, or run as root");
		(void)snprintf(ret->cause, sizeof(ret->cause),
			"kernel.perf_event_paranoid is %d: this kernel ignores CAP_PERFMON",
			rights->paranoid);
	} else if (rights->container && rights->capabilities == 0 && rights->uid != 0 &&
		   (rights->bounding >> CAP_SYS_ADMIN & 1)) {
		say_refusal(ret, -EPERM, "",
			"set runAsUser: 0 (kubectl debug --custom), or use kubectl debug node/...");
		(void)snprintf(ret->cause, sizeof(ret->cause),
			"privileged container but user %u holds no capability",
			(unsigned)rights->uid);
	} else if (rights->container || rights->uid == 0) {
		missing_refusal(rights, ret);
	} else {
		user_refusal(rights, ret);
	}
}

void rights_refusal(const struct rights *rights, int code, struct refusal *ret)
{
	static const char draw[] =
		"What perf recorded can be drawn: perf script | stoke flamegraph -";

	if (code == -EPERM || code == -EACCES) {
		permission_refusal(rights, ret);
	} else if (code == -ENOSYS && (rights->bpf_filtered || rights->perf_filtered)) {
		filter_refusal(rights, ret);
	} else if (!rights->btf) {
		say_refusal(ret, -EOPNOTSUPP, "", draw);
		(void)snprintf(ret->cause, sizeof(ret->cause),
			"kernel %s has no BTF (CONFIG_DEBUG_INFO_BTF, Linux 5.10 or a backport): "
			"no BPF here",
			rights->release);
	} else if (code == -ENOSYS) {
		say_refusal(ret, -EOPNOTSUPP, "", draw);
		(void)snprintf(ret->cause, sizeof(ret->cause), "kernel %s was built without it",
			rights->release);
	} else if (code == -EMFILE) {
		say_refusal(ret, code, "too many open files", "Raise the limit: ulimit -n 65536");
	} else if (code == -ENOMEM) {
		say_refusal(ret, code, "no memory for it",
			"Record fewer CPUs (-C), or raise the memory limit (ulimit -l, or the "
			"container's)");
	} else {
		say_refusal(ret, code, "", NULL);
		(void)snprintf(ret->cause, sizeof(ret->cause), "kernel %s answers: %s",
			rights->release, strerror(-code));
	}
}

int rights_explain(const struct rights *rights, const char *what, int code, struct stoke_error *err)
{
	struct refusal refusal;

	rights_refusal(rights, code, &refusal);
	return fail(err, refusal.code, "cannot %s: %s%s%s", what, refusal.cause,
		*refusal.cure ? ". " : "", refusal.cure);
}

int refusal_explain(const char *what, int code, struct stoke_error *err)
{
	struct rights rights;

	rights_read("/proc", "/sys", &rights);
	rights_probe(&rights);
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
