/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layouts.c: the kernel's BTF (Documentation/bpf/btf.rst), looked through once, and the types that
 * a program names copied out of it. Kernel and program are walked in pairs: a member is copied
 * where the program has one of that name, its type as deep as the program's goes; pointers end it.
 */
#include "source/layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"

#define MAX_DEPTH  16 /* structs in structs */
#define NR_BUCKETS 256 /* a power of two */
#define ANY_NAME   "___" /* "task_struct___5_10" is task_struct, as libbpf has it */
#define NR_VMLINUX 160000 /* types, to begin with */

struct layouts {
	uint8_t *data;
	size_t size;
	int mapped;
	const char *strings;
	uint32_t strings_size;
	const struct btf_type **types; /* by id; 0 is void */
	size_t nr_types, types_capacity;
};

/* A copy in the making. */
struct picking {
	const struct layouts *kernel;
	const struct btf *local;
	struct btf *into;
	int pointer; /* id of the one pointer that all become; 0: not made yet */
	uint32_t depth;
};

struct field {
	const char *name;
	uint32_t type, bit_offset, bit_size; /* of the kernel */
	uint32_t local; /* type */
	int into; /* type */
};

struct fields {
	struct field *items;
	size_t nr, capacity;
};

/* The program's named types, by hash of their names. */
struct wanted {
	uint32_t head[NR_BUCKETS]; /* ids */
	uint32_t *next; /* by id */
};

static const char *kernel_name(const struct layouts *layouts, uint32_t offset)
{
	return offset < layouts->strings_size ? layouts->strings + offset : "";
}

/* Bytes behind a type's head, or -EOPNOTSUPP. */
static ssize_t size_behind(const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen(type) * (ssize_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return btf_vlen(type) * (ssize_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return btf_vlen(type) * (ssize_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return btf_vlen(type) * (ssize_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return btf_vlen(type) * (ssize_t)sizeof(struct btf_var_secinfo);
	default:
		return -EOPNOTSUPP;
	}
}

static int index_types(struct layouts *layouts, const uint8_t *at, const uint8_t *end)
{
	int r = array_reserve(&layouts->types, &layouts->types_capacity, 0, NR_VMLINUX);

	if (r < 0)
		return r;
	layouts->types[layouts->nr_types++] = NULL;
	while (at < end) {
		const struct btf_type *type = (const struct btf_type *)at;
		ssize_t more;

		if ((size_t)(end - at) < sizeof(*type))
			return -EBADMSG;
		more = size_behind(type);
		at += sizeof(*type);
		if (more < 0)
			return (int)more;
		if (more > end - at)
			return -EBADMSG;
		at += more;
		r = array_reserve(&layouts->types, &layouts->types_capacity, layouts->nr_types, 1);
		if (r < 0)
			return r;
		layouts->types[layouts->nr_types++] = type;
	}
	return 0;
}

static int parse(struct layouts *layouts)
{
	struct btf_header header;
	const uint8_t *body;
	size_t room;

	if (layouts->size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, layouts->data, sizeof(header));
	if (header.magic != BTF_MAGIC || header.version != BTF_VERSION ||
		header.hdr_len < sizeof(header) || header.hdr_len > layouts->size)
		return -EBADMSG;
	body = layouts->data + header.hdr_len;
	room = layouts->size - header.hdr_len;
	if (header.type_off > room || header.type_len > room - header.type_off ||
		header.str_off > room || header.str_len > room - header.str_off ||
		header.type_off % 4 || header.hdr_len % 4)
		return -EBADMSG;
	layouts->strings = (const char *)body + header.str_off;
	layouts->strings_size = header.str_len;
	if (!header.str_len || layouts->strings[header.str_len - 1])
		return -EBADMSG;
	return index_types(
		layouts, body + header.type_off, body + header.type_off + header.type_len);
}

/* Mapped where the kernel can (Linux 6.16), so that only what is looked at is touched. */
static int take_in(struct layouts *layouts, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	ssize_t n;
	void *map;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size <= 0 || status.st_size > LAYOUTS_MAX_BYTES)
		return -EFBIG;
	layouts->size = (size_t)status.st_size;
	map = mmap(NULL, layouts->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map != MAP_FAILED) {
		layouts->data = map;
		layouts->mapped = 1;
		return 0;
	}
	layouts->data = malloc(layouts->size);
	if (!layouts->data)
		return -ENOMEM;
	n = file_read(fd, layouts->data, layouts->size, 0);
	if (n < 0)
		return (int)n;
	layouts->size = (size_t)n;
	return 0;
}

int layouts_open(const char *path, struct layouts **ret)
{
	struct layouts *layouts = calloc(1, sizeof(*layouts));
	int r;

	if (!layouts)
		return -ENOMEM;
	r = take_in(layouts, path);
	if (r == 0)
		r = parse(layouts);
	if (r < 0) {
		layouts_close(layouts);
		return r;
	}
	*ret = layouts;
	return 0;
}

void layouts_close(struct layouts *layouts)
{
	if (!layouts)
		return;
	if (layouts->mapped)
		(void)munmap(layouts->data, layouts->size); /* its own mapping: cannot fail */
	else
		free(layouts->data);
	free(layouts->types);
	free(layouts);
}

static const struct btf_type *kernel_type(const struct layouts *layouts, uint32_t id)
{
	return id < layouts->nr_types ? layouts->types[id] : NULL;
}

static int is_alias(const struct btf_type *type)
{
	return btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type);
}

/* What a type is behind typedefs, const and the like; NULL: void. */
static const struct btf_type *kernel_behind(const struct layouts *layouts, uint32_t id)
{
	const struct btf_type *type = kernel_type(layouts, id);

	for (int i = 0; type && is_alias(type) && i < MAX_DEPTH; i++)
		type = kernel_type(layouts, type->type);
	return type;
}

static const struct btf_type *local_behind(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = id ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; type && is_alias(type) && i < MAX_DEPTH; i++)
		type = type->type ? btf__type_by_id(btf, type->type) : NULL;
	return type;
}

