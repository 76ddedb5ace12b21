/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_PERFSCRIPT_LINE_H
#define STOKE_FORMAT_PERFSCRIPT_LINE_H

/*
 * The two kinds of lines that perf script prints (perf-script(1)): the head of a sample, and below
 * it the frames of its stack. Everything borrowed, nothing trusted.
 *
 *	comm  pid/tid [cpu] seconds:  period event:  what a tracepoint says, or a frame
 *		address symbol+0xoffset (file)
 */

#include "base/scan.h"
#include "base/symbol.h"

struct perfscript_text {
	const char *text;
	size_t size;
};

struct perfscript_head {
	struct perfscript_text comm, event; /* event without its last ':'; may be empty */
	int64_t pid, tid, cpu; /* -1: not said */
	uint64_t time_ns, period; /* 0: not said */
	struct perfscript_text
		rest; /* behind the event: a tracepoint's text, a frame, or nothing */
};

struct perfscript_frame {
	uint64_t address;
	struct perfscript_text name; /* without its offset; empty: not known */
	struct perfscript_text file; /* empty: not known */
	enum function_kind kind;
};

/* 1: it is one. Lines come without their end. */
int perfscript_head(const char *line, size_t size, struct perfscript_head *ret);
int perfscript_frame(const char *line, size_t size, struct perfscript_frame *ret);
/* 1: a line that says where in the source the frame before it is. */
int perfscript_is_source(const char *line, size_t size);

#endif
