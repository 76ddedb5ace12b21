/* SPDX-License-Identifier: BSD-2-Clause */
/* short.c: which rule shortens which name. A kernel or C name is short as it stands. */
#include "names/short.h"

#include <string.h>

#include "names/java.h"
#include "names/native.h"
#include "names/whole.h"

static int is_native(const char *name, size_t size, enum function_kind kind)
{
	if (kind == FUNCTION_NATIVE || kind == FUNCTION_CPP)
		return 1;
	return (kind == FUNCTION_UNKNOWN || kind == FUNCTION_INLINED) &&
	       memmem(name, size, "::", 2) != NULL;
}

size_t short_name(const char *name, size_t size, enum function_kind kind, char *out, size_t room)
{
	const char *text = name;
	size_t n = 0;

	if (kind == FUNCTION_JIT || kind == FUNCTION_INTERPRETED || kind == FUNCTION_INLINED ||
		kind == FUNCTION_UNKNOWN)
		n = java_short(name, size, kind, out, room);
	if (n > 0)
		return n;
	n = is_native(name, size, kind) ? native_short(name, size, &text) : size;
	if (n <= room) {
		memcpy(out, text, n);
		return n;
	}
	memcpy(out, text, room);
	return whole_characters(out, room);
}
