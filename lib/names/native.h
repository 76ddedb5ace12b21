/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_NATIVE_H
#define STOKE_NAMES_NATIVE_H

#include <stddef.h>

/*
 * A demangled C++ or Rust name without return type, arguments and rustc's hash:
 * "void std::sort<int*>(int*, int*)" -> "std::sort<int*>". Borrowed from name; what does not look
 * like one comes back whole.
 */
size_t native_short(const char *name, size_t size, const char **ret);

/*
 * The outermost namespace or crate of what native_short() gave, 0 without one. A word that begins
 * with a capital is a class, not a namespace: 0. Borrowed from name.
 */
size_t native_namespace(const char *name, size_t size, const char **ret);

/* The size of a Rust name without the hash that rustc puts at its end: "::h0123456789abcdef". */
size_t native_without_hash(const char *name, size_t size);

#endif
