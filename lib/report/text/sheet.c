/* SPDX-License-Identifier: BSD-2-Clause */
/* sheet.c: the head of a comparison: what was laid beside what, and what that can show. */
#include "report/text/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/columns.h"

#define TITLE	      10
#define LIKE_ITSELF   0.2 /* correlation of neighbours in time that is worth a word */
#define WORTH_A_SHARE 0.005

void sheet_title(const struct sheet *sheet, const char *word)
{
	fprintf(sheet->out, "%-*s", TITLE, word);
}

/* A run's name, and what of its JVM is known, in columns of their own. */
static void say_side(const struct sheet *sheet, int which)
{
	const struct side *sides = sheet->comparison->comparable->sides;
	const struct side *side = &sides[which];
	char name[COLUMNS_TEXT_BYTES], jvm[COLUMNS_TEXT_BYTES] = "", number[32];
	size_t widest = 0, jvm_widest = 0;

	for (int i = 0; i < 2; i++) {
		size_t n = text_columns(sides[i].name, strlen(sides[i].name));
		size_t j = sides[i].jvm ? text_columns(sides[i].jvm, strlen(sides[i].jvm)) + 4 : 0;

		widest = n > widest ? n : widest;
		jvm_widest = j > jvm_widest ? j : jvm_widest;
	}
	widest = widest > sheet->width / 2 ? sheet->width / 2 : widest;
	(void)columns_fit(name, side->name, strlen(side->name), widest, COLUMNS_CUT_START);
	sheet_title(sheet, which ? "after" : "before");
	fprintf(sheet->out, "%s%*s", name, (int)(widest - text_columns(name, strlen(name)) + 4),
		"");
	if (jvm_widest) {
		if (side->jvm)
			(void)columns_fit(jvm, side->jvm, strlen(side->jvm), 40, COLUMNS_CUT_END);
		jvm_widest = jvm_widest > 44 ? 44 : jvm_widest;
		fprintf(sheet->out, "%s%s%*s", side->jvm ? "JDK " : "", jvm,
			(int)(jvm_widest - text_columns(jvm, strlen(jvm)) - (side->jvm ? 4 : 0) +
				4),
			"");
	}
	fprintf(sheet->out, "%s sample%s", text_count(number, side->samples),
		said_s(side->samples));
	if (side->duration_ns)
		fprintf(sheet->out, " in %.*f s", side->duration_ns < 10000000000 ? 1 : 0,
			(double)side->duration_ns / 1e9);
	fputs("\n", sheet->out);
}

static const char *level_word(enum stoke_names level)
{
	switch (level) {
	case STOKE_NAMES_NONE:
		return "none";
	case STOKE_NAMES_JDK:
		return "jdk";
	default:
		return "build";
	}
}

static void say_comparable(const struct sheet *sheet)
{
	static const char *const titles[] = {[FINDING_NOTE] = "note",
		[FINDING_WARNING] = "warning",
		[FINDING_REFUSAL] = "doubt"};
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct comparable *comparable = comparison->comparable;

	for (size_t i = 0; i < comparable->nr_findings; i++) {
		const struct comparable_finding *finding = &comparable->findings[i];

		if (finding->weight == FINDING_SAME)
			continue;
		sheet_title(sheet, titles[finding->weight]);
		text_print(sheet->out, finding->text, strlen(finding->text));
		fputs("\n", sheet->out);
	}
	sheet_title(sheet, "compare");
	for (size_t i = 0; i < comparable->nr_findings; i++) {
		const struct comparable_finding *finding = &comparable->findings[i];

		if (finding->weight != FINDING_SAME)
			continue;
		text_print(sheet->out, finding->text, strlen(finding->text));
		fputs("; ", sheet->out);
	}
	fprintf(sheet->out, "names at level %s%s", level_word(comparison->level),
		comparison->level_chosen ? ": the JVMs differ" : "");
	if (comparison->merged && comparison->merged->nr_merged)
		fprintf(sheet->out, ", %zu of them spelled in several ways",
			comparison->merged->nr_merged);
	fputs("\n", sheet->out);
}

static void say_weight(const struct sheet *sheet)
{
	const struct evidence *evidence = sheet->comparison->evidence;
	char factor[SAID_ROOM];

	sheet_title(sheet, "weight");
	fputs(sheet->scale.of, sheet->out);
	if (sheet->comparison->units->exposure == STOKE_EXPOSURE_SHARE)
		fputs(": blind to everything slowing alike; better --work-before N "
		      "--work-after N",
			sheet->out);
	fputs("\n", sheet->out);
	if (!evidence || !(evidence->dilution_grew > 1.01))
		return;
	sheet_title(sheet, "dilution");
	fprintf(sheet->out,
		"what shrank made every other share grow x%s: that is taken off before judging\n",
		said_times(factor, evidence->dilution_grew));
}

