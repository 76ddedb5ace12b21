/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_PERFMAP_JOB_H
#define STOKE_RUNTIME_PERFMAP_JOB_H

/*
 * What is done with the file itself, in a worker: finding, checking and reading it piece by piece.
 * Everything in a job is its own.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERFMAP_MAX_BYTES   (512ull * 1024 * 1024)
#define PERFMAP_PART_BYTES  (2u * 1024 * 1024) /* read in one go: a huge page */
#define PERFMAP_CHECK_BYTES 4096 /* before the end of what was read: unchanged if it only grew */

/* As much of a file as says whether it is the one that was read. */
struct perfmap_seen {
	uint64_t dev, ino;
	int64_t mtime_ns;
	uint64_t size; /* of the file */
	uint64_t offset; /* read up to here, whole lines */
	char check[PERFMAP_CHECK_BYTES]; /* the bytes before offset */
	size_t check_size;
};

enum perfmap_change {
	PERFMAP_SAME, /* nothing to read */
	PERFMAP_GROWN, /* from offset on */
	PERFMAP_OTHER /* another file or other content: all of it */
};

struct perfmap_job {
	/* input */
	int root_fd; /* of the target */
	char path[2][64]; /* in it, in order; "" for none */
	uid_t owner;
	int64_t oldest_ns; /* a file not written since is of another process; 0: any */
	struct perfmap_seen seen;
	/* result; fd >= 0 is input, too: goes on reading from offset */
	int fd;
	int error; /* errno, 0 */
	size_t which; /* path that error or file is of */
	uid_t found_owner;
	enum perfmap_change change;
	uint64_t offset; /* of text in the file */
	uint64_t end; /* of the file when it was opened: not read beyond */
	char *text; /* reused from part to part */
	size_t size;
	int settled; /* not written to while or just before it was read */
};

/* Closes and frees. */
void perfmap_job_drop(void *job);
/* For worker_start(). Errors: ENOENT, ELOOP a link, EISDIR, EINVAL not a file, EPERM owner, EFBIG
 * too large, ESTALE not written since oldest_ns, others of the file system. */
void perfmap_job_run(void *job);

#endif
