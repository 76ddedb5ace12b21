/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/classes.h"

#include <string.h>

#include "unit/test.h"

TestSuite(classes, .fini = check_leaks);

static const struct {
	const char *name;
	enum thread_class class;
} cases[] = {
	{"C2 CompilerThread0", THREAD_JIT},
	{"C1 CompilerThread13", THREAD_JIT},
	{"C2 CompilerThre", THREAD_JIT},
	{"C1 CompilerThre", THREAD_JIT},
	{"GC Thread#0", THREAD_GC},
	{"GC task thread#1 (ParallelGC)", THREAD_GC},
	{"Gang worker#0 (Parallel GC Threads)", THREAD_GC},
	{"Gang worker#0 (", THREAD_GC},
	{"G1 Conc#0", THREAD_GC},
	{"G1 Main Marker", THREAD_GC},
	{"G1 Refine#10", THREAD_GC},
	{"G1 Service", THREAD_GC},
	{"G1 Services of ours", THREAD_APPLICATION},
	{"ZWorkerYoung#1", THREAD_GC},
	{"Shenandoah GC T", THREAD_GC},
	{"main", THREAD_APPLICATION},
	{"", THREAD_APPLICATION},
	{"C2", THREAD_APPLICATION},
	{"C2 CompilerThreads of mine", THREAD_APPLICATION},
	{"VM Thread", THREAD_VM}, /* does the safepoints' work, also the application's */
	{"VM Threads", THREAD_APPLICATION},
	{"http-nio-8080-exec-1", THREAD_APPLICATION},
};

Test(classes, tells_compilers_and_collectors_from_the_application)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(eq(int, thread_class_of(cases[i].name, strlen(cases[i].name)),
				  cases[i].class),
			"%s", cases[i].name);
}

Test(classes, needs_no_byte_behind_a_name)
{
	char *name = memcpy(malloc(11), "GC Thread#0", 11);

	cr_assert(eq(int, thread_class_of(name, 11), THREAD_GC));
	cr_assert(eq(int, thread_class_of(name, 9), THREAD_GC));
	cr_assert(eq(int, thread_class_of(name, 8), THREAD_APPLICATION));
	free(name);
}

Test(classes, tells_what_collects_from_other_work_of_the_vm_thread)
{
	static const char *const collecting[] = {"VM_GenCollectForAllocation::doit()",
		"VM_GenCollectFull::doit", "VM_ParallelGCFailedAllocation::doit()",
		"VM_G1CollectForAllocation::doit()", "VM_SerialGCCollect::doit()",
		"GenCollectedHeap::do_collection(bool, bool, unsigned long)",
		"PSParallelCompact::invoke(bool)"};
	static const char *const other[] = {"VM_ThreadDump::doit()", "VM_Deoptimize::doit()",
		"VM_GC_HeapInspection::doit()", "VM_HeapDumper::doit()",
		"VM_RedefineClasses::doit()", "VM_Operation::evaluate()", "com.acme.VM_Collect.run",
		"VM_Exit::doit(Collector*)", "", "VM_"};

	for (size_t i = 0; i < sizeof(collecting) / sizeof(*collecting); i++)
		cr_expect(eq(int, thread_collects(collecting[i], strlen(collecting[i])), 1), "%s",
			collecting[i]);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		cr_expect(eq(int, thread_collects(other[i], strlen(other[i])), 0), "%s", other[i]);
}
