/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_MAPS_H
#define STOKE_PROCESS_MAPS_H

/* One line of /proc/PID/maps. Pure: text in, struct out. */

#include <stddef.h>
#include <stdint.h>

struct map_line {
	uint64_t start, end, offset;
	uint64_t dev, ino; /* dev as makedev() */
	uint32_t prot; /* PROT_* */
	const char *path; /* into the line, without " (deleted)"; a newline in it stands as \012 */
	size_t path_size; /* 0: memory without a name */
	int deleted;
};

/* line without its newline. 0 or -EINVAL. */
int maps_parse_line(const char *line, size_t size, struct map_line *ret);

/* Takes " (deleted)", which the kernel puts behind the paths of files that lost their name, off
 * *size. 1: it was there. */
int maps_strip_deleted(const char *path, size_t *size);

/* Memory that the kernel names like a file, or not at all, but no file is behind it that could
 * have symbols: anonymous, memfd, shared /dev/zero, SysV shared memory, huge pages. */
int maps_anonymous(const char *path, size_t size);

#endif
