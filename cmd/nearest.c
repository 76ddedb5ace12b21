/* SPDX-License-Identifier: BSD-2-Clause */
/* nearest.c: what somebody who mistyped a name most likely meant. */
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/options.h"

#define MAX_NAME 32

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters added, left out, changed or exchanged with their neighbour. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[3][MAX_NAME + 1];
	size_t size_a = strlen(a), size_b = strlen(b);

	if (size_a > MAX_NAME || size_b > MAX_NAME)
		return UINT32_MAX;
	for (size_t j = 0; j <= size_b; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= size_a; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= size_b; j++) {
			now[j] = least(before[j] + 1, now[j - 1] + 1);
			now[j] = least(now[j], before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], two[j - 2] + 1);
		}
	}
	return row[size_a % 3][size_b];
}

/* "--dur" and "--frequency": one begins with the other, and by enough letters to mean it. */
static int begins(const char *word, const char *name)
{
	size_t size = strlen(word) < strlen(name) ? strlen(word) : strlen(name);

	return size >= 3 && !strncmp(word, name, size);
}

const char *nearest_name(const char *word, const char *const *names, size_t nr)
{
	const char *best = NULL;
	/* A third of the letters may be wrong; more is guessing. */
	unsigned limit = (unsigned)strlen(word) / 3 + 1;

	for (size_t i = 0; i < nr; i++) {
		unsigned d = distance(word, names[i]);

		if (d < limit || (d == limit && !best)) {
			best = names[i];
			limit = d;
		}
	}
	for (size_t i = 0; !best && i < nr; i++) {
		if (begins(word, names[i]))
			best = names[i];
	}
	return best;
}
