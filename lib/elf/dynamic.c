/* SPDX-License-Identifier: BSD-2-Clause */
/* dynamic.c: the dynamic section by its program header, and whose PLT stub an address is in. */
#include "elf/dynamic.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MAX_ENTRIES	4096 /* of a dynamic section; libraries have 30 */
#define MAX_BUCKETS	(1u << 20)
#define MAX_RELOCATIONS (1u << 16) /* looked through for one stub */
#define STUB_BYTES	16
#define CHUNK		512 /* relocations read at a time */

static uint64_t offset_of(const struct elf_file *file, uint64_t vaddr)
{
	uint64_t offset;

	return vaddr && elf_file_offset(file, vaddr, &offset) == 0 ? offset : 0;
}

static uint32_t read_word(const struct elf_file *file, uint64_t offset)
{
	uint32_t word = 0;

	return elf_file_read(file, offset, &word, sizeof(word)) < 0 ? 0 : word;
}

/* {nr_buckets, first symbol, words of the filter, shift}, filter, buckets, chains: the last symbol
 * is where the chain of the highest bucket ends. (glibc, elf/dl-lookup.c) */
static uint64_t count_by_gnu_hash(const struct elf_file *file, uint64_t at)
{
	uint32_t head[4] = {0}, last = 0;
	uint64_t buckets, chains;

	if (!at || elf_file_read(file, at, head, sizeof(head)) < 0 || head[0] > MAX_BUCKETS)
		return 0;
	buckets = at + sizeof(head) + (uint64_t)head[2] * sizeof(uint64_t);
	chains = buckets + (uint64_t)head[0] * sizeof(uint32_t);
	for (uint32_t i = 0; i < head[0]; i++) {
		uint32_t first = read_word(file, buckets + (uint64_t)i * sizeof(uint32_t));

		last = first > last ? first : last;
	}
	if (last < head[1])
		return 0;
	for (uint32_t n = 0; n < MAX_BUCKETS; n++, last++) {
		uint64_t chain = chains + (uint64_t)(last - head[1]) * sizeof(uint32_t);

		if (read_word(file, chain) & 1)
			return (uint64_t)last + 1;
	}
	return 0;
}

/* {nr_buckets, nr_chains}: a chain for each symbol. */
static uint64_t count_by_hash(const struct elf_file *file, uint64_t at)
{
	return at ? read_word(file, at + sizeof(uint32_t)) : 0;
}

int elf_dynamic_read(const struct elf_file *file, struct elf_dynamic *ret)
{
	uint64_t nr = file->dynamic.size / sizeof(Elf64_Dyn), value[DT_NUM] = {0}, gnu_hash = 0;

	if (!file->is_64 || !nr)
		return -ENOENT;
	for (uint64_t i = 0; i < nr && i < MAX_ENTRIES; i++) {
		Elf64_Dyn entry;

		if (elf_file_read(file, file->dynamic.offset + i * sizeof(entry), &entry,
			    sizeof(entry)) < 0 ||
			entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag > 0 && entry.d_tag < DT_NUM)
			value[entry.d_tag] = entry.d_un.d_val;
		if (entry.d_tag == DT_GNU_HASH)
			gnu_hash = entry.d_un.d_val;
	}
	*ret = (struct elf_dynamic){
		.symbols = offset_of(file, value[DT_SYMTAB]),
		.strings = offset_of(file, value[DT_STRTAB]),
		.strings_size = value[DT_STRSZ],
		.hash = offset_of(file, value[DT_HASH]),
		.gnu_hash = offset_of(file, gnu_hash),
		.calls = value[DT_PLTREL] == DT_RELA ? offset_of(file, value[DT_JMPREL]) : 0,
		.calls_size = value[DT_PLTRELSZ],
		.others = offset_of(file, value[DT_RELA]),
		.others_size = value[DT_RELASZ],
	};
	if (!ret->symbols || !ret->strings)
		return -ENOENT;
	return 0;
}

uint64_t elf_dynamic_count(const struct elf_file *file, const struct elf_dynamic *dynamic)
{
	uint64_t nr = count_by_hash(file, dynamic->hash);

	return nr ? nr : count_by_gnu_hash(file, dynamic->gnu_hash);
}

/* Where the stub that starts at vaddr reads its target from; 0: that is no stub. */
static uint64_t slot_of_x86_64(uint64_t vaddr, const uint8_t code[STUB_BYTES])
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	unsigned at = memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	int32_t distance;

	at += code[at] == 0xf2; /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25) /* jmp *distance(%rip) */
		return 0;
	memcpy(&distance, code + at + 2, sizeof(distance));
	return vaddr + at + 6 + (uint64_t)(int64_t)distance;
}

