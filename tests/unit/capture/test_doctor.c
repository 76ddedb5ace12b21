/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "capture/doctor/java.h"
#include "unit/place.h"
#include "unit/test.h"

TestSuite(doctor, .fini = check_leaks);

#define ALL_CAPABILITIES ((1ull << 41) - 1)
#define BIT(capability)	 (1ull << (capability))

static const struct surroundings good = {
	.rights = {.capabilities = ALL_CAPABILITIES,
		.bounding = ALL_CAPABILITIES,
		.paranoid = 2,
		.btf = 1,
		.release = "6.1.112",
		.executable = "/usr/bin/stoke"},
	.probes = {.event_counts = 1, .cycles = -ENOENT},
	.process = -ESRCH,
	.nr_cpus = 8,
	.max_files = 65536,
	.max_sample_rate = 100000,
	.kernel_names = 1,
	.version = "0.2",
};

/* "state text | cure" a line. */
static void text_of(const struct stoke_findings *findings, char *ret, size_t size)
{
	static const char *const states[] = {"about", "ok", "no", "note", "verdict"};
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < findings->nr && used < size; i++)
		used += (size_t)snprintf(ret + used, size - used, "%s %s%s%s\n",
			states[findings->items[i].state], findings->items[i].text,
			findings->items[i].cure ? " | " : "",
			findings->items[i].cure ? findings->items[i].cure : "");
}

static void expect(const struct surroundings *at, const char *want)
{
	struct stoke_findings findings = {0};
	char text[8192];

	surroundings_tell(at, &findings);
	text_of(&findings, text, sizeof(text));
	findings_done(&findings);
	cr_assert(eq(str, text, (char *)want));
}

#define SETCAP                                                                                     \
	" | Run with sudo, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,"    \
	"cap_dac_read_search,cap_checkpoint_restore+ep /usr/bin/stoke\n"
#define DOCKER                                                                                     \
	" | Docker: --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE; Podman: SYS_ADMIN too. " \
	"From the host: stoke record --container 3f9c1b2a77d0\n"
#define NAMES	   "ok name kernel functions\n"
#define HERE(what) "about host, uid 0, kernel 6.1.112 with BTF, 8 CPUs, stoke 0.2\n" what

Test(doctor, says_what_works_where_all_does)
{
	struct surroundings at = good;

	expect(&at, HERE("ok load BPF programs\nok make a ring for samples\n"
			 "ok open events of all processes; no hardware counters: -e cpu is "
			 "cpu-clock\n" NAMES));
	at.probes.cycles = 0;
	expect(&at, HERE("ok load BPF programs\nok make a ring for samples\n"
			 "ok open events of all processes; cycles opens but does not count: -e cpu "
			 "is cpu-clock\n" NAMES));
	at.probes.cycles = 1000000000;
	expect(&at, HERE("ok load BPF programs\nok make a ring for samples\n"
			 "ok open events of all processes; cycles count, and are what -e cpu "
			 "uses\n" NAMES));
}

Test(doctor, tells_a_user_of_every_right_that_is_missing)
{
	struct surroundings at = good;

	at.rights.uid = 1000;
	at.rights.capabilities = 0;
	at.probes = (struct probes){.program = -EPERM, .ring = -EPERM, .event = -EACCES};
	at.kernel_names = 0;
	expect(&at,
		"about host, uid 1000, kernel 6.1.112 with BTF, 8 CPUs, stoke 0.2\n"
		"no load BPF programs: permission denied" SETCAP
		"no make a ring for samples: permission denied" SETCAP
		"no open events of all processes: permission denied" SETCAP
		"note kernel functions have no names: addresses are hidden from who lacks "
		"CAP_SYSLOG" SETCAP
		"note CAP_SYS_PTRACE is missing: programs and memory of other users' processes "
		"cannot be read: their functions have no names" SETCAP
		"note CAP_DAC_READ_SEARCH is missing: files and perf maps that only their owner "
		"may "
		"read stay closed" SETCAP
		"note CAP_CHECKPOINT_RESTORE is missing: files that were deleted or replaced while "
		"they run stay closed" SETCAP);
}

