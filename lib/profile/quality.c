/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quality.c: what each shortfall is called, and the one thing that cures it. A sentence comes only
 * where its cure would change what the picture says: from 1 % of what was lost or has no name, from
 * 5 % of the stacks that are no stacks.
 */
#include "profile/quality.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/text.h"
#include "profile/measure.h"
#include "profile/profile.h"

#define FEW_SAMPLES   100
#define TARGET_BYTES  160 /* of a target's or module's name inside a sentence */
#define FACT_BYTES    512 /* of one that is shown */
#define DEFAULT_RATE  99
#define HIGHEST_RATE  10000 /* that "record -F" takes */
#define STALE_WARNING 1000 /* one frame in so many */

static const char *const names[NR_QUALITY_COUNTS] = {
	[QUALITY_SAMPLES] = "samples",
	[QUALITY_EXPECTED] = "expected",
	[QUALITY_NOT_TAKEN] = "not-taken",
	[QUALITY_LOST_RING] = "lost-ring",
	[QUALITY_LOST_BUSY] = "lost-busy",
	[QUALITY_LOST_LATE] = "lost-late",
	[QUALITY_LOST_SIDEBAND] = "lost-sideband",
	[QUALITY_STACKS_WHOLE] = "stacks-whole",
	[QUALITY_STACKS_TRUNCATED] = "stacks-truncated",
	[QUALITY_STACKS_BROKEN] = "stacks-broken",
	[QUALITY_STACKS_EXIT] = "stacks-exit",
	[QUALITY_FRAMES] = "frames",
	[QUALITY_UNNAMED_NO_SYMBOLS] = "unnamed-no-symbols",
	[QUALITY_UNNAMED_GAP] = "unnamed-gap",
	[QUALITY_UNNAMED_UNREADABLE] = "unnamed-unreadable",
	[QUALITY_UNNAMED_JIT] = "unnamed-jit",
	[QUALITY_UNNAMED_KERNEL] = "unnamed-kernel",
	[QUALITY_STALE_JIT] = "stale-jit",
	[QUALITY_MAP_LINES_BAD] = "map-lines-bad",
	[QUALITY_LINES_BAD] = "lines-bad",
	[QUALITY_HIDDEN_NODES] = "hidden-nodes",
	[QUALITY_OWN_CPU_NS] = "own-cpu-ns",
	[QUALITY_OWN_PEAK_BYTES] = "own-peak-bytes",
};

/* Runtimes known by what they have mapped: how their generated code gets names. */
static const struct jit {
	const char *modules[2]; /* how the file's name begins */
	const char *cure;
} jits[] = {
	{{"libjvm.so", NULL}, "java: jcmd PID Compiler.perfmap while recording (JDK 17 and later), "
			      "perf-map-agent "
			      "before"},
	{{"node", "libnode.so"},
		"node: start it with --perf-basic-prof --interpreted-frames-native-stack"},
	{{"python3", "libpython3"}, "python 3.12 and later: start it with -X perf"},
	{{"libcoreclr.so", NULL}, "dotnet: start it with DOTNET_PerfMapEnabled=1"},
};

#define JIT_PYTHON 2 /* of jits */

const char *quality_name(enum quality_count count)
{
	return names[count];
}

int quality_find(const char *name, size_t size)
{
	for (int i = 0; i < NR_QUALITY_COUNTS; i++) {
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return i;
	}
	return -ENOENT;
}

void quality_sum(const struct stoke_profile *profile, struct quality *ret)
{
	*ret = (struct quality){0};
	for (size_t run = 0; run < profile->nr_runs; run++) {
		for (int i = 0; i < NR_QUALITY_COUNTS; i++)
			ret->count[i] =
				add_saturated(ret->count[i], profile->runs[run].quality.count[i]);
	}
}

