/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/jvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(jvm, .fini = check_leaks);

/* A file with this text at an offset. */
static struct module holding(const char *text, off_t offset)
{
	struct module module = {.kind = MODULE_FILE, .path = (char *)"/jdk/lib/server/libjvm.so"};

	module.fd = memfd_create("libjvm", MFD_CLOEXEC);
	cr_assert(ge(int, module.fd, 0));
	cr_assert(eq(sz, (size_t)pwrite(module.fd, text, strlen(text), offset), strlen(text)));
	return module;
}

static void assert_version(const char *text, off_t offset, const char *want)
{
	struct module module = holding(text, offset);
	char version[JVM_VERSION_MAX] = "";
	int r = jvm_version(&module, version);

	cr_assert(eq(int, r, want ? 0 : -ENOENT));
	cr_assert(eq(str, version, (char *)(want ? want : "")));
	(void)close(module.fd);
}

Test(jvm, the_version_is_that_of_the_file_itself)
{
	assert_version(
		"\0\0OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1) for linux-amd64 JRE "
		"(17.0.15+6-Debian-1deb12u1), built on May  1 2025 09:21:09 by \"b\"" +
			2,
		77, "17.0.15+6-Debian-1deb12u1");
	assert_version(
		"OpenJDK 64-Bit Server VM (25.504-b08) for linux-aarch64 JRE (1.8.0_504-b08), "
		"built on",
		0, "1.8.0_504-b08");
}

Test(jvm, a_line_over_the_edge_of_two_parts_is_found)
{
	for (off_t before = 0; before < 300; before += 7)
		assert_version(
			"VM (25+3) for linux-amd64 JRE (25+3), built", (1 << 20) - before, "25+3");
}

Test(jvm, other_files_have_none)
{
	assert_version("VM (25+3) for linux-amd64", 0, NULL);
	assert_version("VM (25+3) for linux-amd64 JRE (", 0, NULL);
	assert_version("VM (25+3) for linux-amd64 JRE (25 3)", 0, NULL);
	assert_version("VM (25+3) for linux-amd64 JRE ("
		       "1234567890123456789012345678901234567890123456789012345678901234)",
		0, NULL);
	assert_version("", 0, NULL);
	cr_assert(eq(
		int, jvm_version(&(struct module){.fd = -1}, (char[JVM_VERSION_MAX]){0}), -ENOENT));
}

Test(jvm, hotspot_is_known_by_its_file)
{
	struct module module = {.kind = MODULE_FILE, .path = (char *)"/x/libjvm.so"};

	cr_assert(jvm_is_module(&module));
	module.path = (char *)"/x/notlibjvm.so";
	cr_assert(zero(int, jvm_is_module(&module)));
	module.path = NULL;
	cr_assert(zero(int, jvm_is_module(&module)));
}
