/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.c: loads follow.bpf.c, which owns the shared maps, and lends them to every other object
 * by name. An object that this kernel refuses leaves the rest running.
 */
#include "source/objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/event.h"
#include "bpf/follow.skel.h"
#include "bpf/table.h"
#include "source/features.h"
#include "source/layouts.h"
#include "source/members.h"
#include "source/perf.h"

#define MAX_OBJECTS	8
#define MIN_RING_BYTES	(8u << 20) /* copies of stacks are large, and come in bursts */
#define MAX_RING_BYTES	(64u << 20)
#define RING_BYTES_EACH 1024 /* of a sample in a ring: 115 frames */
#define DEFAULT_HZ	99
#define MIN_TARGETS	4096

struct objects {
	struct objects_options options;
	struct members *members; /* where there is no BPF: the target set */
	struct follow_bpf *follow;
	struct stoke_config config;
	struct bpf_object_open_opts open_options;
	char *log;
	struct layouts *layouts; /* while objects are being loaded; NULL: libbpf looks itself */
	int layouts_fd; /* what libbpf reads instead of the kernel's own */
	char layouts_path[32];
	int *ring_fds;
	size_t nr_rings;
	struct bpf_object *loaded[MAX_OBJECTS];
	size_t nr_loaded;
	struct stoke_losses *losses; /* one a possible CPU: what the kernel copies out */
	size_t nr_possible;
	int has_tables; /* there was memory for their maps */
};

const struct bpf_object_open_opts *objects_open_options(struct objects *objects)
{
	objects->log[0] = '\0';
	return &objects->open_options;
}

const struct stoke_config *objects_config(const struct objects *objects)
{
	return &objects->config;
}

/* The last lines of the verifier's log in one, as they say what was wrong; the very last one or two
 * only count instructions. */
static const char *log_tail(char *log)
{
	size_t size = strlen(log);
	char *at;

	for (size_t i = 0; i < size; i++)
		if (log[i] == '\n' || log[i] == '\t')
			log[i] = ' ';
	at = strstr(log, " processed ");
	if (at)
		*at = '\0';
	size = strlen(log);
	return size > 240 ? log + size - 240 : log;
}

/* libbpf looks at the path that it was given in objects_open_options() when it loads. */
static int give_layouts(struct objects *objects, const struct bpf_object *object)
{
	if (!objects->layouts)
		return 0;
	return layouts_write(objects->layouts, bpf_object__btf(object), objects->layouts_fd);
}

int objects_load(struct objects *objects, struct bpf_object *object, const char *name,
	struct stoke_error *err)
{
	struct bpf_map *shared;
	char what[64];
	int r;

	if (objects->nr_loaded == MAX_OBJECTS)
		return fail(err, -E2BIG, "more than %u BPF objects", MAX_OBJECTS);
	if (object != objects->follow->obj) {
		bpf_object__for_each_map(shared, objects->follow->obj)
		{
			struct bpf_map *own =
				bpf_object__find_map_by_name(object, bpf_map__name(shared));

			if (!own || bpf_map__is_internal(own))
				continue;
			r = bpf_map__reuse_fd(own, bpf_map__fd(shared));
			if (r < 0)
				return fail(err, r, "cannot share BPF map %s: %s",
					bpf_map__name(shared), strerror(-r));
		}
	}
	r = give_layouts(objects, object);
	if (r < 0)
		return fail(err, r, "cannot tell BPF program %s the kernel's layouts: %s", name,
			strerror(-r));
	r = bpf_object__load(object);
	if (r < 0 && objects->log[0] && r != -EPERM && r != -EACCES && r != -EMFILE)
		return fail(err, -EOPNOTSUPP, "this kernel refused BPF program %s: %s: %s", name,
			strerror(-r), log_tail(objects->log));
	(void)snprintf(what, sizeof(what), "load BPF program %s", name);
	if (r < 0)
		return refusal_explain(what, r, err);
	objects->loaded[objects->nr_loaded++] = object;
	return 0;
}

void objects_unload(struct objects *objects, struct bpf_object *object)
{
	size_t nr = 0;

	for (size_t i = 0; i < objects->nr_loaded; i++)
		if (objects->loaded[i] != object)
			objects->loaded[nr++] = objects->loaded[i];
	objects->nr_loaded = nr;
}