static uint64_t sum_of(
	const struct quality *quality, enum quality_count from, enum quality_count to)
{
	uint64_t sum = 0;

	for (unsigned i = from; i <= (unsigned)to; i++)
		sum = add_saturated(sum, quality->count[i]);
	return sum;
}

static uint64_t lost_of(const struct quality *quality)
{
	return sum_of(quality, QUALITY_LOST_RING, QUALITY_LOST_LATE);
}

static uint64_t stacks_of(const struct quality *quality)
{
	return sum_of(quality, QUALITY_STACKS_WHOLE, QUALITY_STACKS_EXIT);
}

/* Is part at least pct percent of whole? */
static int reaches(uint64_t part, uint64_t whole, unsigned pct)
{
	return part > 0 && (__uint128_t)part * 100 >= (__uint128_t)whole * pct;
}

/*
 * Are more missing than three standard deviations of a count? A task that runs in pieces shorter
 * than the period meets a number of samples that scatters like that, and nobody stole anything.
 */
static int exceeds_chance(uint64_t missing, uint64_t expected)
{
	return (__uint128_t)missing * missing > (__uint128_t)expected * 9;
}

static void say(struct quality_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct quality_text *text, const char *format, ...)
{
	va_list args;

	if (text->nr == QUALITY_MAX_SENTENCES)
		return;
	va_start(args, format);
	/* A sentence that is too long ends early. */
	(void)vsnprintf(text->sentence[text->nr++], sizeof(text->sentence[0]), format, args);
	va_end(args);
}

/* A name out of the profile, made harmless and short. Returns buffer. */
static const char *printable(char buffer[TARGET_BYTES * 6 + 1], const char *name)
{
	size_t n = text_printable(buffer, TARGET_BYTES * 6, name, strnlen(name, TARGET_BYTES));

	buffer[n == SIZE_MAX ? 0 : n] = '\0';
	return buffer;
}

static const char *first_fact(const struct stoke_profile *profile, const char *key)
{
	for (size_t run = 0; run < profile->nr_runs; run++) {
		const char *value = profile_fact_find(profile, (uint32_t)run, key);

		if (value)
			return value;
	}
	return NULL;
}

/* ", most of it in libfoo.so", or nothing. */
static const char *most_in(
	const struct stoke_profile *profile, uint32_t module, char *buffer, size_t size)
{
	const char *path = profile->modules[module].path, *slash;
	char name[TARGET_BYTES * 6 + 1];

	buffer[0] = '\0';
	if (!module || !path || !*path)
		return buffer;
	slash = strrchr(path, '/');
	(void)snprintf(buffer, size, ", most of it in %s",
		printable(name, slash && slash[1] ? slash + 1 : path));
	return buffer;
}

static void say_nothing_there(
	const struct stoke_profile *profile, const struct quality *sum, struct quality_text *text)
{
	const char *state = first_fact(profile, "state"), *target = first_fact(profile, "target");
	char name[TARGET_BYTES * 6 + 1], why[TARGET_BYTES * 6 + 1];

	if (sum->count[QUALITY_SAMPLES] > 0 && profile->rows.nr == 0) {
		say(text, "nothing is left: no sample of the profile passes the filters");
		return;
	}
	if (!state) {
		say(text, "no samples: there is no stack with a count, or none passes the filters");
		return;
	}
	(void)printable(name, target ? target : "the target");
	(void)printable(why, state);
	if (strncmp(state, "used ", 5) == 0)
		say(text,
			"no samples: %s %s, and a profile of CPU time shows only what runs; a "
			"longer -d or a higher -F meets more",
			name, why);
	else
		say(text, "no samples: %s %s; a higher -F meets shorter work", name, why);
}

