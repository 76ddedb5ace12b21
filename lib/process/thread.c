/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.c: who runs in a process, by the text files of /proc/PID. */
#include "process/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/worker.h"

#define STATUS_MAX_BYTES (64 * 1024)
#define CMDLINE_MAX_BYTES                                                                          \
	(128 * 1024) /* class paths are long, and the main class is behind them                    \
		      */
#define CMDLINE_TIMEOUT_MS 500

/* The value of "KEY:\t..." of a line, or 0. */
static int value_of(const struct scan *line, const char *key, struct scan *ret)
{
	size_t size = strlen(key);

	if (scan_left(line) <= size || memcmp(line->at, key, size) != 0 || line->at[size] != ':')
		return 0;
	*ret = (struct scan){line->at + size + 1, line->end};
	(void)scan_blanks(ret);
	return 1;
}

/* The last number of "NSpid: 4242 17 1": the pid in the innermost namespace. */
static int last_number(struct scan *scan, uint64_t *ret)
{
	int r = -EINVAL;

	while (scan_decimal(scan, ret) == 0) {
		r = 0;
		(void)scan_blanks(scan);
	}
	return r;
}

int thread_parse_status(const char *text, size_t size, struct thread_status *ret)
{
	struct scan scan = scan_of(text, size), line, value;
	uint64_t ns_pid = 0, pid = 0, euid = UINT64_MAX;
	char state = 0;

	while (scan_line(&scan, &line)) {
		if (value_of(&line, "State", &value) && scan_left(&value)) {
			state = *value.at;
		} else if (value_of(&line, "Pid", &value)) {
			(void)scan_decimal(&value, &pid); /* stays 0: found below */
		} else if (value_of(&line, "NSpid", &value)) {
			(void)last_number(&value, &ns_pid);
		} else if (value_of(&line, "Uid", &value)) {
			uint64_t ruid;

			if (scan_decimal(&value, &ruid) == 0 && scan_blanks(&value))
				(void)scan_decimal(&value, &euid);
		}
	}
	if (!ns_pid) /* a kernel without PID namespaces has no such line */
		ns_pid = pid;
	if (!state || !ns_pid || ns_pid > INT32_MAX || euid >= UINT32_MAX)
		return -EINVAL;
	*ret = (struct thread_status){.state = state, .ns_pid = (pid_t)ns_pid, .euid = (uid_t)euid};
	return 0;
}

static int read_status(const struct host *host, pid_t pid, struct thread_status *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t size;
	int r;

	(void)snprintf(path, sizeof(path), "%d/status", pid);
	r = file_read_text(host->proc_fd, path, STATUS_MAX_BYTES, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	r = thread_parse_status(text, size, ret);
	if (r < 0)
		return r;
	ret->alive = pid;
	return ret->state == 'Z' || ret->state == 'X' ? -ESRCH : 0;
}

struct search {
	const struct host *host;
	struct thread_status *status;
};

/* 1 ends the search. */
static int take_if_alive(void *arg, pid_t tid)
{
	const struct search *search = arg;
	struct thread_status status;

	if (read_status(search->host, tid, &status) < 0)
		return 0;
	search->status->alive = tid;
	search->status->euid = status.euid; /* a zombie keeps its own */
	return -EALREADY;
}

int thread_read_status(const struct host *host, pid_t pid, struct thread_status *ret)
{
	struct thread_status status = {0};
	struct search search = {.host = host, .status = &status};
	int r = read_status(host, pid, &status);

	/* Its first thread may have called pthread_exit(): then it waits for the others. */
	if (r == -ESRCH && status.state == 'Z' &&
		thread_for_each(host, pid, take_if_alive, &search) == -EALREADY)
		r = 0;
	if (r < 0)
		return r;
	*ret = status;
	return 0;
}

static int next_argument(struct scan *scan, struct scan *ret)
{
	const char *nul;

	if (!scan_left(scan))
		return 0;
	nul = memchr(scan->at, '\0', scan_left(scan));
	*ret = (struct scan){scan->at, nul ? nul : scan->end};
	scan->at = nul ? nul + 1 : scan->end;
	return 1;
}

static size_t base_name(const struct scan *path, const char **ret)
{
	const char *slash = scan_left(path) ? memrchr(path->at, '/', scan_left(path)) : NULL;

	*ret = slash ? slash + 1 : path->at;
	return (size_t)(path->end - *ret);
}

static int equals(const struct scan *word, const char *text)
{
	size_t size = strlen(text);

	return scan_left(word) == size && memcmp(word->at, text, size) == 0;
}

static int one_of(const struct scan *word, const char *const *words)
{
	for (; *words; words++) {
		if (equals(word, *words))
			return 1;
	}
	return 0;
}

/* Options of each interpreter whose value is the next argument, and those whose next argument is
 * the program itself. Option, "=", value is one argument and needs no entry. */
static const char *const java_valued[] = {"-cp", "-classpath", "--class-path", "-p",
	"--module-path", "--upgrade-module-path", "--add-modules", "--add-exports", "--add-opens",
	"--add-reads", "--limit-modules", "--patch-module", "--enable-native-access", "--source",
	"--describe-module", "-d", NULL};
static const char *const java_program[] = {"-jar", "-m", "--module", NULL};
static const char *const python_valued[] = {"-W", "-X", "-Q", "--check-hash-based-pycs", NULL};
static const char *const python_program[] = {"-m", NULL};
static const char *const node_valued[] = {"-r", "--require", "--import", "--loader",
	"--experimental-loader", "--conditions", "-C", "--env-file", "--title", "--input-type",
	"--icu-data-dir", "--openssl-config", "--redirect-warnings", "--trace-event-categories",
	"--disable-warning", NULL};
static const char *const none[] = {NULL};
static const char *const python_code[] = {"-c", NULL};
static const char *const node_code[] = {"-e", "--eval", "-p", "--print", "-pe", NULL};

static const struct interpreter {
	const char *name; /* how the command's name begins */
	const char *const *valued;
	const char *const *program;
	const char *const *code; /* the program stands in the argument: no name, perhaps a secret */
} interpreters[] = {
	{"java", java_valued, java_program, none},
	{"python", python_valued, python_program, python_code},
	{"node", node_valued, none, node_code},
};

static const struct interpreter *interpreter_of(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		const struct interpreter *interpreter = &interpreters[i];
		size_t length = strlen(interpreter->name);
		size_t rest = length;

		if (size < length || memcmp(name, interpreter->name, length) != 0)
			continue;
		while (rest < size &&
			(name[rest] == '.' || (name[rest] >= '0' && name[rest] <= '9')))
			rest++;
		if (rest == size) /* "python3.11" is one, "javac" is not */
			return interpreter;
	}
	return NULL;
}