/* Where stoke is among PID namespaces. The initial one is known by its inode number; elsewhere the
 * program `locate` is loaded, alone, and run once in stoke's own context. */
static int find_place(struct objects *objects, struct stoke_error *err)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct follow_bpf *follow;
	struct bpf_program *program;
	struct stat status;
	int r;

	if (stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PID_NAMESPACE) {
		objects->config.level = 0;
		objects->config.ns_inum = INITIAL_PID_NAMESPACE;
		return 0;
	}
	follow = follow_bpf__open_opts(objects_open_options(objects));
	if (!follow)
		return refusal_explain("open BPF programs", -errno, err);
	bpf_object__for_each_program(program, follow->obj)(void)
		bpf_program__set_autoload(program, program == follow->progs.locate);
	r = give_layouts(objects, follow->obj);
	if (r == 0)
		r = follow_bpf__load(follow);
	if (r == 0)
		r = bpf_prog_test_run_opts(bpf_program__fd(follow->progs.locate), &run);
	if (r == 0) {
		objects->config.level = follow->bss->place.level;
		objects->config.ns_inum = follow->bss->place.ns_inum;
	}
	follow_bpf__destroy(follow);
	return r < 0 ? refusal_explain("ask for stoke's PID namespace by BPF", r, err) : 0;
}

static size_t ring_bytes(const struct objects_options *options, size_t nr_rings)
{
	uint64_t hz = options->frequency_hz ? options->frequency_hz : DEFAULT_HZ;
	size_t cpus = nr_rings > 1 ? STOKE_CPUS_PER_RING : options->nr_cpus;
	uint64_t want = hz * cpus * RING_BYTES_EACH, bytes = MIN_RING_BYTES;

	while (bytes < want && bytes < MAX_RING_BYTES)
		bytes *= 2; /* rings are powers of two */
	return bytes;
}

static unsigned ring_slots(const struct objects_options *options)
{
	unsigned max = 0;

	for (size_t i = 0; i < options->nr_cpus; i++)
		if (options->cpus[i] > max)
			max = options->cpus[i];
	return max / STOKE_CPUS_PER_RING + 1;
}

static int make_ring(struct objects *objects, unsigned slot, size_t *bytes, struct stoke_error *err)
{
	int fd, r;

	if (objects->ring_fds[slot] >= 0)
		return 0;
	do {
		fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "samples", 0, 0, (uint32_t)*bytes, NULL);
		if (fd >= 0 || errno != ENOMEM || *bytes <= MIN_RING_BYTES)
			break;
		*bytes /= 2;
	} while (1);
	if (fd < 0)
		return refusal_explain("make a ring for samples", -errno, err);
	objects->ring_fds[slot] = fd;
	r = bpf_map_update_elem(bpf_map__fd(objects->follow->maps.rings), &slot, &fd, BPF_ANY);
	return r < 0 ? refusal_explain("hand out a ring for samples", r, err) : 0;
}

/* A ring for each 16 CPUs of those that fire. Slots without CPUs stay empty. */
static int make_rings(
	struct objects *objects, const struct objects_options *options, struct stoke_error *err)
{
	size_t slots = ring_slots(options), bytes = ring_bytes(options, slots), nr = 0;
	int r = 0;

	for (size_t i = 0; i < options->nr_cpus; i++) {
		r = make_ring(objects, options->cpus[i] / STOKE_CPUS_PER_RING, &bytes, err);
		if (r < 0)
			break;
	}
	for (size_t slot = 0; slot < slots; slot++)
		if (objects->ring_fds[slot] >= 0)
			objects->ring_fds[nr++] = objects->ring_fds[slot];
	objects->nr_rings = nr;
	objects->config.wake_bytes = (uint32_t)(bytes / 8);
	return r;
}

/* Room for the processes of targets: all that there are twice, and some, up to what is promised.
 * What is not asked for takes no time to be made. */
static uint32_t target_slots(void)
{
	uint64_t tasks = tasks_now("/proc");

	if (!tasks || tasks * 2 + MIN_TARGETS > STOKE_MAX_TARGETS)
		return STOKE_MAX_TARGETS;
	return (uint32_t)tasks * 2 + MIN_TARGETS;
}

