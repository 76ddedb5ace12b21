/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c: one call reads a thousand places of a process. The kernel stops at the first that is
 * not there, between two parts or within one, and tells only how many bytes came. */
#include "process/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#define PARTS_MAX 1024 /* UIO_MAXIOV */

/* Reads from parts[0] on; how many came whole, or -errno. */
static ssize_t read_some(pid_t pid, struct memory_part *parts, size_t nr)
{
	struct iovec local[PARTS_MAX], remote[PARTS_MAX];
	ssize_t got;
	size_t whole = 0;

	for (size_t i = 0; i < nr; i++) {
		local[i] = (struct iovec){parts[i].to, parts[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)parts[i].address, parts[i].size};
	}
	got = process_vm_readv(pid, local, nr, remote, nr, 0);
	if (got < 0)
		return -errno;
	while (whole < nr && (size_t)got >= parts[whole].size)
		got -= parts[whole++].size;
	return (ssize_t)whole;
}

static int read_live(const struct memory *memory, struct memory_part *parts, size_t nr)
{
	size_t at = 0;

	while (at < nr) {
		const size_t left = nr - at;
		ssize_t got =
			read_some(memory->pid, parts + at, left < PARTS_MAX ? left : PARTS_MAX);

		if (got < 0 && got != -EFAULT && got != -EIO)
			return (int)got;
		got = got < 0 ? 0 : got;
		for (size_t i = 0; i < (size_t)got; i++)
			parts[at + i].missing = 0;
		at += (size_t)got;
		if (at < nr && (size_t)got < (left < PARTS_MAX ? left : PARTS_MAX))
			parts[at++].missing = 1;
	}
	return 0;
}

struct memory memory_of(pid_t pid)
{
	return (struct memory){.read = read_live, .pid = pid};
}

int memory_read(const struct memory *memory, uint64_t address, void *to, size_t size)
{
	while (size) {
		struct memory_part part = {
			.address = address,
			.to = to,
			.size = size > INT_MAX ? INT_MAX : (uint32_t)size,
		};
		int r = memory->read(memory, &part, 1);

		if (r < 0 || part.missing)
			return r < 0 ? r : -EFAULT;
		address += part.size;
		to = (char *)to + part.size;
		size -= part.size;
	}
	return 0;
}

uint64_t memory_pointer(const struct memory *memory, uint64_t address)
{
	uint64_t value;

	return address && memory_read(memory, address, &value, sizeof(value)) == 0 ? value : 0;
}
