/* SPDX-License-Identifier: BSD-2-Clause */
/* follow.bpf.c, tick.bpf.c, source `cpu` and the rings together, on this kernel. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "capture/cpus.h"
#include "capture/rings.h"
#include "process/host.h"
#include "source/perf.h"
#include "source/source.h"
#include "source/tables.h"
#include "unit/test.h"

#define MAX_RANGES 8
#define HZ	   499

struct range {
	char name[16];
	uint64_t start, end;
};

/* A process that knows its stacks. */
struct known {
	pid_t pid;
	FILE *out;
	int in;
	struct range ranges[MAX_RANGES];
	size_t nr_ranges;
};

/* What the tests look at of a sample. */
struct seen {
	uint64_t time_ns, weight, start_ns;
	uint32_t pid, tid;
	uint8_t end, flags;
	uint16_t nr_kernel, nr_user;
	uint64_t kernel_leaf;
	char comm[17];
	unsigned
		in; /* bit i: a frame in the i-th range, and each further out than the one before */
	unsigned callers; /* likewise among frames beyond the first: return addresses */
};

struct session {
	struct objects *objects;
	struct rings *rings;
	const struct source *source;
	void *run;
	struct source_state state;
	const struct known *known;
	struct seen *seen;
	size_t nr, capacity;
	uint64_t mmaps, comms, forks, exits;
	unsigned *cpus;
	size_t nr_cpus;
};

static void nap(unsigned ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
		;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec now;
	clockid_t clock;

	cr_assert(eq(int, clock_getcpuclockid(pid, &clock), 0));
	cr_assert(eq(int, clock_gettime(clock, &now), 0));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Reads a line "word a b"; until that word. */
static void expect_line(struct known *known, const char *word, struct range *ret)
{
	for (;;) {
		struct range range = {0};

		cr_assert(eq(int,
			fscanf(known->out, "%15s %" SCNx64 " %" SCNx64, range.name, &range.start,
				&range.end),
			3));
		if (strcmp(range.name, word) == 0) {
			*ret = range;
			return;
		}
		if (known->nr_ranges < MAX_RANGES)
			known->ranges[known->nr_ranges++] = range;
	}
}

static void know(struct known *known, int wait, const char *mode, const char *argument)
{
	const char *path = getenv("KNOWN_STACKS");
	char *argv[] = {(char *)path, (char *)mode, (char *)argument, NULL};
	int out[2], in[2];
	struct range ready;

	memset(known, 0, sizeof(*known));
	cr_assert(ne(ptr, (char *)path, NULL), "KNOWN_STACKS is not set");
	cr_assert(eq(int, pipe(out), 0));
	cr_assert(eq(int, pipe(in), 0));
	known->pid = fork();
	if (known->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)close(in[1]);
		if (wait) { /* burns, then waits to be released, as no command does */
			char byte;

			for (uint64_t end = now_ns() + 300000000; now_ns() < end;)
				;
			(void)!read(0, &byte, 1);
		}
		(void)execv(path, argv);
		_exit(127);
	}
	(void)close(out[1]);
	(void)close(in[0]);
	known->in = in[1];
	known->out = fdopen(out[0], "r");
	if (!wait)
		expect_line(known, "ready", &ready);
}

static void forget(struct known *known)
{
	(void)kill(known->pid, SIGKILL);
	(void)waitpid(known->pid, NULL, 0);
	(void)fclose(known->out);
	(void)close(known->in);
}

static unsigned ranges_in(const struct known *known, const uint64_t *frames, size_t nr)
{
	unsigned found = 0;
	size_t at = 0;

	for (size_t i = 0; i < nr && at < known->nr_ranges; i++) {
		for (size_t j = at; j < known->nr_ranges; j++) {
			if (frames[i] >= known->ranges[j].start &&
				frames[i] < known->ranges[j].end) {
				found |= 1u << j;
				at = j;
				break;
			}
		}
	}
	return found;
}

