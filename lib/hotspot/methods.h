/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_METHODS_H
#define STOKE_HOTSPOT_METHODS_H

/*
 * What HotSpot knows of a method: its name as the VM's own tools print it, its source file, the
 * line of each bytecode. A method may be unloaded while it is read: whoever asks makes sure that
 * it was there before and after.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hotspot/structs.h"
#include "process/pages.h"

#define METHOD_NAME_MAX 4096
#define METHOD_FILE_MAX 1024

/*
 * "void java.lang.Object.wait(long, int)" into ret, without a NUL; names longer than room are cut
 * between whole characters. Its size; -EINVAL: no method is there; errors of pages.
 */
ssize_t method_name(struct pages *pages, const struct hotspot_structs *structs, uint64_t method,
	char *ret, size_t room);
/* "Object.java": its size, 0 when the class does not say. */
ssize_t method_file(struct pages *pages, const struct hotspot_structs *structs, uint64_t method,
	char *ret, size_t room);
/* The line of a bytecode index; 0: not known. */
uint32_t method_line(
	struct pages *pages, const struct hotspot_structs *structs, uint64_t method, int32_t bci);
/* The bytecode index of an address in the method's bytecode; -1: it is not in there. */
int32_t method_bci(
	struct pages *pages, const struct hotspot_structs *structs, uint64_t method, uint64_t bcp);

/* An UNSIGNED5 number of HotSpot's: 1 and *at moved, or 0: none. */
int method_number(const uint8_t *bytes, size_t size, size_t *at, unsigned excluded, uint32_t *ret);

#endif
