/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload SECONDS MS LIB1 LIB2: opens one library, calls its function `enter` for some milliseconds,
 * closes it, opens the other, again and again, mostly where the first one was. Built without frame
 * pointers. Prints how often, and how often it was at the place of the one before.
 */
#include <dlfcn.h>

#include "work.h"

static volatile uint64_t sink;

HOT static int use(const char *path, uint64_t ms, uint64_t *place)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*enter)(uint64_t end);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&enter = dlsym(library, "enter");
	*place = (uint64_t)(uintptr_t) * (void **)&enter & ~0xfffull;
	enter(clock_ns(CLOCK_MONOTONIC) + ms * 1000000);
	sink++;
	return dlclose(library);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_of(argc, argv, 1, 5)), place = 0, before = 0;
	unsigned times = 0, again = 0;

	if (argc != 5)
		return 2;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (use(argv[3 + times % 2], strtoul(argv[2], NULL, 10), &place))
			return 1;
		again += place == before;
		before = place;
		times++;
	}
	printf("times %u\nagain %u\n", times, again);
	return 0;
}
