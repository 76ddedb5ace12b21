/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "bpf/event.h"
#include "source/source.h"
#include "unit/test.h"

static const unsigned cpus[] = {0};
static struct objects *objects;
static const struct source *source;
static void *params;

static void setup(void)
{
	const struct objects_options options = {
		.user = 1, .children = 1, .cpus = cpus, .nr_cpus = 1};

	cr_assert(eq(int, source_find("plain", &source, &params, NULL), 0));
	cr_assert(eq(int, objects_open_plain(&options, &objects), 0));
}

static void teardown(void)
{
	objects_close(objects);
	params_free(source->params, params);
	check_leaks();
}

TestSuite(plain, .init = setup, .fini = teardown);

static int open_event(const char *event, unsigned hz, const char *why, void **ret_run,
	struct source_state *ret_state, struct stoke_error *err)
{
	const struct source_setup setup = {
		.objects = objects, .cpus = cpus, .nr_cpus = 1, .frequency_hz = hz, .why = why};
	int r = source->open(&setup, event, params, ret_run, ret_state, err);

	if (r == -EPERM || r == -EACCES)
		cr_skip_test("no events here: %s", err->text);
	return r;
}

Test(plain, is_chosen_by_name_alone)
{
	const struct source *other = NULL;
	void *others = NULL;

	cr_assert(eq(int, source_find("cpu", &other, &others, NULL), 0));
	cr_assert(ne(ptr, (void *)other, (void *)source));
	params_free(other->params, others);
}

Test(plain, says_what_it_cannot_do_and_why_it_is_gone)
{
	struct source_state state = {0};
	struct stoke_error err = {0};
	void *run = NULL;

	cr_assert(eq(int, open_event("cpu", 100, "CAP_BPF is missing", &run, &state, &err), 0));
	cr_assert(eq(str, (char *)state.event, "cpu-clock"));
	cr_assert(eq(u64, state.period, 10000000));
	cr_assert(ne(ptr, strstr(state.note, "CAP_BPF is missing"), NULL));
	cr_assert(ne(ptr, strstr(state.note, "of each stack"), NULL));
	source->close(run);
	cr_assert(eq(int, open_event("cpu", 100, NULL, &run, &state, &err), 0));
	cr_assert(ne(ptr, strstr(state.note, "--no-bpf"), NULL));
	source->close(run);
}

Test(plain, asks_for_registers_and_stacks)
{
	struct source_state state = {0};
	struct stoke_error err = {0};
	const struct plain_rings *rings;
	void *run = NULL;

	cr_assert(eq(int, open_event("plain", 99, NULL, &run, &state, &err), 0));
	rings = source->rings(run);
	cr_assert(eq(sz, rings->nr, 1));
	cr_assert(ne(u64, rings->sample_type & PERF_SAMPLE_REGS_USER, 0));
	cr_assert(ne(u64, rings->sample_type & PERF_SAMPLE_STACK_USER, 0));
	cr_assert(eq(u64, rings->sample_type & PERF_SAMPLE_CALLCHAIN, 0), "of the user part alone");
	source->close(run);
}

Test(plain, refuses_more_than_the_clock_can_do)
{
	struct source_state state = {.period = 5};
	struct stoke_error err = {0};
	void *run = &state;

	cr_assert(eq(int, open_event("cpu-clock", 1000000, NULL, &run, &state, &err), -EINVAL));
	cr_assert(ne(ptr, strstr(err.text, "too many"), NULL));
	cr_assert(eq(ptr, run, &state), "outputs untouched");
	cr_assert(eq(u64, state.period, 5));
}

Test(plain, holds_the_target_set)
{
	struct source_state state;
	struct stoke_error err = {0};
	void *run;

	cr_assert(eq(int, open_event("cpu", 99, NULL, &run, &state, &err), 0));
	cr_assert(eq(int, objects_has_process(objects, 1), 0));
	cr_assert(eq(int, objects_add_process(objects, getpid(), &err), 0), "%s", err.text);
	cr_assert(eq(int, objects_has_process(objects, getpid()), 1));
	cr_assert(eq(int, objects_forked(objects, getpid(), 999999), 0));
	cr_assert(eq(int, objects_has_process(objects, 999999), 1));
	objects_exited(objects, 999999);
	cr_assert(eq(int, objects_has_process(objects, 999999), 0));
	source->close(run);
}
