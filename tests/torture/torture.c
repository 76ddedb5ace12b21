/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture.c: each allocation of reading, selecting and writing, and of unwind rows, fails in turn:
 * -ENOMEM, every time, no crash, no leak (LeakSanitizer looks at the end). The linker hands the
 * library's calls over (--wrap), so that the sanitizer's own allocator stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/input.h"
#include "format/format.h"
#include "names/pools.h"
#include "profile/prune.h"
#include "profile/select.h"
#include "report/report.h"
#include "unwind/ehframe.h"

static long countdown = -1; /* allocations until one fails; negative: none does */
static long nr_allocations;

static int fails(void)
{
	nr_allocations++;
	return countdown >= 0 && countdown-- == 0;
}

#define WRAP(type, name, parameters, arguments, failure)                                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails() ? (failure) : __real_##name arguments;                              \
	}

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t nr, size_t size), (nr, size), NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL)
WRAP(void *, aligned_alloc, (size_t align, size_t size), (align, size), NULL)
WRAP(char *, strdup, (const char *text), (text), NULL)
WRAP(int, inflateInit2_, (z_streamp zlib, int bits, const char *version, int size),
	(zlib, bits, version, size), Z_MEM_ERROR)
WRAP(int, deflateInit2_,
	(z_streamp zlib, int level, int method, int bits, int memory, int strategy,
		const char *version, int size),
	(zlib, level, method, bits, memory, strategy, version, size), Z_MEM_ERROR)

int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	int n;

	if (fails())
		return -1;
	va_start(args, format);
	n = vasprintf(ret, format, args);
	va_end(args);
	return n;
}

/* One kind of work, on bytes that input() reads. */
struct work {
	const char *name;
	int fd; /* of the input */
	int (*run)(const struct work *work);
};

static int read_input(const struct work *work, struct stoke_profile *profile)
{
	const struct stoke_read_options options = {.name = "in", .frequency_hz = 99};
	const struct format *format;
	struct input *input;
	int r;

	(void)lseek(work->fd, 0, SEEK_SET);
	r = input_open(work->fd, "in", &input, NULL);
	if (r < 0)
		return r;
	r = format_recognise(input, &format, NULL);
	if (r >= 0)
		r = format->read(profile, input, &options, NULL);
	input_close(input);
	return r;
}

static int write_all(const struct stoke_profile *profile)
{
	FILE *out = fopen("/dev/null", "w");
	int r = 0;

	for (size_t i = 0; out && r >= 0 && i < nr_formats; i++) {
		void *params;

		if (!formats[i]->write)
			continue;
		r = params_parse(formats[i]->params, formats[i]->params_size, formats[i]->name,
			NULL, &params, NULL);
		if (r < 0)
			break;
		r = formats[i]->write(profile, params, out);
		params_free(formats[i]->params, params);
	}
	if (out)
		(void)fclose(out); /* nothing was kept */
	return out ? r : -EIO;
}

static int read_and_write(const struct work *work)
{
	struct stoke_profile *profile;
	int r = stoke_profile_new(&profile);

	if (r < 0)
		return r;
	r = read_input(work, profile);
	if (r >= 0)
		r = write_all(profile);
	stoke_profile_free(profile);
	return r;
}

static int select_and_prune(const struct work *work)
{
	static const enum stoke_by by[] = {STOKE_BY_PROCESS, STOKE_BY_THREAD, STOKE_BY_POOL};
	const struct stoke_select_options options = {
		.focus = "main", .ignore = "nothing", .hide = "parse", .by = by, .nr_by = 3};
	struct stoke_profile *profile, *selected = NULL;
	uint64_t nr_cut;
	int r = stoke_profile_new(&profile);

	if (r < 0)
		return r;
	r = read_input(work, profile);
	if (r >= 0)
		r = profile_select(profile, &options, pool_of, &selected, NULL);
	if (r >= 0)
		r = profile_prune(profile, 0, 3, NULL, 0, &nr_cut);
	stoke_profile_free(profile);
	stoke_profile_free(selected);
	return r;
}

