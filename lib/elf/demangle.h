/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_DEMANGLE_H
#define STOKE_ELF_DEMANGLE_H

/* C++ (Itanium ABI) and Rust (legacy and v0) names for people, with bounded work. */

#include <stddef.h>

#define DEMANGLE_MAX	   4096 /* of a demangled name */
#define DEMANGLE_INPUT_MAX 4095 /* longer names stay mangled */

/*
 * Writes what name stands for into ret, with parameters, as c++filt does; Rust's hash is left out.
 * Returns its size. 0: not mangled. -E2BIG: mangled, but longer than DEMANGLE_MAX when spelled out
 * (200 bytes can stand for 200 MB), or too deep: show the name as it is.
 */
int demangle(const char *name, size_t size, char ret[DEMANGLE_MAX]);

#endif
