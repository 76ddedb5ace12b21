/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_SYMBOL_H
#define STOKE_BASE_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * What kind of code a function is. Written into files (pprof labels, the letters in the SVG), so
 * values are only ever added. Kinds decide colour and the suffix in folded text, never identity
 * beyond user | kernel | mark.
 */
enum function_kind {
	FUNCTION_UNKNOWN = 0, /* read from a file that does not say */
	FUNCTION_NATIVE, /* C and whatever else has plain names */
	FUNCTION_CPP, /* its symbol was a mangled C++ or Rust name */
	FUNCTION_KERNEL, /* kernel, kernel module, BPF program */
	FUNCTION_JIT, /* code generated at run time, named by its runtime */
	FUNCTION_INLINED, /* inlined into the frame that follows towards the root */
	FUNCTION_INTERPRETED, /* run by an interpreter */
	FUNCTION_MARK, /* not code: "[truncated]", "[exit]", "[broken]": says why there is none */
	FUNCTION_ROOT, /* not code: a process, thread, pool or CPU, put in front by --by */
	NR_FUNCTION_KINDS
};

/*
 * The answer to "what is here": one function. Strings belong to whoever answered and live until
 * that plug-in's close(); they are raw bytes from files a target controls, not NUL-terminated.
 */
struct symbol {
	const char *name;
	size_t name_size;
	const char *file; /* source file, NULL when not known */
	size_t file_size;
	uint32_t line; /* 0: not known */
	enum function_kind kind;
};

#endif