Test(doctor, what_an_owner_may_do_without_bpf_is_no_obstacle)
{
	struct surroundings at = good;

	at.rights.uid = 1000;
	at.rights.capabilities = ALL_CAPABILITIES & ~(BIT(21) | BIT(38) | BIT(39));
	at.probes = (struct probes){.program = -EPERM, .ring = -EPERM, .event = -EACCES};
	at.process = 0;
	expect(&at, "about host, uid 1000, kernel 6.1.112 with BTF, 8 CPUs, stoke 0.2\n"
		    "note load BPF programs: permission denied" SETCAP
		    "note make a ring for samples: permission denied" SETCAP
		    "note open events of all processes: permission denied" SETCAP NAMES);
	at.process = -EACCES;
	at.rights.btf = 0;
	at.probes = (struct probes){.event = -EACCES};
	expect(&at, "about host, uid 1000, kernel 6.1.112 without BTF, 8 CPUs, stoke 0.2\n"
		    "no find the kernel's types: kernel 6.1.112 has no BTF "
		    "(CONFIG_DEBUG_INFO_BTF, Linux 5.10 or a backport): no BPF here | What "
		    "perf recorded can be drawn: perf script | stoke flamegraph -\n"
		    "ok load BPF programs\nok make a ring for samples\n"
		    "no open events of all processes: permission denied" SETCAP NAMES);
}

Test(doctor, names_the_sysctl_that_makes_capabilities_count_for_nothing)
{
	static const int levels[] = {3, 4};
	struct surroundings at = good;
	char want[1024];

	at.rights.uid = 1000;
	at.rights.capabilities = ALL_CAPABILITIES & ~BIT(21); /* SYS_ADMIN */
	at.probes.event = -EACCES;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		at.rights.paranoid = levels[i];
		(void)snprintf(want, sizeof(want),
			"about host, uid 1000, kernel 6.1.112 with BTF, 8 CPUs, stoke 0.2\n"
			"ok load BPF programs\nok make a ring for samples\n"
			"no open events of all processes: kernel.perf_event_paranoid is %d: this "
			"kernel ignores CAP_PERFMON | sudo sysctl kernel.perf_event_paranoid=2, or "
			"run as root\n" NAMES,
			levels[i]);
		expect(&at, want);
	}
}

Test(doctor, tells_a_filter_from_missing_rights)
{
	struct surroundings at = good;

	at.rights.container = 1;
	at.rights.seccomp = 1;
	at.rights.perf_filtered = 1;
	at.probes.event = -EPERM;
	(void)snprintf(at.rights.container_id, sizeof(at.rights.container_id), "3f9c1b2a77d0");
	expect(&at,
		"about container with its own PID namespace, uid 0, kernel 6.1.112 with BTF, 8 "
		"CPUs, stoke 0.2\nok load BPF programs\nok make a ring for samples\n"
		"no open events of all processes: seccomp refuses perf_event_open" DOCKER NAMES);
	at.rights.perf_filtered = 0;
	at.rights.capabilities &= ~(BIT(21) | BIT(38));
	expect(&at,
		"about container with its own PID namespace, uid 0, kernel 6.1.112 with BTF, 8 "
		"CPUs, stoke 0.2\nok load BPF programs\nok make a ring for samples\n"
		"no open events of all processes: this container lacks CAP_PERFMON" DOCKER NAMES);
	at.rights.container = 0;
	at.rights.perf_filtered = at.rights.bpf_filtered = 1;
	at.probes.program = -ENOSYS;
	expect(&at,
		HERE("no load BPF programs: seccomp refuses perf_event_open and bpf | Run stoke "
		     "outside of the service that set this filter\n"
		     "ok make a ring for samples\n"
		     "no open events of all processes: seccomp refuses perf_event_open and bpf | "
		     "Run stoke outside of the service that set this filter\n" NAMES));
}

Test(doctor, knows_kernels_that_cannot)
{
	struct surroundings at = good;

	at.rights.btf = 0;
	expect(&at, "about host, uid 0, kernel 6.1.112 without BTF, 8 CPUs, stoke 0.2\n"
		    "note find the kernel's types: kernel 6.1.112 has no BTF "
		    "(CONFIG_DEBUG_INFO_BTF, Linux 5.10 or a backport): no BPF here | What "
		    "perf recorded can be drawn: perf script | stoke flamegraph -\n"
		    "ok load BPF programs\nok make a ring for samples\n"
		    "ok open events of all processes; no hardware counters: -e cpu is "
		    "cpu-clock\n" NAMES);
	at = good;
	at.rights.lockdown = 1;
	expect(&at,
		HERE("ok load BPF programs\nok make a ring for samples\n"
		     "no read memory by BPF: kernel lockdown=confidentiality forbids BPF to read "
		     "memory; only a boot option changes it\n"
		     "ok open events of all processes; no hardware counters: -e cpu is "
		     "cpu-clock\n" NAMES));
	at = good;
	at.probes.event_counts = 0;
	expect(&at, HERE("ok load BPF programs\nok make a ring for samples\n"
			 "no count time: cpu-clock opens but never fires | look at "
			 "kernel.perf_event_max_sample_rate and "
			 "kernel.perf_cpu_time_max_percent\n" NAMES));
}