static void size_maps(const struct follow_bpf *follow, const struct objects_options *options,
	const struct stoke_config *config)
{
	uint32_t targets = options->all ? 1 : target_slots();

	(void)bpf_map__set_max_entries(follow->maps.targets, targets);
	(void)bpf_map__set_max_entries(follow->maps.dying, config->level ? targets : 1);
	if (!options->threads)
		(void)bpf_map__set_max_entries(follow->maps.threads, 1);
	(void)bpf_map__set_max_entries(follow->maps.rings, ring_slots(options));
	if (options->all) {
		(void)bpf_map__set_max_entries(follow->maps.mappings, STOKE_MAX_MAPPINGS_ALL);
		(void)bpf_map__set_max_entries(follow->maps.spaces, STOKE_MAX_SPACES_ALL);
	}
}

/* Without unwind tables: the smallest maps that programs can still be loaded with. */
static void shrink_tables(const struct follow_bpf *follow)
{
	(void)bpf_map__set_max_entries(follow->maps.mappings, 1);
	(void)bpf_map__set_max_entries(follow->maps.spaces, 1);
	(void)bpf_map__set_max_entries(follow->maps.pages, 1);
	(void)bpf_map__set_max_entries(follow->maps.rules, 1);
}

/* Which slot of css_set a controller of version 1 has is for the kernel's own types to say. */
static int find_subsystem(const char *controller)
{
	struct btf *types = btf__load_vmlinux_btf();
	int r = -ENOENT,
	    id = types ? btf__find_by_name_kind(types, "cgroup_subsys_id", BTF_KIND_ENUM) : -ENOENT;
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;
	char name[64];

	(void)snprintf(name, sizeof(name), "%s_cgrp_id", controller); /* cut: no such one */
	for (unsigned i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_enum *value = btf_enum(type) + i;

		if (strcmp(btf__name_by_offset(types, value->name_off), name) == 0)
			r = value->val;
	}
	btf__free(types);
	return r;
}

static int choose_cgroup(
	struct objects *objects, const struct objects_options *options, struct stoke_error *err)
{
	struct stat status;
	int subsystem;

	objects->config.cgroup = (uint32_t)options->cgroup_version;
	if (options->cgroup_version != 1)
		return 0;
	subsystem = find_subsystem(options->cgroup_controller);
	if (subsystem < 0 || fstat(options->cgroup_fd, &status) < 0)
		return fail(err, -EOPNOTSUPP,
			"this kernel's BTF tells of no cgroup controller called %.32s",
			options->cgroup_controller);
	objects->config.subsystem = (uint32_t)subsystem;
	objects->config.cgroup_inode = status.st_ino;
	return 0;
}

static int fill_cgroup(
	struct objects *objects, const struct objects_options *options, struct stoke_error *err)
{
	uint32_t first = 0;

	if (options->cgroup_version != 2 ||
		bpf_map_update_elem(bpf_map__fd(objects->follow->maps.cgroups), &first,
			&options->cgroup_fd, BPF_ANY) == 0)
		return 0;
	return refusal_explain("choose a cgroup", -errno, err);
}

static int load_follow(struct objects *objects, const struct objects_options *options,
	int with_tables, struct stoke_error *err)
{
	struct follow_bpf *follow;
	int follows = !options->all, r;

	follow = follow_bpf__open_opts(objects_open_options(objects));
	if (!follow)
		return refusal_explain("open BPF programs", -errno, err);
	objects->follow = follow;
	memcpy((void *)&follow->rodata->config, &objects->config, sizeof(objects->config));
	(void)bpf_program__set_autoload(follow->progs.locate, false);
	(void)bpf_program__set_autoload(follow->progs.on_fork, follows && options->children);
	(void)bpf_program__set_autoload(follow->progs.on_exec, follows);
	(void)bpf_program__set_autoload(follow->progs.on_free, follows);
	(void)bpf_program__set_autoload(
		follow->progs.on_exit, follows && objects->config.level != 0);
	size_maps(follow, options, &objects->config);
	if (!with_tables)
		shrink_tables(follow);
	objects->has_tables = with_tables;
	r = objects_load(objects, follow->obj, "follow", err);
	if (r < 0)
		return r;
	r = follow_bpf__attach(follow);
	return r < 0 ? refusal_explain("follow forks and execs", r, err) : 0;
}

