/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: BPF maps as memory. */
#include "source/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "source/objects.h"

static int map_array(const struct bpf_map *map, size_t element, void *ret, size_t *ret_max)
{
	size_t max = bpf_map__max_entries(map);
	void *memory =
		mmap(NULL, max * element, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		return -errno;
	*(void **)ret = memory;
	*ret_max = max;
	return 0;
}

/* Pages of it are there once something is written to them. */
static void *map_own(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int open_own(struct tables *tables)
{
	tables->max_rules = STOKE_MAX_RULES;
	tables->max_pages = STOKE_MAX_PAGES;
	tables->rules = map_own(tables->max_rules * sizeof(*tables->rules));
	tables->pages = map_own(tables->max_pages * sizeof(*tables->pages));
	return tables->rules && tables->pages ? 0 : -ENOMEM;
}

static int open_maps(struct tables *tables)
{
	struct objects *objects = tables->objects;
	int r;

	r = map_array(objects_map(objects, "rules"), sizeof(*tables->rules), &tables->rules,
		&tables->max_rules);
	if (r == 0)
		r = map_array(objects_map(objects, "pages"), sizeof(*tables->pages), &tables->pages,
			&tables->max_pages);
	if (r == 0)
		r = map_array(objects_map(objects, "mappings"), sizeof(*tables->mappings),
			&tables->mappings, &tables->max_mappings);
	if (r == 0)
		r = map_array(objects_map(objects, "javas"), sizeof(*tables->javas), &tables->javas,
			&tables->max_javas);
	return r;
}

int tables_open(struct objects *objects, struct tables **ret)
{
	struct tables *tables;
	int r;

	if (!objects_are_plain(objects) && !objects_have_tables(objects))
		return -ENOMEM;
	tables = calloc(1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	tables->objects = objects;
	r = objects_are_plain(objects) ? open_own(tables) : open_maps(tables);
	if (r < 0) {
		tables_close(tables);
		return r;
	}
	*ret = tables;
	return 0;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size); /* its own mapping: cannot fail */
}

void tables_close(struct tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->nr_shards; i++)
		unmap(tables->shards[i], sizeof(struct stoke_shard));
	unmap(tables->rules, tables->max_rules * sizeof(*tables->rules));
	unmap(tables->pages, tables->max_pages * sizeof(*tables->pages));
	unmap(tables->mappings, tables->max_mappings * sizeof(*tables->mappings));
	unmap(tables->javas, tables->max_javas * sizeof(*tables->javas));
	free(tables);
}

struct stoke_shard *tables_shard(void *arg, uint32_t index)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct tables *tables = arg;
	_cleanup_close_ int fd = -1;
	void *memory;

	if (index >= STOKE_MAX_SHARDS || index != tables->nr_shards)
		return NULL;
	if (objects_are_plain(tables->objects)) {
		memory = map_own(sizeof(struct stoke_shard));
		if (memory)
			tables->shards[tables->nr_shards++] = memory;
		return memory;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "shard", sizeof(uint32_t),
		sizeof(struct stoke_shard), 1, &options);
	if (fd < 0)
		return NULL;
	memory = mmap(NULL, sizeof(struct stoke_shard), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return NULL;
	/* From now on the map of shards keeps it. */
	if (bpf_map_update_elem(bpf_map__fd(objects_map(tables->objects, "shards")), &index, &fd,
		    BPF_ANY) < 0) {
		unmap(memory, sizeof(struct stoke_shard));
		return NULL;
	}
	tables->shards[tables->nr_shards++] = memory;
	return memory;
}

int tables_set_space(void *arg, uint32_t pid, const struct stoke_space *space)
{
	const struct tables *tables = arg;
	int fd = bpf_map__fd(objects_map(tables->objects, "spaces"));

	if (!space)
		return bpf_map_delete_elem(fd, &pid);
	return bpf_map_update_elem(fd, &pid, space, BPF_ANY);
}
