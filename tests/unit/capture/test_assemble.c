/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes here are made of side-band records alone: /proc is an empty directory. */
#include "capture/assemble.h"

#include <string.h>
#include <sys/mman.h>

#include "unit/test.h"

TestSuite(assemble, .fini = check_leaks);

#define PID 42

struct fixture {
	char proc[32];
	struct host host;
	struct processes *processes;
	struct assembler *assembler;
	struct stoke_profile *profile;
};

static void map(struct fixture *fixture, uint64_t start, uint64_t size, const char *path)
{
	const struct mmap_event event = {
		.pid = PID,
		.tid = PID,
		.time_ns = 1,
		.start = start,
		.size = size,
		.path = path,
		.path_size = strlen(path),
		.ino = start + path[5], /* a file each */
		.dev = 1,
		.prot = PROT_READ | PROT_EXEC,
	};

	cr_assert(eq(int, processes_mmap(fixture->processes, &event), 0));
}

static void begin(struct fixture *fixture, unsigned flags)
{
	struct assembler_options options = {.slice_ns = 100, .weight_is_ns = 1, .flags = flags};
	uint32_t run;

	(void)snprintf(fixture->proc, sizeof(fixture->proc), "/tmp/stoke-test-XXXXXX");
	cr_assert(not(zero(ptr, mkdtemp(fixture->proc))));
	cr_assert(eq(int, host_open(fixture->proc, NULL, &fixture->host), 0));
	cr_assert(eq(int, processes_new(&fixture->host, &fixture->processes), 0));
	cr_assert(eq(int, processes_fork(fixture->processes, PID, PID, 1, 0), 0));
	cr_assert(eq(int, processes_comm(fixture->processes, PID, PID, "prog", 1, 0), 0));
	map(fixture, 0x10000, 0x1000, "/bin/prog");
	options.host = &fixture->host;
	options.processes = fixture->processes;
	cr_assert(eq(int, assembler_new(&options, &fixture->assembler), 0));
	cr_assert(eq(int, stoke_profile_new(&fixture->profile), 0));
	cr_assert(eq(int, profile_run(fixture->profile, "test", &run), 0));
	cr_assert(eq(int, assembler_use(fixture->assembler, fixture->profile), 0));
}

static void end(struct fixture *fixture)
{
	assembler_free(fixture->assembler);
	stoke_profile_free(fixture->profile);
	processes_free(fixture->processes);
	host_close(&fixture->host);
	cr_assert(eq(int, rmdir(fixture->proc), 0));
}

static void sample(struct fixture *fixture, struct stoke_sample record, const uint64_t *frames)
{
	record.type = STOKE_RECORD_SAMPLE;
	record.pid = PID;
	record.weight = 10;
	if (!record.tid)
		record.tid = PID;
	if (!record.comm[0])
		(void)snprintf(record.comm, sizeof(record.comm), "worker");
	cr_assert(eq(int, assembler_sample(fixture->assembler, &record, frames), 0));
}

/* Nodes from the row's stack to the root, as frame addresses; 0 for frames that are only names. */
static size_t stack_of(const struct fixture *fixture, size_t row, uint64_t *addresses)
{
	const struct stoke_profile *profile = fixture->profile;
	size_t nr = 0;

	for (uint32_t node = profile->rows.stack[row]; node; node = profile->stacks.parent[node])
		addresses[nr++] = profile->frames[profile->stacks.frame[node]].address;
	return nr;
}

static struct quality judge(struct fixture *fixture)
{
	struct quality quality = {0};

	cr_assert(eq(int, assembler_judge(fixture->assembler, &quality), 0));
	return quality;
}

Test(assemble, kernel_frames_stand_above_user_frames_in_one_stack)
{
	const uint64_t frames[] = {0xffffffff81000100, 0xffffffff81000200, 0x10010, 0x10020};
	struct fixture fixture;
	uint64_t seen[8];

	begin(&fixture, 0);
	sample(&fixture,
		(struct stoke_sample){.nr_kernel = 2, .nr_user = 2, .walk_end = STOKE_WALK_DEPTH},
		frames);

	cr_assert(eq(sz, stack_of(&fixture, 0, seen), 5));
	cr_assert(eq(u64, seen[0], 0xffffffff81000100), "the interrupted instruction as it is");
	cr_assert(eq(u64, seen[1], 0xffffffff810001ff), "a return address belongs to its call");
	cr_assert(eq(u64, seen[2], 0x10), "file offsets, not addresses");
	cr_assert(eq(u64, seen[3], 0x1f));
	cr_assert(eq(u64, seen[4], 0), "[truncated]");
	cr_assert(eq(u64, judge(&fixture).count[QUALITY_STACKS_TRUNCATED], 1));
	end(&fixture);
}

