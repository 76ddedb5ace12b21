/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(layouts, .fini = check_leaks);

#define WORD	 64 /* bits */
#define NR_BYTES 72 /* of a struct task */

/*
 * A kernel with what is awkward in a real one:
 *
 *	typedef struct { u32 counter; } atomic_t;
 *	struct inner { char a[16]; u64 deep; };
 *	struct task { const u64 first; union { u64 x; struct { u32 hole; u32 pid; }; };
 *		atomic_t live; struct inner inner; struct task *parent; u32 flag : 3; };
 *	enum id { one = 1, two = 2 };
 *	struct unwanted { u64 first; };
 */
static struct btf *make_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int u32 = btf__add_int(btf, "u32", 4, 0), u64 = btf__add_int(btf, "u64", 8, 0);
	int first = btf__add_const(btf, u64), parent = btf__add_ptr(btf, 0);
	int letters = btf__add_array(btf, u32, btf__add_int(btf, "char", 1, 0), 16);
	int hidden, choice, atomic, inner;

	hidden = btf__add_struct(btf, NULL, 8);
	(void)btf__add_field(btf, "hole", u32, 0, 0);
	(void)btf__add_field(btf, "pid", u32, 32, 0);
	choice = btf__add_union(btf, NULL, 8);
	(void)btf__add_field(btf, "x", u64, 0, 0);
	(void)btf__add_field(btf, NULL, hidden, 0, 0);
	atomic = btf__add_struct(btf, NULL, 4);
	(void)btf__add_field(btf, "counter", u32, 0, 0);
	atomic = btf__add_typedef(btf, "atomic_t", atomic);
	inner = btf__add_struct(btf, "inner", 24);
	(void)btf__add_field(btf, "a", letters, 0, 0);
	(void)btf__add_field(btf, "deep", u64, 2 * WORD, 0);

	(void)btf__add_struct(btf, "task", NR_BYTES);
	(void)btf__add_field(btf, "first", first, 0, 0);
	(void)btf__add_field(btf, NULL, choice, WORD, 0);
	(void)btf__add_field(btf, "live", atomic, 2 * WORD, 0);
	(void)btf__add_field(btf, "inner", inner, 3 * WORD, 0);
	(void)btf__add_field(btf, "parent", parent, 6 * WORD, 0);
	(void)btf__add_field(btf, "flag", u32, 7 * WORD, 3);
	(void)btf__add_enum(btf, "id", 4);
	(void)btf__add_enum_value(btf, "one", 1);
	(void)btf__add_enum_value(btf, "two", 2);
	(void)btf__add_struct(btf, "unwanted", 8);
	cr_assert(eq(int, btf__add_field(btf, "first", first, 0, 0), 0));
	return btf;
}

/* What a program asks of it: some members, in an order of its own, and one that there is not. */
static struct btf *make_program(void)
{
	struct btf *btf = btf__new_empty();
	int u32 = btf__add_int(btf, "u32", 4, 0), pointer = btf__add_ptr(btf, 0), inner, atomic;

	atomic = btf__add_struct(btf, NULL, 4);
	(void)btf__add_field(btf, "counter", u32, 0, 0);
	atomic = btf__add_typedef(btf, "atomic_t", atomic);
	inner = btf__add_struct(btf, "inner", 4);
	(void)btf__add_field(btf, "deep", u32, 0, 0);
	(void)btf__add_struct(btf, "task___5_10", 40);
	(void)btf__add_field(btf, "pid", u32, 0, 0);
	(void)btf__add_field(btf, "inner", inner, 32, 0);
	(void)btf__add_field(btf, "parent", pointer, 64, 0);
	(void)btf__add_field(btf, "live", atomic, 128, 0);
	(void)btf__add_field(btf, "absent", u32, 160, 0);
	(void)btf__add_field(btf, "flag", u32, 192, 0);
	(void)btf__add_enum(btf, "id", 4);
	cr_assert(eq(int, btf__add_enum_value(btf, "two", 7), 0));
	return btf;
}

static int write_file(const void *data, size_t size)
{
	int fd = memfd_create("kernel", MFD_CLOEXEC);

	cr_assert(eq(long, write(fd, data, size), (long)size));
	return fd;
}

static int open_fd(int fd, struct layouts **ret)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return layouts_open(path, ret);
}

static struct layouts *open_kernel(void)
{
	struct btf *kernel = make_kernel();
	struct layouts *layouts = NULL;
	uint32_t size;
	const void *data = btf__raw_data(kernel, &size);
	_cleanup_close_ int fd = write_file(data, size);

	cr_assert(eq(int, open_fd(fd, &layouts), 0));
	btf__free(kernel);
	return layouts;
}

static struct btf *pick(void)
{
	struct layouts *layouts = open_kernel();
	struct btf *program = make_program(), *picked = NULL;

	cr_assert(eq(int, layouts_pick(layouts, program, &picked), 0));
	btf__free(program);
	layouts_close(layouts);
	return picked;
}

