/* SPDX-License-Identifier: BSD-2-Clause */
/* comparing.c: from files of two sides to what stoke says of them. */
#include "cmd/comparing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/work.h"

#define ALIAS_FILE	"stoke.alias"
#define ALIAS_MAX_BYTES (1u << 20)
#define NARROWEST	60
#define WIDEST		160
#define USUAL_WIDTH	80

static const char *const exposure_words[] = {"share", "work", "time", NULL};
static const char *const width_words[] = {"both", "before", "after", "a", "b", NULL};

const struct option comparing_options[] = {
	{.type = OPTION_HEADING, .help = "How to compare:"},
	{.name = "exposure",
		.type = OPTION_WORDS,
		.value = "WHAT",
		.words = exposure_words,
		.offset = offsetof(struct comparing, exposure),
		.help = "share of samples, work (CPU an operation) or time (cores); work where "
			"every file says how much it did, else share"},
	{.name = "work-before",
		.type = OPTION_TEXT,
		.value = "N",
		.offset = offsetof(struct comparing, work_before),
		.help = "operations done in each run before; @FILE reads the number"},
	{.name = "work-after",
		.type = OPTION_TEXT,
		.value = "N",
		.offset = offsetof(struct comparing, work_after),
		.help = "and in each run after"},
	{.name = "paired",
		.type = OPTION_FLAG,
		.bits = STOKE_PAIRED,
		.offset = offsetof(struct comparing, flags),
		.help = "the first run before belongs to the first after, and so on"},
	{.name = "jvm-threads",
		.type = OPTION_FLAG,
		.bits = STOKE_JVM_THREADS,
		.offset = offsetof(struct comparing, flags),
		.help = "leave a JVM's compilers and collectors among the application"},
	{.name = "freq",
		.letter = 'F',
		.type = OPTION_NUMBER,
		.value = "HZ",
		.min = 1,
		.max = 1000000,
		.offset = offsetof(struct comparing, frequency),
		.help = "folded text was sampled at this rate"},
	{.name = "duration",
		.letter = 'd',
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct comparing, duration),
		.help = "and for this long"},
	{.type = OPTION_HEADING, .help = "Files:"},
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXTS,
		.value = "FILE",
		.offset = offsetof(struct comparing, outputs),
		.help = "write here, as the suffix says: .svg .json .md .txt; may be repeated"},
	{.name = "format",
		.letter = 'f',
		.type = OPTION_TEXT,
		.value = "NAME",
		.offset = offsetof(struct comparing, format),
		.help = "instead of the one that FILE's suffix says"},
	{.name = "swap",
		.type = OPTION_FLAG,
		.bits = 1,
		.offset = offsetof(struct comparing, swap),
		.help = "the picture's sides exchanged"},
	{.name = "widths",
		.type = OPTION_WORDS,
		.value = "SIDE",
		.words = width_words,
		.offset = offsetof(struct comparing, widths),
		.help = "the picture as wide as both, or before or after alone"},
	OPTIONS_END,
};

/* A comma would begin the next parameter of a format. */
static void put_param(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, "%s%c", *text == ',' || *text == '\\' ? "\\" : "", *text);
}

static int is_called(const char *format, const char *name)
{
	size_t size = strcspn(format, ":");

	return strlen(name) == size && !memcmp(format, name, size);
}

char *comparing_format(const struct comparing *comparing, const char *format, const char *sides)
{
	const char *before = strchr(format, ':') ? "," : ":";
	size_t nr = comparing->widths.nr, size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(format, out);
	if (is_called(format, "svg") && nr) {
		static const char *const words[] = {"union", "before", "after", "before", "after"};

		fprintf(out, "%swidths=%s", before, words[comparing->widths.items[nr - 1]]);
		before = ",";
	}
	if (is_called(format, "svg") && comparing->swap)
		fprintf(out, "%sswap", before);
	if (sides && (is_called(format, "text") || is_called(format, "md"))) {
		fprintf(out, "%ssides=", before);
		put_param(out, sides);
	}
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

static int add_output(const struct call *call, const struct comparing *comparing, const char *path,
	const char *sides, struct results *results)
{
	const char *format = comparing->format;
	_cleanup_free_ char *full = NULL;

	if (!format && strcmp(path, "-"))
		format = stoke_output_for(path, STOKE_OUTPUT_COMPARISON);
	if (!format && !strcmp(path, "-"))
		format = "text";
	if (format) {
		full = comparing_format(comparing, format, sides);
		if (!full)
			return say_error(&call->voice, STATUS_USAGE, "out of memory");
	}
	return results_add_comparison(results, &call->voice, path, full, 0);
}

int comparing_outputs(const struct call *call, const struct comparing *comparing, const char *sides,
	struct results *results)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < comparing->outputs.nr && !status; i++)
		status = add_output(call, comparing, comparing->outputs.items[i], sides, results);
	if (!status && !comparing->outputs.nr && comparing->format)
		status = add_output(call, comparing, "-", sides, results);
	return status;
}