/* The maps of unwind tables are what takes memory: where there is none for them (a container's
 * limit, RLIMIT_MEMLOCK on older kernels), stacks go by frame pointers. */
static int load_what_fits(
	struct objects *objects, const struct objects_options *options, struct stoke_error *err)
{
	struct stoke_error ignored = {0};

	if (options->user && !options->no_tables) {
		if (load_follow(objects, options, 1, err ? err : &ignored) == 0)
			return 0;
		if (err && err->code != -ENOMEM && err->code != -E2BIG)
			return err->code;
		follow_bpf__destroy(take_pointer(objects->follow));
		objects->nr_loaded = 0;
		if (err)
			*err = ignored;
	}
	return load_follow(objects, options, 0, err);
}

/* Without them everything works as well, later: as where "ulimit -f" holds for files in memory,
 * too.
 */
static void open_layouts(struct objects *objects)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < LAYOUTS_MAX_BYTES)
		return;
	objects->layouts_fd = memfd_create("stoke-layouts", MFD_CLOEXEC);
	if (objects->layouts_fd < 0 || layouts_open(LAYOUTS_OF_KERNEL, &objects->layouts) < 0)
		return;
	(void)snprintf(objects->layouts_path, sizeof(objects->layouts_path), "/proc/self/fd/%d",
		objects->layouts_fd);
	objects->open_options.btf_custom_path = objects->layouts_path;
}

static int allocate(struct objects *objects, const struct objects_options *options)
{
	size_t slots = ring_slots(options);
	int possible = libbpf_num_possible_cpus();

	if (possible < 0)
		return possible;
	objects->nr_possible = (size_t)possible;
	objects->losses = calloc(objects->nr_possible, sizeof(*objects->losses));
	objects->log = calloc(1, VERIFIER_LOG_BYTES); /* touched only when a program is refused */
	objects->ring_fds = calloc(slots, sizeof(*objects->ring_fds));
	if (!objects->losses || !objects->log || !objects->ring_fds)
		return -ENOMEM;
	for (size_t i = 0; i < slots; i++)
		objects->ring_fds[i] = -1;
	objects->nr_rings = slots; /* until they are made: what close() looks at */
	objects->open_options = (struct bpf_object_open_opts){
		.sz = sizeof(objects->open_options),
		.kernel_log_buf = objects->log,
		.kernel_log_size = VERIFIER_LOG_BYTES,
	};
	return 0;
}

int objects_open(
	const struct objects_options *options, struct objects **ret, struct stoke_error *err)
{
	struct objects *objects;
	int r;

	if (options->nr_cpus == 0)
		return fail(err, -EINVAL, "no CPU to record on");
	/* A refusal is told once, in our words; the verifier's stay in the log. */
	(void)libbpf_set_print(NULL);
	objects = calloc(1, sizeof(*objects));
	if (!objects)
		return fail(err, -ENOMEM, "out of memory");
	objects->options = *options;
	objects->layouts_fd = -1;
	(void)perf_raise_file_limit(); /* what does not fit is told where it is opened */
	r = allocate(objects, options);
	if (r < 0) {
		r = fail(err, r, "cannot make room for BPF programs: %s", strerror(-r));
		goto fail;
	}
	open_layouts(objects);
	objects->config.all = options->all != 0;
	objects->config.user = options->user != 0;
	objects->config.kernel = options->kernel != 0;
	r = find_place(objects, err);
	if (r < 0)
		goto fail;
	r = choose_cgroup(objects, options, err);
	if (r < 0)
		goto fail;
	r = load_what_fits(objects, options, err);
	if (r < 0)
		goto fail;
	r = fill_cgroup(objects, options, err);
	if (r < 0)
		goto fail;
	r = make_rings(objects, options, err);
	if (r < 0)
		goto fail;
	*ret = objects;
	return 0;
fail:
	objects_close(objects);
	return r;
}

int objects_open_plain(const struct objects_options *options, struct objects **ret)
{
	struct objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	objects->options = *options;
	objects->layouts_fd = -1;
	*ret = objects;
	return 0;
}

int objects_are_plain(const struct objects *objects)
{
	return !objects->follow;
}

const struct objects_options *objects_wanted(const struct objects *objects)
{
	return &objects->options;
}

void objects_use_members(struct objects *objects, struct members *members)
{
	objects->members = members;
}