int thread_runs_programs(const char *comm)
{
	return interpreter_of(comm, strlen(comm)) != NULL;
}

/* "java -jar /opt/x/shop.jar" -> "shop.jar"; "java -m a.b/a.b.Main" -> "a.b.Main". */
static size_t program_of(struct scan *scan, const char **ret)
{
	struct scan word;

	return next_argument(scan, &word) ? base_name(&word, ret) : 0;
}

size_t thread_program_name(const char *cmdline, size_t size, const char **ret)
{
	struct scan scan = scan_of(cmdline, size), word;
	const struct interpreter *interpreter;
	const char *name;

	if (!next_argument(&scan, &word))
		return 0;
	size = base_name(&word, &name);
	interpreter = interpreter_of(name, size);
	if (!interpreter)
		return 0;
	while (next_argument(&scan, &word)) {
		if (one_of(&word, interpreter->code))
			return 0;
		if (one_of(&word, interpreter->program))
			return program_of(&scan, ret);
		if (one_of(&word, interpreter->valued))
			(void)next_argument(&scan, &word);
		else if (scan_left(&word) && *word.at != '-' && *word.at != '@')
			return base_name(&word, ret);
	}
	return 0;
}

struct cmdline_job {
	int proc_fd;
	pid_t pid;
	int result;
	char *name;
};

static void drop_cmdline(void *arg)
{
	struct cmdline_job *job = arg;

	(void)close(job->proc_fd); /* O_PATH: nothing to lose */
	free(job->name);
	free(job);
}

static void read_cmdline(void *arg)
{
	struct cmdline_job *job = arg;
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = malloc(CMDLINE_MAX_BYTES);
	const char *name = "";
	char path[64];
	ssize_t size;

	job->result = -ENOMEM;
	if (!text)
		return;
	(void)snprintf(path, sizeof(path), "%d/cmdline", job->pid);
	fd = openat(job->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		job->result = -errno;
		return;
	}
	size = file_read(fd, text, CMDLINE_MAX_BYTES, 0);
	if (size < 0) {
		job->result = (int)size;
		return;
	}
	size = (ssize_t)thread_program_name(text, (size_t)size, &name);
	job->name = strndup(name, (size_t)size);
	job->result = job->name ? 0 : -ENOMEM;
}

int thread_read_program_name(const struct host *host, pid_t pid, char **ret)
{
	struct cmdline_job *job = calloc(1, sizeof(*job));
	int r;

	if (!job)
		return -ENOMEM;
	job->pid = pid;
	job->proc_fd = fcntl(host->proc_fd, F_DUPFD_CLOEXEC, 3);
	r = job->proc_fd < 0 ? -errno : 0;
	if (r < 0) {
		free(job);
		return r;
	}
	r = worker_run(read_cmdline, drop_cmdline, job, CMDLINE_TIMEOUT_MS);
	if (r == -ETIMEDOUT)
		return r;
	if (!r)
		r = job->result;
	if (!r)
		*ret = take_pointer(job->name);
	drop_cmdline(job);
	return r;
}

int thread_read_comm(const struct host *host, pid_t pid, pid_t tid, char ret[16])
{
	_cleanup_close_ int fd = -1;
	char path[64], comm[17];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/task/%d/comm", pid, tid);
	fd = openat(host->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, comm, sizeof(comm) - 1);
	if (n < 0)
		return -errno;
	if (n && comm[n - 1] == '\n') /* a newline inside belongs to the name */
		n--;
	if (n > 15)
		n = 15;
	memcpy(ret, comm, (size_t)n);
	ret[n] = '\0';
	return 0;
}

int thread_for_each(
	const struct host *host, pid_t pid, int (*each)(void *arg, pid_t tid), void *arg)
{
	char path[64];
	const struct dirent *entry;
	DIR *directory;
	int fd, r = 0;

	(void)snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(host->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	directory = fdopendir(fd);
	if (!directory) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	while (r >= 0 && (entry = readdir(directory))) {
		struct scan name = scan_of(entry->d_name, strlen(entry->d_name));
		uint64_t tid;

		if (scan_decimal(&name, &tid) == 0 && !scan_left(&name) && tid <= INT32_MAX)
			r = each(arg, (pid_t)tid);
	}
	(void)closedir(directory); /* read only */
	return r < 0 ? r : 0;
}