/* adrp x16, page; ldr x17, [x16, #offset]; add x16, ...; br x17; perhaps behind a bti c. */
static uint64_t slot_of_aarch64(uint64_t vaddr, const uint8_t code[STUB_BYTES])
{
	uint32_t word[STUB_BYTES / 4];
	uint64_t page;
	unsigned at;

	memcpy(word, code, sizeof(word));
	at = word[0] == 0xd503245f;
	if ((word[at] & 0x9f00001f) != 0x90000010 || (word[at + 1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (uint64_t)(word[at] >> 5 & 0x7ffff) << 2 | (word[at] >> 29 & 3);
	page = (page ^ 1ull << 20) - (1ull << 20); /* 21 bits, signed */
	return ((vaddr + 4 * at) & ~0xfffull) + (page << 12) + (word[at + 1] >> 10 & 0xfff) * 8;
}

static uint64_t slot_at(const struct elf_file *file, uint64_t vaddr)
{
	uint8_t code[STUB_BYTES] = {0};
	uint64_t offset;

	if (elf_file_offset(file, vaddr, &offset) < 0 ||
		elf_file_read_some(file, offset, code, sizeof(code)) < STUB_BYTES / 2)
		return 0;
	return file->machine == EM_X86_64    ? slot_of_x86_64(vaddr, code)
	       : file->machine == EM_AARCH64 ? slot_of_aarch64(vaddr, code)
					     : 0;
}

/* The symbol that fills a slot by one of these relocations; 0: none. */
static uint64_t symbol_of_slot(
	const struct elf_file *file, uint64_t table, uint64_t size, uint64_t slot)
{
	uint64_t nr = table ? size / sizeof(Elf64_Rela) : 0;
	_cleanup_free_ Elf64_Rela *chunk = NULL;

	if (!nr)
		return 0;
	if (nr > MAX_RELOCATIONS)
		nr = MAX_RELOCATIONS;
	chunk = calloc(CHUNK, sizeof(*chunk));
	if (!chunk)
		return 0;
	for (uint64_t at = 0; at < nr; at += CHUNK) {
		uint64_t want = nr - at < CHUNK ? nr - at : CHUNK;
		ssize_t n = elf_file_read_some(
			file, table + at * sizeof(*chunk), chunk, (size_t)want * sizeof(*chunk));

		for (ssize_t i = 0; i < n / (ssize_t)sizeof(*chunk); i++) {
			if (chunk[i].r_offset == slot)
				return ELF64_R_SYM(chunk[i].r_info);
		}
	}
	return 0;
}

/* "NAME@plt" into name; without the "@VERSION" that some linkers keep. */
static size_t spell(const struct elf_file *file, const struct elf_dynamic *dynamic, uint64_t symbol,
	char name[ELF_PLT_NAME_MAX])
{
	static const char suffix[] = "@plt";
	const size_t room = ELF_PLT_NAME_MAX - sizeof(suffix);
	Elf64_Sym entry;
	ssize_t n;
	size_t size;

	if (symbol >= UINT32_MAX ||
		elf_file_read(file, dynamic->symbols + symbol * sizeof(entry), &entry,
			sizeof(entry)) < 0 ||
		!entry.st_name || entry.st_name >= dynamic->strings_size)
		return 0;
	n = elf_file_read_some(file, dynamic->strings + entry.st_name, name, room);
	if (n <= 0 || !memchr(name, '\0', (size_t)n))
		return 0;
	size = strcspn(name, "@");
	if (!size)
		return 0;
	memcpy(name + size, suffix, sizeof(suffix));
	return size + sizeof(suffix) - 1;
}

size_t elf_plt_name(const struct elf_file *file, const struct elf_dynamic *dynamic, uint64_t vaddr,
	char name[ELF_PLT_NAME_MAX])
{
	/* Stubs are 16 bytes, those of .plt.got 8, those of aarch64 with a bti 24. */
	static const unsigned sizes[] = {16, 8};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t slot = slot_at(file, vaddr & ~(uint64_t)(sizes[i] - 1)), symbol;

		if (!slot)
			continue;
		symbol = symbol_of_slot(file, dynamic->calls, dynamic->calls_size, slot);
		if (!symbol)
			symbol = symbol_of_slot(file, dynamic->others, dynamic->others_size, slot);
		if (symbol)
			return spell(file, dynamic, symbol, name);
	}
	return 0;
}
