/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_JAVAVM_H
#define STOKE_CAPTURE_JAVAVM_H

/*
 * Java VMs as walks know them (bpf/javavm.h): one slot of shared memory for each process that has
 * HotSpot mapped. A VM that starts has nothing to show at first and is asked again.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/javavm.h"
#include "hotspot/structs.h"
#include "process/memory.h"
#include "process/process.h"

/* What a VM says of itself. 0; -EAGAIN: not all of it is there yet; -EINVAL: what it says makes no
 * sense, or is nothing that walks can follow; errors of memory. */
int javavm_describe(
	const struct memory *memory, const struct hotspot_structs *structs, struct stoke_java *ret);

struct javavms;

/* slots: borrowed, where walks read. 0, -ENOMEM. */
int javavms_new(struct stoke_java *slots, size_t nr_slots, struct javavms **ret);
void javavms_free(struct javavms *javavms);

/* This process has these modules mapped: asks its VM, if there is one and it is not known yet.
 * *ret: 1 + index of its slot, or 0. 0, -ENOMEM. */
int javavms_read(struct javavms *javavms, const struct processes *processes, pid_t pid,
	const struct mapping *mappings, size_t nr, uint64_t now_ns, uint32_t *ret);
/* It has ended, or is another program now. */
void javavms_forget(struct javavms *javavms, pid_t pid, uint64_t now_ns);
/* A process whose VM is to be asked again now: its pid and *ret, 1 + index, once it is known. 0: no
 * more. */
pid_t javavms_next(struct javavms *javavms, uint64_t now_ns, uint32_t *ret);

#endif
