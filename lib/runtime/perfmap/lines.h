/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_PERFMAP_LINES_H
#define STOKE_RUNTIME_PERFMAP_LINES_H

/* One line of a perf map, of whatever producer: START SIZE NAME. Pure. */

#include <stddef.h>
#include <stdint.h>

#define PERFMAP_NAME_MAX_BYTES 4096

struct perfmap_line {
	uint64_t start;
	uint32_t size; /* 0: this address only */
	const char *name; /* the rest of the line, into it; never empty */
	size_t name_size;
	int cut; /* the name was longer than PERFMAP_NAME_MAX_BYTES */
};

/* line without its newline. 0; -EINVAL not such a line; -ERANGE numbers that no code can have. */
int perfmap_parse_line(const char *line, size_t size, struct perfmap_line *ret);

#endif
