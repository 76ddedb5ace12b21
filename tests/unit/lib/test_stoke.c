/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "profile/profile.h"
#include "stoke.h"

TestSuite(stoke, .fini = check_leaks);

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(sz, (size_t)write(fd, bytes, size), size));
	cr_assert(zero(long, lseek(fd, 0, SEEK_SET)));
	return fd;
}

static int read_text(struct stoke_profile *profile, const char *text,
	struct stoke_read_options options, struct stoke_error *err)
{
	int fd = file_of(text, strlen(text)), r;

	r = stoke_profile_read(profile, fd, &options, err);
	close(fd);
	return r;
}

static struct stoke_profile *profile_of(const char *text)
{
	struct stoke_error err = {0};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_text(profile, text,
				    (struct stoke_read_options){.name = "in.folded"}, &err)),
		"%s", err.text);
	return profile;
}

/* What write or report puts out; NULL and the error. */
static char *output(const struct stoke_profile *profile, const char *format, int is_report,
	struct stoke_error *err)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = is_report ? stoke_profile_report(profile, format, out, err)
			  : stoke_profile_write(profile, format, out, err);

	fclose(out);
	if (r < 0) {
		cr_assert(eq(int, r, err->code));
		free(text);
		return NULL;
	}
	return text;
}

static void refuse(const char *format, int is_report, const char *sentence)
{
	struct stoke_profile *profile = profile_of("a 1\n");
	struct stoke_error err = {0};

	cr_assert(eq(ptr, output(profile, format, is_report, &err), NULL));
	cr_assert(eq(str, err.text, (char *)sentence));
	stoke_profile_free(profile);
}

Test(stoke, content_decides_and_files_add_up)
{
	struct stoke_profile *profile = profile_of("a;b 1\n");
	struct stoke_error err = {0};
	char *text;

	cr_assert(zero(int, read_text(profile, "a;b 2\nc 3\n",
				    (struct stoke_read_options){.name = "second"}, &err)));
	cr_assert(eq(sz, profile->nr_runs, 2));
	cr_assert(
		eq(str, (char *)strings_text(&profile->strings, profile->runs[1].name), "second"));
	text = output(profile, "folded", 0, &err);
	cr_assert(eq(str, text, "a;b 3\nc 3\n"));
	free(text);
	stoke_profile_free(profile);
}

Test(stoke, every_format_that_reads_reads_what_it_wrote)
{
	struct stoke_profile *profile = profile_of("a;b 1\nc_[k] 3\n"), *back;
	struct stoke_error err = {0};
	char *bytes = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	int fd;

	cr_assert(zero(int, stoke_profile_write(profile, "pprof", out, &err)));
	fclose(out);
	fd = file_of(bytes, size);
	cr_assert(zero(int, stoke_profile_new(&back)));
	cr_assert(zero(int, stoke_profile_read(back, fd, NULL, &err)), "%s", err.text);
	text = output(back, "folded", 0, &err);
	cr_assert(eq(str, text, "a;b 1\nc_[k] 3\n"));
	free(text);
	free(bytes);
	close(fd);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(stoke, what_is_no_profile_is_refused_by_its_name)
{
	struct stoke_profile *profile;
	struct stoke_error err = {0};

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(eq(int,
		read_text(
			profile, "{\"a\": 1}", (struct stoke_read_options){.name = "x.json"}, &err),
		-EINVAL));
	cr_assert(eq(int, strncmp(err.text, "x.json is JSON", 14), 0));
	stoke_profile_free(profile);
}

Test(stoke, words_that_name_nothing_are_refused)
{
	refuse("fold", 0, "no format is called fold; stoke help formats lists them");
	refuse("folded:x", 0, "folded has no option x; it has: slices");
	refuse("folded", 1, "no report is called folded; stoke help formats lists them");
}

Test(stoke, a_report_is_found_by_its_word)
{
	struct stoke_profile *profile = profile_of("a;b 10\n");
	struct stoke_error err = {0};
	char *text = output(profile, "text", 1, &err);

	cr_assert(ne(ptr, text, NULL));
	cr_assert(ne(ptr, strstr(text, "samples   10"), NULL));
	free(text);
	stoke_profile_free(profile);
}

Test(stoke, suffixes_find_outputs_of_their_kind)
{
	cr_assert(eq(str, (char *)stoke_output_for("x.folded", STOKE_OUTPUT_FORMAT), "folded"));
	cr_assert(
		eq(str, (char *)stoke_output_for("dir.svg/x.pb.gz", STOKE_OUTPUT_FORMAT), "pprof"));
	cr_assert(eq(str, (char *)stoke_output_for("x.svg", STOKE_OUTPUT_FORMAT), "svg"));
	cr_assert(eq(str,
		(char *)stoke_output_for("x.txt", STOKE_OUTPUT_FORMAT | STOKE_OUTPUT_REPORT),
		"text"));
	cr_assert(eq(ptr, (void *)stoke_output_for("x.txt", STOKE_OUTPUT_FORMAT), NULL));
	cr_assert(eq(ptr,
		(void *)stoke_output_for("x.gz", STOKE_OUTPUT_FORMAT | STOKE_OUTPUT_REPORT), NULL));
	cr_assert(eq(ptr, (void *)stoke_output_for(".svg", STOKE_OUTPUT_FORMAT), NULL));
}

Test(stoke, only_pprof_is_binary)
{
	cr_assert(eq(int, stoke_output_binary("pprof"), 1));
	cr_assert(zero(int, stoke_output_binary("folded")));
	cr_assert(zero(int, stoke_output_binary("svg:width=800")));
	cr_assert(zero(int, stoke_output_binary("nothing")));
}

Test(stoke, stats_count_what_there_is)
{
	struct stoke_profile *profile;
	struct stoke_error err = {0};
	struct stoke_stats stats;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(
		int, read_text(profile, "a;b 1\na 2\na;b 3\n",
			     (struct stoke_read_options){
				     .name = "x", .frequency_hz = 100, .duration_ns = 5000000000},
			     &err)));
	stoke_profile_stats(profile, &stats);
	cr_assert(eq(u64, stats.samples, 6));
	cr_assert(eq(u64, stats.cpu_ns, 60000000));
	cr_assert(eq(u64, stats.stacks, 2));
	cr_assert(eq(u64, stats.duration_ns, 5000000000));
	cr_assert(eq(u32, stats.nr_threads, 0));
	stoke_profile_free(profile);
}

