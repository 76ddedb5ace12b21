/* SPDX-License-Identifier: BSD-2-Clause */
/* module.c: what makes two mapped files the same code, and who owns their fds. */
#include "process/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int module_copy(const struct module *module, struct module *ret)
{
	struct module copy = *module;

	copy.path = NULL;
	copy.image = NULL;
	copy.fd = copy.root_fd = -1;
	if (module->path) {
		copy.path = strdup(module->path);
		if (!copy.path)
			goto fail;
	}
	if (module->image_size) {
		copy.image = malloc(module->image_size);
		if (!copy.image)
			goto fail;
		memcpy(copy.image, module->image, module->image_size);
	}
	if (module->fd >= 0) {
		copy.fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 3);
		if (copy.fd < 0)
			copy.open_error = errno;
	}
	if (module->root_fd >= 0)
		copy.root_fd = fcntl(module->root_fd, F_DUPFD_CLOEXEC, 3);
	*ret = copy;
	return 0;

fail:
	module_done(&copy);
	return -ENOMEM;
}

void module_done(struct module *module)
{
	free(module->path);
	free(module->image);
	if (module->fd >= 0)
		(void)close(module->fd); /* read only */
	if (module->root_fd >= 0)
		(void)close(module->root_fd);
	*module = (struct module){.fd = -1, .root_fd = -1};
}

static int same_path(const struct module *a, const struct module *b)
{
	return strcmp(a->path ? a->path : "", b->path ? b->path : "") == 0;
}

int module_same(const struct module *a, const struct module *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case MODULE_KERNEL:
	case MODULE_NONE:
		return 1;
	case MODULE_JIT:
		return a->pid == b->pid && a->pid_start == b->pid_start;
	case MODULE_VDSO:
		return a->image_size == b->image_size &&
		       (!a->image_size || memcmp(a->image, b->image, a->image_size) == 0);
	case MODULE_FILE:
		if (a->build_id_size && b->build_id_size)
			return a->build_id_size == b->build_id_size &&
			       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
		return a->dev == b->dev && a->ino == b->ino && same_path(a, b);
	case MODULE_FOREIGN:
		return a->start == b->start && a->limit == b->limit && a->offset == b->offset &&
		       a->build_id_size == b->build_id_size &&
		       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && same_path(a, b);
	}
	return 0;
}