static void say_lost(
	const struct stoke_profile *profile, const struct quality *sum, struct quality_text *text)
{
	const uint64_t *count = sum->count;
	uint64_t lost = lost_of(sum), all = add_saturated(lost, count[QUALITY_SAMPLES]);
	const char *rate_text = first_fact(profile, "rate");
	unsigned long rate = rate_text ? strtoul(rate_text, NULL, 10) : DEFAULT_RATE;
	char share[32], less[48] = "a larger -c";

	if (reaches(lost, all, 1)) {
		const char *cause = "stoke got too little CPU";

		if (count[QUALITY_LOST_BUSY] > lost / 2)
			cause = "samples met each other on one CPU";
		else if (count[QUALITY_LOST_LATE] > lost / 2)
			cause = "records came too late to be put in order";
		if (rate > 1) /* "99 Hz"; "one in N events" is 0 */
			(void)snprintf(less, sizeof(less), "-F %lu", rate / 2);
		say(text,
			"%s of samples lost: %s; %s, or nice -n -10; shares stay right if the "
			"loss is even",
			text_share(share, lost, all), cause, less);
	}
	if (reaches(count[QUALITY_NOT_TAKEN], count[QUALITY_EXPECTED], 5) &&
		exceeds_chance(count[QUALITY_NOT_TAKEN], count[QUALITY_EXPECTED]))
		say(text,
			"%s of the samples expected were never taken (stolen or throttled CPU, not "
			"lost by stoke): shares stay right, cores are too low; a quieter machine "
			"cures it",
			text_share(share, count[QUALITY_NOT_TAKEN], count[QUALITY_EXPECTED]));
	if (count[QUALITY_LOST_SIDEBAND] > 0)
		say(text,
			"%llu records of mappings and processes lost, maps read again: code mapped "
			"for a short time may have no name; nice -n -10",
			(unsigned long long)count[QUALITY_LOST_SIDEBAND]);
}

static int has_jit(const struct stoke_profile *profile, const struct jit *jit)
{
	for (size_t i = 1; i < profile->nr_modules; i++) {
		const char *path = profile->modules[i].path;
		const char *slash = path ? strrchr(path, '/') : NULL;

		for (size_t j = 0; path && j < ARRAY_SIZE(jit->modules) && jit->modules[j]; j++) {
			if (strncmp(slash ? slash + 1 : path, jit->modules[j],
				    strlen(jit->modules[j])) == 0)
				return 1;
		}
	}
	return 0;
}

/* What a perf map's reader says of what it misses, with the cure; NULL: nothing. */
static const struct fact *map_finding(const struct stoke_profile *profile)
{
	for (size_t run = 0; run < profile->nr_runs; run++) {
		for (size_t i = 0; i < profile->runs[run].nr_facts; i++) {
			const struct fact *fact = &profile->runs[run].facts[i];

			if (strcmp(strings_text(&profile->strings, fact->key), "warning") == 0 &&
				strstr(strings_text(&profile->strings, fact->value), ".map"))
				return fact;
		}
	}
	return NULL;
}

/* A fact as it may be shown. */
static const char *fact_text(
	const struct stoke_profile *profile, const struct fact *fact, char *out, size_t size)
{
	const char *value = strings_text(&profile->strings, fact->value);
	size_t n = text_printable(out, size - 1, value, strnlen(value, FACT_BYTES - 1));

	out[n == SIZE_MAX ? 0 : n] = '\0';
	return out;
}

