/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "report/report.h"
#include "unit/folded.h"

TestSuite(text, .fini = check_leaks);

extern const struct report report_text;

/* What the report says; the profile is gone afterwards. Freed by the caller. */
static char *said(struct stoke_profile *profile, const char *params)
{
	void *values = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert(ne(ptr, out, NULL));
	cr_assert(eq(int,
		params_parse(
			report_text.params, report_text.params_size, "text", params, &values, NULL),
		0));
	cr_assert(eq(int, report_text.profile(profile, values, out), 0));
	cr_assert(eq(int, fclose(out), 0));
	params_free(report_text.params, values);
	stoke_profile_free(profile);
	return text;
}

static void says(struct stoke_profile *profile, const char *params, const char *expected)
{
	char *text = said(profile, params);

	cr_expect(eq(str, text, (char *)expected));
	free(text);
}

/* A thread's samples of a stack that is already there: 10 ms of CPU each. */
static void thread(
	struct stoke_profile *profile, const char *name, int64_t tid, const char *stack, uint64_t n)
{
	struct label labels[2] = {{.num = tid}};
	uint32_t set = 0, node = 0;

	cr_assert(eq(int, profile_text(profile, "tid", &labels[0].key), 0));
	cr_assert(eq(int, profile_text(profile, "thread", &labels[1].key), 0));
	cr_assert(eq(int, profile_text(profile, name, &labels[1].str), 0));
	cr_assert(eq(int, profile_labels(profile, labels, 2, &set), 0));
	while (*stack) {
		size_t size = strcspn(stack, ";");

		cr_assert(eq(int,
			stacks_child(
				&profile->stacks, node, folded_frame(profile, stack, size), &node),
			0));
		stack += size + (stack[size] == ';');
	}
	cr_assert(eq(int, profile_row(profile, 0, node, set, 0, (uint64_t[]){n, n * 10000000}), 0));
}

/* A recording of 30 s of a busy JVM. */
static struct stoke_profile *recording(void)
{
	static const char parse[] = "start_thread;void java.lang.Thread.run()_[j];"
				    "boolean sam.Sam.getPermissionByUser(int)_[j];"
				    "net.sf.json.JSONObject "
				    "net.sf.json.JSONObject.fromObject(java.lang.Object)_[j];";
	struct stoke_profile *profile = folded_profile("");
	uint64_t *count = profile->runs[0].quality.count;
	unsigned cpu = 9;
	char stack[512];

	cr_assert(eq(int, profile_value(profile, "cpu", "nanoseconds", &cpu), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "target", "4242 java (a.jar), 97 threads"), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "event", "cpu-clock"), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "rate", "99 Hz"), 0));
	profile->runs[0].duration_ns = 30000000000;
	for (int i = 1; i <= 14; i++) {
		char name[64];

		(void)snprintf(
			name, sizeof(name), "Handling GET /job/b%d/api from 10.0.0.%d", i, i);
		(void)snprintf(stack, sizeof(stack), "%s%s", parse,
			"char[] java.util.Arrays.copyOfRange(char[], int, int)_[j]");
		thread(profile, name, 100 + i, stack, 200);
		(void)snprintf(stack, sizeof(stack), "%s%s", parse,
			"boolean net.sf.json.util.JSONTokener.matches(java.lang.String)_[j]");
		thread(profile, name, 100 + i, stack, 100);
	}
	thread(profile, "GC Thread#0", 50, "start_thread;GCTaskThread::run()", 500);
	thread(profile, "GC Thread#1", 51, "start_thread;GCTaskThread::run();futex_wait_[k]", 300);
	count[QUALITY_SAMPLES] = 5000;
	count[QUALITY_STACKS_WHOLE] = 4970;
	count[QUALITY_STACKS_BROKEN] = 30;
	count[QUALITY_FRAMES] = 30000;
	count[QUALITY_UNNAMED_GAP] = 90;
	count[QUALITY_OWN_CPU_NS] = 60000000;
	return profile;
}

Test(text, a_recording_is_summed_up_in_a_screenful)
{
	says(recording(), "",
		"profile   4242 java (a.jar), 97 threads; cpu-clock; 99 Hz\n"
		"process   1.67 cores (user 94 %, kernel 6.0 %)    5,000 samples in 30.0 s\n"
		"threads                                                            cores   share\n"
		"  Handling GET /job/*/api from *                        (14)        1.40    84 %\n"
		"  GC Thread#*                                            (2)        0.27    16 %\n"
		"packages (total)    net.sf.json 84 %   java.lang 84 %   sam 84 %   java.util "
		"56 %\n"
		"functions                                                          total    self\n"
		"  java.util.Arrays.copyOfRange                                      56 %    56 %\n"
		"  net.sf.json.util.JSONTokener.matches                              28 %    28 %\n"
		"  GCTaskThread::run                                                 16 %    10 %\n"
		"  futex_wait                                                       6.0 %   6.0 %\n"
		"path before it splits  ... > sam.Sam.getPermissionByUser > "
		"net.sf.json.JSONObject.fromObject   84 %\n"
		"quality   99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost "
		"0.002 cores\n");
}

