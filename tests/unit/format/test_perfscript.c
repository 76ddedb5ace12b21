/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/perfscript/line.h"

#include "format/read_write.h"

#include <errno.h>

extern const struct format format_folded, format_perfscript, format_pprof;

TestSuite(perfscript, .fini = check_leaks);

static struct stoke_profile *read_text(const char *text)
{
	struct stoke_error err = {0};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(
		zero(int, read_bytes(profile, &format_perfscript, text, strlen(text), NULL, &err)),
		"%s", err.text);
	return profile;
}

static void assert_folded(const char *text, const char *want)
{
	struct stoke_profile *profile = read_text(text);
	char *got = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, got, (char *)want));
	free(got);
	stoke_profile_free(profile);
}

static int is(struct perfscript_text text, const char *want)
{
	return text.size == strlen(want) && (!text.size || memcmp(text.text, want, text.size) == 0);
}

Test(perfscript, heads_of_samples_have_what_perf_was_asked_for)
{
	static const struct {
		const char *line, *comm, *event;
		int64_t pid, tid, cpu;
		uint64_t time_ns, period;
	} cases[] = {
		{"dd 29776 666709.771979:   10101010 cpu-clock: ", "dd", "cpu-clock", -1, 29776, -1,
			666709771979000, 10101010},
		{"iperf 27409/28744 [003] 441995.133575: cpu-clock: ", "iperf", "cpu-clock", 27409,
			28744, 3, 441995133575000, 0},
		{"java 19983 cycles:", "java", "cycles", -1, 19983, -1, 0, 0},
		{"C2 CompilerThre 12/34 5.1: 7 cycles:uppp:", "C2 CompilerThre", "cycles:uppp", 12,
			34, -1, 5100000000, 7},
		{"V8 9 Worker 100 [000] 5.000001: cycles:", "V8 9 Worker", "cycles", -1, 100, 0,
			5000001000, 0},
		{"kworker/u8:3-ev 77 1.123456789: sched:sched_switch: prev_comm=x y=3",
			"kworker/u8:3-ev", "sched:sched_switch", -1, 77, -1, 1123456789, 0},
		{"[a] b: 5 1.5: x:", "[a] b:", "x", -1, 5, -1, 1500000000, 0},
		{"bash 25052 14852.469323: ", "bash", "", -1, 25052, -1, 14852469323000, 0},
		{"           false 39654 2.5:          1 cycles:u:  ffffffff9b201293 [unknown] "
		 "([unknown])",
			"false", "cycles:u", -1, 39654, -1, 2500000000, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perfscript_head head;

		cr_assert(perfscript_head(cases[i].line, strlen(cases[i].line), &head), "%s",
			cases[i].line);
		cr_assert(is(head.comm, cases[i].comm), "%s", cases[i].line);
		cr_assert(is(head.event, cases[i].event), "%s", cases[i].line);
		cr_assert(eq(i64, head.pid, cases[i].pid));
		cr_assert(eq(i64, head.tid, cases[i].tid));
		cr_assert(eq(i64, head.cpu, cases[i].cpu));
		cr_assert(eq(u64, head.time_ns, cases[i].time_ns));
		cr_assert(eq(u64, head.period, cases[i].period));
	}
}

Test(perfscript, what_is_no_head_is_told_apart)
{
	static const char *const lines[] = {"", "a", "a;b 5", "\t 401b97 main+0x1f (/bin/x)",
		"main 5", "a 1 2", "a 5:", "a 99999999999 1.5: x:", "x 3 1.5 y:", "5 1.5: x:"};
	struct perfscript_head head;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		cr_assert(zero(int, perfscript_head(lines[i], strlen(lines[i]), &head)), "%s",
			lines[i]);
}

Test(perfscript, frames_are_told_by_their_file)
{
	static const struct {
		const char *line, *name, *file;
		enum function_kind kind;
	} cases[] = {
		{"\t  401b97 main+0x1f (./x/inline-counter)", "main", "./x/inline-counter",
			FUNCTION_NATIVE},
		{"ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])",
			"native_write_msr_safe", "[kernel.kallsyms]", FUNCTION_KERNEL},
		{"\t414b3b fsnotify (/lib/modules/4.1/build/vmlinux)", "fsnotify",
			"/lib/modules/4.1/build/vmlinux", FUNCTION_KERNEL},
		{"\tffffffffc0a f+0x0 ([ext4])", "f", "[ext4]", FUNCTION_KERNEL},
		{"\tffffffffc0a f (/lib/modules/5/kernel/net/a.ko.xz)", "f",
			"/lib/modules/5/kernel/net/a.ko.xz", FUNCTION_KERNEL},
		{"\tffffffffc09ace93 bpf_prog_2b_l4lb+0xb80 (bpf_prog_2b_l4lb)", "bpf_prog_2b_l4lb",
			"bpf_prog_2b_l4lb", FUNCTION_KERNEL},
		{"\t7ffc __vdso_gettimeofday ([vdso])", "__vdso_gettimeofday", "[vdso]",
			FUNCTION_NATIVE},
		{"\t7f1 v8::Call(v8::Handle<int>*, (anonymous)) const (/tmp/node-v011)",
			"v8::Call(v8::Handle<int>*, (anonymous)) const", "/tmp/node-v011",
			FUNCTION_CPP},
		{"\t7f1 Lio/netty/A;::b (/tmp/perf-7539.map)", "Lio/netty/A;::b",
			"/tmp/perf-7539.map", FUNCTION_JIT},
		{"\tf719f4a4 fib.smx::fib+0x3c (/tmp/jitted-31714-41.so)", "fib.smx::fib",
			"/tmp/jitted-31714-41.so", FUNCTION_JIT},
		{"\t5581 helper (inlined)", "helper", "", FUNCTION_INLINED},
		{"\tffffffff9b201293 [unknown] ([unknown])", "", "", FUNCTION_KERNEL},
		{"\t5966605dd52f8e00 [unknown] ([unknown])", "", "", FUNCTION_NATIVE},
		{"\t7f0 old (/usr/lib/x.so (deleted))", "old", "/usr/lib/x.so", FUNCTION_NATIVE},
		{"\t72b2 _dl_map_object_from_fd", "_dl_map_object_from_fd", "", FUNCTION_NATIVE},
		{"\t72b2", "", "", FUNCTION_NATIVE},
		{"\t72b2 operator+0x", "operator+0x", "", FUNCTION_NATIVE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perfscript_frame frame;

		cr_assert(perfscript_frame(cases[i].line, strlen(cases[i].line), &frame), "%s",
			cases[i].line);
		cr_assert(is(frame.name, cases[i].name), "%s", cases[i].line);
		cr_assert(is(frame.file, cases[i].file), "%s", cases[i].line);
		cr_assert(eq(int, frame.kind, cases[i].kind), "%s", cases[i].line);
	}
	cr_assert(zero(int, perfscript_frame("\tweird", 6, &(struct perfscript_frame){0})));
	cr_assert(perfscript_is_source("  main.c:12", 11));
	cr_assert(perfscript_is_source("  libc.so.6[22fb]", 17));
	cr_assert(zero(int, perfscript_is_source("  weird", 7)));
}

static const char sample[] =
	"# ========\n# captured on: Thu Aug 17 14:14:43 2017\n# os release : 4.13.0-rc1\n# "
	"========\n#\n"
	"java 10/11 [000] 100.000000:   10101010 cpu-clock: \r\n"
	"\tffffffffaee8017b fput+0xb ([kernel.kallsyms])\r\n"
	"\t    7f89e341d84f write+0x4f (/usr/lib/libc-2.28.so)\n"
	"\t    7f89cc45c5c3 La/B;::run->La/C;::go->La/D;::at (/tmp/perf-10.map)\n"
	"\t    7f89cc45c5c4 [unknown] (/usr/lib/libjvm.so)\n"
	"\n"
	"java 10/11 [001] 100.045000:   10101010 cpu-clock:\n"
	"\t    7f89e341d84f write+0x4f (/usr/lib/libc-2.28.so)\n"
	"  write.c:27\n"
	"\n"
	"GC Thread#1 10/12 [001] 100.061000:   20202020 cpu-clock: \n"
	"\n";

Test(perfscript, samples_have_a_stack_below_their_command_a_thread_and_a_time)
{
	struct stoke_profile *profile = read_text(sample);
	const struct rows *rows = &profile->rows;
	char *text = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, text,
		"GC Thread#1 1\n"
		"java;[libjvm.so];La/B:::run_[j];La/C:::go_[i];La/D:::at_[i];write;fput_[k] 1\n"
		"java;write 1\n"));
	cr_assert(eq(sz, rows->nr, 3));
	cr_assert(eq(u64, rows->value[1][2], 20202020));
	cr_assert(eq(str, (char *)strings_text(&profile->strings, profile->values[1].type), "cpu"));
	cr_assert(eq(uint, profile->default_value, 1));
	cr_assert(eq(u64, profile->runs[0].slice_ns, 20000000));
	cr_assert(eq(u64, profile->runs[0].duration_ns, 61000000));
	cr_assert(eq(u32, rows->slice[0], 0));
	cr_assert(eq(u32, rows->slice[1], 2));
	cr_assert(eq(u32, rows->slice[2], 3));
	cr_assert(eq(i64, profile_label(profile, rows->labels[0], "pid")->num, 10));
	cr_assert(eq(i64, profile_label(profile, rows->labels[2], "tid")->num, 12));
	cr_assert(eq(str,
		(char *)strings_text(
			&profile->strings, profile_label(profile, rows->labels[2], "thread")->str),
		"GC Thread#1"));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "kernel"), "4.13.0-rc1"));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "event"), "cpu-clock"));
	cr_assert(zero(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD]));
	free(text);
	stoke_profile_free(profile);
}

