/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c: from "mapped there, called so" to an open file that is the mapped one for sure. Whoever
 * made the file system may never answer, so whatever could ask it runs in a worker. */
#include "process/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/worker.h"
#include "process/maps.h"
#include "process/note.h"

#define FDS_LEFT_FREE	   64
#define OWN_MAPS_MAX_BYTES (16 * 1024 * 1024)
#define VDSO_MAX_BYTES	   (256 * 1024)

/* Input and result of the worker; owns all it points at. */
struct opening {
	int proc_fd;
	pid_t pid;
	uint64_t start, end;
	char *path;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t dev, ino;
	int found_fd; /* O_PATH of the map_files entry, -1 */
	/* result */
	int fd, error, elf;
	uint8_t found_id[MODULE_BUILD_ID_MAX];
	uint8_t found_id_size;
	uint64_t found_dev, found_ino;
};

static void drop_opening(void *arg)
{
	struct opening *opening = arg;

	cleanup_close(&opening->proc_fd);
	cleanup_close(&opening->found_fd);
	cleanup_close(&opening->fd);
	free(opening->path);
	free(opening);
}

int module_keep_fd(int fd)
{
	struct rlimit limit;

	/* The kernel gives the lowest free number, so a high one means that few are left. */
	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
		limit.rlim_cur <= FDS_LEFT_FREE || (rlim_t)fd < limit.rlim_cur - FDS_LEFT_FREE)
		return fd;
	(void)close(fd); /* read only */
	return -EMFILE;
}

/* What the kernel shows in maps as device and inode of a mapped file is not always what fstat()
 * says (btrfs, overlayfs), so map it here, untouched, and look. */
static int same_when_mapped(int fd, uint64_t dev, uint64_t ino)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	struct map_line map;
	int same = 0;
	void *here;

	here = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (here == MAP_FAILED)
		return 0;
	if (file_read_text(AT_FDCWD, "/proc/self/maps", OWN_MAPS_MAX_BYTES, &text, &size) == 0) {
		scan = scan_of(text, size);
		while (!same && scan_line(&scan, &line)) {
			same = maps_parse_line(line.at, scan_left(&line), &map) == 0 &&
			       map.start <= (uintptr_t)here && (uintptr_t)here < map.end &&
			       map.dev == dev && map.ino == ino;
		}
	}
	(void)munmap(here, page); /* just mapped: cannot fail */
	return same;
}

/* Is this the file that was mapped? exact: it was reached through map_files, where only a mapping
 * made later at the same range could be another one. */
static int is_mapped_file(const struct opening *opening, int fd, const struct stat *stat, int exact)
{
	if (opening->build_id_size)
		return opening->build_id_size == opening->found_id_size &&
		       memcmp(opening->build_id, opening->found_id, opening->build_id_size) == 0;
	if (!opening->ino)
		return exact;
	if (stat->st_ino == opening->ino && (exact || stat->st_dev == opening->dev))
		return 1;
	return same_when_mapped(fd, opening->dev, opening->ino);
}

/* Opens what an O_PATH fd holds, if it is the mapped file. 0, -ESTALE or -errno. */
static int open_and_check(struct opening *opening, int path_fd, int exact)
{
	_cleanup_close_ int fd = -1;
	struct stat stat;
	int r;

	if (path_fd < 0)
		return path_fd;
	fd = file_open_found(path_fd, FILE_ANY_OWNER, &stat);
	if (fd < 0)
		return fd;
	opening->found_id_size = 0;
	r = note_read_build_id(
		fd, opening->found_id, sizeof(opening->found_id), &opening->found_id_size);
	if (r < 0 && r != -ENOEXEC)
		return r;
	if (!is_mapped_file(opening, fd, &stat, exact))
		return -ESTALE;
	opening->elf = r == 0;
	opening->found_dev = stat.st_dev;
	opening->found_ino = stat.st_ino;
	opening->fd = take_fd(fd);
	return 0;
}

static int open_in_root(struct opening *opening)
{
	_cleanup_close_ int root_fd = -1, path_fd = -1;
	char path[64];

	if (opening->path[0] != '/')
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "%d/root", opening->pid);
	root_fd = openat(opening->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	path_fd = file_find_in_root(root_fd, opening->path);
	return open_and_check(opening, path_fd, 0);
}

static void run_opening(void *arg)
{
	struct opening *opening = arg;
	_cleanup_close_ int path_fd = -1;
	int r;

	r = open_and_check(opening, opening->found_fd, 1);
	if (r < 0 && r != -EMFILE) {
		int first = r;

		r = open_in_root(opening);
		if (r == -ENOENT && first != -ENOENT && first != -EPERM)
			r = first; /* says more */
	}
	/* Lines of maps name files from the reader's root. Without an identity this could be any
	 * file of the same name. */
	if (r < 0 && r != -EMFILE && opening->path[0] == '/' &&
		(opening->build_id_size || opening->ino)) {
		int last;

		path_fd = file_find(AT_FDCWD, opening->path);
		last = open_and_check(opening, path_fd, 0);
		if (last == 0 || last == -ESTALE)
			r = last;
	}
	opening->error = -r;
}

/* A file on a block device answers without anybody's help; statx of an O_PATH fd with DONT_SYNC
 * asks nobody. (Linux, fs/fuse/dir.c: fuse_update_get_attr()) */
static int answers_surely(int path_fd)
{
	struct statx statx_;

	return path_fd >= 0 &&
	       statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &statx_) == 0 &&
	       statx_.stx_dev_major != 0;
}

