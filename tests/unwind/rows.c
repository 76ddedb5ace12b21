/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c: the unwind rows of files. With -r every row, for compare.py; else a line a file: the size
 * of its tables, functions, rows before and after equal ones became one, bytes of its table, CPU
 * time from the file to that (the best of three), and the counts of enum unwind_cause.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "unwind/ehframe.h"
#include "unwind/table.h"

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

/* Of all three tries. */
struct tried {
	struct unwind_rows rows;
	uint64_t table_bytes, nr_rows;
	double ms;
};

static void print_line(const char *path, const struct tried *tried)
{
	const struct unwind_rows *rows = &tried->rows;

	(void)printf("%8.1f KB %7" PRIu64 " functions %8" PRIu64 " raw %8" PRIu64
		     " rows %8.1f KB %8.2f ms %6.1f M/s",
		(double)rows->table_bytes / 1024, rows->nr_functions, rows->nr_raw, tried->nr_rows,
		(double)tried->table_bytes / 1024, tried->ms,
		(double)rows->nr_raw / tried->ms / 1e3);
	for (int i = 0; i < UNWIND_NR_CAUSES; i++)
		(void)printf("%c%" PRIu64, i ? '/' : ' ', rows->causes[i]);
	(void)printf(" %s\n", path);
}

static int take(void *arg, const struct unwind_row *items, size_t nr)
{
	return unwind_table_add(arg, items, nr);
}

static int make(const struct elf_file *file, struct tried *tried)
{
	struct unwind_table table = {0};
	const struct unwind_taker taker = {take, &table};
	double start = cpu_ms(), ms;
	int r = ehframe_hand_over(file, &taker, &tried->rows);

	ms = cpu_ms() - start;
	tried->ms = tried->ms && tried->ms < ms ? tried->ms : ms;
	tried->nr_rows = tried->rows.nr_taken + tried->rows.nr;
	tried->table_bytes =
		table.nr_rows * sizeof(*table.rows) + table.nr_pages * sizeof(*table.pages);
	free(take_pointer(tried->rows.items)); /* the counts stay */
	unwind_table_done(&table);
	return r;
}

static int show(const char *path, int all)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct tried tried = {0};
	struct elf_file *file;
	int r = 0;

	if (fd < 0)
		return -errno;
	r = elf_file_open(fd, &file);
	if (r < 0) {
		(void)close(fd); /* read only */
		return r;
	}
	if (all)
		r = ehframe_rows(file, &tried.rows);
	for (size_t i = 0; r == 0 && all && i < tried.rows.nr; i++)
		print_row(&tried.rows.items[i]);
	for (int i = 0; i < 3 && r == 0 && !all; i++)
		r = make(file, &tried);
	if (r == 0 && !all)
		print_line(path, &tried);
	unwind_rows_done(&tried.rows);
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