void objects_use_tables(struct objects *objects)
{
	objects->config.tables = 1;
}

void objects_ready(struct objects *objects)
{
	layouts_close(objects->layouts);
	objects->layouts = NULL;
	objects->open_options.btf_custom_path = NULL;
	if (objects->layouts_fd >= 0)
		(void)close(objects->layouts_fd); /* a file in memory: nothing to lose */
	objects->layouts_fd = -1;
}

void objects_close(struct objects *objects)
{
	if (!objects)
		return;
	follow_bpf__destroy(objects->follow);
	for (size_t i = 0; i < objects->nr_rings; i++)
		if (objects->ring_fds[i] >= 0)
			(void)close(objects->ring_fds[i]); /* nothing was written through it */
	objects_ready(objects);
	free(objects->ring_fds);
	free(objects->losses);
	free(objects->log);
	free(objects);
}

static int add(
	struct bpf_map *set, const char *kind, pid_t number, int pending, struct stoke_error *err)
{
	struct stoke_target target = {.pending = (uint32_t)pending};
	uint32_t key = (uint32_t)number;
	int r;

	/* An entry that is there knows more than this one: it stays. */
	r = bpf_map_update_elem(bpf_map__fd(set), &key, &target, BPF_NOEXIST);
	if (r == 0 || r == -EEXIST)
		return 0;
	if (r == -E2BIG)
		return fail(err, r, "no room for %s %d among the targets (at most %u)", kind,
			(int)number, bpf_map__max_entries(set));
	return fail(err, r, "cannot add %s %d to the targets: %s", kind, (int)number, strerror(-r));
}

int objects_add_process(struct objects *objects, pid_t pid, struct stoke_error *err)
{
	if (objects->members)
		return members_add_process(objects->members, pid, err);
	return add(objects->follow->maps.targets, "process", pid, 0, err);
}

int objects_add_pending(struct objects *objects, pid_t pid, struct stoke_error *err)
{
	if (objects->members)
		return members_add_pending(objects->members, pid, err);
	return add(objects->follow->maps.targets, "process", pid, 1, err);
}

int objects_add_thread(struct objects *objects, pid_t tid, struct stoke_error *err)
{
	if (objects->members)
		return members_add_thread(objects->members, tid, err);
	return add(objects->follow->maps.threads, "thread", tid, 0, err);
}

int objects_has_process(struct objects *objects, pid_t pid)
{
	struct stoke_target target;
	uint32_t key = (uint32_t)pid;

	if (objects->members)
		return members_has(objects->members, pid);
	return bpf_map_lookup_elem(bpf_map__fd(objects->follow->maps.targets), &key, &target) == 0;
}

int objects_forked(struct objects *objects, pid_t parent, pid_t child)
{
	return objects->members ? members_forked(objects->members, parent, child) : 0;
}

void objects_exited(struct objects *objects, pid_t pid)
{
	if (objects->members)
		members_exited(objects->members, pid);
}

int objects_have_tables(const struct objects *objects)
{
	return objects->has_tables;
}

const struct bpf_map *objects_map(const struct objects *objects, const char *name)
{
	return bpf_object__find_map_by_name(objects->follow->obj, name);
}

size_t objects_ring_fds(const struct objects *objects, const int **ret)
{
	*ret = objects->ring_fds;
	return objects->nr_rings;
}

static uint64_t run_time(const struct bpf_object *object)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
			sum += info.run_time_ns; /* 0 unless kernel.bpf_stats_enabled */
	}
	return sum;
}

void objects_losses(struct objects *objects, struct objects_losses *ret)
{
	struct objects_losses sum = {0};
	uint32_t zero = 0;

	if (objects->members)
		sum.ring = members_lost(objects->members);
	if (objects->follow && bpf_map_lookup_elem(bpf_map__fd(objects->follow->maps.losses), &zero,
				       objects->losses) == 0) {
		for (size_t i = 0; i < objects->nr_possible; i++) {
			sum.ring += objects->losses[i].ring;
			sum.busy += objects->losses[i].busy;
			sum.targets += objects->losses[i].targets;
		}
	}
	for (size_t i = 0; i < objects->nr_loaded; i++)
		sum.run_ns += run_time(objects->loaded[i]);
	*ret = sum;
}
