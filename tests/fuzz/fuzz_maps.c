/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_maps.c: what /proc tells of a process, whatever that process made of it. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/scan.h"
#include "process/maps.h"
#include "process/thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *name = text;
	struct scan scan = scan_of(text, size), line;
	struct thread_status status;
	size_t name_size;

	while (scan_line(&scan, &line)) {
		struct map_line map;

		if (maps_parse_line(line.at, scan_left(&line), &map) < 0)
			continue;
		REQUIRE(map.start < map.end);
		REQUIRE(map.path >= line.at && map.path + map.path_size <= line.end);
		REQUIRE(map.path_size < 10 ||
			memcmp(map.path + map.path_size - 10, " (deleted)", 10) != 0 ||
			map.deleted);
		(void)maps_anonymous(map.path, map.path_size);
	}
	if (thread_parse_status(text, size, &status) == 0)
		REQUIRE(status.ns_pid > 0);
	name_size = thread_program_name(text, size, &name);
	REQUIRE(name_size == 0 || (name >= text && name + name_size <= text + size));
	return 0;
}
