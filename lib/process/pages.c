/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: a page costs one call, and a VM keeps what belongs together close by: some hundred pages
 * hold the names of a thousand methods. */
#include "process/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256

struct page {
	uint64_t number; /* address / PAGES_BYTES */
	uint32_t place; /* in bytes, from 1 on; 0: slot is free */
	int missing;
};

void pages_init(struct pages *pages, const struct memory *memory)
{
	*pages = (struct pages){.memory = memory};
}

void pages_done(struct pages *pages)
{
	free(pages->slots);
	free(pages->bytes);
	*pages = (struct pages){0};
}

void pages_forget(struct pages *pages)
{
	if (pages->slots)
		memset(pages->slots, 0, pages->nr_slots * sizeof(*pages->slots));
	pages->nr = 0;
	pages->error = 0;
}

static struct page *slot_of(const struct pages *pages, uint64_t number)
{
	const size_t mask = pages->nr_slots - 1;
	size_t i = (number * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (pages->slots[i].place && pages->slots[i].number != number)
		i = (i + 1) & mask;
	return &pages->slots[i];
}

static int widen(struct pages *pages)
{
	struct pages wider = {.nr_slots = pages->nr_slots ? 2 * pages->nr_slots : FIRST_SLOTS};

	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < pages->nr_slots; i++) {
		if (pages->slots[i].place)
			*slot_of(&wider, pages->slots[i].number) = pages->slots[i];
	}
	free(pages->slots);
	pages->slots = wider.slots;
	pages->nr_slots = wider.nr_slots;
	return 0;
}

static int fetch(struct pages *pages, struct page *page, uint64_t number)
{
	int r;

	if (pages->nr == pages->capacity) {
		const size_t capacity = pages->capacity ? 2 * pages->capacity : 64;
		uint8_t *bytes = realloc(pages->bytes, capacity * PAGES_BYTES);

		if (!bytes)
			return -ENOMEM;
		pages->bytes = bytes;
		pages->capacity = capacity;
	}
	r = memory_read(pages->memory, number * PAGES_BYTES, pages->bytes + pages->nr * PAGES_BYTES,
		PAGES_BYTES);
	if (r < 0 && r != -EFAULT) {
		pages->error = r;
		return r;
	}
	*page = (struct page){number, (uint32_t)++pages->nr, r < 0};
	pages->nr_read++;
	return 0;
}

static int find(struct pages *pages, uint64_t number, const uint8_t **ret)
{
	struct page *page;
	int r = 0;

	if (pages->error)
		return pages->error;
	if (pages->nr >= PAGES_MAX)
		pages_forget(pages);
	if (pages->nr >= pages->nr_slots / 2)
		r = widen(pages);
	if (r < 0)
		return r;
	page = slot_of(pages, number);
	if (!page->place)
		r = fetch(pages, page, number);
	if (r < 0)
		return r;
	if (page->missing)
		return -EFAULT;
	*ret = pages->bytes + (page->place - 1) * (size_t)PAGES_BYTES;
	return 0;
}

int pages_read(struct pages *pages, uint64_t address, void *to, size_t size)
{
	uint8_t *out = to;

	while (size) {
		const size_t from = address % PAGES_BYTES;
		const size_t n = size < PAGES_BYTES - from ? size : PAGES_BYTES - from;
		const uint8_t *bytes = NULL;
		int r = find(pages, address / PAGES_BYTES, &bytes);

		if (r < 0)
			return r;
		memcpy(out, bytes + from, n);
		out += n;
		address += n;
		size -= n;
	}
	return 0;
}

uint64_t pages_pointer(struct pages *pages, uint64_t address)
{
	uint64_t value;

	return address && pages_read(pages, address, &value, sizeof(value)) == 0 ? value : 0;
}

ssize_t pages_string(struct pages *pages, uint64_t address, char *to, size_t room)
{
	size_t size = 0;

	while (size < room) {
		const size_t from = address % PAGES_BYTES;
		const size_t left = room - size;
		const size_t n = left < PAGES_BYTES - from ? left : PAGES_BYTES - from;
		const uint8_t *bytes = NULL, *end;
		int r = find(pages, address / PAGES_BYTES, &bytes);

		if (r < 0)
			return r;
		end = memchr(bytes + from, '\0', n);
		memcpy(to + size, bytes + from, end ? (size_t)(end - bytes - from) + 1 : n);
		if (end)
			return (ssize_t)(size + (size_t)(end - bytes - from));
		size += n;
		address += n;
	}
	return -E2BIG;
}
