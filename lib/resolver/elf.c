/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.c: names of files and of vDSOs. Offset in the file -> the segment that holds it -> virtual
 * address -> symbol. Segments are always those of the file that runs; only names may come from
 * elsewhere.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/debugfile.h"
#include "elf/demangle.h"
#include "elf/dynamic.h"
#include "elf/file.h"
#include "elf/starts.h"
#include "elf/symbols.h"
#include "resolver/resolver.h"

/* A file may say that it has a million; each costs reading a table. */
#define MAX_STUBS 4096

struct state {
	struct elf_file *file, *debug;
	struct symbols *symbols;
	struct elf_dynamic dynamic; /* of the file that runs; no symbols: there is none */
	char plt[ELF_PLT_NAME_MAX];
	unsigned nr_stubs; /* looked for so far */
	char note[320]; /* for the user; "": nothing */
	struct starts *starts; /* read when the first function without a name is met */
	int have_starts;
	uint32_t function; /* last one found, 0: none */
	struct elf_symbol symbol; /* what it is */
	int readable;
	enum function_kind kind;
	char demangled[DEMANGLE_MAX];
	size_t demangled_size; /* 0: as it is */
};

static void elf_close(void *arg)
{
	struct state *state = arg;

	if (!state)
		return;
	symbols_free(state->symbols);
	starts_close(state->starts);
	elf_file_close(state->debug);
	elf_file_close(state->file);
	free(state);
}

/* A module copied with too many files open has an fd of -1 and says why. */
static int open_module(const struct module *module, struct elf_file **ret)
{
	int fd, r;

	if (module->kind == MODULE_VDSO)
		return elf_file_open_image(module->image, module->image_size, ret);
	if (module->fd < 0)
		return module->open_error && module->open_error != ENOENT ? -module->open_error
									  : -ENODATA;
	fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	r = elf_file_open(fd, ret);
	if (r < 0)
		(void)close(fd); /* read only */
	return r;
}

/* The full table if there is one; else what the dynamic linker needs and what was put aside. */
static int collect(struct state *state, const struct module *module)
{
	int r;

	r = symbols_add(state->symbols, state->file, SHT_SYMTAB);
	if (r)
		return r < 0 ? r : 0;
	r = symbols_add(state->symbols, state->file, SHT_DYNSYM);
	if (!r && !state->file->nr_sections)
		r = symbols_add_dynamic(state->symbols, state->file);
	if (r < 0 || module->kind != MODULE_FILE)
		return r;
	r = debugfile_find(state->file, module->root_fd, module->path, &state->debug);
	if (r == -ESTALE)
		(void)snprintf(state->note, sizeof(state->note),
			"the debug file of %.200s is of another build (its build id or CRC "
			"differs): not used; install the one that fits",
			module->path);
	if (r == -ENOENT || r == -ESTALE)
		r = debugfile_unpack(state->file, &state->debug);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return symbols_add(state->symbols, state->debug, SHT_SYMTAB);
}

static int elf_open(const struct host *host, const struct module *module, void **ret_state)
{
	struct state *state;
	int r;

	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO)
		return -ENOENT;
	state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	r = open_module(module, &state->file);
	if (r == 0)
		r = symbols_new(&state->symbols);
	if (r == 0)
		(void)elf_dynamic_read(state->file, &state->dynamic); /* or is linked statically */
	if (r == 0)
		r = collect(state, module);
	if (r >= 0)
		r = symbols_sort(state->symbols);
	if (r < 0) {
		elf_close(state);
		return r;
	}
	*ret_state = state;
	return 0;
}

static void spell_out(struct state *state)
{
	const struct elf_symbol *symbol = &state->symbol;
	int r = !state->readable ? 0 : demangle(symbol->name, symbol->name_size, state->demangled);

	state->demangled_size = r > 0 ? (size_t)r : 0;
	state->kind = r ? FUNCTION_CPP : FUNCTION_NATIVE;
}

/* A stub through which code calls another library has no symbol, but a name. */
static int look_up_stub(struct state *state, uint64_t vaddr, struct symbol *ret)
{
	static const char suffix[] = "@plt";
	size_t size = 0, bare;
	int r;

	if (state->dynamic.symbols && state->nr_stubs++ < MAX_STUBS)
		size = elf_plt_name(state->file, &state->dynamic, vaddr, state->plt);
	if (!size)
		return 0;
	*ret = (struct symbol){.name = state->plt, .name_size = size, .kind = FUNCTION_NATIVE};
	bare = size - strlen(suffix);
	state->function = 0; /* whose name gives up its place */
	r = demangle(state->plt, bare, state->demangled);
	if (r <= 0 || (size_t)r + sizeof(suffix) > sizeof(state->demangled))
		return 1;
	memcpy(state->demangled + r, suffix, sizeof(suffix));
	*ret = (struct symbol){.name = state->demangled,
		.name_size = (size_t)r + strlen(suffix),
		.kind = FUNCTION_CPP};
	return 1;
}

static int elf_lookup(
	void *arg, uint64_t offset, struct symbol *ret, size_t max, enum resolver_miss *ret_miss)
{
	struct state *state = arg;
	const struct elf_symbol *symbol = &state->symbol;
	uint32_t function;
	uint64_t vaddr;

	*ret_miss = symbols_nr(state->symbols) ? MISS_GAP : MISS_NO_SYMBOLS;
	if (!max || elf_file_vaddr(state->file, offset, &vaddr) < 0)
		return 0;
	function = symbols_locate(state->symbols, vaddr);
	if (!function)
		return look_up_stub(state, vaddr, ret);
	/* Offsets ascend, so most calls ask for the function of the one before. */
	if (function != state->function) {
		state->function = function;
		state->readable = symbols_read(state->symbols, function, &state->symbol);
		spell_out(state);
	}
	if (!state->readable)
		return 0;
	*ret = (struct symbol){
		.name = state->demangled_size ? state->demangled : symbol->name,
		.name_size = state->demangled_size ? state->demangled_size : symbol->name_size,
		.kind = state->kind,
	};
	return 1;
}

static int elf_locate(void *arg, uint64_t offset, uint64_t *ret)
{
	struct state *state = arg;
	uint64_t vaddr;
	int r;

	r = elf_file_vaddr(state->file, offset, &vaddr);
	if (r < 0)
		return r;
	if (!state->have_starts) {
		r = starts_open(state->file, &state->starts);
		if (r == -ENOMEM)
			return r;
		state->have_starts = 1;
	}
	if (!state->starts || starts_find(state->starts, vaddr, ret) < 0)
		*ret = vaddr;
	return 0;
}

static const char *elf_explain(const void *arg)
{
	const struct state *state = arg;

	return state->note[0] ? state->note : NULL;
}

const struct resolver resolver_elf = {
	.name = "elf",
	.summary = "names from ELF files: their own, those of debug files, MiniDebugInfo, the vDSO",
	.open = elf_open,
	.lookup = elf_lookup,
	.locate = elf_locate,
	.explain = elf_explain,
	.close = elf_close,
};
