/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_JAVA_H
#define STOKE_NAMES_JAVA_H

#include <stddef.h>

#include "base/symbol.h"

/*
 * "com.foo.Bar.baz" of a Java method, however its producer spelled it: without return type,
 * arguments and the address of a hidden class, dots for slashes. The kind says how much doubt is
 * due: generated code with a dot in its name is taken for Java, a name that only might be (text
 * files, inlined code) must have a class that begins like one. Returns the bytes written (at most
 * room, whole characters), 0: not Java.
 */
size_t java_short(const char *name, size_t size, enum function_kind kind, char *out, size_t room);

/*
 * The same for a name of any kind, when the spelling leaves no doubt that a tool wrote a Java
 * method in its own way. Hidden classes keep their address. Writes at most size bytes; 0: not Java,
 * or it is spelled like this already.
 */
size_t java_spelling(const char *name, size_t size, char *out);

/*
 * Of what java_short() made: its package, at most three words of it ("net.sf.json"); a class in no
 * package stands for itself. Returns how much of the name that is.
 */
size_t java_package(const char *name, size_t size);

#endif
