/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_FILE_H
#define STOKE_BASE_FILE_H

/*
 * Files whose place, kind, size and content somebody else decides. What is opened is looked at
 * first (O_PATH), so that neither a FIFO blocks nor a device is touched. None of this has a time
 * limit of its own: where a file system may hang, it runs in a worker (base/worker.h).
 */

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#define FILE_ANY_OWNER ((uid_t)-1)

/* A path as it stands, through dir_fd; links are followed, magic ones of /proc too. O_PATH.
 * The fd or -errno. */
int file_find(int dir_fd, const char *path);
/* A path below root_fd as a process whose root that is would see it: no link, "..", or mount
 * trick leads out. The last component is no link (-ELOOP). O_PATH. */
int file_find_in_root(int root_fd, const char *path);
/* Opens for reading what the O_PATH fd holds, which stays the caller's. The fd, or -errno:
 * -EISDIR, -EINVAL not a regular file, -EPERM neither owner's nor root's. */
int file_open_found(int path_fd, uid_t owner, struct stat *ret_stat);

/* Reads from offset on until `max` bytes or the end. Bytes read, or -errno. */
ssize_t file_read(int fd, void *buffer, size_t max, off_t offset);
/* A whole small file such as those of /proc, whose size stat does not know; followed by a NUL
 * that is not counted. 0, -E2BIG when it is longer than max, -errno. *ret is for free(). */
int file_read_text(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_size);

#endif
