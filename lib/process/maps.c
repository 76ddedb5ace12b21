/* SPDX-License-Identifier: BSD-2-Clause */
/* maps.c: /proc/PID/maps, line by line (Linux, fs/proc/task_mmu.c: show_map_vma()). */
#include "process/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/scan.h"

static int parse_prot(struct scan *scan, uint32_t *ret)
{
	const char *flags;

	if (scan_field(scan, &flags) != 4)
		return -EINVAL;
	*ret = (flags[0] == 'r' ? PROT_READ : 0u) | (flags[1] == 'w' ? PROT_WRITE : 0u) |
	       (flags[2] == 'x' ? PROT_EXEC : 0u);
	return 0;
}

int maps_parse_line(const char *line, size_t size, struct map_line *ret)
{
	struct scan scan = scan_of(line, size);
	struct map_line map = {0};
	uint64_t major, minor;

	if (scan_hex(&scan, &map.start) < 0 || scan_byte(&scan, '-') < 0 ||
		scan_hex(&scan, &map.end) < 0 || map.end <= map.start || !scan_blanks(&scan))
		return -EINVAL;
	if (parse_prot(&scan, &map.prot) < 0 || !scan_blanks(&scan) ||
		scan_hex(&scan, &map.offset) < 0 || !scan_blanks(&scan))
		return -EINVAL;
	if (scan_hex(&scan, &major) < 0 || scan_byte(&scan, ':') < 0 ||
		scan_hex(&scan, &minor) < 0 || major > UINT32_MAX || minor > UINT32_MAX ||
		!scan_blanks(&scan) || scan_decimal(&scan, &map.ino) < 0)
		return -EINVAL;
	if (scan_left(&scan) && !scan_blanks(&scan))
		return -EINVAL;
	map.dev = makedev((unsigned)major, (unsigned)minor);
	map.path = scan.at;
	map.path_size = scan_left(&scan);
	map.deleted = maps_strip_deleted(map.path, &map.path_size);
	*ret = map;
	return 0;
}

int maps_strip_deleted(const char *path, size_t *size)
{
	static const char mark[] = " (deleted)";
	size_t length = sizeof(mark) - 1;

	if (*size <= length || memcmp(path + *size - length, mark, length) != 0)
		return 0;
	*size -= length;
	return 1;
}

int maps_anonymous(const char *path, size_t size)
{
	static const char *const starts[] = {
		"//anon",
		"[anon",
		"[heap]",
		"[stack",
		"/memfd:",
		"/SYSV",
		"/anon_hugepage",
		"anon_inode:",
	};

	if (!size || (size == 9 && memcmp(path, "/dev/zero", 9) == 0))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t length = strlen(starts[i]);

		if (size >= length && memcmp(path, starts[i], length) == 0)
			return 1;
	}
	return 0;
}
