/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of runtimes is this test's own: one runtime that knows what the test tells it. */
#include "capture/generated.h"

#include <errno.h>
#include <string.h>

#include "bpf/event.h"

#include "unit/test.h"

TestSuite(generated, .fini = check_leaks);

#define OWNED  0x1000 /* the address that the fake runtime knows */
#define METHOD 0x7f0000001000 /* interpreted there, at bytecode 7 */
#define NOTE   ((uint64_t)STOKE_NOTE_METHOD << 60 | METHOD / 8 << 16 | 7)

static struct {
	const char *name; /* owner of OWNED, NULL: nobody */
	const char *method; /* what is interpreted, NULL: not known */
	uint64_t reading_ns;
	int stale, nr_readings, nr_closed;
	enum observe last_why;
} fake;

static int fake_claim(
	const struct host *host, struct process *process, void **ret_state, struct stoke_error *err)
{
	(void)host;
	(void)err;
	if (process->pid != 42)
		return -ENOENT;
	*ret_state = &fake;
	return 0;
}

static int fake_observe(void *state, enum observe why, uint64_t now_ns)
{
	(void)state;
	fake.reading_ns = now_ns;
	fake.last_why = why;
	fake.nr_readings++;
	return 1;
}

static int fake_lookup(
	void *state, struct span when, uint64_t address, struct symbol *ret, size_t max)
{
	(void)state;
	(void)max;
	if (when.to_ns > fake.reading_ns)
		return -EAGAIN;
	if (address != OWNED || !fake.name)
		return 0;
	*ret = (struct symbol){
		.name = fake.name, .name_size = strlen(fake.name), .kind = FUNCTION_JIT};
	return fake.stale ? -ESTALE : 1;
}

static int fake_lookup_method(void *state, struct span when, uint64_t method, uint32_t index,
	struct symbol *ret, size_t max)
{
	(void)state;
	(void)when;
	(void)max;
	cr_assert(eq(u64, method, METHOD));
	cr_assert(eq(u32, index, 7));
	if (!fake.method)
		return 0;
	*ret = (struct symbol){.name = fake.method,
		.name_size = strlen(fake.method),
		.kind = FUNCTION_INTERPRETED};
	return 1;
}

static void fake_explain(void *state, struct runtime_findings *ret)
{
	(void)state;
	*ret = (struct runtime_findings){.nr_bad_lines = 3, .text = "half a map"};
}

static void fake_close(void *state)
{
	(void)state;
	fake.nr_closed++;
}

static const struct runtime runtime_fake = {
	.name = "fake",
	.claim = fake_claim,
	.observe = fake_observe,
	.lookup = fake_lookup,
	.lookup_method = fake_lookup_method,
	.explain = fake_explain,
	.close = fake_close,
};

const struct runtime *const runtimes[] = {&runtime_fake};
const size_t nr_runtimes = 1;

static struct process process = {.pid = 42};

static const char *name_of(const struct stoke_profile *profile, uint32_t frame)
{
	uint32_t function = frame_function(profile, &profile->frames[frame], 0);

	return strings_text(&profile->strings, profile->functions[function].name);
}

static int count_takes(void *arg, const struct waiting *sample, const struct place *places)
{
	(void)sample;
	cr_assert(eq(u64, places[0].address, OWNED));
	(*(int *)arg)++;
	return 0;
}

static void begin(struct generated **generated, struct stoke_profile **profile)
{
	cr_assert(eq(int, generated_new(NULL, generated), 0));
	cr_assert(eq(int, stoke_profile_new(profile), 0));
}

static void end(struct generated *generated, struct stoke_profile *profile)
{
	generated_free(generated);
	stoke_profile_free(profile);
}

static int read_at(struct generated *generated, struct stoke_profile *profile, enum observe why,
	uint64_t now_ns)
{
	int taken = 0;

	cr_assert(eq(int,
		generated_read(generated, &process, profile, why, now_ns, count_takes, &taken), 0));
	return taken;
}

Test(generated, a_sample_waits_for_the_first_reading_after_it)
{
	const struct waiting sample = {.time_ns = 100, .nr_places = 1};
	const struct place place = {.address = OWNED};
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	uint32_t frame = 0;

	begin(&generated, &profile);
	fake.name = "hot";
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &frame),
		-EAGAIN));
	cr_assert(eq(int, generated_wait(generated, &sample, &place), 0));
	cr_assert(eq(u64, generated_waiting_since(generated), 100));

	cr_assert(eq(int, read_at(generated, profile, OBSERVE_START, 200), 1));
	cr_assert(eq(u64, generated_waiting_since(generated), 0));
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &frame),
		0));
	cr_assert(eq(str, (char *)name_of(profile, frame), "hot"));
	end(generated, profile);
	cr_assert(eq(int, fake.nr_closed, 1));
}

