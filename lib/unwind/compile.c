/* SPDX-License-Identifier: BSD-2-Clause */
/* compile.c: 10 ms for a MB of .eh_frame, more on a crowded machine, so never where samples wait.
 */
#include "unwind/compile.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "unwind/ehframe.h"

#define COMPILE_NICE -10

int compile_new(struct compile **ret)
{
	struct compile *compile = calloc(1, sizeof(*compile));

	if (!compile)
		return -ENOMEM;
	compile->event_fd = -1;
	*ret = compile;
	return 0;
}

static void compiled_done(struct compiled *file)
{
	if (file->fd >= 0)
		(void)close(file->fd); /* only read */
	free(file->image);
	unwind_table_done(&file->table);
	free(file->segments);
}

void compile_free(struct compile *compile)
{
	if (!compile)
		return;
	for (size_t i = 0; i < compile->nr; i++)
		compiled_done(&compile->files[i]);
	if (compile->event_fd >= 0)
		(void)close(compile->event_fd);
	free(compile);
}

void compile_drop(void *arg)
{
	compile_free(arg);
}

static int keep_segments(struct compiled *file, const struct elf_file *elf)
{
	file->segments = calloc(elf->nr_segments + 1, sizeof(*file->segments));
	if (!file->segments)
		return -ENOMEM;
	for (size_t i = 0; i < elf->nr_segments; i++) {
		if (elf->segments[i].flags & PF_X)
			file->segments[file->nr_segments++] = elf->segments[i];
	}
	return 0;
}

static int take_rows(void *arg, const struct unwind_row *items, size_t nr)
{
	return unwind_table_add(arg, items, nr);
}

/* A file that is written to is half one and half another: of such nothing is believed. */
static int unchanged(const struct elf_file *elf, const struct stat *before)
{
	struct stat now;

	if (elf->fd < 0)
		return 1;
	return fstat(elf->fd, &now) == 0 && now.st_size == before->st_size &&
	       now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == before->st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

static int compile_file(struct compiled *file)
{
	const struct unwind_taker taker = {take_rows, &file->table};
	struct unwind_rows rows = {0};
	struct stat before = {0};
	struct elf_file *elf;
	int r;

	if (!file->image && fstat(file->fd, &before) < 0)
		return -errno;
	r = file->image ? elf_file_open_image(file->image, file->image_size, &elf)
			: elf_file_open(file->fd, &elf);
	if (r < 0)
		return r;
	file->fd = -1;
	r = keep_segments(file, elf);
	if (r == 0)
		r = ehframe_hand_over(elf, &taker, &rows);
	if (r == 0 && !unchanged(elf, &before))
		r = -ESTALE;
	unwind_rows_done(&rows);
	elf_file_close(elf);
	return r;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void compile_job(void *arg)
{
	struct compile *compile = arg;
	uint64_t end_ms = now_ms() + compile->limit_ms, one = 1;

	/* On a crowded machine samples would wait for it ten times as long. On Linux this thread
	 * alone is meant; it needs CAP_SYS_NICE, and goes on without. */
	(void)setpriority(PRIO_PROCESS, 0, COMPILE_NICE);
	for (size_t i = 0; i < compile->nr; i++) {
		struct compiled *file = &compile->files[i];

		if (i > 0 && compile->limit_ms && now_ms() >= end_ms)
			break;
		file->error = compile_file(file);
		file->done = 1;
	}
	/* Whoever waits looks now and then anyway. */
	if (compile->event_fd >= 0)
		(void)!write(compile->event_fd, &one, sizeof(one));
}

int segments_address(const struct elf_segment *segments, size_t nr, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < nr; i++) {
		const struct elf_segment *it = &segments[i];
		/* Mappings begin at pages, which a segment need not. */
		uint64_t start = it->offset & ~(uint64_t)0xfff;

		if (offset >= start && offset - start < it->file_size + (it->offset - start)) {
			*ret = it->vaddr - it->offset + offset;
			return 0;
		}
	}
	return -ENOENT;
}