/* Is this the name up to what libbpf ignores? */
static int same_name(const char *kernel, const char *local)
{
	const char *flavour = strstr(local, ANY_NAME);
	size_t size = flavour && flavour != local ? (size_t)(flavour - local) : strlen(local);

	return strncmp(kernel, local, size) == 0 && !kernel[size];
}

/* A member by name, also inside unnamed structs and unions. 1: found, 0. */
static int find_member(const struct layouts *layouts, const struct btf_type *type, const char *name,
	uint32_t depth, struct field *ret)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *own = kernel_name(layouts, members[i].name_off);
		const struct btf_type *inner;

		if (*own ? strcmp(own, name) != 0 : depth == MAX_DEPTH)
			continue;
		if (*own) {
			ret->type = members[i].type;
			ret->bit_offset = btf_member_bit_offset(type, i);
			ret->bit_size = btf_member_bitfield_size(type, i);
			return 1;
		}
		inner = kernel_behind(layouts, members[i].type);
		if (inner && btf_is_composite(inner) &&
			find_member(layouts, inner, name, depth + 1, ret)) {
			ret->bit_offset += btf_member_bit_offset(type, i);
			return 1;
		}
	}
	return 0;
}

/* The kernel's members that a local type names. */
static int find_fields(struct picking *picking, const struct btf_type *kernel,
	const struct btf_type *local, uint32_t depth, struct fields *ret)
{
	const struct btf_member *members = btf_members(local);
	int r = 0;

	for (uint32_t i = 0; i < btf_vlen(local) && r == 0; i++) {
		const char *name = btf__name_by_offset(picking->local, members[i].name_off);
		struct field field = {.name = name, .local = members[i].type};
		const struct btf_type *inner;

		if (name && *name) {
			if (!find_member(picking->kernel, kernel, name, 0, &field))
				continue;
			r = array_reserve(&ret->items, &ret->capacity, ret->nr, 1);
			if (r == 0)
				ret->items[ret->nr++] = field;
			continue;
		}
		inner = local_behind(picking->local, members[i].type);
		if (inner && btf_is_composite(inner) && depth < MAX_DEPTH)
			r = find_fields(picking, kernel, inner, depth + 1, ret);
	}
	return r;
}

static int copy_type(struct picking *picking, uint32_t kernel_id, uint32_t local_id);

