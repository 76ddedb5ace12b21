/* SPDX-License-Identifier: BSD-2-Clause */
/* modules.c: which file is which module. A module may be known by several (device, inode) pairs:
 * copies of one build, or one file as maps, records and stat() see it on layered file systems. */
#include "process/modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strings.h"

#define MAX_ATTEMPTS 4 /* to open a module that could not be opened before */

struct identity {
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	uint8_t build_id_size; /* else by */
	uint64_t dev, ino;
	uint32_t module; /* 0: slot is free */
};

struct modules {
	const struct host *host;
	struct module *items; /* items[0] is nobody */
	size_t nr, capacity;
	uint8_t *attempts;
	size_t attempts_capacity;
	struct identity *slots;
	size_t nr_slots, nr_used; /* a power of two */
	/* One image for each ABI of the kernel; 32-bit processes have theirs below 4 GiB. */
	uint32_t vdso[2];
	int own_root_known;
	uint64_t own_mount, own_root_ino; /* of "/" as this process sees it */
};

static int add_module(struct modules *modules, const struct module *module, uint32_t *ret)
{
	int r;

	r = array_reserve(&modules->items, &modules->capacity, modules->nr, 1);
	if (r < 0)
		return r;
	r = array_reserve(&modules->attempts, &modules->attempts_capacity, modules->nr, 1);
	if (r < 0)
		return r;
	modules->items[modules->nr] = *module;
	modules->attempts[modules->nr] = 1;
	*ret = (uint32_t)modules->nr++;
	return 0;
}

int modules_new(const struct host *host, struct modules **ret)
{
	const struct module nobody = {.fd = -1, .root_fd = -1};
	struct modules *modules = calloc(1, sizeof(*modules));
	uint32_t id;

	if (!modules)
		return -ENOMEM;
	modules->host = host;
	modules->nr_slots = 256;
	modules->slots = calloc(modules->nr_slots, sizeof(*modules->slots));
	if (!modules->slots || add_module(modules, &nobody, &id) < 0)
		goto fail;
	*ret = modules;
	return 0;

fail:
	modules_free(modules);
	return -ENOMEM;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->nr; i++)
		module_done(&modules->items[i]);
	free(modules->items);
	free(modules->attempts);
	free(modules->slots);
	free(modules);
}

const struct module *modules_at(const struct modules *modules, uint32_t module)
{
	return module < modules->nr ? &modules->items[module] : &modules->items[0];
}

size_t modules_nr(const struct modules *modules)
{
	return modules->nr - 1;
}

static struct identity by_build_id(const uint8_t *build_id, uint8_t size)
{
	struct identity key = {.build_id_size = size};

	if (size)
		memcpy(key.build_id, build_id, size);
	return key;
}

static struct identity by_inode(uint64_t dev, uint64_t ino)
{
	return (struct identity){.dev = dev, .ino = ino};
}

static int names_something(const struct identity *key)
{
	return key->build_id_size || key->ino;
}

static struct identity *slot_of(const struct modules *modules, const struct identity *key)
{
	uint64_t hash = key->build_id_size ? bytes_hash(key->build_id, key->build_id_size)
					   : bytes_hash(&key->dev, 16);

	for (size_t i = hash & (modules->nr_slots - 1);; i = (i + 1) & (modules->nr_slots - 1)) {
		struct identity *slot = &modules->slots[i];

		if (!slot->module)
			return slot;
		if (slot->build_id_size == key->build_id_size && slot->dev == key->dev &&
			slot->ino == key->ino &&
			memcmp(slot->build_id, key->build_id, key->build_id_size) == 0)
			return slot;
	}
}

static int grow(struct modules *modules)
{
	struct modules wider = *modules;

	wider.nr_slots *= 2;
	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < modules->nr_slots; i++) {
		if (modules->slots[i].module)
			*slot_of(&wider, &modules->slots[i]) = modules->slots[i];
	}
	free(modules->slots);
	*modules = wider;
	return 0;
}

static uint32_t find(const struct modules *modules, const struct identity *key)
{
	return names_something(key) ? slot_of(modules, key)->module : 0;
}

static int set(struct modules *modules, const struct identity *key, uint32_t module)
{
	struct identity *slot;

	if (!names_something(key))
		return 0;
	if (modules->nr_used >= modules->nr_slots / 2) {
		int r = grow(modules);

		if (r < 0)
			return r;
	}
	slot = slot_of(modules, key);
	if (!slot->module)
		modules->nr_used++;
	*slot = *key;
	slot->module = module;
	return 0;
}

/* Only where the target's root is not ours: mount and inode of it tell, also when two mount
 * namespaces share the directory. The kernel answers from memory, even for FUSE. */
static int root_of(struct modules *modules, pid_t pid)
{
	const unsigned mask = STATX_INO | STATX_MNT_ID;
	_cleanup_close_ int fd = -1;
	struct statx its, ours;
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/root", pid);
	fd = openat(modules->host->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!modules->own_root_known) {
		if (statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, mask, &ours) < 0)
			return -1;
		modules->own_mount = ours.stx_mnt_id;
		modules->own_root_ino = ours.stx_ino;
		modules->own_root_known = 1;
	}
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &its) == 0 &&
		its.stx_mnt_id == modules->own_mount && its.stx_ino == modules->own_root_ino)
		return -1;
	fd = module_keep_fd(take_fd(fd));
	return fd < 0 ? -1 : take_fd(fd);
}

static int open_first(struct modules *modules, const struct module_sight *sight, unsigned *hangs,
	struct module *ret, int *ret_elf)
{
	int r;

