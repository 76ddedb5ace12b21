/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"

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

TestSuite(reading, .init = setup, .fini = teardown);

static struct process *scan(pid_t pid)
{
	cr_assert(eq(int, processes_scan(processes, pid), 0));
	return processes_find(processes, pid);
}

static const struct module *module_at(const struct process *process, uint64_t address)
{
	const struct mapping *mapping = process_mapping(process, address);

	return mapping ? processes_module(processes, mapping->module) : NULL;
}

Test(reading, takes_the_executable_mappings_of_a_process)
{
	struct process *process = scan(4242);

	cr_assert(eq(int, process->ns_pid, 1));
	cr_assert(eq(u32, process->euid, 998));
	cr_assert(eq(sz, process->nr_mappings, 6));
	cr_assert(eq(str, module_at(process, 0x400800)->path, "/opt/app/java"));
	cr_assert(eq(int, module_at(process, 0x400800)->fd, -1)); /* no such file here */
	cr_assert(eq(ptr, (void *)module_at(process, 0x401000), NULL));
	cr_assert(eq(int, (int)module_at(process, 0x7f0000279000)->kind, MODULE_JIT));
	cr_assert(eq(int, (int)module_at(process, 0x7f0010000000)->kind, MODULE_JIT));
	cr_assert(
		eq(int, (int)process_mapping(process, 0xffffffffff600000)->kind, MAPPING_VSYSCALL));
	cr_assert(eq(int, (int)process_mapping(process, 0x7fffa7bd6000)->kind, MAPPING_VDSO));
}

Test(reading, takes_the_names_of_threads)
{
	struct process *process = scan(4242);

	cr_assert(eq(sz, process->nr_threads, 3));
	cr_assert(eq(str, processes_text(processes, process->name), "java"));
	cr_assert(eq(str, processes_text(processes, process_thread_name(process, 4250)),
		"C2 CompilerThre"));
	cr_assert(eq(
		str, processes_text(processes, process_thread_name(process, 4251)), "odd\nname"));
}

Test(reading, a_zombie_or_nobody_leaves_what_is_known)
{
	cr_assert(eq(int, processes_scan(processes, 4300), -ESRCH));
	cr_assert(eq(int, processes_scan(processes, 4301), -ESRCH));
	cr_assert(eq(sz, processes_nr(processes), 0));
}

Test(reading, get_makes_an_empty_process_of_one_that_is_gone)
{
	struct process *process = NULL;

	cr_assert(eq(int, processes_get(processes, 4301, &process), 0));
	cr_assert(eq(int, process->pid, 4301));
	cr_assert(eq(sz, process->nr_mappings, 0));
}

Test(reading, drops_mappings_that_are_gone)
{
	struct mmap_event event = {.pid = 4242,
		.tid = 4242,
		.time_ns = host_now_ns(),
		.start = 0x900000,
		.size = 0x1000,
		.path = "/lib/closed.so",
		.path_size = 14,
		.build_id = {1},
		.build_id_size = 20,
		.prot = PROT_EXEC};
	struct process *process = scan(4242);
	uint64_t version = process->version;

	cr_assert(eq(int, processes_mmap(processes, &event), 0));
	cr_assert(ne(ptr, (void *)module_at(process, 0x900000), NULL));
	cr_assert(gt(u64, process->version, version));
	process = scan(4242);
	cr_assert(eq(ptr, (void *)module_at(process, 0x900000), NULL));
	version = process->version;
	cr_assert(eq(u64, scan(4242)->version, version));
}

Test(reading, again_for_gaps_is_rare_and_only_adds)
{
	struct mmap_event event = {.pid = 4242,
		.tid = 4242,
		.time_ns = 5,
		.start = 0x400000,
		.size = 0x800,
		.path = "/lib/other.so",
		.path_size = 13,
		.build_id = {1},
		.build_id_size = 20,
		.prot = PROT_EXEC};
	struct process *process;

	cr_assert(eq(int, processes_mmap(processes, &event), 0));
	process = processes_find(processes, 4242);
	cr_assert(eq(int, processes_rescan(processes, process, 1000000000), 0));
	cr_assert(eq(str, module_at(process, 0x400000)->path, "/lib/other.so"));
	cr_assert(eq(str, module_at(process, 0x400800)->path, "/opt/app/java"));
	cr_assert(eq(u64, process_mapping(process, 0x400800)->offset, 0x1800));
	cr_assert(eq(int, processes_rescan(processes, process, 1099999999), -EAGAIN));
	cr_assert(eq(int, processes_rescan(processes, process, 1100000000), 0));
}

