/* SPDX-License-Identifier: BSD-2-Clause */
/* classes.c: which threads of a JVM compile and which collect. */
#include "names/classes.h"

#include <string.h>

#include "base/cleanup.h"

#define COMM_MAX 15 /* TASK_COMM_LEN less the NUL */

/* Prefixes. What follows is a number, "#" and a number, or nothing, so that "G1 Services of ours"
 * is nobody's collector. */
static const struct {
	const char *name;
	enum thread_class class;
} known[] = {
	{"C1 CompilerThread", THREAD_JIT},
	{"C2 CompilerThread", THREAD_JIT},
	{"JVMCI CompilerThread", THREAD_JIT},
	{"JVMCI-native CompilerThread", THREAD_JIT},
	{"C1 CompilerThre", THREAD_JIT}, /* as the kernel cuts them */
	{"C2 CompilerThre", THREAD_JIT},
	{"JVMCI CompilerT", THREAD_JIT},
	{"JVMCI-native Co", THREAD_JIT},
	{"Sweeper thread", THREAD_JIT},
	{"VM Thread", THREAD_VM},
	{"GC Thread", THREAD_GC}, /* 9 and later, all collectors but Z and Epsilon */
	{"GC task thread", THREAD_GC}, /* Parallel, 8 */
	{"Gang worker", THREAD_GC}, /* G1, CMS, 8 */
	{"G1 Main Marker", THREAD_GC},
	{"G1 Main Concurrent Mark GC Thread", THREAD_GC}, /* 8 */
	{"G1 Main Concurr", THREAD_GC},
	{"G1 Conc", THREAD_GC},
	{"G1 Refine", THREAD_GC},
	{"G1 Concurrent Refinement Thread", THREAD_GC}, /* 8 */
	{"G1 Concurrent R", THREAD_GC},
	{"G1 Parallel Marking Threads", THREAD_GC}, /* 8 */
	{"G1 Parallel Mar", THREAD_GC},
	{"G1 Young RemSet Sampling", THREAD_GC},
	{"G1 Young RemSet", THREAD_GC},
	{"G1 Young Gen Sa", THREAD_GC},
	{"G1 Service", THREAD_GC},
	{"StrDedup", THREAD_GC},
	{"String Deduplication Thread", THREAD_GC},
	{"Concurrent Mark-Sweep GC Thread", THREAD_GC},
	{"Concurrent Mark", THREAD_GC},
	{"CMS Main Thread", THREAD_GC},
	{"CMS Thread", THREAD_GC},
	{"ZWorker", THREAD_GC},
	{"ZWorkerYoung", THREAD_GC},
	{"ZWorkerOld", THREAD_GC},
	{"ZDirector", THREAD_GC},
	{"ZDriver", THREAD_GC},
	{"ZDriverMajor", THREAD_GC},
	{"ZDriverMinor", THREAD_GC},
	{"ZStat", THREAD_GC},
	{"ZUncommitter", THREAD_GC},
	{"ZUnmapper", THREAD_GC},
	{"Shenandoah GC Threads", THREAD_GC},
	{"Shenandoah GC T", THREAD_GC},
	{"Shenandoah Control Thread", THREAD_GC},
	{"Shenandoah Cont", THREAD_GC},
	{"ShenControl", THREAD_GC},
	{"Shenandoah Pacer", THREAD_GC},
	{"ShenPacer", THREAD_GC},
};

/* "", "0", "#12", "#0 (Parallel GC Threads)", " 3" */
static int is_number(const char *text, size_t size)
{
	size_t i = 0, digits = 0;

	if (i < size && (text[i] == '#' || text[i] == ' '))
		i++;
	while (i < size && text[i] >= '0' && text[i] <= '9') {
		i++;
		digits++;
	}
	if (i == size)
		return !size || digits || text[0] == '#'; /* "GC Thread#": the kernel cut it */
	return digits && size - i >= 2 && text[i] == ' ' && text[i + 1] == '(';
}

enum thread_class thread_class_of(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t prefix = strlen(known[i].name);

		if (size < prefix || memcmp(name, known[i].name, prefix) != 0)
			continue;
		if (is_number(name + prefix, size - prefix))
			return known[i].class;
	}
	return THREAD_APPLICATION;
}

int thread_collects(const char *function, size_t size)
{
	static const char *const operations[] = {"Collect", "GC", "Shenandoah", "Pause"};
	static const char *const heaps[] = {"GenCollectedHeap::do_collection",
		"SerialHeap::do_collection", "DefNewGeneration::collect",
		"GenMarkSweep::", "SerialFullGC::", "PSMarkSweep::", "PSParallelCompact::",
		"PSScavenge::", "G1CollectedHeap::do_"};
	size_t first = 0;

	/* What a heap is asked about is no collection of it. */
	if (memmem(function, size, "Inspection", 10) || memmem(function, size, "Dump", 4))
		return 0;
	while (first < size && function[first] != ':' && function[first] != '(')
		first++;
	if (size > 3 && memcmp(function, "VM_", 3) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
			if (memmem(function, first, operations[i], strlen(operations[i])))
				return 1;
		}
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(heaps); i++) {
		if (size >= strlen(heaps[i]) && memcmp(function, heaps[i], strlen(heaps[i])) == 0)
			return 1;
	}
	return 0;
}