static const struct btf_type *type_named(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

/* The index of a member, -1: there is none. */
static int member_of(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (int i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return i;
	return -1;
}

static int64_t offset_of(const struct btf *btf, const struct btf_type *type, const char *name)
{
	int i = member_of(btf, type, name);

	return i < 0 ? -1 : (int64_t)btf_member_bit_offset(type, (uint32_t)i);
}

Test(layouts, gives_members_where_the_kernel_has_them)
{
	struct btf *picked = pick();
	const struct btf_type *task = type_named(picked, "task", BTF_KIND_STRUCT);

	cr_assert(ne(ptr, (void *)task, NULL));
	cr_assert(eq(u32, task->size, NR_BYTES));
	cr_assert(eq(i64, offset_of(picked, task, "inner"), 3 * WORD));
	cr_assert(eq(i64, offset_of(picked, task, "parent"), 6 * WORD));
	cr_assert(eq(i64, offset_of(picked, task, "live"), 2 * WORD));
	btf__free(picked);
}

Test(layouts, finds_members_in_unnamed_structs_and_unions)
{
	struct btf *picked = pick();
	const struct btf_type *task = type_named(picked, "task", BTF_KIND_STRUCT);

	cr_assert(eq(i64, offset_of(picked, task, "pid"), WORD + 32));
	btf__free(picked);
}

Test(layouts, keeps_the_width_of_bit_fields)
{
	struct btf *picked = pick();
	const struct btf_type *task = type_named(picked, "task", BTF_KIND_STRUCT);
	int flag = member_of(picked, task, "flag");

	cr_assert(eq(i64, offset_of(picked, task, "flag"), 7 * WORD));
	cr_assert(eq(u32, btf_member_bitfield_size(task, (uint32_t)flag), 3));
	btf__free(picked);
}

Test(layouts, leaves_out_what_is_not_asked_for_or_not_there)
{
	struct btf *picked = pick();
	const struct btf_type *task = type_named(picked, "task", BTF_KIND_STRUCT);

	cr_assert(eq(int, member_of(picked, task, "first"), -1));
	cr_assert(eq(int, member_of(picked, task, "absent"), -1));
	cr_assert(eq(ptr, (void *)type_named(picked, "unwanted", BTF_KIND_STRUCT), NULL));
	btf__free(picked);
}

Test(layouts, follows_structs_inside_structs)
{
	struct btf *picked = pick();
	const struct btf_type *task = type_named(picked, "task", BTF_KIND_STRUCT), *inner, *live;

	inner = btf__type_by_id(picked, btf_members(task)[member_of(picked, task, "inner")].type);
	live = btf__type_by_id(picked, btf_members(task)[member_of(picked, task, "live")].type);
	cr_assert(eq(i64, offset_of(picked, inner, "deep"), 2 * WORD));
	cr_assert(eq(int, member_of(picked, inner, "a"), -1));
	cr_assert(eq(i64, offset_of(picked, live, "counter"), 0));
	btf__free(picked);
}

Test(layouts, gives_values_of_enums_as_the_kernel_has_them)
{
	struct btf *picked = pick();
	const struct btf_type *id = type_named(picked, "id", BTF_KIND_ENUM);

	cr_assert(eq(int, btf_vlen(id), 1));
	cr_assert(eq(int, btf_enum(id)[0].val, 2));
	btf__free(picked);
}

Test(layouts, refuses_what_is_no_btf)
{
	struct btf *kernel = make_kernel();
	struct layouts *layouts = NULL;
	uint32_t size;
	const uint8_t *data = btf__raw_data(kernel, &size);
	uint8_t *copy = malloc(size);

	/* Cut anywhere, or with any byte of its types wrong: an answer, and no reading beyond. */
	for (uint32_t n = 0; n < size; n++) {
		int fd;

		memcpy(copy, data, size);
		copy[n] ^= 0xff;
		fd = write_file(copy, size);
		if (open_fd(fd, &layouts) == 0) {
			struct btf *program = make_program(), *picked = NULL;

			if (layouts_pick(layouts, program, &picked) == 0)
				btf__free(picked);
			btf__free(program);
			layouts_close(layouts);
		}
		(void)close(fd);
		fd = write_file(data, n);
		cr_assert(lt(int, open_fd(fd, &layouts), 0), "%u bytes", n);
		(void)close(fd);
	}
	free(copy);
	btf__free(kernel);
	cr_assert(eq(int, layouts_open("/no/such/file", &layouts), -ENOENT));
}

Test(layouts, writes_over_what_was_there)
{
	struct layouts *layouts = open_kernel();
	struct btf *program = make_program(), *read;
	_cleanup_close_ int fd = memfd_create("picked", MFD_CLOEXEC);
	char path[32], junk[8192] = {1};

	cr_assert(eq(long, write(fd, junk, sizeof(junk)), (long)sizeof(junk)));
	cr_assert(eq(int, layouts_write(layouts, program, fd), 0));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read = btf__parse_raw(path);
	cr_assert(ne(ptr, read, NULL));
	cr_assert(ge(int, btf__find_by_name_kind(read, "task", BTF_KIND_STRUCT), 1));
	btf__free(read);
	btf__free(program);
	layouts_close(layouts);
}
