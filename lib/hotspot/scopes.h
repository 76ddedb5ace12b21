/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_SCOPES_H
#define STOKE_HOTSPOT_SCOPES_H

/*
 * Which methods stand at an address of compiled code: the compiler writes it down for each place
 * where the VM may stop, and a return address is one always. At any other address the next such
 * place is what is known: an inlined method without calls of its own is not seen there.
 */

#include <stddef.h>
#include <stdint.h>

#include "hotspot/codecache.h"
#include "process/pages.h"

struct scope {
	uint64_t method; /* Method * */
	int32_t bci; /* -1: before its first bytecode */
};

/*
 * Innermost first, the blob's own method last. How many; 0: nothing is known there, or the tables
 * contradict themselves; errors of pages but -EFAULT. The blob has to be the one that stands there
 * now: whoever asks makes sure of it afterwards.
 */
int scopes_read(struct pages *pages, const struct hotspot_structs *structs,
	const struct code_blob *blob, uint64_t address, struct scope *ret, size_t max);

#endif
