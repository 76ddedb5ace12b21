/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_note.c: the build id of a file that only begins like ELF, or lies about itself. */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/module.h"
#include "process/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t build_id[MODULE_BUILD_ID_MAX], id_size = 0xff;
	int fd = memfd_create("elf", MFD_CLOEXEC), r;

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, data, size) == (ssize_t)size);
	r = note_read_build_id(fd, build_id, sizeof(build_id), &id_size);
	REQUIRE(r == 0 || r == -ENOEXEC);
	REQUIRE(r < 0 || id_size <= MODULE_BUILD_ID_MAX);
	(void)close(fd); /* memory */
	return 0;
}