	*ret = (struct module){
		.kind = MODULE_FILE,
		.dev = sight->dev,
		.ino = sight->ino,
		.build_id_size = sight->build_id_size,
		.fd = -1,
		.root_fd = -1,
	};
	if (sight->build_id_size)
		memcpy(ret->build_id, sight->build_id, sight->build_id_size);
	if (*hangs >= MODULES_MAX_HANGS) {
		ret->open_error = ETIMEDOUT;
		*ret_elf = -1;
		return 0;
	}
	r = module_open(modules->host, sight, ret, ret_elf);
	if (r == 0 && ret->open_error == ETIMEDOUT)
		++*hangs;
	return r;
}

/* May a file found under the same inode be that module? Inodes of deleted files are used again. */
static int may_be(const struct module *module, const struct module *found)
{
	return !module->build_id_size ||
	       (module->build_id_size == found->build_id_size &&
		       memcmp(module->build_id, found->build_id, found->build_id_size) == 0);
}

/* A known module gets what was found now: fd and build id if it had none. */
static int adopt(struct modules *modules, const struct module_sight *sight, struct module *found,
	uint32_t id)
{
	const struct identity key = by_build_id(found->build_id, found->build_id_size);
	struct module *module = &modules->items[id];
	int r = 0;

	if (module->fd < 0 && found->fd >= 0) {
		module->fd = take_fd(found->fd);
		module->open_error = 0;
		if (module->root_fd < 0)
			module->root_fd = root_of(modules, sight->pid);
	}
	if (!module->build_id_size && found->build_id_size) {
		memcpy(module->build_id, found->build_id, sizeof(found->build_id));
		module->build_id_size = found->build_id_size;
		r = set(modules, &key, id);
	}
	module_done(found);
	return r;
}

static int add_found(struct modules *modules, const struct module_sight *sight,
	struct module *found, uint32_t *ret)
{
	const struct identity key = by_build_id(found->build_id, found->build_id_size);
	int r;

	found->path = strndup(sight->path, sight->path_size);
	r = found->path ? add_module(modules, found, ret) : -ENOMEM;
	if (r < 0) {
		module_done(found);
		return r;
	}
	modules->items[*ret].root_fd = root_of(modules, sight->pid);
	return set(modules, &key, *ret);
}

/* The module that this file is under another of its identities, or 0. */
static uint32_t known_as(
	const struct modules *modules, const struct module *found, const struct identity *opened)
{
	const struct identity key = by_build_id(found->build_id, found->build_id_size);
	uint32_t id = find(modules, &key);

	if (!id) {
		id = find(modules, opened);
		if (id == MODULES_GENERATED || (id && !may_be(&modules->items[id], found)))
			id = 0;
	}
	return id;
}

int modules_file(struct modules *modules, const struct module_sight *sight, int temporary,
	unsigned *hangs, uint32_t *ret)
{
	const struct identity build = by_build_id(sight->build_id, sight->build_id_size);
	const struct identity inode = by_inode(sight->dev, sight->ino);
	struct identity opened;
	struct module found;
	uint32_t id;
	int elf, r;

	id = find(modules, sight->build_id_size ? &build : &inode);
	if (id == MODULES_GENERATED && !temporary)
		id = 0; /* its inode is used again */
	if (id == MODULES_GENERATED ||
		(id && (modules->items[id].fd >= 0 || modules->attempts[id] >= MAX_ATTEMPTS))) {
		*ret = id;
		return 0;
	}
	r = open_first(modules, sight, hangs, &found, &elf);
	if (r < 0)
		return r;
	if (temporary && !sight->build_id_size && elf <= 0) {
		module_done(&found);
		*ret = MODULES_GENERATED; /* as far as can be seen: asked again unless it was */
		return elf < 0 ? 0 : set(modules, &inode, MODULES_GENERATED);
	}
	opened = by_inode(found.dev, found.ino);
	if (id && found.fd < 0)
		modules->attempts[id]++;
	if (!id || (found.fd >= 0 && !may_be(&modules->items[id], &found)))
		id = known_as(modules, &found, &opened);
	r = id ? adopt(modules, sight, &found, id) : add_found(modules, sight, &found, &id);
	if (r < 0)
		return r;
	*ret = id;
	r = set(modules, &inode, id);
	return r < 0 ? r : set(modules, &opened, id);
}

int modules_vdso(struct modules *modules, pid_t pid, uint64_t start, uint64_t end, uint32_t *ret)
{
	const int narrow = start <= UINT32_MAX;
	struct module module = {.kind = MODULE_VDSO, .pid = pid, .fd = -1, .root_fd = -1};
	uint32_t *known = &modules->vdso[narrow];
	int r;

	if (*known) {
		struct module *it = &modules->items[*known];

		if (!it->image && modules->attempts[*known] < MAX_ATTEMPTS) {
			modules->attempts[*known]++;
			it->open_error = -module_read_vdso(modules->host, pid, start, end, it);
		}
		*ret = *known;
		return 0;
	}
	module.open_error = -module_read_vdso(modules->host, pid, start, end, &module);
	module.path = strdup("[vdso]");
	r = module.path ? add_module(modules, &module, known) : -ENOMEM;
	if (r < 0) {
		module_done(&module);
		return r;
	}
	*ret = *known;
	return 0;
}

int modules_jit(struct modules *modules, pid_t pid, uint64_t incarnation, uint32_t *ret)
{
	const struct module module = {
		.kind = MODULE_JIT,
		.pid = pid,
		.pid_start = incarnation,
		.fd = -1,
		.root_fd = -1,
	};

	return add_module(modules, &module, ret);
}
