/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_PPROF_READER_H
#define STOKE_FORMAT_PPROF_READER_H

/* What the two files that read pprof share: a file being read, and its tables. */

#include "format/pprof.h"

#include <errno.h>

#include "profile.pb-c.h"

/* ids of the file, which may be any numbers, to those of the profile */
struct id {
	uint64_t file;
	uint32_t mine;
	uint32_t nr_lines; /* of locations */
};

struct ids {
	struct id *id; /* sorted by file once all are there */
	size_t nr, capacity;
};

/* A function; added to the profile as the kinds that its lines need. */
struct pending {
	uint32_t name, file, line;
	int kind; /* -1: the file does not say */
	uint32_t as[2]; /* as plain code, as inlined; 0: not asked yet */
};

struct pprof_reader {
	struct stoke_profile *profile;
	struct stoke_error *err;
	const char *name; /* of the file */
	const uint8_t *bytes;
	size_t size;
	ProtobufCAllocator allocator;
	int out_of_memory; /* told from malformed, which protobuf-c does not */
	uint32_t *strings; /* of the file -> of the profile */
	size_t nr_strings, strings_capacity;
	struct ids mappings, functions, locations;
	struct pending *pending; /* a function's id leads here */
	size_t pending_capacity;
	unsigned columns[PROFILE_MAX_VALUES];
	unsigned nr_columns;
	uint32_t run;
	uint64_t slice_ns;
	int64_t default_type;
	struct label *labels; /* scratch */
	size_t labels_capacity;
};

/* -EINVAL, with the sentence. */
int pprof_malformed(struct pprof_reader *reader, const char *what);

/* One of the messages inside, checked by protobuf-c. */
#define UNPACK(reader, type, p, size, ret)                                                         \
	({                                                                                         \
		*(ret) = perftools__profiles__##type##__unpack(&(reader)->allocator, size, p);     \
		*(ret)			  ? 0                                                      \
		: (reader)->out_of_memory ? -ENOMEM                                                \
					  : pprof_malformed(reader, "a broken " #type);            \
	})

/* The profile's string for an index of the file. */
int pprof_string(struct pprof_reader *reader, int64_t index, uint32_t *ret);
/* Once all ids of a kind are there: sorts them, refuses those that stand twice. */
int pprof_sort_ids(struct pprof_reader *reader, struct ids *ids);
/* NULL: not there. */
const struct id *pprof_find_id(const struct ids *ids, uint64_t file);
/* Entries of the tables, as messages. */
int pprof_read_mapping(struct pprof_reader *reader, const uint8_t *p, size_t size);
int pprof_read_function(struct pprof_reader *reader, const uint8_t *p, size_t size);
int pprof_read_location(struct pprof_reader *reader, const uint8_t *p, size_t size);

#endif
