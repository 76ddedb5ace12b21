/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_PLACE_H
#define STOKE_TESTS_UNIT_PLACE_H

/* A directory for one test: a made-up /proc, /sys or whatever it needs. */

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

static inline char *place_new(void)
{
	char *place = strdup("/tmp/stoke-place-XXXXXX");

	cr_assert(place && mkdtemp(place));
	return place;
}

/* A file below it, and the directories on the way. */
static inline void place_write(const char *place, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", place, name);
	for (char *at = path + strlen(place) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	cr_assert(file, "%s", path);
	(void)fputs(text, file);
	(void)fclose(file);
}

static inline int place_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void cleanup_place(char **place)
{
	(void)nftw(*place, place_remove, 8, FTW_DEPTH | FTW_PHYS);
	free(*place);
}

#define _cleanup_place_ __attribute__((cleanup(cleanup_place)))

#endif
