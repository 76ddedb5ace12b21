/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/note.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(note, .fini = check_leaks);

Test(note, a_program_has_the_build_id_that_its_linker_gave_it)
{
	uint8_t id[20] = {0}, none[20] = {0}, size = 0;
	int fd = open("/bin/cat", O_RDONLY | O_CLOEXEC);

	cr_assert(eq(int, note_read_build_id(fd, id, sizeof(id), &size), 0));
	cr_assert(eq(int, size, 20));
	cr_assert(ne(int, memcmp(id, none, 20), 0));
	cr_assert(eq(int, note_read_build_id(fd, id, 19, &size), 0)); /* no room: none */
	cr_assert(eq(int, size, 0));
	(void)close(fd);
}

Test(note, what_is_not_elf_says_so)
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	uint8_t id[20], size = 0;

	cr_assert(eq(int, note_read_build_id(fd, id, sizeof(id), &size), -ENOEXEC));
	cr_assert(eq(int, (int)write(fd, "#!/bin/sh\n", 10), 10));
	cr_assert(eq(int, note_read_build_id(fd, id, sizeof(id), &size), -ENOEXEC));
	(void)close(fd);
	cr_assert(eq(int, note_read_build_id(fd, id, sizeof(id), &size), -EBADF));
}