Test(stoke, text_of_known_duration_began_that_long_before_its_file_was_written)
{
	static const struct timespec times[2] = {{.tv_sec = 1700000100}, {.tv_sec = 1700000100}};
	const struct stoke_read_options options = {
		.name = "x", .frequency_hz = 99, .duration_ns = 10000000000};
	char path[] = "/tmp/stoke-test-XXXXXX";
	struct stoke_profile *profile;
	int fd = mkstemp(path);

	cr_assert(eq(long, write(fd, "a 1\n", 4), 4));
	cr_assert(zero(int, futimens(fd, times)));
	lseek(fd, 0, SEEK_SET);
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, stoke_profile_read(profile, fd, &options, NULL)));
	cr_assert(eq(u64, profile->runs[0].start_ns, 1700000090000000000));
	stoke_profile_free(profile);
	close(fd);
	unlink(path);
}

Test(stoke, warnings_end_and_tell_of_refused_lines)
{
	struct stoke_profile *profile = profile_of("a 1000\nbad\n");
	const char *warning;
	size_t nr = 0, nr_bad = 0;

	for (; (warning = stoke_profile_warning(profile, nr)); nr++)
		nr_bad += strstr(warning, "line 2: no count at its end") != NULL;
	cr_assert(eq(sz, nr_bad, 1));
	cr_assert(eq(ptr, (void *)stoke_profile_warning(profile, nr + 5), NULL));
	stoke_profile_free(profile);
}

Test(stoke, help_knows_the_words_of_plugins_and_nothing_else)
{
	static const char *const known[] = {
		"formats", "events", "folded", "pprof", "svg", "text", "cpu"};
	char *text = NULL;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		FILE *out = open_memstream(&text, &size);

		cr_assert(zero(int, stoke_help(known[i], out)), "%s", known[i]);
		fclose(out);
		cr_assert(gt(sz, size, 0));
		free(text);
	}
	FILE *out = open_memstream(&text, &size);

	cr_assert(eq(int, stoke_help("nothing", out), -ENOENT));
	fclose(out);
	cr_assert(eq(sz, size, 0));
	free(text);
}

Test(stoke, work_is_kept_by_a_capture_file)
{
	struct stoke_profile *profile = profile_of("a;b 1\n"), *back;
	struct stoke_error err = {0};
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	int fd;

	cr_assert(eq(int, stoke_profile_set_work(profile, 0, &err), -EINVAL));
	cr_assert(zero(int, stoke_profile_set_work(profile, 1.5e6, &err)));
	cr_assert(zero(int, stoke_profile_write(profile, "pprof", out, &err)));
	fclose(out);
	fd = file_of(bytes, size);
	cr_assert(zero(int, stoke_profile_new(&back)));
	cr_assert(zero(int, stoke_profile_read(back, fd, NULL, &err)), "%s", err.text);
	cr_assert(eq(str, (char *)profile_fact_find(back, 0, "work"), "1500000"));
	free(bytes);
	close(fd);
	stoke_profile_free(back);
	stoke_profile_free(profile);
}