Test(generated, a_miss_is_asked_again_and_a_name_is_final)
{
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	uint32_t late = 0, again = 0;

	begin(&generated, &profile);
	(void)read_at(generated, profile, OBSERVE_START, 200);
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &late),
		0));
	cr_assert(eq(u16, profile->frames[late].nr_functions, 0), "nobody owned it so far");

	fake.name = "written_late";
	(void)read_at(generated, profile, OBSERVE_TICK, 300);
	cr_assert(eq(str, (char *)name_of(profile, late), "written_late"));

	fake.name = "another";
	(void)read_at(generated, profile, OBSERVE_TICK, 400);
	cr_assert(eq(str, (char *)name_of(profile, late), "written_late"));
	cr_assert(eq(int,
		generated_frame(generated, profile, 350, &(struct place){.address = OWNED}, &again),
		0));
	cr_assert(ne(u32, again, late), "the function is part of the frame's key");
	end(generated, profile);
}

Test(generated, an_owner_that_changed_is_marked_and_counted)
{
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	struct generated_findings findings;
	uint32_t frame = 0;

	begin(&generated, &profile);
	fake.name = "later";
	fake.stale = 1;
	(void)read_at(generated, profile, OBSERVE_START, 200);
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &frame),
		0));

	cr_assert(eq(u16, profile->frames[frame].flags, FRAME_STALE));
	generated_explain(generated, &findings);
	cr_assert(eq(u64, findings.nr_stale, 1));
	cr_assert(eq(u64, findings.nr_bad_lines, 3));
	cr_assert(eq(str, findings.text, "half a map"));
	end(generated, profile);
}

Test(generated, without_a_runtime_frames_stay_nameless_after_one_reading)
{
	struct process other = {.pid = 43};
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	uint32_t frame = 0;
	int taken = 0;

	begin(&generated, &profile);
	fake.name = "hot";
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &frame),
		-EAGAIN));
	cr_assert(eq(int,
		generated_read(generated, &other, profile, OBSERVE_START, 200, count_takes, &taken),
		0));
	cr_assert(eq(int,
		generated_frame(generated, profile, 100, &(struct place){.address = OWNED}, &frame),
		0));
	cr_assert(eq(u16, profile->frames[frame].nr_functions, 0));
	cr_assert(eq(int, fake.nr_readings, 0));
	end(generated, profile);
}

Test(generated, an_interpreted_frame_is_named_by_its_method)
{
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	uint32_t frame = 0, other = 0;

	begin(&generated, &profile);
	fake.name = "Interpreter";
	fake.method = "void Some.method()";
	(void)read_at(generated, profile, OBSERVE_START, 200);
	cr_assert(eq(int,
		generated_frame(generated, profile, 100,
			&(struct place){.address = OWNED, .note = NOTE}, &frame),
		0));
	cr_assert(eq(str, (char *)name_of(profile, frame), "void Some.method()"));
	fake.method = NULL;
	cr_assert(eq(int,
		generated_frame(generated, profile, 100,
			&(struct place){.address = OWNED, .note = NOTE}, &other),
		0));
	cr_assert(eq(str, (char *)name_of(profile, other), "Interpreter"));
	end(generated, profile);
}

/* One nameless frame stands for every method that was interpreted at its address. */
Test(generated, what_was_nameless_is_not_named_after_one_of_its_methods)
{
	struct generated *generated = NULL;
	struct stoke_profile *profile = NULL;
	uint32_t frame = 0;

	begin(&generated, &profile);
	(void)read_at(generated, profile, OBSERVE_START, 200);
	cr_assert(eq(int,
		generated_frame(generated, profile, 100,
			&(struct place){.address = OWNED, .note = NOTE}, &frame),
		0));
	cr_assert(eq(int, profile->frames[frame].nr_functions, 0), "nobody knows it yet");
	fake.name = "Interpreter";
	fake.method = "void Some.method()";
	(void)read_at(generated, profile, OBSERVE_MISS, 300);
	cr_assert(eq(str, (char *)name_of(profile, frame), "Interpreter"));
	end(generated, profile);
}
