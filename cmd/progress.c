/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.c: one line, redrawn in one write and cut to the width that the terminal has at that
 * moment, so that it neither flickers nor wraps when the window is resized.
 */
#include "cmd/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/options.h"

#define NS_PER_S	 1000000000ull
#define QUIET_START_NS	 NS_PER_S /* what is over by then needs no bar */
#define BAR_COLUMNS	 30
#define WITH_BAR_COLUMNS 60 /* a narrower terminal gets the figures alone */
#define ERASE_TO_END	 "\033[K"

void progress_init(struct progress *progress, const struct voice *voice, uint64_t duration_ns)
{
	const char *terminal = getenv("TERM");

	*progress = (struct progress){
		.enabled = !voice->quiet && isatty(STDERR_FILENO) && terminal &&
			   strcmp(terminal, "dumb") != 0,
		.duration_ns = duration_ns,
	};
}

static size_t terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

static void put(const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(STDERR_FILENO, text, size);

		if (n <= 0)
			return; /* a terminal that is gone misses nothing */
		text += n;
		size -= (size_t)n;
	}
}

/* "[####----] "; room for BAR_COLUMNS + 4. */
static void make_bar(char *bar, uint64_t elapsed_ns, uint64_t duration_ns)
{
	size_t done = BAR_COLUMNS;

	if (elapsed_ns < duration_ns)
		done = (size_t)((unsigned __int128)elapsed_ns * BAR_COLUMNS / duration_ns);
	*bar++ = '[';
	memset(bar, '#', done);
	memset(bar + done, '-', BAR_COLUMNS - done);
	memcpy(bar + BAR_COLUMNS, "] ", sizeof("] "));
}

static void draw(const struct progress *progress, uint64_t elapsed_ns,
	const struct stoke_stats *stats, const char *hint, const char *end)
{
	char text[256], line[300], bar[BAR_COLUMNS + 4] = "", samples[32];
	double cores = elapsed_ns ? (double)stats->cpu_ns / (double)elapsed_ns : 0;
	size_t columns = terminal_columns();
	int n;

	if (progress->duration_ns && columns >= WITH_BAR_COLUMNS)
		make_bar(bar, elapsed_ns, progress->duration_ns);
	n = snprintf(text, sizeof(text), " %s%llu s   %s samples   %.2f cores%s", bar,
		(unsigned long long)(elapsed_ns / NS_PER_S), text_count(samples, stats->samples),
		cores, hint);
	if (n < 0)
		return;
	/* The last column stays free: some terminals wrap as soon as it is filled. */
	n = snprintf(line, sizeof(line), "\r%.*s" ERASE_TO_END "%s",
		(int)text_cut(text, strlen(text), columns - 1), text, end);
	put(line, (size_t)n);
}

void progress_draw(struct progress *progress, uint64_t elapsed_ns, const struct stoke_stats *stats)
{
	if (!progress->enabled || elapsed_ns < QUIET_START_NS)
		return;
	draw(progress, elapsed_ns, stats, "   Ctrl-C ends early, keeps all", "");
	progress->drawn = 1;
}

void progress_done(struct progress *progress, uint64_t elapsed_ns, const struct stoke_stats *stats)
{
	if (progress->drawn)
		draw(progress, elapsed_ns, stats, "", "\n");
	progress->drawn = 0;
}