/* local NULL: the program looks at nothing inside. */
static int copy_composite(
	struct picking *picking, const struct btf_type *kernel, const struct btf_type *local)
{
	const char *name = kernel_name(picking->kernel, kernel->name_off);
	struct fields fields = {0};
	int r = 0, id = 0;

	if (local && btf_is_composite(local))
		r = find_fields(picking, kernel, local, 0, &fields);
	/* Their types first: a member can only be added to the newest type. */
	for (size_t i = 0; r == 0 && i < fields.nr; i++) {
		struct field *field = &fields.items[i];

		field->into = copy_type(picking, field->type, field->local);
		r = field->into < 0 ? field->into : 0;
		if (btf_is_union(kernel) && field->bit_offset)
			r = -EOPNOTSUPP; /* inside a struct inside: libbpf lets no union hold it */
	}
	if (r == 0)
		id = btf_is_union(kernel) ? btf__add_union(picking->into, name, kernel->size)
					  : btf__add_struct(picking->into, name, kernel->size);
	if (id < 0)
		r = id;
	for (size_t i = 0; r == 0 && i < fields.nr; i++)
		r = btf__add_field(picking->into, fields.items[i].name, fields.items[i].into,
			fields.items[i].bit_offset, fields.items[i].bit_size);
	free(fields.items);
	return r < 0 ? r : id;
}

static int has_value(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint32_t offset = btf_is_enum64(type) ? btf_enum64(type)[i].name_off
						      : btf_enum(type)[i].name_off;
		const char *own = btf__name_by_offset(btf, offset);

		if (own && same_name(name, own))
			return 1;
	}
	return 0;
}

static int copy_enum(
	struct picking *picking, const struct btf_type *kernel, const struct btf_type *local)
{
	const struct layouts *layouts = picking->kernel;
	const char *name = kernel_name(layouts, kernel->name_off);
	int wide = btf_is_enum64(kernel), r = 0;
	int id = wide ? btf__add_enum64(picking->into, name, kernel->size, btf_kflag(kernel))
		      : btf__add_enum(picking->into, name, kernel->size);

	if (id < 0 || !local || !btf_is_any_enum(local))
		return id;
	for (uint32_t i = 0; i < btf_vlen(kernel) && r == 0; i++) {
		const struct btf_enum64 *long_value = wide ? &btf_enum64(kernel)[i] : NULL;
		const struct btf_enum *value = wide ? NULL : &btf_enum(kernel)[i];
		const char *word =
			kernel_name(layouts, wide ? long_value->name_off : value->name_off);

		if (!has_value(picking->local, local, word))
			continue;
		r = wide ? btf__add_enum64_value(picking->into, word, btf_enum64_value(long_value))
			 : btf__add_enum_value(picking->into, word, value->val);
	}
	return r < 0 ? r : id;
}

static int copy_array(
	struct picking *picking, const struct btf_type *kernel, const struct btf_type *local)
{
	const struct btf_array *array = btf_array(kernel);
	int is_array = local && btf_is_array(local), of;

	of = copy_type(picking, array->type, is_array ? btf_array(local)->type : 0);
	if (of < 0)
		return of;
	return btf__add_array(picking->into, of, of, (int)array->nelems);
}

/* The kernel's type, without its typedefs, with what the local one has of it; 0: void. */
static int copy_behind(struct picking *picking, uint32_t kernel_id, uint32_t local_id)
{
	const struct btf_type *kernel = kernel_behind(picking->kernel, kernel_id);
	const struct btf_type *local = local_behind(picking->local, local_id);

	if (!kernel)
		return 0;
	switch (btf_kind(kernel)) {
	case BTF_KIND_INT:
		return btf__add_int(picking->into, kernel_name(picking->kernel, kernel->name_off),
			kernel->size, btf_int_encoding(kernel));
	case BTF_KIND_PTR:
		if (!picking->pointer)
			picking->pointer = btf__add_ptr(picking->into, 0);
		return picking->pointer;
	case BTF_KIND_ARRAY:
		return copy_array(picking, kernel, local);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_composite(picking, kernel, local);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return copy_enum(picking, kernel, local);
	default:
		return -EOPNOTSUPP;
	}
}

