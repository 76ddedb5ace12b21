/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c: the unwind rows of files. With -r every row, for compare.py; else a line a file: the size
 * of its tables, functions, rows before and after equal ones became one, CPU time (the best of
 * three), and the counts of enum unwind_cause.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unwind/ehframe.h"

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* cannot fail */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print_row(const struct unwind_row *row)
{
	const struct unwind_rule *rule = &row->rule;

	(void)printf("%" PRIx64 " %u %d %u %d %u %d\n", row->address, rule->cfa, rule->cfa_offset,
		rule->fp, rule->fp_offset, rule->ra, rule->ra_offset);
}

static void print_line(const char *path, const struct unwind_rows *rows, double ms)
{
	(void)printf("%8.1f KB %7" PRIu64 " functions %8" PRIu64
		     " raw %8zu rows %8.2f ms %6.1f M/s",
		(double)rows->table_bytes / 1024, rows->nr_functions, rows->nr_raw, rows->nr, ms,
		(double)rows->nr_raw / ms / 1e3);
	for (int i = 0; i < UNWIND_NR_CAUSES; i++)
		(void)printf("%c%" PRIu64, i ? '/' : ' ', rows->causes[i]);
	(void)printf(" %s\n", path);
}

static int show(const char *path, int all)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_rows rows = {0};
	struct elf_file *file;
	double best = 1e9;
	int r;

	if (fd < 0)
		return -errno;
	r = elf_file_open(fd, &file);
	if (r < 0) {
		(void)close(fd); /* read only */
		return r;
	}
	for (int i = 0; i < (all ? 1 : 3); i++) {
		double start = cpu_ms();

		unwind_rows_done(&rows);
		r = ehframe_rows(file, &rows);
		if (r < 0)
			break;
		best = cpu_ms() - start < best ? cpu_ms() - start : best;
	}
	for (size_t i = 0; r == 0 && all && i < rows.nr; i++)
		print_row(&rows.items[i]);
	if (r == 0 && !all)
		print_line(path, &rows, best);
	unwind_rows_done(&rows);
	elf_file_close(file);
	return r;
}

int main(int argc, char **argv)
{
	int all = argc > 1 && strcmp(argv[1], "-r") == 0, failed = 0;

	for (int i = all ? 2 : 1; i < argc; i++) {
		int r = show(argv[i], all);

		if (r < 0) {
			(void)fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
			failed = 1;
		}
	}
	return failed;
}