static enum stoke_exposure exposure_of(const struct comparing *comparing)
{
	size_t nr = comparing->exposure.nr;

	return nr ? (enum stoke_exposure)(STOKE_EXPOSURE_SHARE + comparing->exposure.items[nr - 1])
		  : STOKE_EXPOSURE_AUTO;
}

/* --alias, or the file of its usual name in the current directory, which is said. */
static int find_aliases(const struct call *call, const struct comparing *comparing,
	struct stoke_compare_options *options, char **ret)
{
	int r;

	options->aliases_name = comparing->naming.alias ? comparing->naming.alias : ALIAS_FILE;
	if (comparing->naming.alias)
		return naming_aliases(
			&call->voice, &comparing->naming, ret, &options->aliases_size);
	r = file_read_text(AT_FDCWD, ALIAS_FILE, ALIAS_MAX_BYTES, ret, &options->aliases_size);
	if (r == -ENOENT)
		return STATUS_DONE;
	if (r < 0)
		return say_error(&call->voice, STATUS_USAGE, "cannot read " ALIAS_FILE ": %s",
			r == -E2BIG ? "it is too large" : strerror(-r));
	say(&call->voice, "names go by " ALIAS_FILE " in this directory");
	return STATUS_DONE;
}

/* Operations of each run; *ret NULL: as the runs say. */
static int find_work(const struct call *call, const struct comparing *comparing,
	const struct sides *sides, double **ret)
{
	const char *texts[] = {comparing->work_before, comparing->work_after};
	size_t nr[] = {sides->before.nr, sides->after.nr};
	_cleanup_free_ double *work = NULL;
	struct stoke_error err = {0};

	if (!texts[0] && !texts[1])
		return STATUS_DONE;
	if (!texts[0] || !texts[1])
		return say_error(&call->voice, STATUS_USAGE,
			"--work-before and --work-after go together: work is compared with work");
	work = calloc(nr[0] + nr[1], sizeof(*work));
	if (!work)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t side = 0; side < 2; side++) {
		double each;

		if (work_parse(texts[side], &each, &err) < 0)
			return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
		for (size_t i = 0; i < nr[side]; i++)
			work[side * nr[0] + i] = each;
	}
	*ret = take_pointer(work);
	return STATUS_DONE;
}

/* Allowances end some day. SOURCE_DATE_EPOCH says another one, for who repeats an old check. */
static void put_today(char *ret, size_t size)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	struct tm tm;

	if (!localtime_r(&now, &tm) || !strftime(ret, size, "%Y-%m-%d", &tm))
		*ret = '\0';
}

static int compare(const struct call *call, struct comparing *comparing, const struct sides *sides,
	const struct stoke_budget *budget, const struct stoke_profile *profile,
	struct stoke_comparison **ret)
{
	struct stoke_compare_options options = {
		.names = naming_level(&comparing->naming),
		.exposure = exposure_of(comparing),
		.flags = comparing->flags | comparing->naming.flags,
		.budget = budget,
	};
	_cleanup_free_ char *aliases = NULL;
	_cleanup_free_ double *work = NULL;
	struct stoke_error err = {0};
	int status = find_aliases(call, comparing, &options, &aliases);

	if (!status)
		status = find_work(call, comparing, sides, &work);
	if (status)
		return status;
	options.aliases = aliases;
	options.work = work;
	put_today(comparing->today, sizeof(comparing->today));
	options.today = *comparing->today ? comparing->today : NULL;
	if (stoke_compare(profile, (uint32_t)sides->before.nr, &options, ret, &err) < 0)
		return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
	return STATUS_DONE;
}

int comparing_run(const struct call *call, struct comparing *comparing, const struct sides *sides,
	const struct stoke_budget *budget, struct stoke_comparison **ret)
{
	const struct stoke_read_options how = {.frequency_hz = comparing->frequency.value,
		.duration_ns = comparing->duration.value};
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	int status = sides_read(call, sides, &how, &profile);

	if (!status)
		status = filters_apply(&call->voice, &comparing->filters, &profile);
	return status ? status : compare(call, comparing, sides, budget, profile, ret);
}

char *comparing_text(FILE *out, const char *sides, const char *more)
{
	struct winsize size = {0};
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		return NULL;
	(void)ioctl(fileno(out), TIOCGWINSZ, &size); /* no terminal: 0 columns */
	fprintf(to, "text:width=%d%s%s",
		!size.ws_col		  ? USUAL_WIDTH
		: size.ws_col < NARROWEST ? NARROWEST
		: size.ws_col > WIDEST	  ? WIDEST
					  : size.ws_col,
		*more ? "," : "", more);
	if (sides) {
		fputs(",sides=", to);
		put_param(to, sides);
	}
	if (fclose(to) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

int comparing_tell(const struct call *call, const struct stoke_comparison *comparison,
	const char *text, FILE *out)
{
	struct stoke_error err = {0};

	if (!text)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	if (stoke_comparison_report(comparison, text, out, &err) < 0)
		return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
	(void)fflush(out); /* before what goes to the other stream; main() looks */
	return STATUS_DONE;
}
