/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jvm.c: which JVM was it? Each HotSpot from 8 to 25 holds the line that its crash reports begin
 * with: "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ...". It is
 * read from the very file that is mapped, by the descriptor taken while that was seen: no path of
 * the target's is followed, and neither an upgrade nor a removed JDK can give a wrong answer.
 */
#include "capture/jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/worker.h"

#define MARK	   ") for linux-"
#define VERSION	   " JRE ("
#define LINE_MAX   256 /* of the part of the line that is looked at */
#define PART_BYTES (1u << 20)
#define MAX_PARTS  128 /* libjvm.so has 20 to 30 MB, with debug information 120 */
#define TIMEOUT_MS 1000

struct search {
	int fd;
	int result;
	char version[JVM_VERSION_MAX];
};

int jvm_is_module(const struct module *module)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;

	return module->kind == MODULE_FILE && slash && strcmp(slash, "/libjvm.so") == 0;
}

/* The version in a line whose mark begins here. */
static int read_version(const char *line, size_t size, char ret[JVM_VERSION_MAX])
{
	size_t left = size < LINE_MAX ? size : LINE_MAX, n = 0;
	const char *at = memmem(line, left, VERSION, strlen(VERSION));

	if (!at)
		return -ENOENT;
	at += strlen(VERSION);
	left -= (size_t)(at - line);
	while (n < left && at[n] > ' ' && at[n] < 0x7f && at[n] != ')')
		n++;
	if (!n || n == left || n >= JVM_VERSION_MAX || at[n] != ')')
		return -ENOENT;
	memcpy(ret, at, n);
	ret[n] = '\0';
	return 0;
}

static int search_part(const char *part, size_t size, char ret[JVM_VERSION_MAX])
{
	const char *at = part;

	while ((at = memmem(at, size - (size_t)(at - part), MARK, strlen(MARK)))) {
		if (read_version(at, size - (size_t)(at - part), ret) == 0)
			return 0;
		at++;
	}
	return -ENOENT;
}

static void search_job(void *arg)
{
	struct search *search = arg;
	_cleanup_free_ char *part = malloc(PART_BYTES);
	ssize_t n = PART_BYTES;

	search->result = part ? -ENOENT : -ENOMEM;
	for (unsigned i = 0; part && i < MAX_PARTS && n == PART_BYTES && search->result; i++) {
		/* Parts overlap, so that no line is cut in two. */
		n = file_read(search->fd, part, PART_BYTES, (off_t)i * (PART_BYTES - LINE_MAX));
		search->result = n < 0 ? (int)n : search_part(part, (size_t)n, search->version);
		if (n < 0)
			break;
	}
}

static void search_drop(void *arg)
{
	struct search *search = arg;

	cleanup_close(&search->fd);
	free(search);
}

int jvm_version(const struct module *module, char ret[JVM_VERSION_MAX])
{
	struct search *search;
	int r;

	if (module->fd < 0)
		return -ENOENT;
	search = calloc(1, sizeof(*search));
	if (!search)
		return -ENOMEM;
	search->fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 3);
	if (search->fd < 0) {
		r = -errno;
		search_drop(search);
		return r;
	}
	r = worker_run(search_job, search_drop, search, TIMEOUT_MS);
	if (r == -ETIMEDOUT)
		return r; /* search is the worker's for good */
	if (r >= 0)
		r = search->result;
	if (r >= 0)
		memcpy(ret, search->version, JVM_VERSION_MAX);
	search_drop(search);
	return r;
}
