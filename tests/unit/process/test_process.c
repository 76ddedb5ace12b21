/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "unit/test.h"

/* A machine without processes: everything comes from records. */
static struct host host;
static struct processes *processes;

static void setup(void)
{
	cr_assert(eq(int, host_open(TEST_DATA "/proc", NULL, &host), 0));
	cr_assert(eq(int, processes_new(&host, &processes), 0));
}

static void teardown(void)
{
	processes_free(processes);
	host_close(&host);
	check_leaks();
}

TestSuite(process, .init = setup, .fini = teardown);

static void map_build(
	pid_t pid, uint64_t time, uint64_t start, uint64_t size, const char *path, uint8_t build)
{
	struct mmap_event event = {
		.pid = pid,
		.tid = pid,
		.time_ns = time,
		.start = start,
		.size = size,
		.path = path,
		.path_size = strlen(path),
		.build_id = {build},
		.build_id_size = build ? 20 : 0,
		.prot = PROT_READ | PROT_EXEC,
	};

	cr_assert(eq(int, processes_mmap(processes, &event), 0));
}

static const struct module *module_at(pid_t pid, uint64_t address)
{
	const struct process *process = processes_find(processes, pid);
	const struct mapping *mapping = process ? process_mapping(process, address) : NULL;

	return mapping ? processes_module(processes, mapping->module) : NULL;
}

static const char *name_of(pid_t pid)
{
	return processes_text(processes, processes_find(processes, pid)->name);
}

Test(process, another_library_at_the_same_address_takes_its_place)
{
	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	cr_assert(eq(str, module_at(7, 0x11000)->path, "/lib/one.so"));
	map_build(7, 20, 0x10000, 0x2000, "/lib/two.so", 2);
	cr_assert(eq(str, module_at(7, 0x11000)->path, "/lib/two.so"));
	cr_assert(eq(str, module_at(7, 0x13000)->path, "/lib/one.so"));
}

Test(process, one_build_is_one_module_whatever_its_path)
{
	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	map_build(8, 11, 0x50000, 0x4000, "/container/lib/one.so.2 (deleted)", 1);
	cr_assert(eq(sz, processes_nr_modules(processes), 1));
	cr_assert(eq(ptr, (void *)module_at(7, 0x10000), (void *)module_at(8, 0x50000)));
}

Test(process, a_path_never_ends_in_deleted)
{
	map_build(7, 10, 0x10000, 0x4000, "/opt/prog (deleted)", 1);
	cr_assert(eq(str, module_at(7, 0x10000)->path, "/opt/prog"));
}

Test(process, memory_that_is_not_executable_is_not_kept)
{
	const struct mmap_event event = {.pid = 7,
		.start = 0x1000,
		.size = 0x1000,
		.path = "/x",
		.path_size = 2,
		.ino = 5,
		.prot = PROT_READ};

	cr_assert(eq(int, processes_mmap(processes, &event), 0));
	cr_assert(eq(ptr, (void *)processes_find(processes, 7), NULL));
}

Test(process, a_mapping_that_wraps_around_is_refused)
{
	const struct mmap_event event = {.pid = 7,
		.start = UINT64_MAX - 4,
		.size = 0x1000,
		.path = "//anon",
		.path_size = 6,
		.prot = PROT_EXEC};

	cr_assert(eq(int, processes_mmap(processes, &event), 0));
	cr_assert(eq(ptr, (void *)processes_find(processes, 7), NULL));
}

Test(process, generated_code_has_a_module_of_its_process)
{
	map_build(7, 10, 0x10000, 0x4000, "//anon", 0);
	map_build(7, 11, 0x14000, 0x4000, "/memfd:v8 (deleted)", 0);
	map_build(8, 12, 0x10000, 0x4000, "/dev/zero (deleted)", 0);

	cr_assert(eq(int, (int)module_at(7, 0x10000)->kind, MODULE_JIT));
	cr_assert(eq(ptr, (void *)module_at(7, 0x10000), (void *)module_at(7, 0x14000)));
	cr_assert(eq(int, module_at(7, 0x10000)->pid, 7));
	cr_assert(eq(int, module_at(8, 0x10000)->pid, 8));
	cr_assert(eq(sz, processes_find(processes, 7)->nr_mappings, 1)); /* they touch */
	cr_assert(ne(u32, processes_find(processes, 7)->jit_module, 0));
}

Test(process, code_made_writable_and_back_is_no_news)
{
	uint64_t version;

	map_build(7, 10, 0x10000, 0x4000, "//anon", 0);
	version = processes_find(processes, 7)->version;
	map_build(7, 11, 0x11000, 0x1000, "//anon", 0);
	cr_assert(eq(u64, processes_find(processes, 7)->version, version));
}

Test(process, vsyscall_is_of_its_own_kind)
{
	map_build(7, 10, 0xffffffffff600000, 0x1000, "[vsyscall]", 0);
	cr_assert(eq(int,
		(int)process_mapping(processes_find(processes, 7), 0xffffffffff600008)->kind,
		MAPPING_VSYSCALL));
}

Test(process, a_fork_has_what_its_parent_had_then)
{
	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	map_build(7, 11, 0x20000, 0x4000, "//anon", 0);
	cr_assert(eq(int, processes_comm(processes, 7, 7, "parent", 0, 12), 0));
	cr_assert(eq(int, processes_fork(processes, 8, 8, 7, 13), 0));
	map_build(7, 14, 0x30000, 0x4000, "/lib/two.so", 2);

	cr_assert(eq(str, module_at(8, 0x10000)->path, "/lib/one.so"));
	cr_assert(eq(ptr, (void *)module_at(8, 0x30000), NULL));
	cr_assert(eq(int, module_at(8, 0x20000)->pid, 8));
	cr_assert(eq(str, name_of(8), "parent"));
}

