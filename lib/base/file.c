/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c: opening and reading what a hostile process may have put there. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

int file_find(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Without openat2 (a seccomp filter of its time): component by component, no link at all. */
static int find_step_by_step(int root_fd, const char *path)
{
	_cleanup_close_ int dir_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
	char name[256];

	if (dir_fd < 0)
		return -errno;
	for (;;) {
		size_t size;
		int fd;

		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (!size || size >= sizeof(name))
			return size ? -ENAMETOOLONG : -ENOENT;
		memcpy(name, path, size);
		name[size] = '\0';
		path += size;
		if (strcmp(name, "..") == 0)
			return -EXDEV;
		fd = openat(
			dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (*path ? O_DIRECTORY : 0));
		if (fd < 0)
			return errno == ENOTDIR ? -ELOOP : -errno;
		if (!*path)
			return fd;
		(void)close(dir_fd); /* O_PATH: nothing to lose */
		dir_fd = fd;
	}
}

int file_find_in_root(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int found = -1;
	struct stat stat;
	int fd;

	fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = find_step_by_step(root_fd, path);
	else if (fd < 0)
		fd = -errno;
	if (fd < 0)
		return fd;
	found = fd;
	if (fstat(found, &stat) < 0)
		return -errno;
	if (S_ISLNK(stat.st_mode)) /* O_PATH | O_NOFOLLOW opens the link itself */
		return -ELOOP;
	return take_fd(found);
}

int file_open_found(int path_fd, uid_t owner, struct stat *ret_stat)
{
	char path[64];
	struct stat stat;
	int fd;

	if (fstat(path_fd, &stat) < 0)
		return -errno;
	if (S_ISDIR(stat.st_mode))
		return -EISDIR;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	if (owner != FILE_ANY_OWNER && stat.st_uid != owner && stat.st_uid != 0)
		return -EPERM;
	/* The one inode that was looked at, whatever its name leads to by now. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ret_stat)
		*ret_stat = stat;
	return fd;
}

ssize_t file_read(int fd, void *buffer, size_t max, off_t offset)
{
	size_t size = 0;

	while (size < max) {
		ssize_t n = pread(fd, (char *)buffer + size, max - size, offset + (off_t)size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	return (ssize_t)size;
}

int file_read_text(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_size)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t size = 0, capacity = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n;
		int r;

		/* Half of what is there already, at least a page: /proc gives a page at a time. */
		r = array_reserve(&text, &capacity, size, 4096 + size / 2);
		if (r < 0)
			return r;
		n = read(fd, text + size, capacity - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
		if (size > max)
			return -E2BIG;
	}
	text[size] = '\0';
	*ret = take_pointer(text);
	*ret_size = size;
	return 0;
}