Test(reading, records_older_than_it_do_not_undo_it)
{
	struct process *process = scan(4242);
	uint64_t incarnation = process->incarnation;

	/* They were on the way while /proc was read. */
	cr_assert(eq(int, processes_fork(processes, 4242, 4242, 1, 5), 0));
	cr_assert(eq(int, processes_comm(processes, 4242, 4242, "sh", 1, 6), 0));
	cr_assert(eq(int, processes_exit(processes, 4242, 4242, 4), 0));
	process = processes_find(processes, 4242);
	cr_assert(eq(u64, process->incarnation, incarnation));
	cr_assert(eq(u64, process->exit_ns, 0));
	cr_assert(eq(sz, process->nr_mappings, 6));
	cr_assert(eq(str, processes_text(processes, process->name), "java"));

	cr_assert(eq(int, processes_comm(processes, 4242, 4242, "sh", 1, host_now_ns()), 0));
	cr_assert(eq(sz, process->nr_mappings, 0));
	cr_assert(eq(str, processes_text(processes, process->name), "sh"));
}

/* From here on: the machine itself. */

static void use_this_machine(void)
{
	processes_free(processes);
	host_close(&host);
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, processes_new(&host, &processes), 0));
}

Test(reading, opens_the_files_of_its_own_process)
{
	const struct module *module;
	struct process *process;
	struct stat exe, opened;

	use_this_machine();
	process = scan(getpid());
	module = module_at(process, (uintptr_t)processes_scan);
	cr_assert(ne(ptr, (void *)module, NULL));
	cr_assert(ge(int, module->fd, 0), "open error %d", module->open_error);
	cr_assert(eq(int, module->root_fd, -1)); /* its root is ours */
	cr_assert(eq(int, stat("/proc/self/exe", &exe), 0));
	cr_assert(eq(int, fstat(module->fd, &opened), 0));
	cr_assert(eq(u64, opened.st_ino, exe.st_ino));
	cr_assert(eq(u64, module->ino, exe.st_ino));
	cr_assert(gt(int, module->build_id_size, 0));
}

Test(reading, has_the_image_of_the_vdso)
{
	const struct mapping *vdso = NULL;
	const struct module *module;
	struct process *process;

	use_this_machine();
	process = scan(getpid());
	for (size_t i = 0; i < process->nr_mappings; i++) {
		if (process->mappings[i].kind == MAPPING_VDSO)
			vdso = &process->mappings[i];
	}
	cr_assert(ne(ptr, (void *)vdso, NULL));
	module = processes_module(processes, vdso->module);
	cr_assert(eq(sz, module->image_size, vdso->end - vdso->start));
	cr_assert(eq(int, memcmp(module->image, "\177ELF", 4), 0));
	cr_assert(eq(str, module->path, "[vdso]"));
}

Test(reading, joins_a_record_with_a_line_of_maps_by_build_id)
{
	const struct module *module;
	struct mmap_event event = {.pid = getpid(), .tid = getpid(), .prot = PROT_EXEC};
	struct process *process;
	size_t nr;

	use_this_machine();
	process = scan(getpid());
	module = module_at(process, (uintptr_t)processes_scan);
	event.time_ns = host_now_ns();
	event.start = 0x10000;
	event.size = 0x1000;
	event.path = "/somewhere/else";
	event.path_size = 15;
	event.build_id_size = module->build_id_size;
	memcpy(event.build_id, module->build_id, module->build_id_size);
	nr = processes_nr_modules(processes);
	cr_assert(eq(int, processes_mmap(processes, &event), 0));
	cr_assert(eq(sz, processes_nr_modules(processes), nr));
	cr_assert(eq(ptr, (void *)module_at(process, 0x10000),
		(void *)module_at(process, (uintptr_t)processes_scan)));
}

static void *idle(void *arg)
{
	(void)prctl(PR_SET_NAME, "idle-thread");
	(void)write(((int *)arg)[3], "x", 1); /* named now */
	(void)read(((int *)arg)[0], arg, 1);
	return NULL;
}

Test(reading, knows_the_threads_of_its_own_process)
{
	struct process *process;
	pthread_t thread;
	int pipes[4], found = 0;
	char byte;

	use_this_machine();
	cr_assert(eq(int, pipe(pipes), 0));
	cr_assert(eq(int, pipe(pipes + 2), 0));
	cr_assert(eq(int, pthread_create(&thread, NULL, idle, pipes), 0));
	cr_assert(eq(int, (int)read(pipes[2], &byte, 1), 1));
	process = scan(getpid());
	for (size_t i = 0; i < process->nr_threads; i++)
		found += strcmp(processes_text(processes, process->threads[i].name),
				 "idle-thread") == 0;
	cr_assert(eq(int, found, 1));
	cr_assert(eq(int, (int)write(pipes[1], "x", 1), 1));
	cr_assert(eq(int, pthread_join(thread, NULL), 0));
}