static struct opening *new_opening(const struct host *host, const struct module_sight *sight)
{
	struct opening *opening = calloc(1, sizeof(*opening));
	char path[96];

	if (!opening)
		return NULL;
	*opening = (struct opening){
		.pid = sight->pid,
		.start = sight->start,
		.end = sight->end,
		.dev = sight->dev,
		.ino = sight->ino,
		.build_id_size = sight->build_id_size,
		.found_fd = -1,
		.fd = -1,
		.elf = -1,
	};
	if (sight->build_id_size)
		memcpy(opening->build_id, sight->build_id, sight->build_id_size);
	opening->proc_fd = fcntl(host->proc_fd, F_DUPFD_CLOEXEC, 3);
	opening->path = strndup(sight->path, sight->path_size);
	if (!opening->path) {
		drop_opening(opening);
		return NULL;
	}
	(void)snprintf(path, sizeof(path), "%d/map_files/%llx-%llx", sight->pid,
		(unsigned long long)sight->start, (unsigned long long)sight->end);
	opening->found_fd = file_find(host->proc_fd, path); /* -errno is what it says if it fails */
	return opening;
}

int module_open(
	const struct host *host, const struct module_sight *sight, struct module *ret, int *ret_elf)
{
	struct opening *opening = new_opening(host, sight);
	int r = 0;

	if (!opening)
		return -ENOMEM;
	if (answers_surely(opening->found_fd))
		opening->error = -open_and_check(opening, opening->found_fd, 1);
	if (opening->fd < 0) {
		r = worker_run(run_opening, drop_opening, opening, MODULE_OPEN_TIMEOUT_MS);
		if (r == -ETIMEDOUT) {
			*ret_elf = -1;
			ret->open_error = ETIMEDOUT;
			return 0;
		}
		if (r < 0)
			opening->error = -r;
	}
	*ret_elf = opening->elf;
	if (opening->fd >= 0) {
		ret->dev = opening->found_dev;
		ret->ino = opening->found_ino;
		ret->build_id_size = opening->found_id_size;
		memcpy(ret->build_id, opening->found_id, opening->found_id_size);
		ret->fd = module_keep_fd(take_fd(opening->fd));
		if (ret->fd < 0) {
			ret->fd = -1;
			opening->error = EMFILE;
		}
	}
	ret->open_error = ret->fd < 0 ? opening->error : 0;
	drop_opening(opening);
	return 0;
}

/* A read of the target's memory can fault into a file system of its making. */
struct image_job {
	pid_t pid;
	uint64_t start;
	size_t size;
	uint8_t *image;
	int error;
};

static void drop_image(void *arg)
{
	struct image_job *job = arg;

	free(job->image);
	free(job);
}

static void read_image(void *arg)
{
	struct image_job *job = arg;
	struct iovec here = {job->image, job->size};
	struct iovec there = {(void *)(uintptr_t)job->start, job->size}; /* NOLINT: by the ABI */
	ssize_t n = process_vm_readv(job->pid, &here, 1, &there, 1, 0);

	job->error = n < 0 ? errno : (size_t)n < job->size ? EFAULT : 0;
}

static uint8_t *copy_memory(pid_t pid, uint64_t start, size_t size, int *ret_error)
{
	struct image_job *job = calloc(1, sizeof(*job));
	uint8_t *image;
	int r;

	*ret_error = -ENOMEM;
	if (!job)
		return NULL;
	*job = (struct image_job){.pid = pid, .start = start, .size = size, .image = malloc(size)};
	r = job->image ? worker_run(read_image, drop_image, job, MODULE_OPEN_TIMEOUT_MS) : -ENOMEM;
	if (r == -ETIMEDOUT) {
		*ret_error = r;
		return NULL;
	}
	if (r == 0)
		r = -job->error;
	image = r == 0 && memcmp(job->image, "\177ELF", 4) == 0 ? take_pointer(job->image) : NULL;
	*ret_error = r == 0 ? -ENOEXEC : r;
	drop_image(job);
	return image;
}

/* This process's own vDSO, if its mapping is of that size: the kernel has one for each ABI. */
static uint8_t *copy_own(size_t size)
{
	const uint8_t *own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: by the ABI */
	_cleanup_free_ char *text = NULL;
	struct scan scan, line;
	struct map_line map;
	size_t text_size;
	uint8_t *image;

	if (!own || file_read_text(
			    AT_FDCWD, "/proc/self/maps", OWN_MAPS_MAX_BYTES, &text, &text_size) < 0)
		return NULL;
	scan = scan_of(text, text_size);
	while (scan_line(&scan, &line)) {
		if (maps_parse_line(line.at, scan_left(&line), &map) < 0 ||
			map.start != (uintptr_t)own || map.end - map.start != size)
			continue;
		image = malloc(size);
		if (image)
			memcpy(image, own, size);
		return image;
	}
	return NULL;
}

int module_read_vdso(
	const struct host *host, pid_t pid, uint64_t start, uint64_t end, struct module *ret)
{
	size_t size = (size_t)(end - start);
	int r = -EFBIG;

	(void)host; /* memory has no other place than this machine */
	if (end - start > VDSO_MAX_BYTES)
		return r;
	ret->image = copy_memory(pid, start, size, &r);
	if (!ret->image && start > UINT32_MAX)
		ret->image = copy_own(size);
	if (!ret->image)
		return r;
	ret->image_size = size;
	return 0;
}
