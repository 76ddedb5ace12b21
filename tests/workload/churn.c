/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * churn ROUNDS US LIB...: opens the libraries one after the other, calls `enter` of each for US
 * microseconds of CPU time, closes it: mostly the next lies where the last one did, or across its
 * borders. Prints how many were opened, and how many began at an address where another had.
 */
#include <dlfcn.h>

#include "work.h"

#define PLACES 4096

static volatile uint64_t sink;
static uint64_t places[PLACES];

/* Has a library been there before? From now on one has. */
static int again(uint64_t place)
{
	size_t i = place / 4096 % PLACES;
	int known = places[i] == place;

	places[i] = place;
	return known;
}

HOT static int use(const char *path, uint64_t us, unsigned *nr_again)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*enter)(uint64_t ns);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&enter = dlsym(library, "enter");
	*nr_again += again((uint64_t)(uintptr_t) * (void **)&enter & ~0xfffull);
	enter(us * 1000);
	sink++;
	return dlclose(library);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned times = 0, nr_again = 0;

	for (unsigned long round = 0; round < rounds; round++) {
		for (int i = 3; i < argc; i++, times++) {
			if (use(argv[i], strtoul(argv[2], NULL, 10), &nr_again))
				return 1;
		}
	}
	printf("times %u\nagain %u\n", times, nr_again);
	return !times;
}
