/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c: a file is written beside its target and takes its name when it is whole. A name that
 * is a symbolic link is replaced, not followed: in a directory that others can write to it could
 * lead anywhere, and stoke often runs as root.
 */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

#define STREAM_BUFFER (256 << 10)
#define MAX_SAME_NAME 1000 /* "-2" to "-1000" behind a name that is taken */

struct output {
	char *path; /* absolute */
	char *temporary; /* name beside it; NULL: O_TMPFILE, or written in place */
	int fd; /* of the stream, which does not close it */
	FILE *stream;
	int error; /* errno of the first write that failed: by the end it would be forgotten */
	unsigned flags;
	int in_place, is_stdout;
	unsigned long long size_bytes;
};

/* Cause and cure of an errno that opening a file for writing gave. */
static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
		return "no such directory";
	case EROFS:
		return "read-only file system";
	case EFBIG:
		return "larger than files may be here: ulimit -f";
	case ENOSPC:
	case EDQUOT:
		return "disk full";
	case EACCES:
	case EPERM:
		return "permission denied";
	case ENOTDIR:
		return "not a directory";
	case EISDIR:
		return "it is a directory";
	default:
		return strerror(error);
	}
}

static int cannot_write(const char *path, int error, struct stoke_error *err)
{
	return fail(err, -error, "cannot write %s: %s", path, reason(error));
}

static void append_clean(FILE *out, const char *text)
{
	/* A name comes from whoever wrote the program: no dots in front, no slashes, no blanks. */
	for (size_t i = 0; text[i] && i < 48; i++) {
		int fit = (text[i] >= 'a' && text[i] <= 'z') ||
			  (text[i] >= 'A' && text[i] <= 'Z') ||
			  (text[i] >= '0' && text[i] <= '9') || text[i] == '_' || text[i] == '-' ||
			  (text[i] == '.' && i);

		fputc(fit ? text[i] : '_', out);
	}
}

static void append_time(FILE *out, time_t when)
{
	char text[32];
	struct tm tm;

	if (localtime_r(&when, &tm) && strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm))
		fputs(text, out);
	else
		fprintf(out, "%lld", (long long)when);
}

static int append_escape(
	FILE *out, char letter, const struct output_names *names, struct stoke_error *err)
{
	char host[HOST_NAME_MAX + 1] = "";

	switch (letter) {
	case '%':
		fputc('%', out);
		return 0;
	case 'n':
		append_clean(out, names->name);
		return 0;
	case 'h':
		(void)gethostname(host, sizeof(host) - 1); /* an empty name is one, too */
		append_clean(out, host);
		return 0;
	case 't':
		append_time(out, names->time);
		return 0;
	case 'p':
		if (!names->pid)
			return fail(err, -EINVAL,
				"%%p in a file name: there is not one PID; %%n is the "
				"name, %%t the time");
		fprintf(out, "%d", (int)names->pid);
		return 0;
	default:
		return fail(err, -EINVAL,
			"%%%c in a file name: there are %%p PID, %%n name, %%h host, %%t time and "
			"%%%%",
			letter ? letter : ' ');
	}
}

char *output_expand(const char *text, const struct output_names *names, struct stoke_error *err)
{
	char *result = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&result, &size);
	int r = 0;

	if (!out) {
		(void)fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	for (; *text && r == 0; text++) {
		if (*text != '%') {
			fputc(*text, out);
			continue;
		}
		r = append_escape(out, text[1], names, err);
		text += !!text[1];
	}
	if (fclose(out) == EOF)
		r = fail(err, -ENOMEM, "out of memory");
	if (r < 0) {
		free(result);
		return NULL;
	}
	return result;
}

char *output_default_stem(const struct output_names *names)
{
	return output_expand(names->pid ? "stoke-%n-%p-%t" : "stoke-%n-%t", names, NULL);
}

static char *absolute(const char *path)
{
	_cleanup_free_ char *here = NULL;
	char *result;

	if (*path == '/')
		return strdup(path);
	here = getcwd(NULL, 0);
	if (!here || *here != '/')
		return strdup(path); /* the directory is gone: the name alone must do */
	while (!strncmp(path, "./", 2))
		path += 2;
	return asprintf(&result, "%s%s%s", here, strcmp(here, "/") ? "/" : "", path) < 0 ? NULL
											 : result;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Behind sudo a file in somebody's own directory is theirs, not root's. */
static void give_to_caller(int fd, const char *directory)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	unsigned long user, group;
	struct stat st;

	if (geteuid() || !uid || !gid || stat(directory, &st) < 0)
		return;
	user = strtoul(uid, NULL, 10);
	group = strtoul(gid, NULL, 10);
	if (user && user == st.st_uid)
		(void)fchown(fd, (uid_t)user, (gid_t)group); /* root's file is a file, too */
}

