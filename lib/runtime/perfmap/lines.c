/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c: the format that tools/perf/Documentation/jit-interface.txt asks for and what producers
 * make of it: 0x and 0X, zeros in front, capitals (HotSpot, .NET, early CPython, Erlang), names
 * with blanks (signatures, paths), several blanks between the fields.
 */
#include "runtime/perfmap/lines.h"

#include <errno.h>

#include "base/scan.h"

#define ADDRESS_END (1ull << 63) /* of user memory on any machine */

/* The most bytes, up to max, that end between two characters of UTF-8. */
static size_t whole_characters(const char *text, size_t max)
{
	size_t size = max;

	while (size > max - 3 && ((uint8_t)text[size] & 0xc0) == 0x80)
		size--;
	return size;
}

int perfmap_parse_line(const char *line, size_t size, struct perfmap_line *ret)
{
	struct scan scan = scan_of(line, size);
	uint64_t start, length;
	int r;

	r = scan_hex_prefixed(&scan, &start);
	if (r < 0)
		return r;
	if (!scan_blanks(&scan))
		return -EINVAL;
	r = scan_hex_prefixed(&scan, &length);
	if (r < 0)
		return r;
	if (!scan_blanks(&scan) || !scan_left(&scan))
		return -EINVAL;
	if (length > UINT32_MAX || start >= ADDRESS_END || length > ADDRESS_END - start)
		return -ERANGE;
	*ret = (struct perfmap_line){
		.start = start,
		.size = (uint32_t)length,
		.name = scan.at,
		.name_size = scan_left(&scan),
	};
	if (ret->name_size > PERFMAP_NAME_MAX_BYTES) {
		ret->name_size = whole_characters(ret->name, PERFMAP_NAME_MAX_BYTES);
		ret->cut = 1;
	}
	return 0;
}
