/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starts.c: the search table of .eh_frame_hdr (LSB Core 10.6.2), which has starts, and as much of
 * .eh_frame as tells where a function ends: without that, code between two functions would be
 * given to the one before.
 */
#include "elf/starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Encodings of the only kind that linkers write: a count of 4 bytes; pairs of 4 bytes each,
 * relative to the header. */
#define DW_EH_PE_udata4		0x03
#define DW_EH_PE_datarel_sdata4 0x3b
#define DW_EH_PE_pcrel_sdata4	0x1b

struct pair {
	int32_t start, entry; /* relative to the header */
};

struct starts {
	const struct elf_file *file;
	uint64_t base; /* virtual address of the header */
	struct pair *pairs; /* ascending; a table that is not only misses */
	size_t nr;
};

int starts_open(const struct elf_file *file, struct starts **ret)
{
	_cleanup_free_ struct starts *starts = NULL;
	const struct elf_part *part = &file->unwind;
	struct {
		uint8_t version, pointer, count, table;
		int32_t eh_frame;
		uint32_t nr;
	} header;
	int r;

	if (part->size < sizeof(header) || part->size > STARTS_MAX_SIZE ||
		elf_file_read(file, part->offset, &header, sizeof(header)) < 0 ||
		header.version != 1 || header.pointer != DW_EH_PE_pcrel_sdata4 ||
		header.count != DW_EH_PE_udata4 || header.table != DW_EH_PE_datarel_sdata4 ||
		!header.nr || header.nr > (part->size - sizeof(header)) / sizeof(struct pair))
		return -ENOENT;
	starts = calloc(1, sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	starts->file = file;
	starts->base = part->vaddr;
	starts->nr = header.nr;
	starts->pairs = calloc(header.nr, sizeof(*starts->pairs));
	if (!starts->pairs)
		return -ENOMEM;
	r = elf_file_read(file, part->offset + sizeof(header), starts->pairs,
		header.nr * sizeof(*starts->pairs));
	if (r < 0) {
		free(starts->pairs);
		return -ENOENT;
	}
	*ret = take_pointer(starts);
	return 0;
}

void starts_close(struct starts *starts)
{
	if (!starts)
		return;
	free(starts->pairs);
	free(starts);
}

/*
 * The size of the function of an entry (FDE): length, CIE, start, size. Start and size have the
 * width that the CIE says; as the start is known, it tells the width itself.
 */
static uint64_t size_of(const struct starts *starts, uint64_t entry, uint64_t start)
{
	struct {
		uint32_t length, cie;
		union {
			struct {
				int32_t start;
				uint32_t size;
			} relative;
			struct {
				uint64_t start, size;
			} absolute;
		};
	} fde;
	uint64_t offset;

	if (elf_file_offset(starts->file, entry, &offset) < 0 ||
		elf_file_read(starts->file, offset, &fde, sizeof(fde)) < 0)
		return 0;
	if (entry + 8 + (uint64_t)(int64_t)fde.relative.start == start)
		return fde.relative.size;
	return fde.absolute.start == start ? fde.absolute.size : 0;
}

int starts_find(const struct starts *starts, uint64_t vaddr, uint64_t *ret)
{
	size_t low = 0, high = starts->nr;
	const struct pair *pair;
	uint64_t start;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts->base + (uint64_t)(int64_t)starts->pairs[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	pair = &starts->pairs[low - 1];
	start = starts->base + (uint64_t)(int64_t)pair->start;
	if (vaddr - start >= size_of(starts, starts->base + (uint64_t)(int64_t)pair->entry, start))
		return -ENOENT;
	*ret = start;
	return 0;
}
