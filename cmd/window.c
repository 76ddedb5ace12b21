/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c: the loop of a recording. Clock and signals are here, the work is the recorder's. */
#include "cmd/window.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

#define NS_PER_MS  1000000ull
#define NS_PER_S   1000000000ull
#define REDRAW_MS  250
#define LONGEST_MS 60000

struct signals {
	int fd;
	sigset_t before;
};

uint64_t monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int signals_open(struct signals **ret)
{
	struct signals *signals = calloc(1, sizeof(*signals));
	sigset_t wanted;

	if (!signals)
		return -ENOMEM;
	(void)sigemptyset(&wanted); /* these three fail on bad signal numbers only */
	(void)sigaddset(&wanted, SIGINT);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGHUP);
	signals->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0) {
		free(signals);
		return -errno;
	}
	(void)sigprocmask(SIG_BLOCK, &wanted, &signals->before); /* arguments are right */
	/*
	 * A shell without job control starts "stoke record ... &" with SIGINT ignored; whoever
	 * sends one by kill(1) means it all the same. SIGHUP stays as nohup(1) left it.
	 */
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	*ret = signals;
	return 0;
}

void signals_close(struct signals *signals)
{
	if (!signals)
		return;
	(void)close(signals->fd); /* nothing was written */
	(void)sigprocmask(SIG_SETMASK, &signals->before, NULL); /* as above */
	free(signals);
}

/* 1 when a signal came. The terminal sends one to the command as well; kill(1) does not. */
static int signal_came(const struct window *window)
{
	struct signalfd_siginfo info;

	if (read(window->signals->fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (window->has_command && info.ssi_code != SI_KERNEL)
		stoke_recorder_command_kill(window->recorder, (int)info.ssi_signo);
	return 1;
}

static int wait_ms(const struct window *window, uint64_t start_ns)
{
	uint64_t most_ns = LONGEST_MS * NS_PER_MS, elapsed_ns = monotonic_ns() - start_ns;

	if (window->progress->enabled)
		most_ns = REDRAW_MS * NS_PER_MS;
	if (window->duration_ns && elapsed_ns >= window->duration_ns)
		return 0;
	if (window->duration_ns && window->duration_ns - elapsed_ns < most_ns)
		most_ns = window->duration_ns - elapsed_ns;
	return (int)((most_ns + NS_PER_MS - 1) / NS_PER_MS);
}

int window_run(const struct window *window, enum window_end *ret, struct stoke_error *err)
{
	struct pollfd fds[] = {
		{.fd = stoke_recorder_fd(window->recorder), .events = POLLIN},
		{.fd = window->signals->fd, .events = POLLIN},
	};
	uint64_t start_ns = monotonic_ns(), drawn_ns = start_ns;

	for (;;) {
		uint64_t now_ns;
		int r;

		if (poll(fds, ARRAY_SIZE(fds), wait_ms(window, start_ns)) < 0 && errno != EINTR)
			return fail(err, -errno, "cannot wait for samples: %s", strerror(errno));
		if (signal_came(window)) {
			*ret = WINDOW_SIGNAL;
			return 0;
		}
		r = stoke_recorder_step(window->recorder, err);
		if (r < 0)
			return r;
		now_ns = monotonic_ns();
		if (r > 0 || (window->duration_ns && now_ns - start_ns >= window->duration_ns)) {
			*ret = r > 0 ? WINDOW_TARGET : WINDOW_TIME;
			return 0;
		}
		if (window->progress->enabled && now_ns - drawn_ns >= REDRAW_MS * NS_PER_MS) {
			struct stoke_stats stats;

			stoke_recorder_stats(window->recorder, &stats);
			progress_draw(window->progress, now_ns - start_ns, &stats);
			drawn_ns = now_ns;
		}
	}
}
