/* SPDX-License-Identifier: BSD-2-Clause */
/* debugfile.c: where distributions put symbols, and how to know that a file has the right ones. */
#include "elf/debugfile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"

#define MAX_LINK_SIZE	 (PATH_MAX + 8)
#define MAX_CHECKED_SIZE (4ull << 30) /* of a file whose CRC is taken: seconds */

/*
 * Opens a path of the target's root, in which symbolic links lead where they do for the target
 * and never out of it. O_NONBLOCK: a FIFO put there shall not hold us up.
 */
static int open_below(int root_fd, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (root_fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	else
		fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* 1: same build id, 0: another one, -1: one of them has none. */
static int same_build_id(const struct elf_file *a, const struct elf_file *b)
{
	if (!a->build_id_size || !b->build_id_size)
		return -1;
	return a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

static int checksum(const struct elf_file *file, uint32_t *ret)
{
	_cleanup_free_ uint8_t *chunk = malloc(256u << 10);
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;

	if (!chunk)
		return -ENOMEM;
	if (file->size > MAX_CHECKED_SIZE)
		return -E2BIG;
	while (at < file->size) {
		ssize_t n = elf_file_read_some(file, at, chunk, 256u << 10);

		if (n <= 0)
			return n < 0 ? (int)n : -ENODATA;
		crc = crc32(crc, chunk, (uInt)n);
		at += (size_t)n;
	}
	*ret = (uint32_t)crc;
	return 0;
}

/* Opens path if it is the debug file of `file` and has symbols (the link may lead to the stripped
 * file itself). crc: NULL when there is only the build id. */
static int open_candidate(const struct elf_file *file, int root_fd, const char *path,
	const uint32_t *crc, struct elf_file **ret)
{
	struct elf_file *found = NULL;
	struct stat status;
	uint32_t sum = 0;
	int fd, r;

	fd = open_below(root_fd, path);
	if (fd < 0)
		return fd;
	r = fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ? -EINVAL
							       : elf_file_open(fd, &found);
	if (r < 0) {
		(void)close(fd); /* read only */
		return r;
	}
	r = same_build_id(file, found);
	if (r < 0 && crc) {
		r = checksum(found, &sum);
		if (r == 0)
			r = sum == *crc;
	}
	if (r > 0 && elf_file_section_of(found, SHT_SYMTAB)) {
		*ret = found;
		return 0;
	}
	elf_file_close(found);
	if (r == 0)
		return -ESTALE;
	return r == -ENOMEM ? r : -ENOENT;
}

static int find_by_build_id(const struct elf_file *file, int root_fd, struct elf_file **ret)
{
	char path[128];
	int n;

	if (file->build_id_size < 2)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", file->build_id[0]);
	for (unsigned i = 1; i < file->build_id_size; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", file->build_id[i]);
	(void)snprintf(path + n, sizeof(path) - (size_t)n, ".debug"); /* 26 + 3 + 2 * 20 + 6 */
	return open_candidate(file, root_fd, path, NULL, ret);
}

/* The name in .gnu_debuglink: NUL-terminated, padded to 4 bytes, then the CRC32 of that file. */
static int read_link(const struct elf_file *file, char name[NAME_MAX + 1], uint32_t *ret_crc)
{
	const struct elf_section *section = elf_file_section(file, ".gnu_debuglink");
	_cleanup_free_ uint8_t *link = NULL;
	size_t size, crc_at;
	int r;

	if (!section)
		return -ENOENT;
	r = elf_file_contents(file, section, MAX_LINK_SIZE, &link);
	if (r < 0)
		return r;
	size = strlen((char *)link);
	crc_at = (size + 1 + 3) & ~(size_t)3;
	if (!size || size > NAME_MAX || crc_at + sizeof(*ret_crc) > section->size ||
		strchr((char *)link, '/') || strcmp((char *)link, ".") == 0 ||
		strcmp((char *)link, "..") == 0)
		return -EINVAL;
	memcpy(name, link, size + 1);
	memcpy(ret_crc, link + crc_at, sizeof(*ret_crc));
	return 0;
}

static int find_by_link(
	const struct elf_file *file, int root_fd, const char *path, struct elf_file **ret)
{
	static const struct {
		const char *top, *below;
	} places[] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
	const char *slash = path ? strrchr(path, '/') : NULL;
	char name[NAME_MAX + 1], candidate[2 * PATH_MAX];
	int r, none = -ENOENT;
	uint32_t crc;

	if (!slash || path[0] != '/' || slash - path > PATH_MAX)
		return -ENOENT;
	r = read_link(file, name, &crc);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int n = snprintf(candidate, sizeof(candidate), "%s%.*s%s/%s", places[i].top,
			(int)(slash - path), path, places[i].below, name);

		if (n < 0 || (size_t)n >= sizeof(candidate))
			continue;
		r = open_candidate(file, root_fd, candidate, &crc, ret);
		if (r == 0 || r == -ENOMEM)
			return r;
		if (r == -ESTALE)
			none = r;
	}
	return none;
}

int debugfile_find(
	const struct elf_file *file, int root_fd, const char *path, struct elf_file **ret)
{
	int r;

	r = find_by_build_id(file, root_fd, ret);
	if (r == 0 || r == -ENOMEM)
		return r;
	if (root_fd >= 0) { /* the build id says that ours is as good */
		r = find_by_build_id(file, -1, ret);
		if (r == 0 || r == -ENOMEM)
			return r;
	}
	r = find_by_link(file, root_fd, path, ret);
	return r == 0 || r == -ENOMEM || r == -ESTALE ? r : -ENOENT;
}

static void end_decoder(lzma_stream *stream)
{
	lzma_end(stream);
}

/* Unpacks into growing memory. -E2BIG past a limit, -EINVAL: not xz, or cut off. */
static int unpack(const uint8_t *packed, size_t packed_size, uint8_t **ret, size_t *ret_size)
{
	_cleanup_(end_decoder) lzma_stream stream = LZMA_STREAM_INIT;
	_cleanup_free_ uint8_t *unpacked = NULL;
	size_t room = 0, done = 0;
	lzma_ret r;

	if (lzma_stream_decoder(&stream, DEBUGFILE_MAX_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = packed;
	stream.avail_in = packed_size;
	do {
		size_t grown = room ? 2 * room : 256u << 10;
		uint8_t *more;

		if (grown > DEBUGFILE_MAX_UNPACKED)
			return -E2BIG;
		more = realloc(unpacked, grown);
		if (!more)
			return -ENOMEM;
		unpacked = more;
		room = grown;
		stream.next_out = unpacked + done;
		stream.avail_out = room - done;
		r = lzma_code(&stream, LZMA_FINISH);
		done = room - stream.avail_out;
	} while (r == LZMA_OK && !stream.avail_out);
	if (r == LZMA_MEM_ERROR)
		return -ENOMEM;
	if (r != LZMA_STREAM_END)
		return r == LZMA_MEMLIMIT_ERROR ? -E2BIG : -EINVAL;
	*ret = take_pointer(unpacked);
	*ret_size = done;
	return 0;
}

int debugfile_unpack(const struct elf_file *file, struct elf_file **ret)
{
	const struct elf_section *section = elf_file_section(file, ".gnu_debugdata");
	_cleanup_free_ uint8_t *packed = NULL, *unpacked = NULL;
	size_t size;
	int r;

	if (!section)
		return -ENOENT;
	r = elf_file_contents(file, section, DEBUGFILE_MAX_PACKED, &packed);
	if (r == 0)
		r = unpack(packed, (size_t)section->size, &unpacked, &size);
	if (r == 0)
		r = elf_file_take_image(unpacked, size, ret);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	unpacked = NULL;
	return 0;
}
