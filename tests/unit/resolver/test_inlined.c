/* SPDX-License-Identifier: BSD-2-Clause */
#include "resolver/inlined.h"

#include "resolver/resolver.h"
#include "unit/elf/inlined.h"

TestSuite(inlined, .fini = check_leaks);

static struct stoke_profile *profile;
static struct host host;

/* A profile of one stack: a place in a file. The frame. */
static uint32_t begin(const char *file, uint64_t address)
{
	char path[4096];
	struct module module = {
		.kind = MODULE_FILE, .path = path, .fd = open_elf(file), .root_fd = -1};
	struct frame frame = {0};
	uint32_t id, run, stack;

	(void)snprintf(path, sizeof(path), "%s", elf_path(file));
	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_module(profile, &module, &frame.module), 0));
	(void)close(module.fd);
	frame.address = address;
	cr_assert(eq(int, profile_frame(profile, &frame, &id), 0));
	cr_assert(eq(int, profile_run(profile, "made", &run), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, id, &stack), 0));
	return id;
}

static void end(void)
{
	stoke_profile_free(profile);
	profile = NULL;
	host_close(&host);
}

static char *name_of(uint32_t frame, unsigned i)
{
	static char name[256];
	uint32_t id = frame_function(profile, &profile->frames[frame], i);

	(void)snprintf(name, sizeof(name), "%.*s",
		(int)strings_size(&profile->strings, profile->functions[id].name),
		strings_text(&profile->strings, profile->functions[id].name));
	return name;
}

static const char *warning(void)
{
	for (size_t i = 0; i < profile->runs[0].nr_facts; i++)
		if (!strcmp(strings_text(&profile->strings, profile->runs[0].facts[i].key),
			    "warning"))
			return strings_text(&profile->strings, profile->runs[0].facts[i].value);
	return "";
}

/* The place in outer that is innermost's work. */
static uint32_t begin_inside(const char *file)
{
	uint64_t size, start = function_in(file, "outer", &size);
	uint32_t frame = 0;

	for (uint64_t i = 0; i < size; i++) {
		frame = begin(file, start + i);
		cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
		cr_assert(eq(int, resolve_inlined(profile), 0));
		if (profile->frames[frame].nr_functions == 3 &&
			profile->frames[frame].line == line_with("/* work */"))
			break;
		end();
	}
	cr_assert(profile != NULL, "nothing inlined in %s", file);
	return frame;
}

Test(inlined, frames_get_what_was_inlined_there)
{
	/* By its own DWARF; its debug file is beside it and has the name that is stripped here. */
	static const char *const names[] = {"inlined-gcc.so", "inlined-apart.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t frame = begin_inside(names[i]);

		cr_assert(eq(str, name_of(frame, 0), "innermost"));
		cr_assert(eq(str, name_of(frame, 1), "middle"));
		cr_assert(eq(str, name_of(frame, 2), "outer"));
		cr_assert(eq(str, (char *)warning(), ""));
		end();
	}
}

Test(inlined, file_that_says_nothing_stays_as_it_is_and_that_is_said)
{
	uint32_t frame = begin("lld.so", function_offset("lld.so", SECRET_HOT) + 4);

	cr_assert(eq(int, resolve_profile(profile, &host, NULL), 0));
	cr_assert(eq(int, resolve_inlined(profile), 0));
	cr_assert(eq(int, profile->frames[frame].nr_functions, 1));
	cr_assert(eq(str, name_of(frame, 0), "secret_hot"));
	cr_assert(ne(ptr, strstr(warning(), "no inlined functions"), NULL));
	end();
}