Test(assemble, an_address_without_mapping_ends_the_stack_and_is_no_frame)
{
	const uint64_t frames[] = {0x10010, 0x10020, 0x7777, 0x10030};
	struct fixture fixture;
	uint64_t seen[8];

	begin(&fixture, 0);
	sample(&fixture, (struct stoke_sample){.nr_user = 4, .walk_end = STOKE_WALK_ROOT}, frames);

	cr_assert(eq(sz, stack_of(&fixture, 0, seen), 3));
	cr_assert(eq(u64, seen[1], 0x1f));
	cr_assert(eq(u64, judge(&fixture).count[QUALITY_STACKS_BROKEN], 1));
	end(&fixture);
}

Test(assemble, a_broken_stack_is_whole_when_its_root_gets_a_roots_name)
{
	const uint64_t frames[] = {0x10010, 0x10020};
	const struct symbol start = {.name = "_start", .name_size = 6, .kind = FUNCTION_NATIVE};
	struct fixture fixture;
	struct quality quality;
	uint32_t root;

	begin(&fixture, 0);
	sample(&fixture, (struct stoke_sample){.nr_user = 2, .walk_end = STOKE_WALK_BAD_FP},
		frames);
	root = fixture.profile->stacks.parent[fixture.profile->rows.stack[0]];
	cr_assert(eq(int,
		profile_name_frame(fixture.profile, fixture.profile->stacks.frame[root], &start, 1),
		0));

	quality = judge(&fixture);
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_WHOLE], 1));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_BROKEN], 0));
	cr_assert(eq(u32, fixture.profile->stacks.parent[root], 0), "no longer under [broken]");
	end(&fixture);
}

/* The name that the outermost frame of the i-th row has, "" without one. */
static const char *outermost(const struct fixture *fixture, size_t row)
{
	const struct stoke_profile *profile = fixture->profile;
	uint32_t node = profile->rows.stack[row];
	const struct frame *frame;

	while (profile->stacks.parent[node])
		node = profile->stacks.parent[node];
	frame = &profile->frames[profile->stacks.frame[node]];
	return strings_text(
		&profile->strings, profile->functions[frame_function(profile, frame, 0)].name);
}

Test(assemble, a_stack_is_whole_when_the_file_says_that_its_last_frame_is_the_first)
{
	const uint64_t frames[] = {0x10010, 0x10020};
	struct fixture fixture;

	begin(&fixture, 0);
	sample(&fixture,
		(struct stoke_sample){.nr_user = 2, .walk_end = STOKE_WALK_FIRST, .generation = 1},
		frames);
	cr_assert(eq(str, (char *)outermost(&fixture, 0), ""));
	cr_assert(eq(u64, judge(&fixture).count[QUALITY_STACKS_WHOLE], 1));
	end(&fixture);
}

Test(assemble, a_stack_that_ends_in_a_file_without_unwind_information_says_so)
{
	const uint64_t frames[] = {0x10010, 0x20020}, others[] = {0x10010};
	struct fixture fixture;
	struct quality quality;

	begin(&fixture, 0);
	map(&fixture, 0x20000, 0x1000, "/usr/lib/libbare.so.1");
	sample(&fixture,
		(struct stoke_sample){
			.nr_user = 2, .walk_end = STOKE_WALK_NO_TABLE, .generation = 1},
		frames);
	sample(&fixture,
		(struct stoke_sample){
			.nr_user = 1, .walk_end = STOKE_WALK_NO_TABLE, .generation = 1},
		others);
	sample(&fixture,
		(struct stoke_sample){
			.nr_user = 1, .walk_end = STOKE_WALK_NO_MAPPING, .generation = 1},
		others);
	cr_assert(eq(str, (char *)outermost(&fixture, 0), "[no unwind info: libbare.so.1]"));
	cr_assert(eq(str, (char *)outermost(&fixture, 1), "[no unwind info: prog]"));
	cr_assert(eq(str, (char *)outermost(&fixture, 2), "[broken]"));
	quality = judge(&fixture);
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_BROKEN], 3));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_WHOLE], 0));
	end(&fixture);
}

