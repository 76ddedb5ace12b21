/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(compile, .fini = check_leaks);

#define MAX_BYTES ((size_t)8 << 20)

struct disturbed {
	int fd;
	const uint8_t *bytes;
	size_t size;
	atomic_int over;
};

static void add(struct compile *compile, const char *path, uint32_t module)
{
	struct compiled *file = &compile->files[compile->nr++];

	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->module = module;
	cr_assert(ge(int, file->fd, 0));
}

Test(compile, makes_a_table_of_each_file_and_says_when_it_is_done)
{
	struct compile *compile;
	uint64_t done, address;

	cr_assert(eq(int, compile_new(&compile), 0));
	compile->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	add(compile, "/proc/self/exe", 3);
	add(compile, "/dev/null", 4);
	compile_job(compile);
	cr_assert(eq(int, (int)read(compile->event_fd, &done, sizeof(done)), (int)sizeof(done)));
	cr_assert(compile->files[0].done);
	cr_assert(eq(int, compile->files[0].error, 0));
	cr_assert(gt(sz, compile->files[0].table.nr_rows, 100));
	cr_assert(eq(int,
		segments_address(compile->files[0].segments, compile->files[0].nr_segments,
			compile->files[0].segments[0].offset, &address),
		0));
	cr_assert(eq(u64, address, compile->files[0].segments[0].vaddr));
	cr_assert(compile->files[1].done);
	cr_assert(lt(int, compile->files[1].error, 0));
	compile_free(compile);
}

Test(compile, begins_no_file_when_its_time_is_over)
{
	struct compile *compile;

	cr_assert(eq(int, compile_new(&compile), 0));
	compile->limit_ms = 1;
	for (uint32_t i = 0; i < COMPILE_MAX; i++)
		add(compile, "/proc/self/exe", i);
	compile_job(compile);
	cr_assert(compile->files[0].done);
	cr_assert(not(compile->files[COMPILE_MAX - 1].done));
	cr_assert(ge(int, compile->files[COMPILE_MAX - 1].fd, 0), "it is there for the next job");
	compile_free(compile);
}

Test(compile, knows_addresses_from_the_page_on_where_a_segment_begins)
{
	const struct elf_segment segments[] = {
		{.offset = 0x1230, .file_size = 0x800, .vaddr = 0x402230},
		{.offset = 0x3000, .file_size = 0x10, .vaddr = 0x3000}};
	uint64_t address;

	cr_assert(eq(int, segments_address(segments, 2, 0x1000, &address), 0));
	cr_assert(eq(u64, address, 0x402000));
	cr_assert(eq(int, segments_address(segments, 2, 0x3008, &address), 0));
	cr_assert(eq(u64, address, 0x3008));
	cr_assert(eq(int, segments_address(segments, 2, 0x2000, &address), -ENOENT));
}

/* Cuts a file and makes it whole again, without a pause. */
static void *disturb(void *arg)
{
	struct disturbed *disturbed = arg;

	while (!atomic_load(&disturbed->over)) {
		if (ftruncate(disturbed->fd, (off_t)(disturbed->size / 2)) < 0 ||
			pwrite(disturbed->fd, disturbed->bytes, disturbed->size, 0) < 0)
			break;
	}
	return NULL;
}

Test(compile, makes_no_table_of_a_file_that_is_written_to_meanwhile)
{
	struct disturbed disturbed = {.fd = memfd_create("changes", MFD_CLOEXEC)};
	int source = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), stale = 0;
	_cleanup_free_ uint8_t *bytes = malloc(MAX_BYTES);
	struct compile *compile;
	ssize_t n = read(source, bytes, MAX_BYTES);
	pthread_t thread;

	cr_assert(n > 4096 && disturbed.fd >= 0);
	disturbed.bytes = bytes;
	disturbed.size = (size_t)n;
	cr_assert(write(disturbed.fd, bytes, disturbed.size) == n);
	cr_assert(eq(int, pthread_create(&thread, NULL, disturb, &disturbed), 0));
	/* Whatever it meets, it comes to an end. */
	for (int tries = 0; tries < 100000 && stale < 3; tries++) {
		cr_assert(eq(int, compile_new(&compile), 0));
		compile->files[0].fd = dup(disturbed.fd);
		compile->nr = 1;
		compile_job(compile);
		stale += compile->files[0].error == -ESTALE;
		compile_free(compile);
	}
	atomic_store(&disturbed.over, 1);
	cr_assert(eq(int, pthread_join(thread, NULL), 0));
	cr_assert(eq(int, stale, 3));
	(void)close(source);
	(void)close(disturbed.fd);
}
