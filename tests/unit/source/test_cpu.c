/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(cpu, .fini = check_leaks);

static int find(const char *event, struct stoke_error *err)
{
	const struct source *source = NULL;
	void *params = NULL;
	int r = source_find(event, &source, &params, err);

	if (r == 0) {
		cr_assert(eq(str, (char *)source->name, "cpu"));
		params_free(source->params, params);
	}
	return r;
}

Test(cpu, takes_what_other_profilers_call_it)
{
	static const char *const known[] = {
		"cpu", "cpu-clock", "task-clock", "cycles", "cpu-cycles", "itimer", "ctimer"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		cr_assert(eq(int, find(known[i], NULL), 0), "%s", known[i]);
}

Test(cpu, leaves_other_events_alone)
{
	static const char *const other[] = {
		"", "c", "cpu-clocks", "cp", "wall", "page-faults", "cycle", "CPU"};
	struct stoke_error err = {0};

	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		cr_assert(eq(int, find(other[i], &err), -EINVAL), "%s", other[i]);
		cr_assert(ne(ptr, strstr(err.text, "cpu"), NULL), "names what there is");
	}
}

Test(cpu, has_no_options)
{
	struct stoke_error err = {0};

	cr_assert(eq(int, find("cpu:fast", &err), -EINVAL));
	cr_assert(ne(ptr, strstr(err.text, "fast"), NULL), "%s", err.text);
}

Test(cpu, refuses_an_event_that_is_not_its_own)
{
	struct source_setup setup = {0};
	struct source_state state = {0};
	struct stoke_error err = {0};
	void *run = NULL;

	cr_assert(eq(int, sources[0]->open(&setup, "wall", NULL, &run, &state, &err), -EINVAL));
	cr_assert(eq(ptr, run, NULL));
}
