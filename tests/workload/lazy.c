/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lazy SECONDS LIB: opens a library, calls its function lazy_0, which calls lazy_1, and so on, each
 * by an entry that the dynamic linker binds when it is first used; closes it, again and again.
 */
#include <dlfcn.h>

#include "work.h"

static volatile uint64_t sink;

HOT static int use(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	uint64_t (*enter)(void);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&enter = dlsym(library, "lazy_0");
	sink += enter();
	return dlclose(library);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 5));

	if (argc != 3)
		return 2;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (use(argv[2]))
			return 1;
	}
	return 0;
}