Test(perfscript, old_frames_without_indent_and_stacks_in_one_line)
{
	assert_folded("java 19983 cycles:\n7f7 start_thread (/lib/libpthread.so)\n\n"
		      "java 19983 cycles:\n7f7 b (/lib/x.so)\n",
		"java;b 1\njava;start_thread 1\n");
	assert_folded(
		"           false 39654 2.5:          1 cycles:u:  ffffffff9b201293 [unknown] "
		"([unknown])\n           false 39654 2.6:          1 cycles:u:  7fa68b1f2d84 "
		"_dl_start+0x4 (/usr/lib/ld-2.31.so)\n",
		"false;[unknown]_[k] 1\nfalse;_dl_start 1\n");
}

Test(perfscript, a_tracepoints_text_is_no_frame)
{
	assert_folded("swapper 0 [002] 5.5: sched:sched_switch: prev_comm=swapper/2 (x)\n"
		      "\tffffffff81 schedule ([kernel.kallsyms])\n\n",
		"swapper;schedule_[k] 1\n");
}

Test(perfscript, other_events_are_left_out_and_said)
{
	struct stoke_profile *profile = read_text("a 1 1.0: 5 cycles:\n\t12 f (/x)\n\n"
						  "a 1 1.1: 5 instructions:\n\t12 g (/x)\n\n"
						  "a 1 1.2: 5 cycles:\n\t12 f (/x)\n\n");
	char *text = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, text, "a;f 2\n"));
	cr_assert(eq(uint, profile->nr_values, 1));
	cr_assert(zero(int, strncmp(profile_fact_find(profile, 0, "warning"),
				    "1 samples of other events (instructions) are not shown", 54)));
	free(text);
	stoke_profile_free(profile);
}