Test(text, what_is_asked_for_comes_alone_or_after_the_summary)
{
	says(recording(), "tree,packages,n=3",
		"profile   4242 java (a.jar), 97 threads; cpu-clock; 99 Hz\n"
		"process   1.67 cores (user 94 %, kernel 6.0 %)    5,000 samples in 30.0 s\n"
		"packages                                                           total    self\n"
		"  net.sf.json                                                       84 %    28 %\n"
		"  java.lang                                                         84 %     0 %\n"
		"  sam                                                               84 %     0 %\n"
		"   total    self  tree (from 1 %; a dash is one of several ways)\n"
		"   100 %     0 %  start_thread\n"
		"    84 %     0 %    - java.lang.Thread.run\n"
		"    84 %     0 %      sam.Sam.getPermissionByUser\n"
		"    84 %     0 %      net.sf.json.JSONObject.fromObject\n"
		"    56 %    56 %      - java.util.Arrays.copyOfRange\n"
		"    28 %    28 %      - net.sf.json.util.JSONTokener.matches\n"
		"    16 %    10 %    - GCTaskThread::run\n"
		"   6.0 %   6.0 %      - futex_wait\n"
		"quality   99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost "
		"0.002 cores\n");
	says(recording(), "threads,n=2,summary,width=60",
		"process   1.67 cores (user 94 %, kernel 6.0 %)    5,000 samples in 30.0 s\n"
		"threads                                        cores   share\n"
		"  Handling GET /job/*/api from *    (14)        1.40    84 %\n"
		"  GC Thread#*                        (2)        0.27    16 %\n"
		"packages (total)    net.sf.json 84 %   java.lang 84 %   sam 84 %\n"
		"functions                                      total    self\n"
		"  java.util.Arrays.copyOfRange                  56 %    56 %\n"
		"  net.sf.json.util.JSONTokener.matches          28 %    28 %\n"
		"path before it splits  ... > net.sf.json.JSONObject.fromObject   84 %\n"
		"threads                                        cores   share\n"
		"  GC Thread#0                         50        0.17    10 %\n"
		"  GC Thread#1                         51        0.10   6.0 %\n"
		"  ... 14 more                                   1.40    84 %\n"
		"quality   99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost "
		"0.002 cores\n");
}

Test(text, callers_are_found_by_any_spelling_of_the_name)
{
	static const char *const spellings[] = {
		"copyOfRange",
		"Arrays.copyOfRange",
		"java.util.Arrays.copyOfRange",
		"char[] java.util.Arrays.copyOfRange(char[]\\, int\\, int)",
		"*.copyOf*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		char params[128], *text;

		(void)snprintf(params, sizeof(params), "callers=%s", spellings[i]);
		text = said(recording(), params);
		cr_expect(ne(ptr, strstr(text, "net.sf.json.JSONObject.fromObject  "), NULL), "%s",
			text);
		free(text);
	}
	says(recording(), "callers=copyOfRange",
		"profile   4242 java (a.jar), 97 threads; cpu-clock; 99 Hz\n"
		"process   1.67 cores (user 94 %, kernel 6.0 %)    5,000 samples in 30.0 s\n"
		"callers of copyOfRange                                            of all   of it\n"
		"  net.sf.json.JSONObject.fromObject                                 56 %   100 %\n"
		"quality   99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost "
		"0.002 cores\n");
	says(recording(), "callers=opyOfRange",
		"profile   4242 java (a.jar), 97 threads; cpu-clock; 99 Hz\n"
		"process   1.67 cores (user 94 %, kernel 6.0 %)    5,000 samples in 30.0 s\n"
		"callers of opyOfRange                                             of all   of it\n"
		"  no stack holds a function of this name\n"
		"quality   99.4 % of stacks whole, 0.3 % of frames unnamed, none lost; own cost "
		"0.002 cores\n");
}

