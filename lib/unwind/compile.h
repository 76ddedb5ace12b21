/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_COMPILE_H
#define STOKE_UNWIND_COMPILE_H

/* A worker's job: files -> tables, one after the other. Shares nothing with anybody. */

#include <stddef.h>
#include <stdint.h>

#include "elf/file.h"
#include "unwind/table.h"

/* One file. */
struct compiled {
	uint32_t module; /* the caller's own number for it */
	int fd; /* owned; -1: image */
	uint8_t *image; /* owned */
	size_t image_size;
	int done; /* the rest is filled in; else the time was over before its turn */
	int error; /* 0, or why there is no table: -ENOENT when the file tells nothing, -ESTALE when
		      it was written to meanwhile */
	struct unwind_table table;
	struct elf_segment *segments; /* executable ones */
	size_t nr_segments;
};

#define COMPILE_MAX 32

struct compile {
	struct compiled files[COMPILE_MAX];
	size_t nr;
	unsigned limit_ms; /* no further file is begun after that */
	int event_fd; /* owned: an eventfd that is written at the end, -1: none */
};

/* 0, -ENOMEM. Zeroed, without files. */
int compile_new(struct compile **ret);
void compile_free(struct compile *compile);

/* Jobs for worker.h: arg is a struct compile. */
void compile_job(void *arg);
void compile_drop(void *arg);

/* The file's own address of an offset in it, by its executable segments. 0, -ENOENT. */
int segments_address(const struct elf_segment *segments, size_t nr, uint64_t offset, uint64_t *ret);

#endif
