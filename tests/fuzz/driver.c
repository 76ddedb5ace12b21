/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.c: runs every file of the directories given through a fuzz target, in order of name. So
 * the corpora run wherever the tests do; only looking for new inputs needs libFuzzer.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int run_file(const char *directory, const char *name)
{
	char path[4096];
	uint8_t *data;
	long size;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) < 0) {
		(void)fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	rewind(file);
	/* Exactly as large as the input, so that reading behind it is found. */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
		(void)fprintf(stderr, "cannot read %s\n", path);
		return -1;
	}
	(void)fclose(file); /* read only */
	(void)printf("# %s\n", path);
	(void)fflush(stdout); /* the last one printed is the one that failed */
	(void)LLVMFuzzerTestOneInput(data, (size_t)size); /* tells by aborting */
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int nr_files = 0;

	for (int i = 1; i < argc; i++) {
		struct dirent **entries;
		int nr = scandir(argv[i], &entries, visible, alphasort);

		if (nr < 0) {
			(void)fprintf(stderr, "cannot list %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
		for (int k = 0; k < nr; k++) {
			if (run_file(argv[i], entries[k]->d_name) < 0)
				return 1;
			free(entries[k]);
			nr_files++;
		}
		free(entries);
	}
	(void)printf("# %d files\n", nr_files);
	return nr_files ? 0 : 1; /* an empty corpus tests nothing */
}
