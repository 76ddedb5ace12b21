/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c: makes a fixture of a living Java VM: all that stoke reads of it to name its code. What
 * makes no difference to the answer is then zeroed, 64 bytes at a time, so that the file is small
 * and holds nothing of the machine it comes from but what the tests are about.
 *
 *	record PID FILE
 */
#include <stdio.h>

#include "hotspot/image.h"
#include "runtime/hotspot/owners.h"

#define STEP_BYTES 64

struct recorder {
	struct memory live;
	struct image image;
};

static void add_piece(struct image *image, uint64_t address, uint64_t size)
{
	image->pieces = realloc(image->pieces, (image->nr_pieces + 1) * sizeof(*image->pieces));
	image->pieces[image->nr_pieces++] = (struct piece){address, size, NULL};
}

static int record_read(const struct memory *memory, struct memory_part *parts, size_t nr)
{
	struct recorder *recorder = (struct recorder *)memory->image;
	int r = recorder->live.read(&recorder->live, parts, nr);

	for (size_t i = 0; r == 0 && i < nr; i++) {
		if (!parts[i].missing)
			add_piece(&recorder->image, parts[i].address, parts[i].size);
	}
	return r;
}

static int by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* United, and filled from the process, which sleeps. */
static int fill(struct recorder *recorder)
{
	struct image *image = &recorder->image;
	size_t kept = 0;

	qsort(image->pieces, image->nr_pieces, sizeof(*image->pieces), by_address);
	for (size_t i = 0; i < image->nr_pieces; i++) {
		struct piece *last = kept ? &image->pieces[kept - 1] : NULL;
		const struct piece *piece = &image->pieces[i];

		if (last && piece->address <= last->address + last->size) {
			if (piece->address + piece->size > last->address + last->size)
				last->size = piece->address + piece->size - last->address;
		} else {
			image->pieces[kept++] = *piece;
		}
	}
	image->nr_pieces = kept;
	for (size_t i = 0; i < kept; i++) {
		struct piece *piece = &image->pieces[i];

		piece->bytes = malloc(piece->size);
		if (!piece->bytes ||
			memory_read(&recorder->live, piece->address, piece->bytes, piece->size) < 0)
			return -1;
	}
	return 0;
}

/* Everything that stoke says of the VM, as text. */
static char *answer(const struct memory *memory, uint64_t start, uint64_t offset)
{
	struct hotspot_structs structs;
	struct owners owners;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (hotspot_structs_read(memory, start, offset, &structs) < 0)
		return NULL;
	out = open_memstream(&text, &size);
	owners_init(&owners, memory, &structs);
	fprintf(out, "%d %d\n", structs.major, owners_read(&owners, 1));
	fprintf(out, "%zu %zu ", owners.now.nr_heaps, (size_t)owners.now.nr_bad);
	for (size_t i = 0; i < sizeof(structs); i++)
		fprintf(out, "%02x", ((const uint8_t *)&structs)[i]);
	for (size_t i = 0; i < owners.now.nr_blobs; i++) {
		const struct code_blob *blob = &owners.now.blobs[i];
		const struct owner *owner = &owners.items[owners.now_owners[i]];
		const struct code_name none = {.text = ""}, *name = &none;

		if (owner->name)
			name = &owners.names.items[owner->name];
		fprintf(out, "\n%zx %x %d %d %d %u %d %.*s", (size_t)blob->code, blob->code_size,
			blob->kind, blob->level, blob->state, blob->frame_bytes,
			blob->frame_complete, (int)name->size, name->text);
	}
	owners_done(&owners);
	fclose(out);
	return text;
}

static void reduce(struct image *image, const char *wanted)
{
	uint8_t kept[STEP_BYTES];

	for (size_t i = 0; i < image->nr_pieces; i++) {
		struct piece *piece = &image->pieces[i];

		for (uint64_t at = 0; at < piece->size; at += STEP_BYTES) {
			const uint64_t n =
				piece->size - at < STEP_BYTES ? piece->size - at : STEP_BYTES;
			char *got;

			memcpy(kept, piece->bytes + at, n);
			memset(piece->bytes + at, 0, n);
			got = answer(&image->memory, image->start, image->offset);
			if (!got || strcmp(got, wanted) != 0)
				memcpy(piece->bytes + at, kept, n);
			free(got);
		}
	}
}

static int find_libjvm(const char *pid, uint64_t *start, uint64_t *offset)
{
	char path[64], line[8192], flags[8];
	FILE *maps;
	int found = 0;

	(void)snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/libjvm.so") &&
			sscanf(line, "%lx-%*x %7s %lx", start, flags, offset) == 3 &&
			strchr(flags, 'x');
	if (maps)
		(void)fclose(maps);
	return found ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct recorder recorder = {0};
	struct memory memory = {.read = record_read, .image = &recorder};
	struct image *image = &recorder.image;
	char *wanted;

	if (argc != 3 || find_libjvm(argv[1], &image->start, &image->offset) < 0)
		return 2;
	recorder.live = memory_of(atoi(argv[1]));
	wanted = answer(&memory, image->start, image->offset);
	if (!wanted || fill(&recorder) < 0)
		return 1;
	image->memory = (struct memory){.read = image_read, .image = image};
	reduce(image, wanted);
	return image_save(image, argv[2]) < 0;
}
