/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins SECONDS FILE ADDRESS...: a thread at each hexadecimal address, in a jump to itself, so that
 * every sample of it is exactly there; the thread is named like its address. The pages are private:
 * of FILE from its start where FILE is not "-", else anonymous. Prints those that it could not
 * place.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

#if defined(__x86_64__)
static const unsigned char jump_to_itself[] = {0xeb, 0xfe};
#else
static const uint32_t jump_to_itself[] = {0x14000000};
#endif

#define PAGE 4096u

static uint64_t placed[64]; /* pages */
static size_t nr_placed;

static int place_page(uint64_t page, int fd)
{
	int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0);
	void *at;

	for (size_t i = 0; i < nr_placed; i++)
		if (placed[i] == page)
			return 0;
	if (nr_placed == sizeof(placed) / sizeof(*placed))
		return -1;
	at = mmap((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
	if (at != (void *)(uintptr_t)page)
		return -1;
	placed[nr_placed++] = page;
	return 0;
}

HOT static void *stay(void *address)
{
	void (*function)(void);

	*(void **)&function = address;
	function();
	return NULL;
}

static int pin(const char *text, int fd)
{
	uint64_t address = strtoull(text, NULL, 16), last = address + sizeof(jump_to_itself) - 1;
	pthread_t thread;
	char name[16];

	if (place_page(address & ~(uint64_t)(PAGE - 1), fd) ||
		place_page(last & ~(uint64_t)(PAGE - 1), fd))
		return -1;
	(void)memcpy((void *)(uintptr_t)address, jump_to_itself, sizeof(jump_to_itself));
	__builtin___clear_cache((char *)(uintptr_t)address, (char *)(uintptr_t)last + 1);
	if (pthread_create(&thread, NULL, stay, (void *)(uintptr_t)address))
		return -1;
	(void)snprintf(name, sizeof(name), "%llx", (unsigned long long)address);
	return pthread_setname_np(thread, name);
}

int main(int argc, char **argv)
{
	int fd = -1;

	if (argc < 4)
		return 2;
	if (strcmp(argv[2], "-")) {
		fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return 2;
	}
	for (int i = 3; i < argc; i++)
		if (pin(argv[i], fd))
			printf("not placed %s\n", argv[i]);
	puts("ready");
	(void)fflush(stdout);
	(void)usleep((useconds_t)(atof(argv[1]) * 1e6));
	_exit(0);
}
