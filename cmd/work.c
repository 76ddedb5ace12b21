/* SPDX-License-Identifier: BSD-2-Clause */
/* work.c: the number that turns shares of CPU into CPU an operation. */
#include "cmd/work.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_MAX 64

static int wrong(struct stoke_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int wrong(struct stoke_error *err, int code, const char *format, ...)
{
	va_list list;

	err->code = code;
	va_start(list, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, list); /* cut */
	va_end(list);
	return code;
}

/* The first word of a file; the recording's own program wrote it. */
static int read_word(const char *path, char *word, struct stoke_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	ssize_t size;

	if (fd < 0) {
		r = -errno;
		return wrong(err, r, "cannot read the number of operations from %s: %s", path,
			strerror(-r));
	}
	size = read(fd, word, WORD_MAX - 1);
	r = size < 0 ? -errno : 0;
	(void)close(fd); /* only read from */
	if (r < 0)
		return wrong(err, r, "cannot read the number of operations from %s: %s", path,
			strerror(-r));
	word[size] = '\0';
	word[strcspn(word, " \t\r\n")] = '\0';
	return 0;
}

int work_parse(const char *text, double *ret, struct stoke_error *err)
{
	char word[WORD_MAX];
	const char *number = text;
	double work;
	char *end;
	int r;

	if (text[0] == '@') {
		r = read_word(text + 1, word, err);
		if (r < 0)
			return r;
		number = word;
	}
	work = strtod(number, &end);
	if (end == number || *end || isspace((unsigned char)number[0]) || !isfinite(work) ||
		work <= 0)
		return wrong(err, -EINVAL,
			"work is a number of operations above zero, or @FILE that holds one: "
			"%.64s%s",
			number, *number ? "" : "(nothing)");
	*ret = work;
	return 0;
}
