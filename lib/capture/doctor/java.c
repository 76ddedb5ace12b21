/* SPDX-License-Identifier: BSD-2-Clause */
/* java.c: which Java VM, how it was started, and what that means for a picture of it. */
#include "capture/doctor/java.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/jvm.h"
#include "hotspot/flags.h"
#include "hotspot/structs.h"

enum { DEBUG_NON_SAFEPOINTS, FRAME_POINTERS, TIERED, COMPILES, NR_WANTED };

/* The collectors follow what is wanted for itself. */
static const struct {
	const char *flag, *name;
} collectors[] = {
	{"UseG1GC", "G1"},
	{"UseSerialGC", "serial GC"},
	{"UseParallelGC", "parallel GC"},
	{"UseZGC", "ZGC"},
	{"UseShenandoahGC", "Shenandoah"},
	{"UseConcMarkSweepGC", "CMS"},
	{"UseEpsilonGC", "no GC (epsilon)"},
};

static void read_flags(
	const struct memory *memory, const struct hotspot_structs *structs, struct java_vm *ret)
{
	struct hotspot_flag flags[NR_WANTED + ARRAY_SIZE(collectors)] = {
		[DEBUG_NON_SAFEPOINTS] = {.name = "DebugNonSafepoints"},
		[FRAME_POINTERS] = {.name = "PreserveFramePointer"},
		[TIERED] = {.name = "TieredCompilation"},
		[COMPILES] = {.name = "UseCompiler"},
	};
	const size_t used = strlen(ret->text);

	for (size_t i = 0; i < ARRAY_SIZE(collectors); i++)
		flags[NR_WANTED + i].name = collectors[i].flag;
	if (hotspot_flags_read(memory, structs, flags, ARRAY_SIZE(flags)) < 0)
		return; /* it stays unknown */
	ret->debug_non_safepoints = flags[DEBUG_NON_SAFEPOINTS].value;
	ret->frame_pointers = flags[FRAME_POINTERS].value;
	ret->tiered = flags[TIERED].value;
	ret->compiles = flags[COMPILES].value;
	for (size_t i = 0; i < ARRAY_SIZE(collectors); i++) {
		if (flags[NR_WANTED + i].value != 1)
			continue;
		(void)snprintf(ret->text + used, sizeof(ret->text) - used, ", %s",
			collectors[i].name); /* fits */
		return;
	}
}

static const struct mapping *find_libjvm(
	const struct processes *processes, const struct process *process)
{
	for (size_t i = 0; i < process->nr_mappings; i++) {
		const struct mapping *mapping = &process->mappings[i];

		if (mapping->kind == MAPPING_FILE &&
			jvm_is_module(processes_module(processes, mapping->module)))
			return mapping;
	}
	return NULL;
}

void java_vm_read(
	const struct processes *processes, const struct process *process, struct java_vm *ret)
{
	const struct mapping *libjvm = find_libjvm(processes, process);
	const struct memory memory = memory_of(process->alive ? process->alive : process->pid);
	char version[JVM_VERSION_MAX] = "";
	struct hotspot_structs structs;

	*ret = (struct java_vm){
		.debug_non_safepoints = -1, .frame_pointers = -1, .tiered = -1, .compiles = -1};
	if (!libjvm)
		return;
	ret->found = 1;
	(void)jvm_version(processes_module(processes, libjvm->module), version); /* or "" */
	(void)snprintf(ret->text, sizeof(ret->text), "JDK %s", *version ? version : "of some kind");
	ret->error = hotspot_structs_read(&memory, libjvm->start, libjvm->offset, &structs);
	if (ret->error == 0)
		read_flags(&memory, &structs, ret);
}

/* Why its structures tell nothing. */
static void tell_closed(
	const struct java_vm *vm, pid_t pid, uint64_t map, struct stoke_findings *findings)
{
	char cure[160];

	if (vm->error == -EPERM || vm->error == -EACCES) {
		findings_add(findings, STOKE_FINDING_NOTE, "target",
			"run as root, or with CAP_SYS_PTRACE",
			"Java frames: the VM's memory cannot be read (permission denied)");
	} else if (vm->error == -EAGAIN) {
		findings_add(findings, STOKE_FINDING_NOTE, "target", NULL,
			"Java frames: the VM is still starting; a recording asks again");
	} else if (map) {
		findings_add(findings, STOKE_FINDING_OK, "target", NULL,
			"Java names from its perf map (%" PRIu64
			" entries): the VM itself tells nothing",
			map);
	} else {
		(void)snprintf(cure, sizeof(cure),
			"jcmd %d Compiler.perfmap (17 on); perf-map-agent; or the unstripped JDK "
			"of the same build",
			(int)pid);
		findings_add(findings, STOKE_FINDING_NOTE, "target", cure,
			"libjvm tables stripped or unknown and no perf map: Java frames show as "
			"addresses");
	}
}

void java_vm_tell(
	const struct java_vm *vm, pid_t pid, uint64_t map, struct stoke_findings *findings)
{
	if (!vm->found)
		return;
	if (vm->error < 0) {
		tell_closed(vm, pid, map, findings);
		return;
	}
	findings_add(findings, STOKE_FINDING_OK, "target", NULL,
		"Java frames and names: read from outside; nothing loaded, no signal");
	if (vm->debug_non_safepoints == 0)
		findings_add(findings, STOKE_FINDING_NOTE, "target", NULL,
			"inlined leaf methods show as their caller (the JVM was started without "
			"DebugNonSafepoints)");
	if (vm->compiles == 0)
		findings_add(findings, STOKE_FINDING_NOTE, "target", NULL,
			"every method is interpreted now (-Xint, or the code cache is full)");
	else if (vm->tiered == 0)
		findings_add(findings, STOKE_FINDING_NOTE, "target", NULL,
			"tiered compilation is off: methods are interpreted for longer");
}