static void say_stacks(const struct stoke_profile *profile, const struct quality *sum,
	const struct measured *measured, struct quality_text *text)
{
	uint64_t stacks = stacks_of(sum);
	char share[32], most[TARGET_BYTES * 6 + 32];

	if (reaches(measured->jit_without_callers, measured->jit, 5))
		say(text, "%s of the stacks in generated code have no callers: %s",
			text_share(share, measured->jit_without_callers, measured->jit),
			has_jit(profile, &jits[JIT_PYTHON])
				? "python has to be built with -fno-omit-frame-pointer"
				: "no frame pointers there; start java with "
				  "-XX:+PreserveFramePointer");
	if (reaches(measured->broken, stacks, 5))
		say(text,
			"%s of stacks end before their root%s: no frame pointers there, and no "
			"unwind information that leads on; rebuild it with "
			"-fno-omit-frame-pointer",
			text_share(share, measured->broken, stacks),
			most_in(profile, measured->broken_module, most, sizeof(most)));
	if (reaches(measured->bare, stacks, 1))
		say(text,
			"%s of stacks end in a file without unwind information%s: keep its "
			".eh_frame (-fasynchronous-unwind-tables), or rebuild it with "
			"-fno-omit-frame-pointer",
			text_share(share, measured->bare, stacks),
			most_in(profile, measured->bare_module, most, sizeof(most)));
	if (reaches(sum->count[QUALITY_STACKS_TRUNCATED], stacks, 1))
		say(text,
			"%s of stacks deeper than the limit of 1024 frames: the frames nearest the "
			"root are missing, what is left stands under [truncated]",
			text_share(share, sum->count[QUALITY_STACKS_TRUNCATED], stacks));
}

static void say_jit(
	const struct stoke_profile *profile, const struct quality *sum, struct quality_text *text)
{
	uint64_t frames = sum->count[QUALITY_FRAMES];
	const struct fact *finding = map_finding(profile);
	char share[32], cures[400] = "", out[FACT_BYTES * 6];
	size_t n = 0, known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(jits); i++)
		known += has_jit(profile, &jits[i]);
	for (size_t i = 0; i < ARRAY_SIZE(jits) && n < sizeof(cures); i++) {
		if (!known || has_jit(profile, &jits[i]))
			n += (size_t)snprintf(
				cures + n, sizeof(cures) - n, "%s%s", n ? "; " : "", jits[i].cure);
	}
	if (reaches(sum->count[QUALITY_UNNAMED_JIT], frames, 1))
		say(text, "%s of frames in generated code that no perf map names%s%s",
			text_share(share, sum->count[QUALITY_UNNAMED_JIT], frames),
			finding ? ": " : "; ",
			finding ? fact_text(profile, finding, out, sizeof(out)) : cures);
	if (sum->count[QUALITY_STALE_JIT] > frames / STALE_WARNING)
		say(text,
			"%llu frames in generated code that changed hands around the sample: their "
			"names may be the later owner's; a larger code cache (java: "
			"-XX:ReservedCodeCacheSize) is reused less",
			(unsigned long long)sum->count[QUALITY_STALE_JIT]);
	if (sum->count[QUALITY_MAP_LINES_BAD] > 0)
		say(text,
			"%llu line%s of perf maps refused (not START SIZE NAME in hexadecimal, or "
			"out "
			"of range): their code has no name; the writer has to be mended",
			(unsigned long long)sum->count[QUALITY_MAP_LINES_BAD],
			sum->count[QUALITY_MAP_LINES_BAD] == 1 ? "" : "s");
}

/* Each file keeps a descriptor until its frames are named: with many, that is what runs out. */
static const char *unreadable_cure(const struct stoke_profile *profile)
{
	for (size_t i = 1; i < profile->nr_modules; i++) {
		if (profile->modules[i].open_error == EMFILE)
			return "too many files were open; raise the limit: ulimit -n 65536";
	}
	return "run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
}