static int report_all(const struct stoke_comparison *comparison)
{
	FILE *out = fopen("/dev/null", "w");
	int r = 0;

	for (size_t i = 0; out && r >= 0 && i < nr_reports; i++) {
		if (reports[i]->comparison)
			r = stoke_comparison_report(comparison, reports[i]->name, out, NULL);
	}
	if (out)
		(void)fclose(out); /* nothing was kept */
	return out ? r : -EIO;
}

/* The same input on both sides, twice each: alike, but looked at all the same. */
static int compare_and_report(const struct work *work)
{
	static const char rules[] = "exposure share\ngroup g = a|b\nframe @g max 1%\n"
				    "allow main total +5pp until 2030-01-01 reason \"r\"\n";
	struct stoke_compare_options options = {.today = "2026-11-30"};
	struct stoke_comparison *comparison = NULL;
	struct stoke_budget *budget = NULL;
	struct stoke_profile *profile;
	int r = stoke_profile_new(&profile);

	if (r < 0)
		return r;
	r = stoke_budget_parse(rules, sizeof(rules) - 1, "budget", &budget, NULL);
	options.budget = budget; /* some reports speak of verdicts only */
	for (unsigned run = 0; run < 4 && r >= 0; run++)
		r = read_input(work, profile);
	if (r >= 0)
		r = stoke_compare(profile, 2, &options, &comparison, NULL);
	if (r >= 0)
		r = report_all(comparison);
	stoke_comparison_free(comparison);
	stoke_budget_free(budget);
	stoke_profile_free(profile);
	return r;
}

static int rows_of_file(const struct work *work)
{
	struct unwind_rows rows = {0};
	struct elf_file *file;
	int fd = dup(work->fd), r;

	if (fd < 0)
		abort();
	r = elf_file_open(fd, &file);
	if (r < 0) {
		(void)close(fd); /* read only */
		return r;
	}
	r = ehframe_rows(file, &rows);
	unwind_rows_done(&rows);
	elf_file_close(file);
	return r;
}

/* A descriptor on bytes in memory. */
static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	return fd;
}

/* What the work before read, as pprof. */
static int as_pprof(const struct work *work)
{
	struct stoke_profile *profile;
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	int fd;

	if (!out || stoke_profile_new(&profile) < 0 || read_input(work, profile) < 0 ||
		format_find("pprof", 5)->write(profile, NULL, out) < 0 || fclose(out) != 0)
		abort();
	stoke_profile_free(profile);
	fd = file_of(bytes, size);
	free(bytes);
	return fd;
}

/* 0: as it should be. */
static int torture(const struct work *work)
{
	long nr, bad = 0;
	int r;

	countdown = -1;
	nr_allocations = 0;
	r = work->run(work);
	nr = nr_allocations;
	if (r < 0) {
		(void)printf("# %s: %d without any failure\n", work->name, r);
		return 1;
	}
	for (long i = 0; i < nr; i++) {
		countdown = i;
		r = work->run(work);
		if (r != -ENOMEM && !bad++)
			(void)printf(
				"# %s: allocation %ld of %ld fails: %d\n", work->name, i, nr, r);
	}
	countdown = -1;
	(void)printf("# %s: %ld allocations, %ld not told as -ENOMEM\n", work->name, nr, bad);
	return bad != 0;
}

int main(void)
{
	static const char text[] =
		"# made here\nbad line\nmain;parse;read_[k] 5\nmain;parse;hot_[j] 7\n"
		"main;a.b 3\nmain;a;c 9\nmain;a 1\nmain;;x 2\n[truncated];y 4\n";
	struct work works[] = {
		{"folded", file_of(text, sizeof(text) - 1), read_and_write},
		{"pprof", -1, read_and_write},
		{"select", -1, select_and_prune},
		{"compare", -1, compare_and_report},
		{"unwind rows", open("/proc/self/exe", O_RDONLY | O_CLOEXEC), rows_of_file},
	};
	int nr_bad = 0;

	works[1].fd = works[2].fd = works[3].fd = as_pprof(&works[0]);
	(void)printf("1..%zu\n", sizeof(works) / sizeof(works[0]));
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		int bad = torture(&works[i]);

		(void)printf("%sok %zu - each failing allocation of %s is told\n",
			bad ? "not " : "", i + 1, works[i].name);
		nr_bad += bad;
	}
	return nr_bad != 0;
}
