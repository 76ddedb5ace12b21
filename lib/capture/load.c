/* SPDX-License-Identifier: BSD-2-Clause */
/* load.c: /proc/stat and the target's cgroup, before and after. */
#include "capture/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/scan.h"

#define STAT_MAX_BYTES (16 << 20) /* the line of interrupts is long on large machines */
#define NR_FIELDS      8

static int begins(const struct scan *line, const char *word)
{
	const size_t size = strlen(word);

	return scan_left(line) > size && memcmp(line->at, word, size) == 0;
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests are in user. */
static int take_all(struct scan line, struct machine_times *ret)
{
	uint64_t fields[NR_FIELDS] = {0};

	line.at += strlen("cpu");
	for (size_t i = 0; i < NR_FIELDS; i++) {
		(void)scan_blanks(&line);
		if (scan_decimal(&line, &fields[i]) < 0)
			return i < 4 ? -EINVAL : 0; /* older kernels have fewer */
		ret->user = fields[0] + fields[1];
		ret->system = fields[2];
		ret->idle = fields[3] + fields[4];
		ret->irq = fields[5] + fields[6];
		ret->stolen = fields[7];
	}
	return 0;
}

int machine_times_parse(const char *text, size_t size, struct machine_times *ret)
{
	struct scan scan = scan_of(text, size), line;
	struct machine_times times = {0};
	int r = -EINVAL;

	while (scan_line(&scan, &line)) {
		if (begins(&line, "cpu "))
			r = take_all(line, &times);
		else if (begins(&line, "cpu"))
			times.nr_cpus++;
	}
	if (r < 0 || !times.nr_cpus)
		return -EINVAL;
	*ret = times;
	return 0;
}

void load_read(const struct host *host, pid_t pid, struct load *ret)
{
	_cleanup_free_ char *text = NULL;
	struct load load = {0};
	size_t size;

	if (file_read_text(host->proc_fd, "stat", STAT_MAX_BYTES, &text, &size) == 0)
		load.has_times = machine_times_parse(text, size, &load.times) == 0;
	if (pid)
		load.has_limit = cgroup_read_limit(host, pid, &load.limit) == 0;
	*ret = load;
}

/* They only rise, but for idle time of CPUs that go and come. */
static uint64_t rise(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static const char *percent(char *text, size_t size, uint64_t part, uint64_t whole)
{
	(void)snprintf(text, size, "%.0f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
	return text;
}

int load_say_machine(const struct load *before, const struct load *after, int64_t target_ns,
	char *ret, size_t size)
{
	const struct machine_times *a = &before->times, *b = &after->times;
	const uint64_t user = rise(a->user, b->user), system = rise(a->system, b->system);
	const uint64_t irq = rise(a->irq, b->irq), stolen = rise(a->stolen, b->stolen);
	const uint64_t busy = user + system + irq;
	const uint64_t all = busy + stolen + rise(a->idle, b->idle);
	const uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	char text[5][16], part[48] = "", steal[48] = "";

	if (!before->has_times || !after->has_times || !all)
		return -ENODATA;
	if (stolen * 200 >= all) /* of half a percent on */
		(void)snprintf(steal, sizeof(steal), ", %s stolen by other machines",
			percent(text[4], sizeof(text[4]), stolen, all));
	/* Ticks are coarse: the target's own clock may be ahead of them. */
	if (target_ns >= 0 && busy)
		(void)snprintf(part, sizeof(part), ", %s of that the target",
			percent(text[3], sizeof(text[3]),
				(uint64_t)target_ns / tick_ns < busy ? (uint64_t)target_ns / tick_ns
								     : busy,
				busy));
	(void)snprintf(ret, size, "%u CPU%s, %.0f %% busy (user %s, system %s, irq %s)%s%s",
		b->nr_cpus, b->nr_cpus == 1 ? "" : "s", 100.0 * (double)busy / (double)all,
		percent(text[0], sizeof(text[0]), user, all),
		percent(text[1], sizeof(text[1]), system, all),
		percent(text[2], sizeof(text[2]), irq, all), part, steal);
	return 0;
}

int load_say_limit(const struct load *before, const struct load *after, char *ret, size_t size)
{
	const struct cgroup_limit *a = &before->limit, *b = &after->limit;
	const uint64_t periods = rise(a->nr_periods, b->nr_periods);
	const uint64_t throttled = rise(a->nr_throttled, b->nr_throttled);
	char text[16], was[48] = "";

	if (!after->has_limit || b->cores <= 0)
		return -ENODATA;
	if (before->has_limit && a->cores != b->cores)
		(void)snprintf(was, sizeof(was), " (%.1f at the start)", a->cores);
	if (!before->has_limit || !throttled)
		(void)snprintf(ret, size, "%.1f cores by cgroup%s, never throttled meanwhile",
			b->cores, was);
	else
		(void)snprintf(ret, size,
			"%.1f cores by cgroup%s, throttled in %s of the periods: more CPU would be "
			"used if allowed",
			b->cores, was,
			percent(text, sizeof(text), throttled < periods ? throttled : periods,
				periods));
	return 0;
}
