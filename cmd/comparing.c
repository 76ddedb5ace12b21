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
#include "base/scan.h"
#include "cmd/spelling.h"
#include "cmd/work.h"

#define ALIAS_FILE	"stoke.alias"
#define ALIAS_MAX_BYTES (1u << 20)
#define NARROWEST	60
#define WIDEST		160
#define USUAL_WIDTH	80
#define LAST_SECOND	253402300799u /* of the year 9999 */

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

/* ",sides=base new" of a format that has such options. */
static void put_spelling(FILE *out, const char *before, const struct spelling *spelling, int text)
{
	const struct {
		const char *name, *value;
	} all[] = {
		{"sides", spelling->operands},
		{"options", spelling->options},
		{"budget", text ? spelling->budget : NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!all[i].value)
			continue;
		fprintf(out, "%s%s=", before, all[i].name);
		put_param(out, all[i].value);
		before = ",";
	}
}

/* What a format's options become with --swap and --widths. To be freed; NULL: no memory. */
static char *full_format(
	const struct comparing *comparing, const char *format, const struct spelling *spelling)
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
	if (is_called(format, "text") || is_called(format, "md"))
		put_spelling(out, before, spelling, is_called(format, "text"));
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

int comparing_spell(const struct call *call, const struct comparing *comparing,
	const struct texts *baselines, const struct sides *sides, const char *budget,
	struct spelling *ret)
{
	static const char *const outputs[] = {"output", "format", "swap", "widths", NULL};
	struct spelling new = {.operands = sides_spelled(call, baselines, sides)};
	size_t options, name;
	FILE *out = open_memstream(&new.options, &options);
	FILE *of_budget = budget ? open_memstream(&new.budget, &name) : NULL;

	if (out) {
		spell_options(out, comparing_options, comparing, outputs);
		spell_options(out, naming_options, &comparing->naming, NULL);
		spell_options(out, filter_options, &comparing->filters, NULL);
	}
	if (of_budget)
		spell_operand(of_budget, budget);
	if (!out || fclose(out) == EOF || (budget && (!of_budget || fclose(of_budget) == EOF)) ||
		!new.operands) {
		spelling_done(&new);
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	}
	if (*new.options) /* begins with the blank before its first word */
		memmove(new.options, new.options + 1, options);
	*ret = new;
	return STATUS_DONE;
}

void spelling_done(struct spelling *spelling)
{
	free(spelling->operands);
	free(spelling->options);
	free(spelling->budget);
	*spelling = (struct spelling){0};
}

int comparing_output(const struct call *call, const struct comparing *comparing, const char *path,
	const char *format, const struct spelling *spelling, struct results *results)
{
	_cleanup_free_ char *full = NULL;

	if (!format && strcmp(path, "-"))
		format = stoke_output_for(path, STOKE_OUTPUT_COMPARISON);
	if (!format && !strcmp(path, "-"))
		format = "text";
	if (format) {
		full = full_format(comparing, format, spelling);
		if (!full)
			return say_error(&call->voice, STATUS_USAGE, "out of memory");
	}
	return results_add_comparison(results, &call->voice, path, full, 0);
}

int comparing_outputs(const struct call *call, const struct comparing *comparing,
	const struct spelling *spelling, struct results *results)
{
	const char *format = comparing->format;
	int status = STATUS_DONE;

	for (size_t i = 0; i < comparing->outputs.nr && !status; i++)
		status = comparing_output(
			call, comparing, comparing->outputs.items[i], format, spelling, results);
	if (!status && !comparing->outputs.nr && format)
		status = comparing_output(call, comparing, "-", format, spelling, results);
	return status;
}

int comparing_spares(
	const struct call *call, const struct sides *sides, const struct results *results)
{
	const struct paths *both[] = {&sides->before, &sides->after};

	for (size_t side = 0; side < ARRAY_SIZE(both); side++) {
		for (size_t i = 0; i < both[side]->nr; i++) {
			const char *input = both[side]->items[i];
			const char *output = results_replacing(results, input);

			if (output)
				return say_error(&call->voice, STATUS_USAGE,
					"-o %s would replace what is compared; another name",
					input);
		}
	}
	return STATUS_DONE;
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
static int put_today(const struct voice *voice, char *ret, size_t size)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	struct scan scan = scan_of(epoch ? epoch : "", epoch ? strlen(epoch) : 0);
	uint64_t seconds = 0;
	time_t now = time(NULL);
	struct tm tm;

	if (epoch && *epoch) {
		if (scan_decimal(&scan, &seconds) < 0 || scan_left(&scan) || seconds > LAST_SECOND)
			return say_error(voice, STATUS_USAGE,
				"SOURCE_DATE_EPOCH is %s: seconds since 1970 are wanted", epoch);
		now = (time_t)seconds;
	}
	if (!localtime_r(&now, &tm) || !strftime(ret, size, "%Y-%m-%d", &tm))
		return say_error(voice, STATUS_USAGE, "cannot tell what day it is");
	return STATUS_DONE;
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
	if (!status)
		status = put_today(&call->voice, comparing->today, sizeof(comparing->today));
	if (status)
		return status;
	options.aliases = aliases;
	options.work = work;
	options.today = comparing->today;
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

/* "text:width=120,all,sides=base new" for a stream; to be freed, NULL: no memory. */
static char *text_format(FILE *out, const struct telling *telling)
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
		*telling->more ? "," : "", telling->more);
	if (telling->spelling)
		put_spelling(to, ",", telling->spelling, 1);
	if (fclose(to) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

static int say_text(const struct call *call, const struct stoke_comparison *comparison,
	const struct telling *telling, FILE *out)
{
	_cleanup_free_ char *format = text_format(out, telling);
	struct stoke_error err = {0};

	if (!format)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	if (stoke_comparison_report(comparison, format, out, &err) < 0)
		return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
	/* Before what goes to the other stream, and while errno says why it fails. */
	if (fflush(out) != EOF || out != stdout)
		return STATUS_DONE;
	(void)say_error(
		&call->voice, STATUS_USAGE, "cannot write to standard output: %s", strerror(errno));
	clearerr(stdout); /* it was said */
	return STATUS_USAGE;
}

int comparing_tell(const struct call *call, const struct stoke_comparison *comparison,
	const struct telling *telling, struct results *results)
{
	int taken = results_use_stdout(results), status = STATUS_DONE, written;
	const char *warning;

	/* Who asks for data on standard output has no use for the text. */
	if (telling->always || (!taken && !call->voice.quiet)) {
		status = say_text(call, comparison, telling, taken ? stderr : stdout);
	} else {
		for (size_t i = 0; (warning = stoke_comparison_warning(comparison, i)); i++)
			say_warning(&call->voice, "%s", warning);
	}
	written = results_write_comparison(results, &call->voice, comparison);
	if (!call->voice.quiet)
		results_list(results, stderr);
	return status ? status : written;
}

int comparing_status(const struct call *call, const struct stoke_comparison *comparison)
{
	int status = stoke_comparison_verdict(comparison);

	if (status == STATUS_CANNOT_TELL)
		say(&call->voice,
			"--exit-code: whether anything grew cannot be told from these: exit 3");
	return status;
}
