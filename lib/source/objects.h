/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_OBJECTS_H
#define STOKE_SOURCE_OBJECTS_H

/* For sources: how an object of theirs joins the others. The rest is in source.h. */

#include <stddef.h>

#include "bpf/event.h"
#include "source/source.h"

struct bpf_object;
struct bpf_object_open_opts;

#define VERIFIER_LOG_BYTES (1u << 20)

/* What objects were opened for. */
const struct objects_options *objects_wanted(const struct objects *objects);
/* The target set without BPF; NULL: it is going. Borrowed. */
struct members;
void objects_use_members(struct objects *objects, struct members *members);

/* Options every object is opened with: its verifier log goes into objects' own memory. */
const struct bpf_object_open_opts *objects_open_options(struct objects *objects);

/* What to copy into the object's rodata->config before objects_load(). */
const struct stoke_config *objects_config(const struct objects *objects);

/* Gives the object the shared maps, loads it, keeps it in the sum of objects_losses().run_ns until
 * objects_unload(). name: for messages. On refusal the end of the verifier's log is in err. */
int objects_load(struct objects *objects, struct bpf_object *object, const char *name,
	struct stoke_error *err);
/* Are the maps of unwind tables there? */
int objects_have_tables(const struct objects *objects);
/* A shared map, by its name in bpf/maps.h. */
struct bpf_map;
const struct bpf_map *objects_map(const struct objects *objects, const char *name);

/* To be called before the object is destroyed. */
void objects_unload(struct objects *objects, struct bpf_object *object);

#endif
