/* SPDX-License-Identifier: BSD-2-Clause */
/* inlined.c: each named frame of a file looked up once more in its DWARF, module by module. */
#include "resolver/inlined.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "elf/debugfile.h"
#include "elf/file.h"
#include "elf/lines.h"

struct named {
	uint64_t address;
	uint32_t module, frame;
};

/* What is open while the frames of one module are looked up. */
struct opened {
	struct elf_file *file, *debug;
	struct lines *lines; /* NULL: nothing is known of it */
};

/* What is said in the end. */
struct outcome {
	unsigned nr_files; /* with lines */
	unsigned nr_failed;
	int unsupported;
};

static int compare(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static int has_place(const struct stoke_profile *profile, const struct frame *frame)
{
	return frame->nr_functions == 1 && profile->modules[frame->module].kind == MODULE_FILE &&
	       profile->modules[frame->module].fd >= 0;
}

static struct named *collect(const struct stoke_profile *profile, size_t *ret_nr)
{
	struct named *list;
	size_t nr = 0;

	for (size_t i = 1; i < profile->nr_frames; i++)
		nr += (size_t)has_place(profile, &profile->frames[i]);
	list = calloc(nr ? nr : 1, sizeof(*list));
	if (!list)
		return NULL;
	nr = 0;
	for (size_t i = 1; i < profile->nr_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (has_place(profile, frame))
			list[nr++] = (struct named){frame->address, frame->module, (uint32_t)i};
	}
	qsort(list, nr, sizeof(*list), compare);
	*ret_nr = nr;
	return list;
}

static void close_module(struct opened *opened)
{
	lines_close(opened->lines);
	elf_file_close(opened->debug);
	elf_file_close(opened->file);
	*opened = (struct opened){0};
}

/* 0, also when there is nothing, or -ENOMEM. */
static int open_module(const struct module *module, struct opened *ret, struct outcome *outcome)
{
	int fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 3), r;

	if (fd < 0)
		return 0;
	r = elf_file_open(fd, &ret->file);
	if (r < 0) {
		(void)close(fd); /* read only */
		return r == -ENOMEM ? r : 0;
	}
	r = lines_open(ret->file, &ret->lines);
	if (r == -ENOENT) {
		r = debugfile_find(ret->file, module->root_fd, module->path, &ret->debug);
		if (r == 0)
			r = lines_open(ret->debug, &ret->lines);
	}
	if (r == 0)
		outcome->nr_files++;
	else if (r == -EOPNOTSUPP)
		outcome->unsupported = 1;
	return r == -ENOMEM ? r : 0;
}

/* The outermost is what its symbol says, as in recordings without lines. */
static int name_frame(struct stoke_profile *profile, uint32_t id, struct symbol *symbols, size_t nr)
{
	const struct function *function = &profile->functions[profile->frames[id].function];
	size_t size = strings_size(&profile->strings, function->name);
	_cleanup_free_ char *name = malloc(size + 1); /* a copy, since the profile's strings move */

	if (!name)
		return -ENOMEM;
	memcpy(name, strings_text(&profile->strings, function->name), size);
	symbols[nr - 1].name = name;
	symbols[nr - 1].name_size = size;
	symbols[nr - 1].kind = (enum function_kind)function->kind;
	return profile_name_frame(profile, id, symbols, nr);
}

static int look_up(struct stoke_profile *profile, const struct named *item, struct opened *opened,
	struct outcome *outcome)
{
	struct symbol symbols[LINES_MAX];
	uint64_t vaddr;
	int n;

	if (!opened->lines || elf_file_vaddr(opened->file, item->address, &vaddr) < 0)
		return 0;
	n = lines_find(opened->lines, vaddr, symbols, LINES_MAX);
	if (n > 0)
		return name_frame(profile, item->frame, symbols, (size_t)n);
	if (n < 0) {
		outcome->nr_failed++;
		close_module(opened);
	}
	return n == -ENOMEM ? n : 0;
}

static int tell(struct stoke_profile *profile, const struct outcome *outcome)
{
	const char *sentence = NULL;

	if (outcome->unsupported)
		sentence = "this stoke was built without libdw: no inlined functions, no source "
			   "lines";
	else if (outcome->nr_failed)
		sentence = "the debug information of a file could not be read to its end: inlined "
			   "functions and source lines of it are missing";
	else if (!outcome->nr_files)
		sentence = "no file has debug information: no inlined functions, no source lines; "
			   "install -dbgsym packages or build with -g";
	return sentence && profile->nr_runs ? profile_fact(profile, 0, "warning", sentence) : 0;
}

int resolve_inlined(struct stoke_profile *profile)
{
	_cleanup_free_ struct named *list = NULL;
	struct outcome outcome = {0};
	struct opened opened = {0};
	size_t nr = 0;
	int r = 0;

	list = collect(profile, &nr);
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < nr && r >= 0; i++) {
		if (!i || list[i].module != list[i - 1].module) {
			close_module(&opened);
			r = open_module(&profile->modules[list[i].module], &opened, &outcome);
		}
		if (r >= 0)
			r = look_up(profile, &list[i], &opened, &outcome);
	}
	close_module(&opened);
	return r < 0 ? r : tell(profile, &outcome);
}
