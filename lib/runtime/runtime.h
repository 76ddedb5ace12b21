/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_RUNTIME_H
#define STOKE_RUNTIME_RUNTIME_H

/*
 * A runtime knows code that a process makes as it runs: observed over time, named with time.
 * One file a runtime; its word in meson.build; order there is priority. A recipe stands in
 * docs/architecture.md.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "process/process.h"
#include "stoke.h"

enum observe {
	OBSERVE_START, /* first sight of the process */
	OBSERVE_TICK, /* at most 1 s after the one before, while samples wait */
	OBSERVE_MISS, /* an address had no name: now rather than at the next tick */
	OBSERVE_END /* last chance: the process ends or the recording does */
};

/* When something was seen: a point for a tick (from == to), a span for sums made in the kernel. */
struct span {
	uint64_t from_ns, to_ns;
};

/* What a runtime has to say of itself for the quality report: counts and one sentence. */
struct runtime_findings {
	uint64_t nr_entries; /* names it has */
	uint64_t nr_bad_lines; /* refused */
	char text[512]; /* "/tmp/perf-42.map: belongs to uid 1001, the process to 998: ignored
			   (it could be anybody's); chown 998, or delete it"; "" when all is well */
};

struct runtime {
	const char *name, *summary;
	/*
	 * Is this process mine? 0 and a state that outlives the process (it may keep fds); -ENOENT:
	 * no (asked again at each reading); other errors: mine, but err says what is missing. Does
	 * not keep the process pointer.
	 */
	int (*claim)(const struct host *host, struct process *process, void **ret_state,
		struct stoke_error *err);
	/* One reading at time now_ns. 1: something new, 0: as before (which is a reading too),
	 * -errno. */
	int (*observe)(void *state, enum observe why, uint64_t now_ns);
	/*
	 * Who owned address then? The number of symbols, innermost first (0: nobody that is known);
	 * -EAGAIN: no reading since then yet; -ESTALE: the owner changed between the readings
	 * around it: ret holds the later owner, count is 1.
	 */
	int (*lookup)(
		void *state, struct span when, uint64_t address, struct symbol *ret, size_t max);
	/* Same for an interpreted frame: which method (bpf/event.h: the VM's address of it), and
	 * the index of its bytecode, STOKE_NO_BYTECODE_INDEX: not known. NULL: interprets nothing
	 * that samples tell of. */
	int (*lookup_method)(void *state, struct span when, uint64_t method, uint32_t index,
		struct symbol *ret, size_t max);
	void (*explain)(void *state, struct runtime_findings *ret);
	void (*close)(void *state);
};

extern const struct runtime *const runtimes[];
extern const size_t nr_runtimes;

#endif
