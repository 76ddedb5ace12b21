/* SPDX-License-Identifier: BSD-2-Clause */
/* flags.c: an array of JVMFlag, each with a name and the address of its value; the last is empty.
 */
#include "hotspot/flags.h"

#include <errno.h>
#include <string.h>

#include "process/pages.h"

#define MAX_FLAGS      8192 /* 25 has 1,400 or so */
#define MAX_FLAG_BYTES 256
#define NAME_BYTES     80

static int take(struct pages *pages, const struct hotspot_structs *structs, const uint8_t *copy,
	struct hotspot_flag *flags, size_t nr)
{
	const size_t size = structs->flag.size;
	const uint64_t name_at = hotspot_get(&structs->flag.name, copy, size);
	char name[NAME_BYTES];
	uint8_t value;

	if (!name_at || pages_string(pages, name_at, name, sizeof(name)) < 0)
		return pages->error;
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(flags[i].name, name) == 0 &&
			pages_read(pages, hotspot_get(&structs->flag.value, copy, size), &value,
				sizeof(value)) == 0)
			flags[i].value = value == 1; /* C++'s own bool */
	}
	return pages->error;
}

static int read_all(struct pages *pages, const struct hotspot_structs *structs,
	struct hotspot_flag *flags, size_t nr)
{
	const uint64_t first = pages_pointer(pages, structs->at.flags);
	const uint64_t nr_all = pages_pointer(pages, structs->at.nr_flags); /* a size_t */
	uint8_t copy[MAX_FLAG_BYTES];
	int r;

	if (!first || !nr_all || nr_all > MAX_FLAGS)
		return -EINVAL;
	for (uint64_t i = 0; i < nr_all; i++) {
		r = pages_read(pages, first + i * structs->flag.size, copy, structs->flag.size);
		if (r == 0)
			r = take(pages, structs, copy, flags, nr);
		if (r < 0)
			return r == -EFAULT ? -EINVAL : r;
	}
	return 0;
}

int hotspot_flags_read(const struct memory *memory, const struct hotspot_structs *structs,
	struct hotspot_flag *flags, size_t nr)
{
	struct pages pages;
	int r;

	for (size_t i = 0; i < nr; i++)
		flags[i].value = -1;
	if (!structs->at.flags || !structs->at.nr_flags || !structs->flag.name.size ||
		!structs->flag.value.size)
		return -ENOENT;
	if (!structs->flag.size || structs->flag.size > MAX_FLAG_BYTES)
		return -EINVAL;
	pages_init(&pages, memory);
	r = read_all(&pages, structs, flags, nr);
	pages_done(&pages);
	return r;
}