static int copy_type(struct picking *picking, uint32_t kernel_id, uint32_t local_id)
{
	int r;

	if (picking->depth == MAX_DEPTH)
		return -EOPNOTSUPP;
	picking->depth++;
	r = copy_behind(picking, kernel_id, local_id);
	picking->depth--;
	return r;
}

static int can_be_asked_for(const struct btf_type *type)
{
	return type->name_off &&
	       (btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type));
}

static uint32_t bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *p = name; *p; p++) {
		if (p != name && strncmp(p, ANY_NAME, strlen(ANY_NAME)) == 0)
			break;
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	}
	return (hash ^ hash >> 16) & (NR_BUCKETS - 1);
}

static int list_wanted(const struct btf *local, struct wanted *ret)
{
	uint32_t nr = btf__type_cnt(local);

	memset(ret->head, 0, sizeof(ret->head));
	ret->next = calloc(nr, sizeof(*ret->next));
	if (!ret->next)
		return -ENOMEM;
	for (uint32_t id = 1; id < nr; id++) {
		const struct btf_type *type = btf__type_by_id(local, id);
		uint32_t bucket;

		if (!can_be_asked_for(type))
			continue;
		bucket = bucket_of(btf__name_by_offset(local, type->name_off));
		ret->next[id] = ret->head[bucket];
		ret->head[bucket] = id;
	}
	return 0;
}

static int copy_named(struct picking *picking, uint32_t kernel_id, uint32_t local_id)
{
	const struct btf_type *kernel = kernel_type(picking->kernel, kernel_id);
	int id = copy_type(picking, kernel_id, local_id);

	if (id >= 0 && btf_is_typedef(kernel))
		id = btf__add_typedef(
			picking->into, kernel_name(picking->kernel, kernel->name_off), id);
	return id < 0 ? id : 0;
}

/* Two of a name with the same kind, or both an enum of either width. */
static int is_wanted(
	const struct picking *picking, const struct btf_type *kernel, uint32_t local_id)
{
	const struct btf_type *local = btf__type_by_id(picking->local, local_id);

	if (btf_kind(kernel) != btf_kind(local) &&
		!(btf_is_any_enum(kernel) && btf_is_any_enum(local)))
		return 0;
	return same_name(kernel_name(picking->kernel, kernel->name_off),
		btf__name_by_offset(picking->local, local->name_off));
}

static int copy_all(struct picking *picking, const struct wanted *wanted)
{
	const struct layouts *layouts = picking->kernel;

	for (uint32_t id = 1; id < layouts->nr_types; id++) {
		const struct btf_type *type = layouts->types[id];
		uint32_t local_id;

		if (!can_be_asked_for(type))
			continue;
		local_id = wanted->head[bucket_of(kernel_name(layouts, type->name_off))];
		for (; local_id; local_id = wanted->next[local_id]) {
			int r = is_wanted(picking, type, local_id)
					? copy_named(picking, id, local_id)
					: 0;

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int layouts_pick(const struct layouts *layouts, const struct btf *local, struct btf **ret)
{
	struct picking picking = {.kernel = layouts, .local = local};
	struct wanted wanted = {0};
	int r = list_wanted(local, &wanted);

	if (r < 0)
		return r;
	picking.into = btf__new_empty();
	if (!picking.into)
		r = -ENOMEM;
	if (r == 0)
		r = copy_all(&picking, &wanted);
	free(wanted.next);
	if (r < 0) {
		btf__free(picking.into);
		return r;
	}
	*ret = picking.into;
	return 0;
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
	size_t done = 0;

	if (ftruncate(fd, 0) < 0)
		return -errno;
	while (done < size) {
		ssize_t n = pwrite(fd, data + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int layouts_write(const struct layouts *layouts, const struct btf *local, int fd)
{
	struct btf *picked = NULL;
	const void *data = layouts->data;
	uint32_t size = (uint32_t)layouts->size;
	int r = layouts_pick(layouts, local, &picked);

	if (r == 0)
		data = btf__raw_data(picked, &size);
	if (r == -ENOMEM || !data)
		r = -ENOMEM;
	else
		r = write_all(fd, data, size);
	btf__free(picked);
	return r;
}
