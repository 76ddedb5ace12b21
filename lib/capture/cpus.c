/* SPDX-License-Identifier: BSD-2-Clause */
/* cpus.c: which CPUs are there, and which of them are asked for. */
#include "capture/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

#define MAX_CPU 65535

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static size_t sort_unique(unsigned *cpus, size_t nr)
{
	size_t kept = 0;

	qsort(cpus, nr, sizeof(*cpus), by_number);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || cpus[kept - 1] != cpus[i])
			cpus[kept++] = cpus[i];
	}
	return kept;
}

int cpus_parse(const char *text, unsigned **ret, size_t *ret_nr)
{
	_cleanup_free_ unsigned *cpus = NULL;
	size_t nr = 0, capacity = 0;
	int r;

	while (*text && *text != '\n') {
		unsigned long first, last;
		char *end;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return -EINVAL;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last > MAX_CPU)
			return -EINVAL;
		r = array_reserve(&cpus, &capacity, nr, last - first + 1);
		if (r < 0)
			return r;
		while (first <= last)
			cpus[nr++] = (unsigned)first++;
		text = *end == ',' ? end + 1 : end;
		if (*end && *end != ',' && *end != '\n')
			return -EINVAL;
	}
	if (!nr)
		return -EINVAL;
	*ret_nr = sort_unique(cpus, nr);
	*ret = take_pointer(cpus);
	return 0;
}

static int read_online(const struct host *host, unsigned **ret, size_t *ret_nr)
{
	char path[4096], text[4096];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", host->sys);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return cpus_parse(text, ret, ret_nr);
}

int cpus_choose(const struct host *host, const unsigned *wanted, size_t nr_wanted, unsigned **ret,
	size_t *ret_nr, struct stoke_error *err)
{
	_cleanup_free_ unsigned *online = NULL;
	size_t nr = 0, kept = 0;
	int r;

	r = read_online(host, &online, &nr);
	if (r < 0)
		return fail(err, r, "cannot read which CPUs are online: %s", strerror(-r));
	for (size_t i = 0; i < nr_wanted; i++) {
		if (!bsearch(&wanted[i], online, nr, sizeof(*online), by_number))
			return fail(err, -EINVAL,
				"CPU %u is not online here; %s/devices/system/cpu/online "
				"lists those that are",
				wanted[i], host->sys);
	}
	for (size_t i = 0; nr_wanted && i < nr; i++) {
		for (size_t j = 0; j < nr_wanted; j++) {
			if (wanted[j] == online[i]) {
				online[kept++] = online[i];
				break;
			}
		}
	}
	*ret_nr = nr_wanted ? kept : nr;
	*ret = take_pointer(online);
	return 0;
}