Test(assemble, a_task_in_exit_is_no_broken_stack)
{
	const uint64_t frames[] = {0xffffffff81000100};
	struct fixture fixture;
	struct quality quality;

	begin(&fixture, 0);
	sample(&fixture, (struct stoke_sample){.nr_kernel = 1, .walk_end = STOKE_WALK_EXIT},
		frames);
	sample(&fixture, (struct stoke_sample){.nr_kernel = 1, .walk_end = STOKE_WALK_NONE},
		frames);

	quality = judge(&fixture);
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_EXIT], 1));
	cr_assert(eq(u64, quality.count[QUALITY_STACKS_WHOLE], 1), "a kernel thread has no more");
	end(&fixture);
}

Test(assemble, the_same_address_after_another_mapping_is_another_frame)
{
	const uint64_t frames[] = {0x20010};
	struct fixture fixture;

	begin(&fixture, 0);
	map(&fixture, 0x20000, 0x1000, "/lib/first.so");
	sample(&fixture, (struct stoke_sample){.nr_user = 1}, frames);
	map(&fixture, 0x20000, 0x1000, "/lib/second.so");
	sample(&fixture, (struct stoke_sample){.nr_user = 1}, frames);

	cr_assert(eq(sz, fixture.profile->rows.nr, 2));
	cr_assert(ne(u32, fixture.profile->rows.stack[0], fixture.profile->rows.stack[1]));
	end(&fixture);
}

Test(assemble, threads_keep_the_name_of_their_moment)
{
	const uint64_t frames[] = {0x10010};
	struct fixture fixture;
	uint32_t labels[2];

	begin(&fixture, STOKE_LABEL_CPU);
	sample(&fixture, (struct stoke_sample){.nr_user = 1, .tid = 43, .cpu = 5, .comm = "GET /a"},
		frames);
	sample(&fixture, (struct stoke_sample){.nr_user = 1, .tid = 43, .cpu = 5, .comm = "GET /b"},
		frames);
	sample(&fixture, (struct stoke_sample){.nr_user = 1, .tid = 43, .cpu = 5, .comm = "GET /b"},
		frames);

	cr_assert(eq(sz, fixture.profile->rows.nr, 2));
	labels[0] = fixture.profile->rows.labels[0];
	labels[1] = fixture.profile->rows.labels[1];
	cr_assert(eq(str,
		(char *)strings_text(&fixture.profile->strings,
			profile_label(fixture.profile, labels[0], "thread")->str),
		"GET /a"));
	cr_assert(eq(i64, profile_label(fixture.profile, labels[1], "cpu")->num, 5));
	cr_assert(eq(i64, profile_label(fixture.profile, labels[1], "pid")->num, PID));
	cr_assert(eq(u64, fixture.profile->rows.value[0][1], 2));
	cr_assert(eq(u64, fixture.profile->rows.value[1][1], 20));
	end(&fixture);
}

Test(assemble, generated_code_without_a_reading_waits_and_nothing_is_lost)
{
	const uint64_t frames[] = {0x30010, 0x10020};
	struct fixture fixture;
	uint64_t seen[8];

	begin(&fixture, 0);
	map(&fixture, 0x30000, 0x1000, "//anon");
	sample(&fixture, (struct stoke_sample){.nr_user = 2, .time_ns = 50}, frames);
	cr_assert(eq(sz, fixture.profile->rows.nr, 0));

	cr_assert(eq(int, assembler_finish(fixture.assembler, 100), 0));
	cr_assert(eq(sz, fixture.profile->rows.nr, 1));
	(void)stack_of(&fixture, 0, seen);
	cr_assert(eq(u64, seen[0], 0x30010), "addresses of generated code are absolute");
	end(&fixture);
}

Test(assemble, slices_count_from_the_start)
{
	const uint64_t frames[] = {0x10010};
	struct fixture fixture;

	begin(&fixture, 0);
	assembler_set_start(fixture.assembler, 1000);
	sample(&fixture, (struct stoke_sample){.nr_user = 1, .time_ns = 1250}, frames);
	cr_assert(eq(u32, fixture.profile->rows.slice[0], 2));
	end(&fixture);
}

Test(assemble, kernel_only_takes_no_samples_of_user_code)
{
	const uint64_t frames[] = {0xffffffff81000100};
	struct fixture fixture;

	begin(&fixture, STOKE_KERNEL_ONLY);
	sample(&fixture, (struct stoke_sample){.nr_kernel = 1}, frames);
	sample(&fixture, (struct stoke_sample){.flags = STOKE_SAMPLE_USER_MODE}, frames);
	cr_assert(eq(u64, assembler_samples(fixture.assembler), 1));
	cr_assert(eq(sz, fixture.profile->rows.nr, 1));
	end(&fixture);
}