Test(doctor, knows_limits_and_hidden_addresses)
{
	struct surroundings at = good;

	at.max_files = 256;
	at.max_sample_rate = 250;
	at.kernel_names = 0;
	at.kptr_restrict = 2;
	expect(&at,
		HERE("ok load BPF programs\nok make a ring for samples\n"
		     "ok open events of all processes; no hardware counters: -e cpu is "
		     "cpu-clock\n"
		     "note kernel functions have no names: kernel.kptr_restrict is 2, which "
		     "hides addresses from everybody | sudo sysctl kernel.kptr_restrict=1\n"
		     "note at most 256 open files: 8 CPUs and what targets have mapped want 536 "
		     "| ulimit -n 536\n"
		     "note kernel.perf_event_max_sample_rate is 250: above that the kernel "
		     "drops samples | sudo sysctl kernel.perf_event_max_sample_rate=10000\n"));
	at.nr_cpus = 128;
	at.max_sample_rate = 0;
	at.kernel_names = 1;
	expect(&at,
		"about host, uid 0, kernel 6.1.112 with BTF, 128 CPUs, stoke 0.2\n"
		"ok load BPF programs\nok make a ring for samples\n"
		"ok open events of all processes; no hardware counters: -e cpu is cpu-clock\n" NAMES
		"no at most 256 open files: 128 CPUs and what targets have mapped want 896 | "
		"ulimit -n 896\n");
}

static void expect_java(const struct java_vm *vm, uint64_t map, const char *want)
{
	struct stoke_findings findings = {0};
	char text[4096];

	java_vm_tell(vm, 42, map, &findings);
	text_of(&findings, text, sizeof(text));
	findings_done(&findings);
	cr_assert(eq(str, text, (char *)want));
}

Test(doctor, says_of_a_java_vm_what_can_be_seen_and_what_never)
{
	const struct java_vm none = {0};
	struct java_vm vm = {.found = 1, .tiered = 1, .compiles = 1};

	expect_java(&none, 0, "");
	expect_java(&vm, 0,
		"ok Java frames and names: read from outside; nothing loaded, no signal\n"
		"note inlined leaf methods show as their caller (the JVM was started without "
		"DebugNonSafepoints)\n");
	vm.debug_non_safepoints = 1;
	vm.compiles = 0;
	expect_java(&vm, 0,
		"ok Java frames and names: read from outside; nothing loaded, no signal\n"
		"note every method is interpreted now (-Xint, or the code cache is full)\n");
	vm.error = -EINVAL;
	expect_java(&vm, 0,
		"note libjvm tables stripped or unknown and no perf map: Java frames show as "
		"addresses | jcmd 42 Compiler.perfmap (17 on); perf-map-agent; or the unstripped "
		"JDK of the same build\n");
	expect_java(&vm, 5000,
		"ok Java names from its perf map (5000 entries): the VM itself tells nothing\n");
	vm.error = -EPERM;
	expect_java(&vm, 0,
		"note Java frames: the VM's memory cannot be read (permission denied) | run as "
		"root, or with CAP_SYS_PTRACE\n");
}

Test(doctor, looks_at_a_living_process)
{
	struct stoke_findings *findings;
	struct stoke_doctor_options options = {.pid = getpid()};
	const struct stoke_finding *finding;
	char words[64];
	int found = 0;

	cr_assert(eq(int, stoke_doctor(&options, &findings, NULL), 0));
	(void)snprintf(words, sizeof(words), "%d test_capture_do", (int)getpid());
	for (size_t i = 0; (finding = stoke_findings_at(findings, i)); i++)
		found |= finding->state == STOKE_FINDING_ABOUT &&
			 strncmp(finding->text, words, strlen(words)) == 0;
	cr_assert(found, "%s", words);
	stoke_findings_free(findings);
}

Test(doctor, a_process_that_is_not_there_stands_in_the_way)
{
	struct stoke_findings *findings;
	struct stoke_doctor_options options = {.pid = 0x3fffffff};
	const struct stoke_finding *finding;
	int found = 0;

	cr_assert(eq(int, stoke_doctor(&options, &findings, NULL), 0));
	cr_assert(ge(u64, stoke_findings_blocking(findings), 1));
	for (size_t i = 0; (finding = stoke_findings_at(findings, i)); i++)
		found |= finding->state == STOKE_FINDING_NO &&
			 strstr(finding->text, "no process 1073741823 here") != NULL;
	cr_assert(found);
	stoke_findings_free(findings);
}

Test(doctor, sentences_cannot_drive_a_terminal)
{
	struct stoke_findings findings = {0};

	findings_add(&findings, STOKE_FINDING_NOTE, "x", "a\033[2J\nb", "%s", "\033]0;evil\a");
	cr_assert(eq(str, (char *)findings.items[0].text, "\\x1b]0;evil\\x07"));
	cr_assert(eq(str, (char *)findings.items[0].cure, "a\\x1b[2J\nb"));
	findings_done(&findings);
}