static int see(void *arg, const struct item *item)
{
	struct session *session = arg;
	const struct stoke_sample *record = item->sample.record;
	const uint64_t *user;
	struct seen seen = {0};

	session->mmaps += item->kind == ITEM_MMAP;
	session->comms += item->kind == ITEM_COMM;
	session->forks += item->kind == ITEM_FORK;
	session->exits += item->kind == ITEM_EXIT;
	if (item->kind != ITEM_SAMPLE)
		return 0;
	user = item->sample.frames + record->nr_kernel;
	seen.time_ns = record->time_ns;
	seen.weight = record->weight;
	seen.start_ns = record->start_ns;
	seen.pid = record->pid;
	seen.tid = record->tid;
	seen.end = record->walk_end;
	seen.flags = record->flags;
	seen.nr_kernel = record->nr_kernel;
	seen.nr_user = record->nr_user;
	seen.kernel_leaf = record->nr_kernel ? item->sample.frames[0] : 0;
	memcpy(seen.comm, record->comm, sizeof(record->comm));
	if (session->known && record->nr_user) {
		seen.in = ranges_in(session->known, user, record->nr_user);
		seen.callers = ranges_in(session->known, user + 1, record->nr_user - 1u);
	}
	if (array_reserve(&session->seen, &session->capacity, session->nr, 1) < 0)
		return -ENOMEM;
	session->seen[session->nr++] = seen;
	return 0;
}

static void open_session(struct session *session, struct objects_options options, unsigned hz)
{
	struct source_setup setup = {.frequency_hz = hz, .exclude_idle = 1};
	struct rings_options rings = {0};
	struct stoke_error err = {0};
	struct host host;
	void *params = NULL;
	int r;

	memset(session, 0, sizeof(*session));
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	r = cpus_choose(&host, NULL, 0, &session->cpus, &session->nr_cpus, &err);
	cr_assert(eq(int, r, 0), "%s", err.text);
	host_close(&host);
	options.user = 1;
	options.kernel = 1;
	options.cpus = session->cpus;
	options.nr_cpus = session->nr_cpus;
	options.frequency_hz = hz;
	r = objects_open(&options, &session->objects, &err);
	if (r == -EPERM && !getenv("STOKE_REQUIRE_BPF"))
		cr_skip("%s", err.text);
	cr_assert(eq(int, r, 0), "%s", err.text);
	rings.nr_bpf_maps = objects_ring_fds(session->objects, &rings.bpf_map_fds);
	r = rings_open(&rings, &session->rings, &err);
	cr_assert(eq(int, r, 0), "%s", err.text);
	r = source_find("cpu-clock", &session->source, &params, &err);
	cr_assert(eq(int, r, 0), "%s", err.text);
	setup.objects = session->objects;
	setup.cpus = session->cpus;
	setup.nr_cpus = session->nr_cpus;
	r = session->source->open(
		&setup, "cpu-clock", params, &session->run, &session->state, &err);
	cr_assert(eq(int, r, 0), "%s", err.text);
	params_free(session->source->params, params);
}

static void start(struct session *session)
{
	struct stoke_error err = {0};
	int r = session->source->start(session->run, &err);

	cr_assert(eq(int, r, 0), "%s", err.text);
}

static void sample_for(struct session *session, unsigned ms)
{
	uint64_t end = now_ns() + ms * 1000000ull;

	while (now_ns() < end) {
		struct pollfd poller = {.fd = rings_fd(session->rings), .events = POLLIN};

		(void)poll(&poller, 1, 100);
		session->source->tick(session->run);
		cr_assert(ge(int, rings_drain(session->rings, see, session), 0));
	}
}

static void stop(struct session *session)
{
	session->source->stop(session->run);
	cr_assert(ge(int, rings_drain(session->rings, see, session), 0));
}

static void close_session(struct session *session)
{
	struct objects_losses lost;
	struct rings_losses rings;

	objects_losses(session->objects, &lost);
	rings_losses(session->rings, &rings);
	cr_expect(eq(u64, lost.ring + lost.busy + lost.targets, 0));
	cr_expect(eq(u64, rings.malformed, 0));
	session->source->close(session->run);
	rings_close(session->rings);
	objects_close(session->objects);
	free(session->cpus);
	free(session->seen);
}

static size_t samples_of(const struct session *session, pid_t pid)
{
	size_t nr = 0;

	for (size_t i = 0; i < session->nr; i++)
		nr += session->seen[i].pid == (uint32_t)pid;
	return nr;
}

static uint64_t weight_of(const struct session *session, pid_t pid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < session->nr; i++)
		if (session->seen[i].pid == (uint32_t)pid)
			sum += session->seen[i].weight;
	return sum;
}

TestSuite(tick, .timeout = 60);