/* A file that exists and is not a regular one, or that stands for an open descriptor. */
static int is_in_place(const char *path)
{
	struct stat st;

	if (!strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/dev/std", 8) ||
		!strncmp(path, "/proc/", 6))
		return 1;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int open_beside(struct output *output, const char *directory)
{
	const char *slash = strrchr(output->path, '/');
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	/* No O_TMPFILE here: a hidden name, so that what is left after a crash is seen as such. */
	if (asprintf(&output->temporary, "%s/.%.200s.XXXXXX", directory,
		    slash ? slash + 1 : output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(take_pointer(output->temporary));
	}
	return fd;
}

static int open_file(struct output *output)
{
	_cleanup_free_ char *directory = directory_of(output->path);
	struct stat st;
	int fd;

	if (!directory)
		return -ENOMEM;
	if (stat(output->path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (is_in_place(output->path)) {
		output->in_place = 1;
		fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	fd = open_beside(output, directory);
	if (fd >= 0) {
		(void)fchmod(fd, 0644); /* file systems without modes have nothing to set */
		give_to_caller(fd, directory);
	}
	return fd;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(output->fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (!output->error)
				output->error = errno;
			return 0; /* what fopencookie(3) wants to hear of an error */
		}
		done += (size_t)n;
	}
	return (ssize_t)size;
}

static int open_stream(struct output *output)
{
	const cookie_io_functions_t functions = {.write = stream_write};

	output->stream = fopencookie(output, "w", functions);
	if (!output->stream)
		return -ENOMEM;
	(void)setvbuf(output->stream, NULL, _IOFBF, STREAM_BUFFER); /* else a smaller one */
	return 0;
}

int output_open(const char *path, unsigned flags, struct output **ret, struct stoke_error *err)
{
	struct output *output = calloc(1, sizeof(*output));
	int fd;

	if (!output)
		return fail(err, -ENOMEM, "out of memory");
	output->fd = -1;
	output->flags = flags;
	output->is_stdout = !strcmp(path, "-");
	output->in_place = output->is_stdout;
	output->path = output->is_stdout ? strdup("-") : absolute(path);
	if (!output->path) {
		fd = -ENOMEM;
		goto fail;
	}
	fd = output->is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open_file(output);
	if (output->is_stdout && fd < 0)
		fd = -errno;
	if (fd < 0)
		goto fail;
	output->fd = fd;
	fd = open_stream(output);
	if (fd < 0)
		goto fail;
	*ret = output;
	return 0;
fail:
	(void)cannot_write(output->is_stdout ? "to standard output" : path, -fd, err);
	output_close(output);
	return fd;
}

FILE *output_stream(struct output *output)
{
	return output->stream;
}

int output_is_stdout(const struct output *output)
{
	return output->is_stdout;
}

/* Gives the open file this name; it must not exist yet. */
static int link_as(const struct output *output, int fd, const char *path)
{
	char proc[64];

	if (output->temporary)
		return link(output->temporary, path) < 0 ? -errno : 0;
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, proc, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ||
		linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) == 0)
		return 0;
	return -errno;
}

/* "a.pb.gz" and 2 -> "a-2.pb.gz". */
static char *numbered(const char *path, int n)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strchr(slash ? slash + 1 : path, '.');
	size_t stem = dot ? (size_t)(dot - path) : strlen(path);
	char *result;

	return asprintf(&result, "%.*s-%d%s", (int)stem, path, n, path + stem) < 0 ? NULL : result;
}

/* The name, or the first free one behind it. */
static int commit_new(struct output *output, int fd)
{
	int r = link_as(output, fd, output->path);

	for (int n = 2; r == -EEXIST && n <= MAX_SAME_NAME; n++) {
		_cleanup_free_ char *path = numbered(output->path, n);

		if (!path)
			return -ENOMEM;
		r = link_as(output, fd, path);
		if (r == 0) {
			free(output->path);
			output->path = take_pointer(path);
		}
	}
	return r;
}

/* Over whatever has the name. linkat() replaces nothing, so a name beside it comes first. */
static int commit_over(struct output *output, int fd)
{
	_cleanup_free_ char *beside = NULL;
	int r;

	if (output->temporary)
		return rename(output->temporary, output->path) < 0 ? -errno : 0;
	r = link_as(output, fd, output->path);
	if (r != -EEXIST)
		return r;
	if (asprintf(&beside, "%s.%d~", output->path, (int)getpid()) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	r = link_as(output, fd, beside);
	if (r == 0 && rename(beside, output->path) < 0) {
		r = -errno;
		(void)unlink(beside); /* the first error is the one to tell */
	}
	return r;
}

/* Some file systems tell of a full disk only when a descriptor of the file is closed. */
static int flush_to_disk(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0 || close(copy) < 0)
		return -errno;
	return 0;
}

static int commit(struct output *output)
{
	struct stat st;
	int r = 0;

	if (fflush(output->stream) == EOF || ferror(output->stream))
		return output->error ? -output->error : -EIO;
	r = flush_to_disk(output->fd);
	if (r < 0)
		return r;
	if (fstat(output->fd, &st) == 0)
		output->size_bytes = (unsigned long long)st.st_size;
	if (output->in_place)
		return 0;
	return output->flags & OUTPUT_KEEP ? commit_new(output, output->fd)
					   : commit_over(output, output->fd);
}

int output_commit(struct output *output, struct stoke_error *err)
{
	const char *slash = output->in_place ? NULL : strrchr(output->path, '/');
	int r = commit(output);

	if (r < 0)
		return fail(err, r, "%s not written (%s)",
			output->is_stdout ? "standard output"
			: slash		  ? slash + 1
					  : output->path,
			reason(-r));
	return 0;
}

const char *output_path(const struct output *output)
{
	return output->path;
}

unsigned long long output_size(const struct output *output)
{
	return output->size_bytes;
}

void output_close(struct output *output)
{
	if (!output)
		return;
	if (output->stream)
		(void)fclose(output->stream); /* given up: nobody waits for these bytes */
	if (output->fd >= 0)
		(void)close(output->fd); /* committed ones were flushed, with their errors heard */
	if (output->temporary)
		(void)unlink(output->temporary); /* already renamed: there is nothing */
	free(output->temporary);
	free(output->path);
	free(output);
}

char *output_default_directory(int *ret_elsewhere)
{
	const char *candidates[] = {".", getenv("TMPDIR"), "/tmp"};

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (!candidates[i] || !*candidates[i] || access(candidates[i], W_OK | X_OK) < 0)
			continue;
		*ret_elsewhere = i > 0;
		return strdup(candidates[i]);
	}
	*ret_elsewhere = 0;
	return strdup("."); /* opening a file there will say what is wrong */
}
