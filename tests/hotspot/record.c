/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c: makes a fixture of a living Java VM: all that stoke reads of it to name its code. What
 * makes no difference to the answer is then zeroed, so that the file is small
 * and holds nothing of the machine it comes from but what the tests are about.
 *
 *	record PID FILE
 *	record PID		prints instead what stands where: a perf map, behind each line the
 *number, level and state of the compilation
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

/* Who is inlined where, with files and lines. */
static void answer_inside(FILE *out, struct owners *owners, const struct code_blob *blob)
{
	struct symbol symbols[CHAIN_MAX_FRAMES];

	for (uint64_t at = 0; at < blob->code_size; at += 16) {
		int n = owners_lookup(
			owners, (struct span){1, 1}, blob->code + at, 0, symbols, CHAIN_MAX_FRAMES);

		for (int i = 0; i < n; i++)
			fprintf(out, " %.*s:%.*s:%u", (int)symbols[i].name_size, symbols[i].name,
				(int)symbols[i].file_size, symbols[i].file, symbols[i].line);
		fputs(n > 0 ? "\n" : "", out);
	}
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
		if (blob->kind == BLOB_METHOD)
			answer_inside(out, &owners, blob);
	}
	owners_done(&owners);
	fclose(out);
	return text;
}

/* Zeroes what makes no difference, by halves. */
static void reduce_part(
	const struct image *image, struct piece *piece, uint64_t at, uint64_t n, const char *wanted)
{
	uint8_t *kept = malloc(n);
	char *got;

	if (!kept)
		return;
	memcpy(kept, piece->bytes + at, n);
	memset(piece->bytes + at, 0, n);
	got = answer(&image->memory, image->start, image->offset);
	if (!got || strcmp(got, wanted) != 0) {
		memcpy(piece->bytes + at, kept, n);
		if (n > STEP_BYTES) {
			reduce_part(image, piece, at, n / 2, wanted);
			reduce_part(image, piece, at + n / 2, n - n / 2, wanted);
		}
	}
	free(kept);
	free(got);
}

static void reduce(struct image *image, const char *wanted)
{
	for (size_t i = 0; i < image->nr_pieces; i++)
		reduce_part(image, &image->pieces[i], 0, image->pieces[i].size, wanted);
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

static int print(const struct memory *memory, uint64_t start, uint64_t offset)
{
	struct hotspot_structs structs;
	struct owners owners;
	int r = hotspot_structs_read(memory, start, offset, &structs);

	if (r < 0)
		return 1;
	owners_init(&owners, memory, &structs);
	r = owners_read(&owners, 1);
	for (size_t i = 0; i < owners.now.nr_blobs; i++) {
		const struct code_blob *blob = &owners.now.blobs[i];
		const struct owner *owner = &owners.items[owners.now_owners[i]];

		if (owner->name)
			printf("0x%016zx 0x%016x %.*s\t%u %d %d\n", (size_t)blob->code,
				blob->code_size, (int)owners.names.items[owner->name].size,
				owners.names.items[owner->name].text, blob->compile_id, blob->level,
				blob->state);
	}
	owners_done(&owners);
	return r < 0;
}

int main(int argc, char **argv)
{
	struct recorder recorder = {0};
	struct memory memory = {.read = record_read, .image = &recorder};
	struct image *image = &recorder.image;
	char *wanted;

	if (argc < 2 || argc > 3 || find_libjvm(argv[1], &image->start, &image->offset) < 0)
		return 2;
	recorder.live = memory_of(atoi(argv[1]));
	if (argc == 2)
		return print(&recorder.live, image->start, image->offset);
	wanted = answer(&memory, image->start, image->offset);
	if (!wanted || fill(&recorder) < 0)
		return 1;
	image->memory = (struct memory){.read = image_read, .image = image};
	reduce(image, wanted);
	return image_save(image, argv[2]) < 0;
}