Test(process, exec_leaves_nothing_but_the_name_it_brings)
{
	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	cr_assert(eq(int, processes_fork(processes, 8, 8, 7, 13), 0));
	cr_assert(eq(int, processes_comm(processes, 8, 8, "ls", 1, 14), 0));
	map_build(8, 15, 0x40000, 0x1000, "/bin/ls", 3);

	cr_assert(eq(ptr, (void *)module_at(8, 0x10000), NULL));
	cr_assert(eq(str, module_at(8, 0x40000)->path, "/bin/ls"));
	cr_assert(eq(str, name_of(8), "ls"));
	cr_assert(eq(str, module_at(7, 0x10000)->path, "/lib/one.so"));
}

Test(process, what_was_known_at_exit_stays)
{
	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	cr_assert(eq(int, processes_exit(processes, 7, 7, 20), 0));
	cr_assert(eq(u64, processes_find(processes, 7)->exit_ns, 20));
	cr_assert(eq(str, module_at(7, 0x10000)->path, "/lib/one.so"));
}

Test(process, a_pid_that_is_used_again_is_another_process)
{
	uint64_t first;

	map_build(7, 10, 0x10000, 0x4000, "/lib/one.so", 1);
	first = processes_find(processes, 7)->incarnation;
	cr_assert(eq(int, processes_exit(processes, 7, 7, 20), 0));
	cr_assert(eq(int, processes_fork(processes, 7, 7, 1, 30), 0));
	cr_assert(ne(u64, processes_find(processes, 7)->incarnation, first));
	cr_assert(eq(ptr, (void *)module_at(7, 0x10000), NULL));
	cr_assert(eq(sz, processes_nr(processes), 2));
}

Test(process, the_leader_may_leave_before_its_threads)
{
	cr_assert(eq(int, processes_fork(processes, 7, 7, 1, 10), 0));
	cr_assert(eq(int, processes_fork(processes, 7, 8, 7, 11), 0));
	cr_assert(eq(int, processes_exit(processes, 7, 7, 12), 0));
	cr_assert(eq(u64, processes_find(processes, 7)->exit_ns, 0));
	cr_assert(eq(int, processes_exit(processes, 7, 8, 13), 0));
	cr_assert(eq(u64, processes_find(processes, 7)->exit_ns, 13));
}

Test(process, threads_have_the_names_they_gave_themselves)
{
	struct process *process;

	cr_assert(eq(int, processes_comm(processes, 7, 7, "main", 1, 10), 0));
	cr_assert(eq(int, processes_fork(processes, 7, 9, 7, 11), 0));
	cr_assert(eq(int, processes_fork(processes, 7, 8, 7, 12), 0));
	cr_assert(eq(int, processes_comm(processes, 7, 8, "worker-1", 0, 13), 0));
	process = processes_find(processes, 7);
	cr_assert(eq(str, processes_text(processes, process_thread_name(process, 9)), "main"));
	cr_assert(eq(str, processes_text(processes, process_thread_name(process, 8)), "worker-1"));
	cr_assert(eq(u32, process_thread_name(process, 10), 0));
	cr_assert(eq(int, processes_exit(processes, 7, 8, 14), 0));
	cr_assert(eq(str, processes_text(processes, process_thread_name(process, 8)), "worker-1"));
	cr_assert(eq(str, name_of(7), "main"));
}

Test(process, forgets_the_ended_and_keeps_the_living)
{
	cr_assert(eq(int, processes_fork(processes, 7, 7, 1, 10), 0));
	cr_assert(eq(int, processes_fork(processes, 7, 70, 7, 10), 0));
	cr_assert(eq(int, processes_fork(processes, 8, 8, 7, 11), 0));
	cr_assert(eq(int, processes_fork(processes, 9, 9, 7, 12), 0));
	cr_assert(eq(int, processes_exit(processes, 8, 8, 20), 0));
	cr_assert(eq(int, processes_exit(processes, 7, 70, 20), 0));
	cr_assert(eq(int, processes_exit(processes, 9, 9, 40), 0));
	processes_forget(processes, 30);

	cr_assert(eq(sz, processes_nr(processes), 2));
	cr_assert(eq(ptr, (void *)processes_find(processes, 8), NULL));
	cr_assert(eq(int, processes_find(processes, 9)->pid, 9));
	cr_assert(eq(sz, processes_find(processes, 7)->nr_threads, 1));
}

Test(process, twenty_thousand_short_processes_and_five_thousand_threads)
{
	char path[32];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(path, sizeof(path), "//anon");
		map_build(7, 10, 0x10000 + (uint64_t)i * 0x2000, 0x1000, path, 0);
	}
	for (pid_t tid = 100; tid < 5100; tid++)
		cr_assert(eq(int, processes_fork(processes, 7, tid, 7, 11), 0));
	map_build(8, 12, 0x10000, 0x4000, "/lib/one.so", 1);
	for (pid_t pid = 10000; pid < 30000; pid++) {
		cr_assert(eq(int, processes_fork(processes, pid, pid, 8, 12), 0));
		cr_assert(eq(int, processes_comm(processes, pid, pid, "true", 1, 13), 0));
		map_build(pid, 14, 0x10000, 0x4000, "/bin/true", 2);
		cr_assert(eq(int, processes_exit(processes, pid, pid, 15), 0));
	}
	cr_assert(eq(sz, processes_nr(processes), 20002));
	cr_assert(eq(sz, processes_nr_modules(processes), 3));
	processes_forget(processes, 16);
	cr_assert(eq(sz, processes_nr(processes), 2));
}
