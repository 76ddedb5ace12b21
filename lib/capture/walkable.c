/* SPDX-License-Identifier: BSD-2-Clause */
/* walkable.c: from what is mapped to what bpf/table.h calls a mapping. */
#include "capture/walkable.h"

#include <errno.h>
#include <string.h>

#include "unwind/trampoline.h"

#define UNIFORM_PAGE_BYTES 4096
#define UNIFORM_MAX_BYTES  (4u << 20)

/* Generated code that one rule describes: it looks alike at the start of each page. */
static int find_uniform(
	const struct ground *ground, pid_t pid, const struct mapping *mapping, uint32_t *ret)
{
	struct unwind_rule first, rule;
	uint8_t code[2 * TRAMPOLINE_BYTES];

	if (mapping->end - mapping->start > UNIFORM_MAX_BYTES)
		return -ENOENT;
	for (uint64_t page = mapping->start; page < mapping->end; page += UNIFORM_PAGE_BYTES) {
		size_t at = 0;

		if (processes_read(ground->processes, pid, page, code, sizeof(code)) < 0)
			return -ENOENT;
		/* They need not end where pages do. */
		while (at < TRAMPOLINE_BYTES && trampoline_recognise(code + at, &rule) < 0)
			at++;
		if (at == TRAMPOLINE_BYTES)
			return -ENOENT;
		if (page == mapping->start)
			first = rule;
		else if (memcmp(&first, &rule, sizeof(rule)) != 0)
			return -ENOENT;
	}
	return store_rule(ground->store, &first, ret);
}

struct stoke_mapping walkable(const struct ground *ground, pid_t pid, const struct mapping *mapping)
{
	struct stoke_mapping made = {
		.start = mapping->start, .end = mapping->end, .kind = STOKE_MAPPING_GENERATED};
	struct stored stored;
	uint64_t bias;

	if (mapping->kind == MAPPING_ANONYMOUS) {
		if (find_uniform(ground, pid, mapping, &made.page) == 0)
			made.kind = STOKE_MAPPING_UNIFORM;
		return made;
	}
	made.kind = STOKE_MAPPING_BARE;
	switch (bodies_want(ground->bodies, mapping->module)) {
	case BODY_WAITS:
		made.kind = STOKE_MAPPING_PENDING;
		break;
	case BODY_READY:
		if (bodies_place(ground->bodies, mapping->module, mapping, &stored, &bias) < 0)
			break;
		made.bias = bias;
		made.page = stored.page;
		made.first = stored.first;
		made.nr = stored.nr;
		made.kind = STOKE_MAPPING_TABLE;
		break;
	case BODY_UNKNOWN:
	case BODY_BARE:
		break;
	}
	return made;
}
