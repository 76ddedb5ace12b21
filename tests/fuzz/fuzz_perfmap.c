/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_perfmap.c: a perf map of any bytes; its look-ups against the plainest rule there is. */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/scan.h"
#include "code/history.h"
#include "runtime/perfmap/lines.h"
#include "code/names.h"

#define MAX_LINES 256

struct kept {
	uint64_t start, end;
	uint32_t name;
};

static uint32_t last_owner(const struct kept *lines, size_t nr, uint64_t address)
{
	while (nr-- > 0) {
		if (lines[nr].start <= address && address < lines[nr].end)
			return lines[nr].name;
	}
	return 0;
}

static void check(
	const struct code_history *history, const struct kept *lines, size_t nr, uint64_t address)
{
	uint32_t name = 0;
	int r = code_history_lookup(history, 1, 1, address, 0, &name);

	REQUIRE(r == 0 || r == 1);
	REQUIRE((r ? name : 0) == last_owner(lines, nr, address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan scan = scan_of((const char *)data, size), text;
	struct code_history history = {0};
	struct code_names names = {0};
	static struct kept lines[MAX_LINES];
	size_t nr = 0;

	while (nr < MAX_LINES && scan_line(&scan, &text)) {
		struct perfmap_line line;
		uint32_t name = 0;

		if (perfmap_parse_line(text.at, scan_left(&text), &line) < 0)
			continue;
		REQUIRE(line.name >= text.at && line.name + line.name_size <= text.end);
		REQUIRE(line.name_size > 0 && line.name_size <= PERFMAP_NAME_MAX_BYTES);
		REQUIRE(code_names_add(&names, line.name, line.name_size, &name) == 0);
		REQUIRE(names.items[name].size == line.name_size);
		REQUIRE(memcmp(names.items[name].text, line.name, line.name_size) == 0);
		REQUIRE(code_history_add(&history, line.start, line.size, name) == 0);
		lines[nr++] =
			(struct kept){line.start, line.start + (line.size ? line.size : 1), name};
	}
	REQUIRE(code_history_commit(&history, 2) == 0);
	for (size_t i = 0; i < nr; i++) {
		check(&history, lines, nr, lines[i].start);
		check(&history, lines, nr, lines[i].end - 1);
		check(&history, lines, nr, lines[i].end);
		check(&history, lines, nr, lines[i].start - 1);
	}
	code_history_done(&history);
	code_names_done(&names);
	return 0;
}
