/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_JVM_H
#define STOKE_CAPTURE_JVM_H

#include <stddef.h>

#include "process/module.h"

#define JVM_VERSION_MAX 64 /* with its NUL */

/* 1 when the module is HotSpot by its file's name. */
int jvm_is_module(const struct module *module);
/*
 * The version that the HotSpot mapped there has: "17.0.15+6-Debian-1deb12u1", "1.8.0_504-b08". 0;
 * -ENOENT: no such thing in it; -ETIMEDOUT: its file system does not answer; other -errno.
 */
int jvm_version(const struct module *module, char ret[JVM_VERSION_MAX]);

#endif