static void say_names(const struct stoke_profile *profile, const struct quality *sum,
	const struct measured *measured, struct quality_text *text)
{
	const uint64_t *count = sum->count;
	uint64_t frames = count[QUALITY_FRAMES];
	uint64_t bare =
		add_saturated(count[QUALITY_UNNAMED_NO_SYMBOLS], count[QUALITY_UNNAMED_GAP]);
	char share[32], most[TARGET_BYTES * 6 + 32];

	if (reaches(count[QUALITY_UNNAMED_KERNEL], frames, 1))
		say(text,
			"%s of frames are kernel functions whose addresses are hidden: run as root "
			"or "
			"with CAP_SYSLOG, or sudo sysctl kernel.kptr_restrict=0",
			text_share(share, count[QUALITY_UNNAMED_KERNEL], frames));
	if (reaches(bare, frames, 1))
		say(text,
			"%s of frames in code without symbols%s: install its -dbgsym package or "
			"keep "
			".symtab",
			text_share(share, bare, frames),
			most_in(profile, measured->unnamed_module, most, sizeof(most)));
	if (reaches(count[QUALITY_UNNAMED_UNREADABLE], frames, 1))
		say(text, "%s of frames in files that could not be read%s: %s",
			text_share(share, count[QUALITY_UNNAMED_UNREADABLE], frames),
			most_in(profile, measured->unnamed_module, most, sizeof(most)),
			unreadable_cure(profile));
}

/* Is this said with the share of frames that it concerns, or is there no such share? */
static int is_told(
	const struct stoke_profile *profile, const struct quality *sum, const struct fact *fact)
{
	if (reaches(sum->count[QUALITY_UNNAMED_JIT], sum->count[QUALITY_FRAMES], 1))
		return fact == map_finding(profile);
	return strstr(strings_text(&profile->strings, fact->value), ".map: not there") != NULL;
}

static void say_facts(
	const struct stoke_profile *profile, const struct quality *sum, struct quality_text *text)
{
	char out[FACT_BYTES * 6];

	for (size_t run = 0; run < profile->nr_runs; run++) {
		for (size_t i = 0; i < profile->runs[run].nr_facts; i++) {
			const struct fact *fact = &profile->runs[run].facts[i];

			if (strcmp(strings_text(&profile->strings, fact->key), "warning") == 0 &&
				!is_told(profile, sum, fact))
				say(text, "%s", fact_text(profile, fact, out, sizeof(out)));
		}
	}
}

static void say_line(const struct stoke_profile *profile, const struct quality *sum, char *line)
{
	const uint64_t *count = sum->count;
	uint64_t stacks = stacks_of(sum), lost = lost_of(sum), duration_ns = 0;
	uint64_t unnamed = sum_of(sum, QUALITY_UNNAMED_NO_SYMBOLS, QUALITY_UNNAMED_KERNEL);
	char whole[32], nameless[32], gone[32], own[48] = "";

	for (size_t run = 0; run < profile->nr_runs; run++)
		duration_ns = add_saturated(duration_ns, profile->runs[run].duration_ns);
	if (!stacks) {
		(void)snprintf(line, QUALITY_LINE_BYTES, "%s%s",
			count[QUALITY_OWN_CPU_NS] ? "there is no stack to judge"
						  : "the input says nothing of it",
			count[QUALITY_LINES_BAD] ? ", and some of its lines were refused" : "");
		return;
	}
	if (duration_ns && count[QUALITY_OWN_CPU_NS]) {
		/* In integers: printf's doubles follow the locale. */
		__uint128_t mcores =
			((__uint128_t)count[QUALITY_OWN_CPU_NS] * 1000 + duration_ns / 2) /
			duration_ns;

		(void)snprintf(own, sizeof(own), "; own cost %llu.%03llu cores",
			(unsigned long long)(mcores / 1000), (unsigned long long)(mcores % 1000));
	}
	/* A stack without a user part because its process had none left is whole. */
	(void)snprintf(line, QUALITY_LINE_BYTES,
		"%s of stacks whole, %s of frames unnamed, %s lost%s",
		text_share(whole,
			add_saturated(count[QUALITY_STACKS_WHOLE], count[QUALITY_STACKS_EXIT]),
			stacks),
		text_share(nameless, unnamed, count[QUALITY_FRAMES]),
		lost ? text_share(gone, lost, add_saturated(lost, count[QUALITY_SAMPLES])) : "none",
		own);
}

