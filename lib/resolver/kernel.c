/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c: /proc/kallsyms: the kernel's own text, its modules and BPF programs. It has starts and
 * no sizes, so what follows decides where a function ends, within limits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "resolver/resolver.h"

#define MAX_TEXT_SIZE	  (64u << 20) /* of kallsyms; distribution kernels have under 16 MB */
#define READ_SIZE	  (1u << 20)
#define MAX_FUNCTION_SIZE (1u << 20)
#define MAX_LAST_SIZE	  (64u << 10) /* of the last function before another module */
#define RANK_END	  4 /* a label that ends a region of text */

struct entry {
	uint64_t address;
	uint32_t name, name_size; /* into text */
	uint32_t module, module_size; /* "[mod]", 0: the kernel itself */
	uint32_t rank; /* higher is better */
};

struct state {
	char *text;
	size_t size, capacity;
	struct entry *entries; /* sorted by address, one an address */
	size_t nr, entries_capacity;
	int hidden; /* there are symbols, but all at 0 */
};

static void kernel_close(void *arg)
{
	struct state *state = arg;

	if (!state)
		return;
	free(state->text);
	free(state->entries);
	free(state);
}

static int read_all(int fd, struct state *state)
{
	for (;;) {
		ssize_t n;
		int r;

		if (state->size > MAX_TEXT_SIZE)
			return -E2BIG;
		r = array_reserve(&state->text, &state->capacity, state->size, READ_SIZE);
		if (r < 0)
			return r;
		n = read(fd, state->text + state->size, READ_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		state->size += (size_t)n;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static const char *end_of_word(const char *p, const char *end)
{
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	return p;
}

/* Global before weak before local. 0: not code. */
static uint32_t rank_of(char type)
{
	switch (type) {
	case 'T':
		return 3;
	case 'W':
	case 'w':
		return 2;
	case 't':
		return 1;
	default:
		return 0;
	}
}

static int ends_region(const char *name, size_t size)
{
	return (size == strlen("_etext") && memcmp(name, "_etext", size) == 0) ||
	       (size == strlen("_einittext") && memcmp(name, "_einittext", size) == 0);
}

/* One line: "ffffffff81000100 T name\t[module]". 1: a text symbol, 0: anything else. */
static int parse_line(
	const struct state *state, const char *line, const char *end, struct entry *ret)
{
	const char *p = line, *name;
	uint64_t address = 0;
	int digit;

	for (; p < end && (digit = hex_digit(*p)) >= 0 && p - line < 16; p++)
		address = address << 4 | (unsigned)digit;
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return 0;
	*ret = (struct entry){.address = address, .rank = rank_of(p[1])};
	name = p + 3;
	p = end_of_word(name, end);
	if (!ret->rank || p == name)
		return 0;
	ret->name = (uint32_t)(name - state->text);
	ret->name_size = (uint32_t)(p - name);
	if (ends_region(name, ret->name_size))
		ret->rank = RANK_END;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p < end && *p == '[') {
		ret->module = (uint32_t)(p - state->text);
		ret->module_size = (uint32_t)(end_of_word(p, end) - p);
	}
	return 1;
}

static int parse(struct state *state)
{
	const char *p = state->text, *end = p + state->size;
	size_t nr_zero = 0;

	while (p < end) {
		const char *line = p, *stop = memchr(p, '\n', (size_t)(end - p));
		struct entry entry;
		int r;

		if (!stop)
			break; /* half a line could be half an address */
		p = stop + 1;
		if (!parse_line(state, line, stop, &entry))
			continue;
		if (!entry.address) {
			nr_zero++;
			continue;
		}
		r = array_reserve(&state->entries, &state->entries_capacity, state->nr, 1);
		if (r < 0)
			return r;
		state->entries[state->nr++] = entry;
	}
	state->hidden = !state->nr && nr_zero;
	return 0;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name); /* stable: any order, but always one */
}

static size_t leading_underscores(const struct state *state, const struct entry *entry)
{
	size_t n = 0;

	while (n < entry->name_size && state->text[entry->name + n] == '_')
		n++;
	return n;
}

static int is_better(const struct state *state, const struct entry *a, const struct entry *b)
{
	size_t of_a = leading_underscores(state, a), of_b = leading_underscores(state, b);

	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (of_a != of_b)
		return of_a < of_b;
	if (a->name_size != b->name_size)
		return a->name_size < b->name_size;
	return memcmp(state->text + a->name, state->text + b->name, a->name_size) < 0;
}

static void sort(struct state *state)
{
	size_t kept = 0;

	for (size_t i = 1; i < state->nr; i++) {
		if (state->entries[i - 1].address <= state->entries[i].address)
			continue;
		qsort(state->entries, state->nr, sizeof(*state->entries), compare_addresses);
		break;
	}
	for (size_t i = 0; i < state->nr; i++) {
		struct entry *entry = &state->entries[i];

		if (!kept || state->entries[kept - 1].address != entry->address)
			state->entries[kept++] = *entry;
		else if (is_better(state, entry, &state->entries[kept - 1]))
			state->entries[kept - 1] = *entry;
	}
	state->nr = kept;
}

static int kernel_open(const struct host *host, const struct module *module, void **ret_state)
{
	_cleanup_close_ int fd = -1;
	struct state *state;
	int r;

	if (module->kind != MODULE_KERNEL)
		return -ENOENT;
	fd = openat(host->proc_fd, "kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENODATA : -errno; /* -ENOENT would mean: not mine */
	state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	r = read_all(fd, state);
	if (r == 0)
		r = parse(state);
	if (r < 0) {
		kernel_close(state);
		return r;
	}
	sort(state);
	*ret_state = state;
	return 0;
}

static int same_module(const struct state *state, const struct entry *a, const struct entry *b)
{
	return a->module_size == b->module_size &&
	       memcmp(state->text + a->module, state->text + b->module, a->module_size) == 0;
}

static const struct entry *find(const struct state *state, uint64_t address)
{
	size_t low = 0, high = state->nr;
	const struct entry *entry;
	uint64_t limit;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	entry = &state->entries[low - 1];
	limit = low < state->nr && same_module(state, entry, entry + 1) ? MAX_FUNCTION_SIZE
									: MAX_LAST_SIZE;
	if (address - entry->address >= limit || entry->rank == RANK_END)
		return NULL;
	return entry;
}

static int kernel_lookup(
	void *arg, uint64_t offset, struct symbol *ret, size_t max, enum resolver_miss *ret_miss)
{
	const struct state *state = arg;
	const struct entry *entry = find(state, offset);

	*ret_miss = state->hidden ? MISS_HIDDEN : state->nr ? MISS_GAP : MISS_NO_SYMBOLS;
	if (!entry || !max)
		return 0;
	*ret = (struct symbol){
		.name = state->text + entry->name,
		.name_size = entry->name_size,
		.file = entry->module_size ? state->text + entry->module : NULL,
		.file_size = entry->module_size,
		.kind = FUNCTION_KERNEL,
	};
	return 1;
}

const struct resolver resolver_kernel = {
	.name = "kernel",
	.summary = "names of the kernel, its modules and BPF programs, from /proc/kallsyms",
	.open = kernel_open,
	.lookup = kernel_lookup,
	.close = kernel_close,
};