Test(text, text_input_is_summed_up_in_samples)
{
	says(folded_profile("main;a;x 30\nmain;a;a;a;y 1\nmain;b 5000\nmain;a;c;d_[k] 600\n"), "",
		"samples   5,631 (user 89 %, kernel 11 %)\n"
		"libraries (total)    [kernel] 11 %\n"
		"functions                                                          total    self\n"
		"  b                                                                 89 %    89 %\n"
		"  d                                                                 11 %    11 %\n"
		"  x                                                                0.5 %   0.5 %\n"
		"  y                                                               0.02 %  0.02 %\n"
		"path before it splits  main > b   89 %\n"
		"quality   the input says nothing of it\n");
}

Test(text, a_call_tree_is_indented_where_it_splits)
{
	says(folded_profile("main;init;run;a;deep;deeper 600\nmain;init;run;b;x "
			    "380\nmain;init;run;b;y 10\n"
			    "main;init;run;b;z 4\nmain;init;run;p 5\nmain;init;run;q "
			    "6\nmain;exit_[k] 1\n"),
		"tree",
		"samples   1,006 (user 99.9 %, kernel 0.1 %)\n"
		"   total    self  tree (from 1 %; a dash is one of several ways)\n"
		"   100 %     0 %  main\n"
		"  99.9 %     0 %  init\n"
		"  99.9 %     0 %  run\n"
		"   1.1 %            - [2 more under 1 %]\n"
		"    60 %     0 %    - a\n"
		"    60 %     0 %      deep\n"
		"    60 %    60 %      deeper\n"
		"    39 %     0 %    - b\n"
		"   1.4 %              - [2 more under 1 %]\n"
		"    38 %    38 %      - x\n"
		"quality   the input says nothing of it\n");
}

Test(text, a_recursion_is_named_once_in_the_path)
{
	char *text = said(folded_profile("main;parse;parse;parse;parse;leaf 90\nmain;b 10\n"), "");

	cr_expect(
		ne(ptr, strstr(text, "path before it splits  main > parse > leaf   90 %\n"), NULL),
		"%s", text);
	free(text);
}

Test(text, a_way_that_is_not_known_is_no_path)
{
	char *text = said(folded_profile("[broken]_[m];parse;leaf 90\nmain;b 10\n"), "");

	cr_expect(eq(ptr, strstr(text, "path before"), NULL), "%s", text);
	free(text);
}

Test(text, the_summary_leaves_to_its_caller_what_it_says_itself)
{
	struct stoke_profile *profile = folded_profile("main 3\n");

	cr_assert(eq(int, profile_fact(profile, 0, "target", "4242 app"), 0));
	says(profile, "summary",
		"samples   3 (user 100 %, kernel 0 %)\n"
		"functions                                                          total    self\n"
		"  main                                                             100 %   100 %\n"
		"path before it splits  main   100 %\n"
		"quality   the input says nothing of it\n");
}

Test(text, nothing_sampled_is_valid_text_that_says_why)
{
	struct stoke_profile *profile = folded_profile("");

	cr_assert(eq(int, profile_fact(profile, 0, "target", "4242 sleep"), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "state", "used 0.00 s of CPU in 30.0 s"), 0));
	says(profile, "",
		"profile   4242 sleep\n"
		"samples   0\n"
		"quality   the input says nothing of it\n"
		"warning   no samples: 4242 sleep used 0.00 s of CPU in 30.0 s, and a profile of "
		"CPU time shows only what runs; a longer -d or a higher -F meets more\n");
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	says(profile, "tree",
		"samples   0\n"
		"quality   the input says nothing of it\n"
		"warning   no samples: there is no stack with a count, or none passes the "
		"filters\n");
}

Test(text, names_of_any_bytes_leave_the_columns_in_place)
{
	struct stoke_profile *profile = folded_profile("\xe5\xb7\xa5\xe4\xbd\x9c\x1b[31m;a\xff"
						       "b\tc;\xe2\x80\xae"
						       "evil 100\n");

	thread(profile, "\xe8\xae\xa2\xe5\x8d\x95\xe5\xa4\x84\xe7\x90\x86-1", 7, "main", 50);
	thread(profile, "\xe8\xae\xa2\xe5\x8d\x95\xe5\xa4\x84\xe7\x90\x86-2", 8, "main", 50);
	says(profile, "",
		"samples   200 (user 100 %, kernel 0 %)\n"
		"threads                                                          samples   share\n"
		"  订单处理-*                                             (2)         100    50 %\n"
		"functions                                                          total    self\n"
		"  main                                                              50 %    50 %\n"
		"  \\u202eevil                                                        50 %    50 "
		"%\n"
		"path before it splits  main   50 %\n"
		"quality   the input says nothing of it\n");
}
