/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(thread, .fini = check_leaks);

/* Arguments separated by '|' as the kernel has them. */
static void expect_name(const char *command, const char *name)
{
	char cmdline[512];
	const char *found = NULL;
	size_t size = strlen(command), n;

	memcpy(cmdline, command, size + 1);
	for (size_t i = 0; i < size; i++) {
		if (cmdline[i] == '|')
			cmdline[i] = '\0';
	}
	n = thread_program_name(cmdline, size + 1, &found);
	cr_assert(eq(sz, n, strlen(name)), "%s", command);
	cr_assert(n == 0 || memcmp(found, name, n) == 0, "%s", command);
}

Test(thread, a_jvm_is_called_by_its_jar_or_main_class)
{
	expect_name("java|-Xmx1g|-jar|/opt/x/jenkins.war|--password=secret", "jenkins.war");
	expect_name("/usr/lib/jvm/bin/java|-cp|/a:/b|-Dp=q|com.acme.Main|arg", "com.acme.Main");
	expect_name("java|--add-opens|java.base/java.lang=ALL-UNNAMED|-ea|A$B", "A$B");
	expect_name("java|-m|app.mod/com.acme.Main", "com.acme.Main");
	expect_name("java|@options|-XX:+UseG1GC|Main", "Main");
	expect_name("java|-version", "");
	expect_name("java|-jar", "");
	expect_name("javac|-d|out|A.java", "");
}

Test(thread, scripts_are_called_by_their_base_name)
{
	expect_name("/usr/bin/python3.11|-u|-X|perf|/srv/app/serve.py|--token|t", "serve.py");
	expect_name("python3|-m|http.server|8000", "http.server");
	expect_name("node|--perf-basic-prof|-r|./hook.js|server.js|x", "server.js");
	expect_name("node|server.js", "server.js");
}

Test(thread, code_and_other_arguments_are_never_a_name)
{
	expect_name("python3|-c|password='secret'", "");
	expect_name("node|-e|fetch('https://u:p@host')", "");
	expect_name("node|--eval|1", "");
	expect_name("python3", "");
	expect_name("psql|-W|secret", "");
	expect_name("", "");
}

Test(thread, status_gives_owner_and_innermost_pid)
{
	static const char text[] = "Name:\tx\nState:\tS (sleeping)\nPid:\t42\n"
				   "Uid:\t1001\t998\t998\t998\nNSpid:\t42\t17\t1\n";
	struct thread_status status;

	cr_assert(eq(int, thread_parse_status(text, sizeof(text) - 1, &status), 0));
	cr_assert(eq(chr, status.state, 'S'));
	cr_assert(eq(int, status.ns_pid, 1));
	cr_assert(eq(u32, status.euid, 998));
}

Test(thread, status_without_what_matters_is_refused)
{
	static const char no_uid[] = "State:\tS\nPid:\t42\nUid:\tx\n";
	static const char torn[] = "State:\tS\nPid:\t42\nUid:\t1\t2";
	struct thread_status status;

	cr_assert(eq(int, thread_parse_status(no_uid, sizeof(no_uid) - 1, &status), -EINVAL));
	cr_assert(eq(int, thread_parse_status(torn, sizeof(torn) - 1, &status), -EINVAL));
	cr_assert(eq(int, thread_parse_status("", 0, &status), -EINVAL));
}

static int count(void *arg, pid_t tid)
{
	*(int *)arg += tid > 0;
	return 0;
}

Test(thread, reads_its_own_process)
{
	struct thread_status status;
	struct host host;
	char comm[16];
	int nr = 0;

	cr_assert(eq(int, prctl(PR_SET_NAME, "odd\nname;x"), 0));
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, thread_read_comm(&host, getpid(), getpid(), comm), 0));
	cr_assert(eq(str, comm, "odd\nname;x"));
	cr_assert(eq(int, thread_read_status(&host, getpid(), &status), 0));
	cr_assert(eq(u32, status.euid, geteuid()));
	cr_assert(eq(int, thread_for_each(&host, getpid(), count, &nr), 0));
	cr_assert(ge(int, nr, 1));
	host_close(&host);
}

Test(thread, a_zombie_is_gone)
{
	struct thread_status status;
	struct host host;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert(eq(int, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0));
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, thread_read_status(&host, pid, &status), -ESRCH));
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
	cr_assert(eq(int, thread_read_status(&host, pid, &status), -ESRCH));
	host_close(&host);
}

static void *wait_for_a_kill(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

/* Leaves a process whose first thread is a zombie and whose second one waits. */
static pid_t start_headless(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		if (pthread_create(&thread, NULL, wait_for_a_kill, NULL) != 0)
			_exit(1);
		(void)syscall(
			SYS_exit, 0); /* of this thread alone; without the library's cleaning */
	}
	return pid;
}

Test(thread, a_process_without_its_first_thread_lives)
{
	struct thread_status status = {0};
	struct host host;
	pid_t pid = start_headless();

	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	for (int i = 0; i < 1000 && status.state != 'Z'; i++) {
		cr_assert(eq(int, thread_read_status(&host, pid, &status), 0));
		(void)usleep(1000);
	}
	cr_assert(eq(chr, status.state, 'Z'));
	cr_assert(ne(int, status.alive, pid));
	cr_assert(eq(int, status.ns_pid, pid));
	(void)kill(pid, SIGKILL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
	cr_assert(eq(int, thread_read_status(&host, pid, &status), -ESRCH));
	host_close(&host);
}
