/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dl SECONDS LIB1 FUNCTION1 LIB2 FUNCTION2: burns a third of the time in itself, then in a library
 * opened then, which it closes, then in another one; prints where each function was.
 */
#include <dlfcn.h>

#include "work.h"

HOT static void before_any(uint64_t end)
{
	burn_until(end);
}

HOT static int in_library(const char *path, const char *function, uint64_t end)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*run)(uint64_t end);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&run = dlsym(library, function);
	if (!run)
		return 1;
	printf("%p\n", *(void **)&run);
	run(end);
	return dlclose(library);
}

int main(int argc, char **argv)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	double third = seconds_of(argc, argv, 1, 9) / 3 * 1e9;

	if (argc != 6)
		return 2;
	before_any(start + (uint64_t)third);
	if (in_library(argv[2], argv[3], start + (uint64_t)(2 * third)))
		return 1;
	return in_library(argv[4], argv[5], start + (uint64_t)(3 * third));
}
