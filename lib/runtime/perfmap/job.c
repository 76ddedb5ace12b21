/* SPDX-License-Identifier: BSD-2-Clause */
/* job.c: the file side of a reading. It may hang for ever; perfmap.c never waits for ever. */
#include "runtime/perfmap/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

/* A map that is written anew as a whole (jcmd) takes up to 60 ms for 8,000 methods. */
#define SETTLED_AFTER_NS 200000000

void perfmap_job_drop(void *arg)
{
	struct perfmap_job *job = arg;

	cleanup_close(&job->root_fd);
	cleanup_close(&job->fd);
	free(job->text);
	free(job);
}

static int64_t ns_of(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Opens the one at that path if it may be used. The fd or -errno. */
static int open_at(struct perfmap_job *job, const char *path, struct stat *ret)
{
	_cleanup_close_ int found = file_find_in_root(job->root_fd, path);
	_cleanup_close_ int fd = -1;
	struct stat stat;

	if (found < 0)
		return found;
	if (fstat(found, &stat) < 0)
		return -errno;
	job->found_owner = stat.st_uid;
	fd = file_open_found(found, job->owner, ret);
	if (fd < 0)
		return fd;
	if ((uint64_t)ret->st_size > PERFMAP_MAX_BYTES)
		return -EFBIG;
	if (job->oldest_ns && ns_of(ret->st_mtim) < job->oldest_ns)
		return -ESTALE;
	return take_fd(fd);
}

static int open_first(struct perfmap_job *job, struct stat *ret)
{
	int first = -ENOENT;

	for (size_t i = 0; i < 2 && job->path[i][0]; i++) {
		uid_t owner = job->found_owner;
		int fd = open_at(job, job->path[i], ret);

		if (fd >= 0 || first == -ENOENT || first == -EISDIR) {
			job->which = i;
			first = fd;
		} else { /* the one refused before says more */
			job->found_owner = owner;
		}
		if (fd >= 0)
			return fd;
	}
	return first;
}

static enum perfmap_change compare(int fd, const struct perfmap_seen *seen, const struct stat *stat)
{
	char check[PERFMAP_CHECK_BYTES];
	ssize_t n;

	if (stat->st_dev != seen->dev || stat->st_ino != seen->ino ||
		(uint64_t)stat->st_size < seen->offset)
		return PERFMAP_OTHER;
	if ((uint64_t)stat->st_size == seen->size && ns_of(stat->st_mtim) == seen->mtime_ns)
		return PERFMAP_SAME;
	n = file_read(fd, check, seen->check_size, (off_t)(seen->offset - seen->check_size));
	if (n != (ssize_t)seen->check_size || memcmp(check, seen->check, seen->check_size) != 0)
		return PERFMAP_OTHER;
	return PERFMAP_GROWN;
}

static int begin(struct perfmap_job *job)
{
	struct stat stat;
	int fd = open_first(job, &stat);

	if (fd < 0)
		return fd;
	job->fd = fd;
	job->change = compare(fd, &job->seen, &stat);
	job->offset = job->change == PERFMAP_OTHER ? 0 : job->seen.offset;
	if (job->change == PERFMAP_OTHER)
		job->seen = (struct perfmap_seen){0};
	job->end = (uint64_t)stat.st_size;
	job->seen.dev = stat.st_dev;
	job->seen.ino = stat.st_ino;
	job->seen.size = (uint64_t)stat.st_size;
	job->seen.mtime_ns = ns_of(stat.st_mtim);
	return 0;
}

static void look_if_settled(struct perfmap_job *job)
{
	struct timespec now;
	struct stat stat;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* fails for unknown clocks only */
	job->settled = fstat(job->fd, &stat) == 0 && (uint64_t)stat.st_size == job->seen.size &&
		       ns_of(stat.st_mtim) == job->seen.mtime_ns &&
		       ns_of(now) - job->seen.mtime_ns > SETTLED_AFTER_NS;
}

static char *part_new(size_t size)
{
	char *part;

	if (size < PERFMAP_PART_BYTES)
		return malloc(size ? size : 1);
	part = aligned_alloc(PERFMAP_PART_BYTES, PERFMAP_PART_BYTES);
	if (part)
		(void)madvise(part, PERFMAP_PART_BYTES, MADV_HUGEPAGE); /* faster, no more */
	return part;
}

static int read_part(struct perfmap_job *job)
{
	size_t want = PERFMAP_PART_BYTES;
	ssize_t n;

	if (job->end - job->offset < want)
		want = (size_t)(job->end - job->offset);
	if (!job->text) /* the first part is the largest */
		job->text = part_new(want);
	if (!job->text)
		return -ENOMEM;
	n = file_read(job->fd, job->text, want, (off_t)job->offset);
	if (n < 0)
		return (int)n;
	job->size = (size_t)n;
	if (job->size < want) /* it shrank meanwhile */
		job->end = job->offset + job->size;
	if (job->offset + job->size == job->end)
		look_if_settled(job);
	return 0;
}

void perfmap_job_run(void *arg)
{
	struct perfmap_job *job = arg;
	int r = 0;

	if (job->fd < 0)
		r = begin(job);
	if (r == 0 && job->change != PERFMAP_SAME)
		r = read_part(job);
	job->error = -r;
}