/* Two standard deviations of a share of 10 % in n samples: 60 points / sqrt(n). */
static unsigned chance_points(uint64_t n)
{
	unsigned points = 1;

	while ((uint64_t)points * points * n < 3600)
		points++;
	return points;
}

/* What gives more samples of the same: "; a longer -d or a higher -F". Of a file that stoke did not
 * record nothing is known, and what ended by itself cannot be recorded longer. */
static const char *cure_of_few(const struct stoke_profile *profile)
{
	const char *rate = first_fact(profile, "rate"), *state = first_fact(profile, "state");
	int longer = !first_fact(profile, "command") && !(state && strstr(state, "ended"));

	if (!rate)
		return "";
	if (!strstr(rate, " Hz"))
		return longer ? "; a longer -d or a smaller -c" : "; a smaller -c";
	if (strtoul(rate, NULL, 10) >= HIGHEST_RATE)
		return longer ? "; a longer -d" : "";
	return longer ? "; a longer -d or a higher -F" : "; a higher -F";
}

static void say_few(
	const struct stoke_profile *profile, uint64_t samples, struct quality_text *text)
{
	const char *state = first_fact(profile, "state");
	char why[TARGET_BYTES * 6 + 1];

	say(text, "only %llu sample%s%s%s: chance alone moves a share of 10 %% by %u points%s",
		(unsigned long long)samples, samples == 1 ? "" : "s",
		state ? ", since the target " : "", state ? printable(why, state) : "",
		chance_points(samples), cure_of_few(profile));
}

/* Sums stay at 2^64 - 1, so rows beyond are missing from them. How many did not fit in. */
static void say_overflow(const struct stoke_profile *profile, struct quality_text *text)
{
	const uint64_t *values =
		profile->nr_values ? profile->rows.value[profile->default_value] : NULL;
	unsigned long long nr = 0;
	uint64_t sum = 0;

	for (size_t i = 0; values && i < profile->rows.nr; i++) {
		if (values[i] == UINT64_MAX || __builtin_add_overflow(sum, values[i], &sum))
			nr++;
	}
	if (nr)
		say(text,
			"%llu count%s beyond the 18,446,744,073,709,551,615 that a sum can hold: "
			"sums stop there, and shares are wrong",
			nr, nr == 1 ? "" : "s");
}

static void say_refused(
	const struct stoke_profile *profile, const struct quality *sum, struct quality_text *text)
{
	const char *first = first_fact(profile, "first-bad-line");
	char line[TARGET_BYTES * 6 + 1];

	if (sum->count[QUALITY_LINES_BAD] > 0)
		say(text, "%llu line%s of the input refused%s%s",
			(unsigned long long)sum->count[QUALITY_LINES_BAD],
			sum->count[QUALITY_LINES_BAD] == 1 ? "" : "s",
			first ? "; the first: " : ": no stack with a count at the end",
			first ? printable(line, first) : "");
}

int quality_say(const struct stoke_profile *profile, struct quality_text *ret)
{
	struct measured measured = {0};
	struct quality sum;
	unsigned column = measure_samples_column(profile);
	uint64_t samples = 0;

	if (measure_stacks(profile, &measured) < 0)
		return -ENOMEM;
	quality_sum(profile, &sum);
	ret->nr = 0;
	say_line(profile, &sum, ret->line);
	if (column < PROFILE_MAX_VALUES)
		samples = profile_total(profile, column);
	if (!profile->nr_values || !profile_total(profile, profile->default_value))
		say_nothing_there(profile, &sum, ret);
	else if (samples && samples < FEW_SAMPLES)
		say_few(profile, samples, ret);
	say_lost(profile, &sum, ret);
	say_stacks(profile, &sum, &measured, ret);
	say_names(profile, &sum, &measured, ret);
	say_jit(profile, &sum, ret);
	say_facts(profile, &sum, ret);
	say_overflow(profile, ret);
	say_refused(profile, &sum, ret);
	return 0;
}