static void say_runs(const struct sheet *sheet)
{
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct evidence *evidence = comparison->evidence;
	size_t before = said_runs(comparison, 0), after = said_runs(comparison, 1);

	fprintf(sheet->out, "%zu run%s before, %zu after", before, said_s(before), after);
	if (comparison->too_few)
		fprintf(sheet->out,
			": too few to tell change from chance (best p 1/%" PRIu64
			"); 5 a side would settle it",
			evidence ? evidence->relabellings : 1);
	else
		fprintf(sheet->out, ": false alarm 1 report in %.0f; best p 1/%" PRIu64,
			1 / evidence->alpha, evidence->relabellings);
}

static int has_few_samples(const struct stoke_comparison *comparison)
{
	const struct side *sides = comparison->comparable->sides;

	return sides[0].samples < COMPARISON_FEW_SAMPLES ||
	       sides[1].samples < COMPARISON_FEW_SAMPLES;
}

static void say_evidence(const struct sheet *sheet)
{
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct evidence *evidence = comparison->evidence;

	sheet_title(sheet, "evidence");
	if (!evidence || has_few_samples(comparison))
		fputs("under 200 samples on a side: only what sampling alone could do is ruled "
		      "out; record longer",
			sheet->out);
	else if (comparison->units->blocks)
		fputs("one capture a side: chance judged inside these two only; 5 a side would "
		      "settle it",
			sheet->out);
	else if (said_runs(comparison, 0) == 1 && said_runs(comparison, 1) == 1)
		fputs("one capture a side, without times of its samples: only what sampling alone "
		      "could do is ruled out; 5 a side would settle it",
			sheet->out);
	else
		say_runs(sheet);
	fputs("\n", sheet->out);
	for (int side = 0; evidence && side < 2; side++) {
		double correlation = evidence->correlation[side] + 1.0 / UNITS_BLOCKS_PER_RUN;

		if (!(correlation > LIKE_ITSELF)) /* NAN too */
			continue;
		sheet_title(sheet, "warning");
		fprintf(sheet->out,
			"%s: what follows in time is alike (correlation %.2f), so chance does more "
			"than is judged here; record more captures\n",
			side ? "after" : "before", correlation);
	}
}

static void say_limit(const struct sheet *sheet)
{
	const struct power *power = &sheet->comparison->power;
	char points[SAID_ROOM];

	if (!(power->detectable > 0) || !isfinite(power->detectable))
		return;
	sheet_title(sheet, "limit");
	fprintf(sheet->out, "changes under %s points in a %.0f %% frame could not have been seen\n",
		said_number(points, power->detectable * 100, 1), power->share * 100);
}

/* A JVM's own threads are put aside, but not in silence. */
static void say_jvm(const struct sheet *sheet)
{
	const struct side *sides = sheet->comparison->comparable->sides;

	if (!(sides[0].jit > WORTH_A_SHARE || sides[1].jit > WORTH_A_SHARE ||
		    sides[0].gc > WORTH_A_SHARE || sides[1].gc > WORTH_A_SHARE))
		return;
	sheet_title(sheet, "jvm");
	fprintf(sheet->out, "JIT compiler %.1f -> %.1f %%, garbage collector %.1f -> %.1f %%",
		sides[0].jit * 100, sides[1].jit * 100, sides[0].gc * 100, sides[1].gc * 100);
	fputs(", apart from the application\n", sheet->out);
}

void sheet_say_head(const struct sheet *sheet)
{
	say_side(sheet, 0);
	say_side(sheet, 1);
	say_comparable(sheet);
	say_weight(sheet);
	say_evidence(sheet);
	say_limit(sheet);
	say_jvm(sheet);
}

void sheet_say_plan(const struct sheet *sheet)
{
	static const double changes[] = {0.005, 0.01, 0.02, 0.05};
	const struct stoke_comparison *comparison = sheet->comparison;
	const struct side *sides = comparison->comparable->sides;
	double samples = (double)(sides[0].samples + sides[1].samples) /
			 (double)comparison->profile->nr_runs;
	char number[32];

	sheet_title(sheet, "plan");
	fprintf(sheet->out,
		"growth of a %.0f %% frame, found 9 times in 10, with %s sample%s a run%s\n",
		comparison->power.share * 100, text_count(number, (unsigned long long)samples),
		said_s((uint64_t)samples),
		comparison->power.run_deviation > 0 ? " that vary as these do" : "");
	/* Blocks of one capture vary less than captures do. */
	if (said_runs(comparison, 0) == 1 && said_runs(comparison, 1) == 1) {
		sheet_title(sheet, "warning");
		fputs("one run a side tells nothing of how much runs differ: it will take more "
		      "than this; plan by 3 a side\n",
			sheet->out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		unsigned repeats = power_repeats(
			&comparison->power, changes[i], comparison->power.share, samples);

		fprintf(sheet->out, "  %+5.1f pts  ", changes[i] * 100);
		if (repeats)
			fprintf(sheet->out, "%u runs a side\n", repeats);
		else
			fputs("more than 100 runs a side: make runs longer or the machine "
			      "quieter\n",
				sheet->out);
	}
}