Test(tick, sees_the_chain_of_callers)
{
	struct session session;
	struct known known;
	size_t whole = 0, user = 0;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&known, 0, "burn", NULL);
	session.known = &known;
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 1000);
	stop(&session);

	for (size_t i = 0; i < session.nr; i++) {
		user += session.seen[i].nr_user > 0;
		whole += (session.seen[i].callers & 6) == 6; /* middle, then outer */
	}
	cr_assert(gt(sz, user, 50), "%zu samples", session.nr);
	cr_assert(ge(dbl, (double)whole / (double)user, 0.95), "%zu of %zu", whole, user);
	forget(&known);
	close_session(&session);
}

Test(tick, weighs_what_was_burnt)
{
	struct session session;
	struct known known;
	double spent, weight, samples, expected;

	open_session(&session, (struct objects_options){.children = 1}, 99);
	know(&known, 0, "burn", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	spent = (double)cpu_ns(known.pid);
	start(&session);
	sample_for(&session, 4000);
	stop(&session);
	spent = (double)cpu_ns(known.pid) - spent;

	weight = (double)weight_of(&session, known.pid);
	samples = (double)samples_of(&session, known.pid);
	expected = spent / 1e9 * 99;
	cr_log_info("weight/spent %.4f samples/expected %.4f", weight / spent, samples / expected);
	/* A process alone on a CPU is off by a period at each end; shared CPUs make it chance. */
	cr_assert(lt(dbl, fabs(weight / spent - 1), 0.02 + 3 / sqrt(expected)), "%f of %f", weight,
		spent);
	cr_assert(lt(dbl, fabs(samples / expected - 1), 0.03 + 3 / sqrt(expected)), "%f of %f",
		samples, expected);
	forget(&known);
	close_session(&session);
}

Test(tick, redraws_periods_within_a_fifth)
{
	struct session session;
	struct known known;
	uint64_t least = UINT64_MAX, most = 0, mean;

	open_session(&session, (struct objects_options){.children = 1}, 999);
	know(&known, 0, "burn", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 2000);
	stop(&session);

	mean = perf_mean_period(session.state.period, session.state.period);
	for (size_t i = 0; i < session.nr; i++) {
		uint64_t weight = session.seen[i].weight;

		least = weight < least ? weight : least;
		most = weight > most ? weight : most;
	}
	cr_assert(ge(u64, least, mean - mean / 5));
	cr_assert(le(u64, most, 2 * (mean + mean / 5)), "a period and what was carried");
	cr_assert(gt(u64, most - least, mean / 10), "redrawn");
	forget(&known);
	close_session(&session);
}

Test(tick, follows_a_child_forked_later)
{
	struct session session;
	struct known known;
	struct range child;
	size_t samples;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&known, 0, "fork", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 100);
	cr_assert(eq(int, (int)write(known.in, "x", 1), 1));
	expect_line(&known, "child", &child);
	sample_for(&session, 800);
	stop(&session);

	samples = session.nr - samples_of(&session, known.pid);
	cr_assert(gt(sz, samples, 30));
	cr_assert(ne(u64, session.forks, 0), "the side band told of it too");
	forget(&known);
	sample_for(&session, 100);
	close_session(&session);
}

Test(tick, leaves_children_alone_when_told)
{
	struct session session;
	struct known known;
	struct range child;

	open_session(&session, (struct objects_options){.children = 0}, HZ);
	know(&known, 0, "fork", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	cr_assert(eq(int, (int)write(known.in, "x", 1), 1));
	expect_line(&known, "child", &child);
	sample_for(&session, 500);
	stop(&session);

	cr_assert(eq(sz, session.nr - samples_of(&session, known.pid), 0));
	forget(&known);
	close_session(&session);
}

Test(tick, samples_a_held_command_from_its_exec_on)
{
	struct session session;
	struct known known;
	struct range ready;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&known, 1, "burn", NULL); /* burns 300 ms before it execs */
	cr_assert(eq(int, objects_add_pending(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 500);
	cr_assert(eq(sz, session.nr, 0), "held");
	cr_assert(eq(int, (int)write(known.in, "x", 1), 1));
	expect_line(&known, "ready", &ready);
	sample_for(&session, 700);
	stop(&session);

	cr_assert(gt(sz, samples_of(&session, known.pid), 30));
	for (size_t i = 0; i < session.nr; i++)
		cr_assert(eq(str, session.seen[i].comm, "known_stacks"), "sample %zu", i);
	forget(&known);
	close_session(&session);
}

Test(tick, takes_nothing_of_other_processes)
{
	struct session session;
	struct known target, other;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&target, 0, "burn", NULL);
	know(&other, 0, "burn", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, target.pid, NULL), 0));
	start(&session);
	sample_for(&session, 600);
	stop(&session);

	cr_assert(gt(sz, session.nr, 20));
	cr_assert(eq(sz, samples_of(&session, target.pid), session.nr));
	forget(&target);
	forget(&other);
	close_session(&session);
}

