/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_LAYOUTS_H
#define STOKE_SOURCE_LAYOUTS_H

/*
 * How this kernel lays out the few types that a program reads. libbpf would take in the kernel's
 * whole BTF (150,000 types) for each object, which is most of the time until the first sample:
 * it is given a BTF of those types alone instead.
 */

#include <bpf/btf.h>

struct layouts;

/* Of a kernel's BTF; distribution kernels have under 8 MB. */
#define LAYOUTS_MAX_BYTES (256u << 20)
#define LAYOUTS_OF_KERNEL "/sys/kernel/btf/vmlinux"

/* Takes in the BTF at path. 0, or -errno: then libbpf has to find out for itself. */
int layouts_open(const char *path, struct layouts **ret);
void layouts_close(struct layouts *layouts);

/*
 * Of each named type of `local` (an object's own BTF) the type of that name as the kernel has it,
 * with the members and values that local asks for, into *ret: for btf__free(). What the kernel does
 * not have is left out, as relocation expects it. -EOPNOTSUPP: a shape that this does not know.
 */
int layouts_pick(const struct layouts *layouts, const struct btf *local, struct btf **ret);

/* Writes what bpf_object_open_opts.btf_custom_path is to hold for an object with that BTF into fd,
 * over what was there. When nothing can be picked, all of the kernel's. 0 or -errno. */
int layouts_write(const struct layouts *layouts, const struct btf *local, int fd);

#endif
