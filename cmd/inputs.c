/* SPDX-License-Identifier: BSD-2-Clause */
/* inputs.c: files become one profile, and a profile the part of it that was asked for. */
#include "cmd/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

const char *const by_words[] = {"process", "thread", "pool", "cpu", NULL};

const struct option filter_options[] = {
	{.type = OPTION_HEADING, .help = "Which part of it:"},
	{.name = "focus",
		.letter = 'I',
		.type = OPTION_TEXT,
		.value = "REGEX",
		.offset = offsetof(struct filters, focus),
		.help = "only stacks with a frame that matches"},
	{.name = "ignore",
		.letter = 'X',
		.type = OPTION_TEXT,
		.value = "REGEX",
		.offset = offsetof(struct filters, ignore),
		.help = "no stacks with a frame that matches"},
	{.name = "hide",
		.type = OPTION_TEXT,
		.value = "REGEX",
		.offset = offsetof(struct filters, hide),
		.help = "take frames that match out of their stacks"},
	{.name = "root",
		.type = OPTION_TEXT,
		.value = "REGEX",
		.offset = offsetof(struct filters, root),
		.help = "begin each stack at its outermost frame that matches"},
	{.name = "thread",
		.type = OPTION_TEXT,
		.value = "REGEX",
		.offset = offsetof(struct filters, thread),
		.help = "only threads whose name matches"},
	{.name = "pid",
		.type = OPTION_IDS,
		.value = "PID,...",
		.offset = offsetof(struct filters, pids),
		.help = "only these processes"},
	{.name = "from",
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct filters, from),
		.help = "only from here on, counted from the start of each file"},
	{.name = "to",
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct filters, to),
		.help = "only up to here"},
	SIDE_OPTIONS(struct filters),
	{.name = "by",
		.type = OPTION_WORDS,
		.value = "WHAT,...",
		.offset = offsetof(struct filters, by),
		.words = by_words,
		.help = "put process, thread, pool (of threads named alike) or cpu at the root of "
			"each stack"},
	{.name = "reverse",
		.type = OPTION_LATER,
		.help = "callers at the top are not in this version"},
	{.name = "sample-type",
		.type = OPTION_LATER,
		.value = "TYPE",
		.help = "choosing a sample type is not in this version: the first one counts"},
	OPTIONS_END,
};

int sides_check(const struct voice *voice, unsigned flags, const char *done)
{
	if (!(flags & STOKE_USER_ONLY) || !(flags & STOKE_KERNEL_ONLY))
		return STATUS_DONE;
	return say_error(voice, STATUS_USAGE,
		"-U and -K together leave nothing; without either both are %s", done);
}

int input_read(const struct voice *voice, const char *path, const struct stoke_read_options *how,
	struct stoke_profile *profile)
{
	int is_stdin = !strcmp(path, "-");
	struct stoke_read_options options = *how;
	_cleanup_close_ int opened = -1;
	struct stoke_error err = {0};
	int fd = STDIN_FILENO;

	options.name = is_stdin ? "standard input" : path;
	if (is_stdin && isatty(STDIN_FILENO))
		say(voice, "reading a profile from the terminal; Ctrl-D ends it");
	if (!is_stdin) {
		fd = opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return say_error(voice, STATUS_USAGE, "cannot read %s: %s", path,
				errno == ENOENT ? "no such file" : strerror(errno));
	}
	if (stoke_profile_read(profile, fd, &options, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	return STATUS_DONE;
}

int inputs_read(
	const struct call *call, const struct stoke_read_options *how, struct stoke_profile **ret)
{
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	int nr_stdin = 0;

	for (size_t i = 0; i < call->nr_operands; i++)
		nr_stdin += !strcmp(call->operands[i], "-");
	if (nr_stdin > 1)
		return say_error(&call->voice, STATUS_USAGE,
			"standard input (-) can be read once, not %d times", nr_stdin);
	if (stoke_profile_new(&profile) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t i = 0; i < call->nr_operands; i++) {
		int status = input_read(&call->voice, call->operands[i], how, profile);

		if (status)
			return status;
	}
	stats_say(&call->voice, profile);
	*ret = take_pointer(profile);
	return STATUS_DONE;
}

void stats_say(const struct voice *voice, const struct stoke_profile *profile)
{
	char samples[32], expected[32], stacks[32], lost[32];
	struct stoke_stats stats;

	if (!voice->verbose)
		return;
	stoke_profile_stats(profile, &stats);
	if (stats.expected)
		say_more(voice, "%s samples expected, %s lost",
			text_count(expected, stats.expected), text_count(lost, stats.lost));
	say_more(voice, "%s samples, %s stacks, %u threads, %u processes",
		text_count(samples, stats.samples), text_count(stacks, stats.stacks),
		stats.nr_threads, stats.nr_processes);
}

void warnings_say(const struct voice *voice, const struct stoke_profile *profile)
{
	const char *warning;

	for (size_t i = 0; (warning = stoke_profile_warning(profile, i)); i++)
		say_warning(voice, "%s", warning);
}

int filters_are_empty(const struct filters *f)
{
	return !f->focus && !f->ignore && !f->hide && !f->root && !f->thread && !f->pids.nr &&
	       !f->from.given && !f->to.given && !f->flags && !f->by.nr;
}

int filters_apply(
	const struct voice *voice, const struct filters *filters, struct stoke_profile **profile)
{
	enum stoke_by by[16];
	struct stoke_select_options options = {
		.focus = filters->focus,
		.ignore = filters->ignore,
		.hide = filters->hide,
		.root = filters->root,
		.thread = filters->thread,
		.pids = (const pid_t *)filters->pids.items,
		.nr_pids = filters->pids.nr,
		.from_ns = filters->from.value,
		.to_ns = filters->to.value,
		.flags = filters->flags,
		.by = by,
	};
	struct stoke_profile *selected;
	struct stoke_error err = {0};

	if (filters_are_empty(filters))
		return STATUS_DONE;
	if (sides_check(voice, filters->flags, "shown"))
		return STATUS_USAGE;
	if (filters->to.given && filters->to.value <= filters->from.value)
		return say_error(voice, STATUS_USAGE, "--to is not after --from");
	if (filters->by.nr > ARRAY_SIZE(by))
		return say_error(voice, STATUS_USAGE, "--by names more than there is");
	for (; options.nr_by < filters->by.nr; options.nr_by++)
		by[options.nr_by] = (enum stoke_by)(filters->by.items[options.nr_by] + 1);
	if (stoke_profile_select(*profile, &options, &selected, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	stoke_profile_free(*profile);
	*profile = selected;
	return STATUS_DONE;
}
