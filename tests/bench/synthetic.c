/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synthetic.c: how often the test of lib/diff alarms when nothing changed, and how often it finds
 * what did, on made-up programs: a tree of 300 functions whose weights differ from run to run by a
 * given deviation, sampled a given number of times. The rule that most tools would use, pooled
 * proportions and Benjamini and Hochberg, sees the same counts. Seeds are fixed.
 *
 *	synthetic            a table of all settings, 1,000 and 400 sessions each
 *	synthetic --quick    the same promises with fewer sessions, as TAP
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/evidence.h"
#include "diff/numbers.h"

#define FUNCTIONS 300
#define MAX_DEPTH 14
#define TARGET	  (FUNCTIONS - 1) /* the function that grows: a leaf of 10 % */
#define SHARE	  0.10
#define MAX_RUNS  20

struct random {
	uint64_t state;
};

static uint64_t draw(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double uniform(struct random *random)
{
	return ((double)(draw(random) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

struct program {
	unsigned parent[FUNCTIONS], depth[FUNCTIONS];
	double weight[FUNCTIONS]; /* of self, sum 1 */
	double noise[FUNCTIONS]; /* relative, from run to run */
};

struct setting {
	const char *name;
	unsigned runs; /* a side */
	unsigned samples; /* a run */
	double deviation; /* of the target's share between runs */
	double wild; /* every tenth function varies by this much more, relative */
	double growth; /* of the target's share, after */
};

/* Grows a random tree; the target keeps 10 % whatever the others weigh. */
static void make_program(struct program *p, const struct setting *setting, struct random *random)
{
	double sum = 0;

	p->parent[0] = p->depth[0] = 0;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		if (i > 0) {
			do
				p->parent[i] = (unsigned)(draw(random) % i);
			while (p->depth[p->parent[i]] >= MAX_DEPTH);
			p->depth[i] = p->depth[p->parent[i]] + 1;
		}
		p->weight[i] = i == TARGET ? 0 : exp(1.5 * normal(random));
		sum += p->weight[i];
		p->noise[i] = setting->deviation / (SHARE * (1 - SHARE)) +
			      (i % 10 == 5 ? setting->wild : 0);
	}
	for (unsigned i = 0; i < FUNCTIONS; i++)
		p->weight[i] *= (1 - SHARE) / sum;
	p->weight[TARGET] = SHARE;
}

/* Walker's alias table. */
struct alias {
	double keep[FUNCTIONS];
	unsigned other[FUNCTIONS];
};

static void make_alias(struct alias *a, const double *weights, double sum)
{
	unsigned small[FUNCTIONS], large[FUNCTIONS], nr_small = 0, nr_large = 0;

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		a->keep[i] = weights[i] / sum * FUNCTIONS;
		a->other[i] = i;
		if (a->keep[i] < 1)
			small[nr_small++] = i;
		else
			large[nr_large++] = i;
	}
	while (nr_small && nr_large) {
		unsigned s = small[--nr_small], l = large[nr_large - 1];

		a->other[s] = l;
		a->keep[l] -= 1 - a->keep[s];
		if (a->keep[l] < 1) {
			nr_large--;
			small[nr_small++] = l;
		}
	}
}

/* One run: self counts of each function. */
static void run(const struct program *p, const struct setting *setting, int after,
	struct random *random, unsigned *self)
{
	double weights[FUNCTIONS], sum = 0;
	struct alias alias;

	memset(self, 0, FUNCTIONS * sizeof(*self));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		double weight = p->weight[i];

		if (after && setting->growth > 0)
			weight *= i == TARGET ? 1 + setting->growth / SHARE
					      : 1 - setting->growth / (1 - SHARE);
		weight *= 1 + p->noise[i] * normal(random);
		weights[i] = weight > 0 ? weight : 0;
		sum += weights[i];
	}
	make_alias(&alias, weights, sum);
	for (unsigned n = 0; n < setting->samples; n++) {
		double at = uniform(random) * FUNCTIONS;
		unsigned i = (unsigned)at;

		self[at - i < alias.keep[i] ? i : alias.other[i]]++;
	}
}

struct session {
	struct units units;
	uint64_t samples[MAX_RUNS];
	double exposures[MAX_RUNS];
	struct hypothesis hypotheses[2 * FUNCTIONS]; /* self, then totals */
	double counts[2 * FUNCTIONS * MAX_RUNS];
};

static void record(struct session *s, const struct setting *setting, struct random *random)
{
	static struct program program;
	unsigned nr = setting->runs * 2, self[FUNCTIONS];

	make_program(&program, setting, random);
	s->units = (struct units){
		.nr = nr,
		.nr_before = setting->runs,
		.exposure = STOKE_EXPOSURE_SHARE,
		.samples = s->samples,
		.exposures = s->exposures,
		.nr_exposures = 1,
		.hypotheses = s->hypotheses,
		.nr_hypotheses = 2 * FUNCTIONS,
		.counts = s->counts,
	};
	for (unsigned h = 0; h < 2 * FUNCTIONS; h++)
		s->hypotheses[h] = (struct hypothesis){
			.name = h % FUNCTIONS + 1,
			.kind = h < FUNCTIONS ? HYPOTHESIS_SELF : HYPOTHESIS_TOTAL,
			.least = 0.005,
			.least_ratio = 0.05,
		};
	for (unsigned u = 0; u < nr; u++) {
		run(&program, setting, u >= setting->runs, random, self);
		s->samples[u] = setting->samples;
		s->exposures[u] = setting->samples;
		for (unsigned i = 0; i < FUNCTIONS; i++)
			s->counts[i * nr + u] = s->counts[(FUNCTIONS + i) * nr + u] = self[i];
		for (unsigned i = FUNCTIONS - 1; i > 0; i--)
			s->counts[(FUNCTIONS + program.parent[i]) * nr + u] +=
				s->counts[(FUNCTIONS + i) * nr + u];
	}
}

struct found {
	int any, target; /* did it alarm, and for the function that grew */
};

static void by_stoke(const struct session *s, const struct evidence *evidence, struct found *ret)
{
	*ret = (struct found){0};
	for (size_t h = 0; h < evidence->nr; h++) {
		if (!(evidence->changes[h].flags & CHANGE_GREW))
			continue;
		ret->any = 1;
		ret->target |= s->hypotheses[h].name == TARGET + 1;
	}
}

static int by_p(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* p of pooled proportions. */
static double pooled_p(const struct session *s, size_t h)
{
	const struct units *units = &s->units;
	double count[2] = {0, 0}, samples[2] = {0, 0}, rate;

	for (unsigned u = 0; u < units->nr; u++) {
		count[u >= units->nr_before] += s->counts[h * units->nr + u];
		samples[u >= units->nr_before] += s->exposures[u];
	}
	rate = (count[0] + count[1]) / (samples[0] + samples[1]);
	return normal_cdf((count[0] / samples[0] - count[1] / samples[1]) /
			  sqrt(rate * (1 - rate) * (1 / samples[0] + 1 / samples[1])));
}

/* Every sample for itself, false discoveries held at 5 %, and the same practical limits. */
static void by_pooling(const struct session *s, const struct evidence *evidence, struct found *ret)
{
	double p[2 * FUNCTIONS], worst = -1;
	size_t nr = 0;

	for (size_t h = 0; h < evidence->nr; h++) {
		if (evidence->changes[h].flags & CHANGE_TESTED)
			p[nr++] = pooled_p(s, h);
	}
	qsort(p, nr, sizeof(*p), by_p);
	for (size_t i = 0; i < nr; i++) {
		if (p[i] <= 0.05 * (double)(i + 1) / (double)nr)
			worst = p[i];
	}
	*ret = (struct found){0};
	for (size_t h = 0; h < evidence->nr; h++) {
		const struct change *change = &evidence->changes[h];

		if (!(change->flags & CHANGE_TESTED) || pooled_p(s, h) > worst ||
			change->difference < 0.005 || change->difference < 0.05 * change->before)
			continue;
		ret->any = 1;
		ret->target |= s->hypotheses[h].name == TARGET + 1;
	}
}

struct tally {
	unsigned sessions, alarms, found, pooled_alarms, pooled_found;
	double tested; /* hypotheses, mean */
};

static void run_sessions(
	const struct setting *setting, unsigned sessions, uint64_t seed, struct tally *ret)
{
	static struct session session;

	*ret = (struct tally){.sessions = sessions};
	for (unsigned i = 0; i < sessions; i++) {
		struct random random = {seed * 1000003 + i};
		const struct evidence_options options = {0};
		struct evidence *evidence = NULL;
		struct stoke_error err = {0};
		struct found found;

		record(&session, setting, &random);
		if (evidence_weigh(&session.units, &options, &evidence, &err) < 0) {
			fprintf(stderr, "synthetic: %s\n", err.text);
			exit(1);
		}
		by_stoke(&session, evidence, &found);
		ret->alarms += (unsigned)found.any;
		ret->found += (unsigned)found.target;
		by_pooling(&session, evidence, &found);
		ret->pooled_alarms += (unsigned)found.any;
		ret->pooled_found += (unsigned)found.target;
		ret->tested += (double)evidence->nr_tested / sessions;
		evidence_free(evidence);
	}
}

/* An end of the interval of Clopper and Pearson at 95 %. */
static double bound(unsigned hits, unsigned of, int upper)
{
	double low = 0, high = 1;

	if (hits == (upper ? of : 0))
		return upper;
	for (int i = 0; i < 60; i++) {
		double p = (low + high) / 2;
		/* P(X <= hits) for the upper end, P(X >= hits) for the lower. */
		double tail = upper ? 1 - beta_cdf(hits + 1, of - hits, p)
				    : beta_cdf(hits, of - hits + 1, p);

		if ((tail > 0.025) == upper)
			low = p;
		else
			high = p;
	}
	return low;
}

static void print_rate(unsigned hits, unsigned of)
{
	printf(" %u of %u: %.1f %% (%.1f to %.1f) |", hits, of, 100.0 * hits / of,
		100 * bound(hits, of, 0), 100 * bound(hits, of, 1));
}

static void print_row(const struct setting *setting, const struct tally *tally)
{
	printf("| %s | %u v %u, %u samples |", setting->name, setting->runs, setting->runs,
		setting->samples);
	if (setting->growth > 0) {
		print_rate(tally->found, tally->sessions);
		print_rate(tally->pooled_found, tally->sessions);
	} else {
		print_rate(tally->alarms, tally->sessions);
		print_rate(tally->pooled_alarms, tally->sessions);
	}
	printf(" %.0f |\n", tally->tested);
	fflush(stdout);
}

static const struct setting settings[] = {
	{"nothing changed, runs alike", 5, 20000, 0, 0, 0},
	{"nothing changed, runs vary by 0.17 points", 5, 20000, 0.0017, 0, 0},
	{"nothing changed, runs vary by 0.33 points", 5, 20000, 0.0033, 0, 0},
	{"nothing changed, runs vary by 0.7 points", 5, 20000, 0.007, 0, 0},
	{"nothing changed, 0.17 points, a tenth of functions by 30 %", 5, 20000, 0.0017, 0.3, 0},
	{"nothing changed, 0.17 points", 3, 10000, 0.0017, 0, 0},
	{"nothing changed, 0.17 points", 4, 10000, 0.0017, 0, 0},
	{"+1 point, runs alike", 5, 20000, 0, 0, 0.01},
	{"+1 point, runs vary by 0.17 points", 5, 20000, 0.0017, 0, 0.01},
	{"+1 point, runs vary by 0.33 points", 5, 20000, 0.0033, 0, 0.01},
	{"+1 point, 0.17 points, a tenth of functions by 30 %", 5, 20000, 0.0017, 0.3, 0.01},
	{"+2 points, 0.33 points", 5, 20000, 0.0033, 0, 0.02},
	{"+1 point, 0.17 points", 4, 20000, 0.0017, 0, 0.01},
	{"+2 points, 0.17 points", 3, 10000, 0.0017, 0, 0.02},
};

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

static void table(void)
{
	printf("| what was simulated | captures | stoke check | pooled proportions | tested |\n"
	       "|---|---|---|---|---|\n");
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		struct tally tally;

		run_sessions(&settings[i], settings[i].growth > 0 ? 400 : 1000, i + 1, &tally);
		print_row(&settings[i], &tally);
	}
}

static int check(unsigned test, int ok, const char *what, unsigned hits, unsigned of)
{
	printf("%s %u - %s\n# %u of %u\n", ok ? "ok" : "not ok", test, what, hits, of);
	return !ok;
}

/* Sessions are the same every time, so these never fail by chance. */
static int quick(void)
{
	static const struct setting alike = {"", 5, 20000, 0.007, 0, 0};
	static const struct setting grown = {"", 5, 20000, 0.0017, 0, 0.01};
	struct tally a, b;
	int failed = 0;

	printf("1..3\n");
	run_sessions(&alike, 100, 101, &a);
	run_sessions(&grown, 40, 102, &b);
	/* 97.5 % point of Bin(100, 0.05) */
	failed += check(1, a.alarms <= 10, "false alarms are one report in twenty at most",
		a.alarms, a.sessions);
	failed += check(2, b.found >= 36, "one point more of a tenth is found 9 times in 10",
		b.found, b.sessions);
	failed += check(3, a.pooled_alarms > 10, "sessions are such that pooling samples alarms",
		a.pooled_alarms, a.sessions);
	return failed > 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--quick") == 0)
		return quick();
	if (argc > 1) {
		fprintf(stderr, "usage: synthetic [--quick]\n");
		return 2;
	}
	table();
	return 0;
}