Test(tick, sees_every_process_when_asked)
{
	struct session session;
	struct known one, other;

	open_session(&session, (struct objects_options){.all = 1}, HZ);
	know(&one, 0, "burn", NULL);
	know(&other, 0, "burn", NULL);
	start(&session);
	sample_for(&session, 800);
	stop(&session);

	cr_assert(gt(sz, samples_of(&session, one.pid), 20));
	cr_assert(gt(sz, samples_of(&session, other.pid), 20));
	cr_assert(eq(sz, samples_of(&session, 0), 0), "idle");
	forget(&one);
	forget(&other);
	close_session(&session);
}

Test(tick, forgets_a_process_that_has_gone)
{
	struct session session;
	struct known known;
	int has = 1;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&known, 0, "burn", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 200);
	cr_assert(eq(int, objects_has_process(session.objects, known.pid), 1));
	forget(&known);
	for (int i = 0; i < 50 && has; i++) { /* freeing waits for RCU */
		nap(20);
		has = objects_has_process(session.objects, known.pid);
	}
	cr_assert(eq(int, has, 0));
	close_session(&session);
}

Test(tick, samples_one_thread_alone)
{
	struct session session;
	struct known known;
	size_t nr;

	open_session(&session, (struct objects_options){.children = 1, .threads = 1}, HZ);
	know(&known, 0, "two", NULL); /* main burns, and another */
	cr_assert(eq(int, objects_add_thread(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 600);
	stop(&session);

	nr = session.nr;
	cr_assert(gt(sz, nr, 20));
	for (size_t i = 0; i < nr; i++) {
		cr_assert(eq(u32, session.seen[i].tid, (uint32_t)known.pid));
		cr_assert(eq(u32, session.seen[i].pid, (uint32_t)known.pid));
	}
	forget(&known);
	close_session(&session);
}

Test(tick, gives_many_short_threads_their_share)
{
	struct session session;
	struct known known;
	double spent, weight, samples;

	open_session(&session, (struct objects_options){.children = 1}, 999);
	know(&known, 0, "threads", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	spent = (double)cpu_ns(known.pid);
	sample_for(&session, 3000);
	stop(&session);
	spent = (double)cpu_ns(known.pid) - spent;

	samples = (double)samples_of(&session, known.pid);
	weight = (double)weight_of(&session, known.pid);
	cr_log_info(
		"weight/spent %.4f of %.2f s, %.0f samples", weight / spent, spent / 1e9, samples);
	cr_assert(gt(dbl, samples, 200));
	cr_assert(lt(dbl, fabs(weight / spent - 1), 4 / sqrt(samples) + 0.05), "%f of %f", weight,
		spent);
	forget(&known);
	close_session(&session);
}

Test(tick, has_kernel_and_user_frames_of_system_calls)
{
	struct session session;
	struct known known;
	size_t kernel = 0, both = 0;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&known, 0, "syscalls", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 1000);
	stop(&session);

	for (size_t i = 0; i < session.nr; i++) {
		const struct seen *seen = &session.seen[i];

		kernel += seen->nr_kernel > 0;
		both += seen->nr_kernel > 0 && seen->nr_user > 0;
		if (seen->nr_kernel)
			cr_assert(ge(u64, seen->kernel_leaf, 1ull << 63));
		cr_assert(
			eq(int, seen->nr_kernel == 0, (seen->flags & STOKE_SAMPLE_USER_MODE) != 0));
	}
	cr_assert(gt(sz, kernel, 20), "%zu of %zu", kernel, session.nr);
	cr_assert(eq(sz, both, kernel));
	forget(&known);
	close_session(&session);
}

Test(tick, walks_a_thousand_frames_and_marks_more)
{
	struct session session;
	struct known deep, deeper;

	open_session(&session, (struct objects_options){.children = 1}, HZ);
	know(&deep, 0, "recurse", "900");
	know(&deeper, 0, "recurse", "5000");
	cr_assert(eq(int, objects_add_process(session.objects, deep.pid, NULL), 0));
	cr_assert(eq(int, objects_add_process(session.objects, deeper.pid, NULL), 0));
	nap(200); /* until both are at the bottom */
	start(&session);
	sample_for(&session, 600);
	stop(&session);

	cr_assert(gt(sz, samples_of(&session, deep.pid), 20));
	cr_assert(gt(sz, samples_of(&session, deeper.pid), 20));
	for (size_t i = 0; i < session.nr; i++) {
		const struct seen *seen = &session.seen[i];

		if (seen->pid == (uint32_t)deeper.pid) {
			cr_assert(eq(int, seen->nr_user, STOKE_MAX_USER_FRAMES));
			cr_assert(eq(int, seen->end, STOKE_WALK_DEPTH));
		} else {
			cr_assert(gt(int, seen->nr_user, 900));
			cr_assert(ne(int, seen->end, STOKE_WALK_DEPTH));
		}
	}
	forget(&deep);
	forget(&deeper);
	close_session(&session);
}

Test(tick, costs_less_than_the_time_of_a_read)
{
	struct session session;
	struct known known;
	struct objects_losses lost;

	open_session(&session, (struct objects_options){.children = 1}, 2000);
	know(&known, 0, "burn", NULL);
	cr_assert(eq(int, objects_add_process(session.objects, known.pid, NULL), 0));
	start(&session);
	sample_for(&session, 1000);
	stop(&session);

	objects_losses(session.objects, &lost);
	if (lost.run_ns) /* kernel.bpf_stats_enabled */
		cr_log_info("%.0f ns a sample of %zu", (double)lost.run_ns / (double)session.nr,
			session.nr);
	cr_assert(lt(u64, lost.run_ns, session.nr * 50000ull));
	forget(&known);
	close_session(&session);
}

static struct objects *open_objects(struct objects_options options)
{
	static const unsigned cpu = 0;
	struct stoke_error err = {0};
	struct objects *objects = NULL;
	int r;

	options.user = 1;
	options.cpus = &cpu;
	options.nr_cpus = 1;
	r = objects_open(&options, &objects, &err);
	if (r == -EPERM && !getenv("STOKE_REQUIRE_BPF"))
		cr_skip("%s", err.text);
	cr_assert(eq(int, r, 0), "%s", err.text);
	return objects;
}

Test(tick, has_memory_for_unwind_tables_that_user_space_writes)
{
	struct objects *objects = open_objects((struct objects_options){.all = 1});
	struct stoke_space space = {.nr = 1, .generation = 7};
	struct tables *tables = NULL;

	cr_assert(eq(int, tables_open(objects, &tables), 0));
	cr_assert(eq(sz, tables->max_rules, STOKE_MAX_RULES));
	cr_assert(eq(sz, tables->max_pages, STOKE_MAX_PAGES));
	cr_assert(eq(sz, tables->max_mappings, STOKE_MAX_MAPPINGS_ALL));
	tables->rules[STOKE_MAX_RULES - 1].rule.cfa = UNWIND_CFA_STOP;
	tables->pages[STOKE_MAX_PAGES - 1].nr = 1;
	tables->mappings[STOKE_MAX_MAPPINGS_ALL - 1].start = 1;
	cr_assert(eq(ptr, tables_shard(tables, 1), NULL), "in their order only");
	cr_assert(ne(ptr, tables_shard(tables, 0), NULL));
	cr_assert(eq(ptr, tables_shard(tables, 0), NULL), "each once");
	tables->shards[0]->rows[STOKE_SHARD_ROWS - 1] = 1;
	cr_assert(eq(int, tables_set_space(tables, 4242, &space), 0));
	cr_assert(eq(int, tables_set_space(tables, 4242, NULL), 0));
	cr_assert(eq(int, tables_set_space(tables, 4242, NULL), -ENOENT));
	tables_close(tables);
	objects_close(objects);
}

Test(tick, goes_without_unwind_tables_where_there_is_no_memory_for_them)
{
	struct objects *objects = open_objects((struct objects_options){.all = 1, .no_tables = 1});
	struct tables *tables = NULL;

	cr_assert(eq(int, tables_open(objects, &tables), -ENOMEM));
	cr_assert(eq(ptr, tables, NULL));
	objects_close(objects);
}