Test(perfscript, bad_lines_are_counted_and_the_first_is_told)
{
	struct stoke_profile *profile =
		read_text("a 1 1.0: 5 cycles:\n\t12 f (/x)\n\tWEIRD\n\nnot a head\n");

	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 2));
	cr_assert(eq(str, (char *)profile_fact_find(profile, 0, "first-bad-line"),
		"line 3: neither a sample nor a frame of one"));
	cr_assert(eq(u64, profile_total(profile, 0), 1));
	stoke_profile_free(profile);
}

Test(perfscript, only_bad_lines_are_no_profile)
{
	struct stoke_error err = {0};
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(
		eq(int, read_bytes(profile, &format_perfscript, "x\ny\n", 4, NULL, &err), -EINVAL));
	cr_assert(eq(str, err.text,
		"in is not the text of perf script: there is no sample in it; line 1: not the head "
		"of "
		"a sample"));
	stoke_profile_free(profile);
}

Test(perfscript, depth_and_lines_have_limits_that_are_counted)
{
	size_t size = 0, room = 3 << 20;
	char *text = malloc(room);
	struct stoke_profile *profile;

	size += (size_t)snprintf(text, room, "a 1 1.0: 5 cycles:\n");
	for (unsigned i = 0; i < 70000; i++)
		size += (size_t)snprintf(text + size, room - size, "\t12 f (/x)\n");
	size += (size_t)snprintf(text + size, room - size, "\na 1 1.0: 5 cycles:\n\t12 ");
	memset(text + size, 'y', 2 << 20);
	size += 2 << 20;
	size += (size_t)snprintf(text + size, room - size, " (/x)\n\t12 g (/x)\n");
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_perfscript, text, size, NULL, NULL)));
	cr_assert(eq(u64, profile->runs[0].quality.count[QUALITY_LINES_BAD], 2));
	cr_assert(eq(u64, profile_total(profile, 0), 1));
	stoke_profile_free(profile);
	free(text);
}

Test(perfscript, recognised_by_its_first_sample)
{
	static const struct {
		const char *text;
		int least, most;
	} cases[] = {
		{sample, 90, 100},
		{"# ========\n# captured on: x\n", 90, 100},
		{"a 1 1.0: 5 cycles:\n\t12 f (/x)\n", 90, 100},
		{"\n  false 3 2.5: 1 cycles:u:  ff9b [unknown] ([unknown])\n", 90, 100},
		{"a 1 1.0: 5 cycles:\n\n", 0, 60},
		{"a;b 5\n", 0, 0},
		{"", 0, 0},
		{"\n\n#\n", 0, 0},
		{"a 1 1.0: 5 cycles:\nhello\n", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int score = format_perfscript.recognise(
			(const uint8_t *)cases[i].text, strlen(cases[i].text));

		cr_assert(ge(int, score, cases[i].least), "%zu", i);
		cr_assert(le(int, score, cases[i].most), "%zu", i);
	}
}
