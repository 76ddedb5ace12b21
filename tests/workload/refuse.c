/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse.c: refuse ERRNO SYSCALL[,SYSCALL]... COMMAND [ARG]...
 * Runs a command under a seccomp filter that answers ERRNO (1 EPERM, 38 ENOSYS) to these calls, as
 * container engines do. Root needs no NO_NEW_PRIVS, so that nothing else changes.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"bpf", SYS_bpf},
	{"perf_event_open", SYS_perf_event_open},
	{"process_vm_readv", SYS_process_vm_readv},
};

static unsigned number_of(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strlen(calls[i].name) == size && memcmp(calls[i].name, name, size) == 0)
			return calls[i].number;
	}
	fprintf(stderr, "refuse: %.*s is not known\n", (int)size, name);
	exit(125);
}

int main(int argc, char **argv)
{
	struct sock_filter code[32];
	struct sock_fprog program = {.filter = code};
	unsigned answer;

	if (argc < 4)
		return 125;
	answer = (unsigned)strtoul(argv[1], NULL, 10);
	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (const char *name = argv[2]; *name && program.len < 24;) {
		const size_t size = strcspn(name, ",");

		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, number_of(name, size), 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (answer & SECCOMP_RET_DATA));
		name += size + (name[size] == ',');
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 &&
		(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)) {
		perror("refuse: seccomp");
		return 125;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return errno == ENOENT ? 127 : 126;
}
